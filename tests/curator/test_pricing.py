"""What a plan costs: shares that add up, mechanisms that spend them, losses that are true."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.accounting_question import account
from discreet.core.errors import (
    InvalidArgument,
    MissingLoss,
    RefusedQuery,
    UndeclaredKeys,
    Unsupported,
)
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    ThresholdedGaussianEvent,
    ThresholdedLaplaceEvent,
)
from discreet.curator.price.allocate import Shares, allocate
from discreet.curator.price.price import PricedPlan, price
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import read_noise
from discreet.mechanisms.selection.quantile import Quantile
from discreet.project.charged import charged
from discreet.project.terms import Terms, terms_that_hold
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountDistinct, CountRows, CountUnits
from discreet.tables.plans.sums import SumSquares
from tests.support.house.narrow import delta_of, epsilon_of, of_kind, rho_of
from tests.support.projects.bounded_plans import (
    AGE,
    FOUR_KEYS,
    PRIVATE,
    age_quantile,
    ages,
    equal_weights,
    make_plan,
)
from tests.support.projects.priced_plans import keys_of

AGE_FIELD = FieldValue(ColumnType.INTEGER, 2)
SQUARES = SumSquares(value=AGE_FIELD, bounds=AGE, centre=50, offset=1250)
EVERYTHING = (CountRows(), CountDistinct(value=AGE_FIELD), ages(), SQUARES, age_quantile())
DELTA = Fraction(1, 10**6)


def priced(plan, paid, cap=None) -> PricedPlan:
    return price(plan, allocate(plan, equal_weights(plan), paid), paid if cap is None else cap)


positive = st.fractions(min_value=Fraction(1, 50), max_value=10, max_denominator=50)


@given(weights=st.lists(positive, min_size=1, max_size=6), amount=positive)
def test_shares_add_up_to_the_price_exactly(weights, amount):
    plan = make_plan(*[CountRows()] * len(weights))
    shares = allocate(plan, tuple(weights), Pure(amount))
    own = list(shares.aggregates.values())
    assert sum(epsilon_of(share) for share in own) == amount
    assert [epsilon_of(share) / amount for share in own] == [
        weight / sum(weights) for weight in weights
    ]
    with_keys = make_plan(*[CountRows()] * len(weights), keys=PRIVATE)
    shares = allocate(with_keys, tuple(weights), ApproximateZcdp(rho=amount, delta=DELTA))
    assert sum(rho_of(share) for share in (*shares.aggregates.values(), shares.keys)) == amount
    assert delta_of(shares.keys) == DELTA


def test_private_keys_take_as_much_as_an_aggregate_on_average():
    plan = make_plan(CountRows(), ages(), keys=PRIVATE)
    shares = allocate(plan, (Fraction(1, 4), Fraction(3, 4)), Approximate(3, DELTA))
    assert shares.keys == Approximate(1, DELTA)
    assert shares.aggregates == {0: Pure("1/2"), 1: Pure("3/2")}


def test_the_number_of_units_is_answered_by_the_counts_that_chose_the_keys():
    plan = make_plan(CountRows(), CountUnits(), keys=PRIVATE)
    shares = allocate(plan, equal_weights(plan), Approximate(3, DELTA))
    assert shares.aggregates == {0: Pure(1)}
    assert shares.keys == Approximate(2, DELTA)
    found = priced(plan, Approximate(3, DELTA))
    assert found.plan.counted == 1
    assert found.mechanisms[1] == keys_of(found).noise == DiscreteLaplace(scale="3/2")
    assert [type(event) for event, _ in found.event.parts] == [
        ThresholdedLaplaceEvent,
        DiscreteLaplaceEvent,
    ]
    # With public keys, or a condition, it is an aggregate like the others.
    assert priced(make_plan(CountUnits(), keys=FOUR_KEYS), Pure(1)).plan.counted is None
    conditional = CountUnits(where=FieldValue(ColumnType.BOOLEAN, 0))
    assert priced(make_plan(conditional, keys=PRIVATE), Approximate(1, DELTA)).plan.counted is None


def test_shares_that_leave_private_keys_out():
    plan = make_plan(CountRows(), keys=PRIVATE)
    with pytest.raises(InvalidArgument, match="shares do not fit"):
        price(plan, Shares(aggregates={0: Pure(1)}), Approximate(1, DELTA))


def test_weights_that_do_not_fit():
    plan = make_plan(CountRows())
    for weights in ((), (Fraction(1), Fraction(1)), (Fraction(0),)):
        with pytest.raises(InvalidArgument):
            allocate(plan, weights, Pure(1))


@pytest.mark.parametrize("paid", [Pure(2), Zcdp("1/3"), Approximate(2, DELTA)])
def test_public_keys_spend_the_price_and_no_delta(paid):
    plan = make_plan(*EVERYTHING[:-1], keys=FOUR_KEYS)
    spent = priced(plan, paid).loss
    amount = "rho" if isinstance(paid, Zcdp) else "epsilon"
    assert getattr(spent, amount) == getattr(paid, amount)
    assert getattr(spent, "delta", 0) == 0


def test_a_quantile_under_rho_spends_at_most_its_share():
    spent = priced(make_plan(*EVERYTHING, keys=FOUR_KEYS), Zcdp("1/3")).loss
    assert Zcdp("0.3333333") <= spent <= Zcdp("1/3")


def test_epsilon_buys_laplace_noise_at_the_l1_distance():
    found = priced(make_plan(CountRows(), ages(), keys=FOUR_KEYS), Pure(1))
    # 2 rows in each of 3 groups; half of ε each.
    assert found.mechanisms == (DiscreteLaplace(scale=12), DiscreteLaplace(scale=1200))


def test_grouping_sets_all_count():
    total = KeySet(places=(), rows=((),))
    keys = PublicKeys(fields=(1,), sets=(*FOUR_KEYS.sets, total))
    found = priced(make_plan(CountRows(), keys=keys), Pure(1))
    assert found.mechanisms == (DiscreteLaplace(scale=2 * (3 + 1)),)


# ---- The quantile: one choice a group, against the law worked out by hand.


def choice_law(values, quantile: Quantile) -> list[float]:
    """The law of the exponential mechanism over every integer of the domain, by its definition."""
    target = float(quantile.quantile) * len(values)
    weights = []
    for candidate in range(quantile.lower, quantile.upper + 1):
        below = sum(value < candidate for value in values)
        at_most = sum(value <= candidate for value in values)
        error = max(0.0, target - at_most, below - target)
        weights.append(math.exp(-error / float(quantile.scale)))
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("share", ["1/2", "1/4", "1"])
def test_quantiles_of_all_groups_together_keep_the_loss(share):
    """Two groups, a unit with one row in each: every pair of outputs, every place of the rows."""
    plan = make_plan(
        age_quantile(share, upper=3), keys=FOUR_KEYS, rows_per_group=1, groups_per_unit=2
    )
    found = priced(plan, Pure(1))
    mechanism = of_kind(Quantile, found.mechanisms[0])
    assert found.loss == Pure(1)
    largest = 0.0
    for first, second in product([[0], [0, 3], [1, 2, 2]], repeat=2):
        for mine in product(range(4), repeat=2):
            laws = [choice_law(first, mechanism), choice_law(second, mechanism)]
            others = [
                choice_law([*first, mine[0]], mechanism),
                choice_law([*second, mine[1]], mechanism),
            ]
            for x, y in product(range(4), repeat=2):
                ratio = laws[0][x] * laws[1][y] / (others[0][x] * others[1][y])
                largest = max(largest, abs(math.log(ratio)))
    # Half of the price buys the values; the ends of their intervals have the rest.
    assert largest <= 1 / 2 + 1e-9
    assert largest > 0.2  # the bound is not idle


def test_quantile_events_are_counted_once_for_each_group():
    plan = make_plan(age_quantile(), keys=FOUR_KEYS)
    found = priced(plan, Pure(1))
    counted: dict[Fraction, int] = {}
    waiting = list(found.event.parts)
    while waiting:
        event, count = waiting.pop()
        if isinstance(event, ComposedEvent):
            waiting += [(part, count * times) for part, times in event.parts]
            continue
        assert isinstance(event, ExponentialSelectionEvent)
        assert event.spread == 2
        counted[event.scale] = counted.get(event.scale, 0) + count
    # A median moves by one rank for each of two rows; ε/6 in each of three groups, and half as
    # much for each of the two ends of its interval.
    assert counted == {12: 3, 24: 6}
    assert of_kind(Quantile, found.mechanisms[0]).scale == 12


def test_a_quantile_under_rho_uses_its_bounded_range():
    plan = make_plan(age_quantile(), keys=FOUR_KEYS)
    found = priced(plan, Zcdp("1/8"))
    # Three groups at (2/scale)²/8 each, for the value and for both ends of its interval.
    mechanism = of_kind(Quantile, found.mechanisms[0])
    scales = [mechanism.scale, *(end.scale for end in found.ends[0])]
    by_hand = sum(3 * (2 / float(scale)) ** 2 / 8 for scale in scales)
    assert math.isclose(float(rho_of(found.loss)), by_hand, rel_tol=1e-12)
    assert found.loss <= Zcdp("1/8")
    under_epsilon = of_kind(Quantile, priced(plan, Pure("1/2")).mechanisms[0])
    assert mechanism.scale < under_epsilon.scale


# ---- Private keys: the δ by hand, and every budget.


def by_hand(scale: float, threshold: int, groups: int) -> float:
    q = math.exp(-1 / scale)
    tail = q ** (threshold - 1) / (1 + q)
    return -math.expm1(groups * math.log1p(-tail))


def test_the_delta_of_private_keys_covers_all_groups_of_a_unit():
    plan = make_plan(CountRows(), keys=PRIVATE)
    found = priced(plan, Approximate(1, DELTA))
    keys = keys_of(found)
    scale = float(of_kind(DiscreteLaplace, keys.noise).scale)
    assert scale == 6
    assert epsilon_of(found.loss) == 1
    delta = delta_of(found.loss)
    assert math.isclose(float(delta), by_hand(scale, keys.threshold, 3), rel_tol=1e-9)
    assert delta <= DELTA < by_hand(scale, keys.threshold - 1, 3)


@pytest.mark.parametrize(
    ("paid", "cap"),
    [
        (Approximate(1, DELTA), Approximate(2, "1e-5")),
        (Approximate(1, DELTA), ApproximateZcdp(2, "1e-5")),
        (ApproximateZcdp("1/8", DELTA), ApproximateZcdp(2, "1e-5")),
    ],
)
def test_private_keys_on_every_budget_with_a_delta(paid, cap):
    spent = priced(make_plan(CountRows(), age_quantile(), keys=PRIVATE), paid, cap).loss
    assert type(spent) is type(cap)
    assert 0 < delta_of(spent) <= DELTA
    if isinstance(paid, Approximate) and isinstance(cap, ApproximateZcdp):
        thirds = Fraction(1, 3)
        # Laplace on counts (half the square), a choice in three groups (an eighth of the square
        # each), and the keys' noise, which has at most half the square.
        most = thirds**2 / 2 + 3 * (thirds / 3) ** 2 / 8 + thirds**2 / 2
        assert rho_of(spent) <= most
        assert rho_of(spent) > most * Fraction(9, 10)
    else:
        assert spent.share_of(paid) <= 1


def test_what_is_charged_is_no_less_than_another_accountant_says():
    plan = make_plan(CountUnits(), ages(), age_quantile(), keys=PRIVATE)
    found = priced(plan, Approximate(1, DELTA))
    tight = account(found.event, delta=delta_of(found.loss) * Fraction(101, 100)).loss
    assert epsilon_of(tight) <= epsilon_of(found.loss)


@pytest.mark.parametrize("cap", [Pure(3), Zcdp(3)])
def test_private_keys_need_a_budget_with_a_delta(cap):
    plan = make_plan(CountRows(), keys=PRIVATE)
    with pytest.raises(UndeclaredKeys, match=r"city.*no δ") as caught:
        priced(plan, Approximate(1, DELTA), cap)
    assert "delta" in caught.value.next
    event = priced(plan, Approximate(1, DELTA)).event
    with pytest.raises(Unsupported, match="has none"):
        charged(event, cap)


@pytest.mark.parametrize("paid", [Pure(1), Zcdp(1)])
def test_private_keys_need_a_price_with_a_delta(paid):
    with pytest.raises(MissingLoss, match="delta="):
        allocate(make_plan(CountRows(), keys=PRIVATE), (Fraction(1),), paid)


def test_rho_buys_the_threshold_that_shows_smaller_groups():
    one = priced(make_plan(CountUnits(), keys=PRIVATE), ApproximateZcdp("1/50", DELTA))
    assert isinstance(keys_of(one).noise, DiscreteGaussian)
    assert [type(event) for event, _ in one.event.parts] == [ThresholdedGaussianEvent]
    assert rho_of(one.loss) == Fraction(1, 50)


def test_noise_that_cannot_be_drawn_is_refused_before_the_gate():
    for plan, paid in (
        (make_plan(CountRows()), Pure("1e-18")),
        (make_plan(CountRows()), Pure(10**6)),
        (make_plan(age_quantile()), Pure("1e-18")),
        (make_plan(CountRows(), keys=PRIVATE), Approximate("1e-18", DELTA)),
        (make_plan(CountRows(), keys=PRIVATE), ApproximateZcdp(10**20, DELTA)),
    ):
        with pytest.raises(RefusedQuery, match="outside the range"):
            priced(plan, paid)


def test_gaussian_noise_has_no_epsilon_of_its_own():
    event = DiscreteGaussianEvent(sigma_squared=4, distance_squared=1)
    for cap in (Pure(1), Approximate(1, DELTA)):
        with pytest.raises(Unsupported, match="rho with delta"):
            charged(event, cap)


# ---- Names.


def test_equal_plans_at_an_equal_price_have_one_name():
    plan = make_plan(CountRows(), ages())
    name = priced(plan, Pure(1)).digest()
    assert name == priced(make_plan(CountRows(), ages()), Pure(1)).digest()
    assert name == priced(plan, Pure(1), Approximate(3, DELTA)).digest()
    others = [
        priced(plan, Pure("1.0001")),
        priced(make_plan(ages(), CountRows()), Pure(1)),
        priced(make_plan(CountRows(), ages(centre=50)), Pure(1)),
        priced(make_plan(CountRows(), ages(), rows_per_group=3), Pure(1)),
        priced(make_plan(CountRows(), ages(), keys=FOUR_KEYS), Pure(1)),
        priced(make_plan(CountRows(), ages(), keys=PRIVATE), Approximate(1, DELTA)),
        priced(make_plan(CountRows(), ages(), keys=PRIVATE), Approximate(1, DELTA / 100)),
        price(plan, allocate(plan, (Fraction(1, 4), Fraction(3, 4)), Pure(1)), Pure(1)),
    ]
    assert len({name, *(other.digest() for other in others)}) == 1 + len(others)


def test_mechanisms_are_written_and_read():
    for plan, paid in (
        (make_plan(*EVERYTHING), Pure(1)),
        (make_plan(*EVERYTHING, groups_per_unit=40, keys=PRIVATE), ApproximateZcdp(1, DELTA)),
    ):
        for mechanism in priced(plan, paid).mechanisms:
            assert read_noise(mechanism.to_json()) == mechanism


# ---- Where a price comes from.


def test_the_first_place_that_names_a_price_wins():
    one, two, three = Terms(epsilon=1), Terms(epsilon=2), Terms(rho=3)
    assert terms_that_hold(one, Terms(), [two, three]).price() == Pure(1)
    assert terms_that_hold(Terms(), one, [two, three]).price() == Pure(1)
    assert terms_that_hold(Terms(), Terms(), [two, three]).price() == Pure(2)
    assert terms_that_hold(Terms(), Terms(), [Terms(), three]).price() == Zcdp(3)
    with pytest.raises(MissingLoss, match="Nobody said"):
        terms_that_hold(Terms(delta=DELTA), Terms(), [])


def test_delta_has_a_place_of_its_own():
    defaults = [Terms(epsilon=2, delta="1e-9")]
    assert terms_that_hold(Terms(epsilon=1), Terms(), defaults).price() == Approximate(1, "1e-9")
    assert terms_that_hold(Terms(delta=DELTA), Terms(), defaults).price() == Approximate(2, DELTA)
    query = Terms.of(Approximate(1, DELTA))
    assert terms_that_hold(Terms(epsilon=1), query, []).price() == Approximate(1, DELTA)
    assert terms_that_hold(Terms(rho=1, delta=DELTA), Terms(), []).price() == ApproximateZcdp(
        1, DELTA
    )


@pytest.mark.parametrize(
    ("given_terms", "asked"),
    [
        (Terms(epsilon=1), Terms(epsilon=2)),
        (Terms(rho=1), Terms(epsilon=1)),
        (Terms(accuracy=50), Terms(epsilon=1)),
        (Terms(epsilon=1, delta="1e-9"), Terms(epsilon=1, delta="1e-6")),
    ],
)
def test_two_different_prices_for_one_question_are_refused(given_terms, asked):
    with pytest.raises(InvalidArgument, match="Two different prices"):
        terms_that_hold(given_terms, asked, [])


def test_prices_that_cannot_be():
    for bad in (
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "accuracy": 5},
        {"epsilon": 0},
        {"rho": -1},
        {"epsilon": 1, "delta": -1},
        {"epsilon": 1, "delta": 1},
    ):
        with pytest.raises(InvalidArgument):
            Terms(**bad)  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="not a price"):
        Terms.of(Zcdp(rho=1, xi=1))
