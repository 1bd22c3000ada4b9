"""A δ that is offered for public keys: it buys the better noise, and is charged if it does."""

import json
from fractions import Fraction
from itertools import product

import pytest
from dp_accounting.pld import privacy_loss_distribution

from discreet.accounting.accountants.discrete_gaussian import delta_of_shifts
from discreet.accounting.accounting_question import account
from discreet.core.errors import InvalidArgument, MissingLoss
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.curator.batch import price_batch
from discreet.curator.price import price as pricing
from discreet.curator.price.allocate import allocate
from discreet.curator.price.offered_delta import best_for, propose_delta
from discreet.curator.price.price import PricedPlan, price
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile
from discreet.project.charged import charged
from discreet.project.terms import Terms
from discreet.roles.connection import connect
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountRows, CountUnits
from tests.support.house.narrow import delta_of, epsilon_of, of_kind
from tests.support.projects.bounded_plans import (
    FOUR_KEYS,
    PRIVATE,
    age_quantile,
    ages,
    equal_weights,
    make_plan,
)
from tests.support.projects.clinic import make_curator, visit, write_project

DAYS = PublicKeys(fields=(1,), sets=(KeySet(places=(0,), rows=tuple((d,) for d in range(365))),))
OFFER = Terms(epsilon=1, delta="1e-7")
CAP = Approximate(10, "1e-6")


def laplace(plan, terms=OFFER, cap=CAP, weights=None) -> PricedPlan:
    shares = allocate(plan, weights or equal_weights(plan), terms.price())
    return price(plan, shares, cap)


def best(plan, terms=OFFER, cap=CAP, weights=None) -> PricedPlan:
    weights = weights or equal_weights(plan)
    return best_for(laplace(plan, terms, cap, weights), weights, terms, cap)


def days(*aggregates):
    return make_plan(*(aggregates or (CountRows(),)), keys=DAYS, groups_per_unit=200)


def test_many_groups_get_gaussian_noise_of_the_whole_price():
    plan = days()
    found = best(plan)
    (noise,) = found.mechanisms
    assert laplace(plan).mechanisms[0].error_quantile("0.05") == 1198
    assert of_kind(DiscreteGaussian, noise).error_quantile("0.05") == 259
    assert found.loss <= OFFER.price()
    assert delta_of(found.loss) == Fraction("1e-7")
    assert epsilon_of(found.loss) > Fraction("0.999")


def test_what_is_charged_is_what_the_accountant_certifies():
    for plan in (days(), days(CountRows(), ages()), days(CountUnits(), age_quantile())):
        found = best(plan)
        assert any(isinstance(one, DiscreteGaussian) for one in found.mechanisms)
        certified = account(found.event, delta="1e-7").loss
        assert certified <= found.loss <= OFFER.price()


def test_a_peer_finds_the_same_epsilon():
    """Each of the 200 entries moves by 2, so the loss is that of 200 discrete Gaussians."""
    found = best(days())
    sigma = float(of_kind(DiscreteGaussian, found.mechanisms[0]).sigma_squared) ** 0.5

    def theirs(side: bool) -> float:
        one = privacy_loss_distribution.from_discrete_gaussian_mechanism(
            sigma,
            sensitivity=2,
            pessimistic_estimate=side,
            value_discretization_interval=1e-5,
        )
        return float(one.self_compose(200).get_epsilon_for_delta(1e-7))

    low, high = theirs(False), theirs(True)
    assert high - low < 0.01
    assert low <= epsilon_of(found.loss) <= high + 1e-4


def test_the_exact_law_keeps_what_is_charged_and_half_the_noise_does_not():
    """Two counts of two groups: the exact divergence over all four entries, by convolution."""
    plan = make_plan(CountRows(), CountUnits(), keys=FOUR_KEYS, rows_per_group=1, groups_per_unit=2)
    offer = Terms(epsilon=1, delta="0.01")
    found = best(plan, offer, Approximate(10, "0.5"))
    squares = {of_kind(DiscreteGaussian, noise).sigma_squared for noise in found.mechanisms}
    assert len(squares) == 1
    variance = squares.pop()
    shifts = (1, 1, 1, 1)
    _, high = delta_of_shifts(variance, shifts, epsilon_of(found.loss))
    assert Fraction("0.0095") < high <= delta_of(found.loss) <= Fraction("0.01")
    low, _ = delta_of_shifts(variance / 4, shifts, epsilon_of(found.loss))
    assert low > 10 * delta_of(found.loss)


def test_a_single_count_keeps_laplace_noise_and_pays_no_delta():
    plan = make_plan(CountRows())
    plain = laplace(plan)
    assert best_for(plain, equal_weights(plan), OFFER, CAP) is plain
    assert plain.loss == Approximate(1, 0)


def test_no_aggregate_of_a_chosen_plan_is_much_worse():
    """The worst ratio of Gaussian to Laplace errors is below the best one upside down."""
    for count, groups in product((1, 2, 5), (1, 2, 3, 4, 8, 30, 200)):
        plan = make_plan(
            *(CountRows(), ages(), CountUnits(), ages(centre=50), CountRows())[:count],
            keys=DAYS,
            groups_per_unit=groups,
        )
        plain, found = laplace(plan), best(plan)
        pairs = zip(found.mechanisms, plain.mechanisms, strict=True)
        ratios = [one.error_quantile("0.05") / two.error_quantile("0.05") for one, two in pairs]
        assert max(ratios) <= 1 / min(ratios)
        if groups * count >= 30:
            assert found is not plain


@pytest.mark.parametrize("cap", [Pure(10), Zcdp(1), GaussianDp(mu_squared=1), Approximate(10, 0)])
def test_a_budget_without_delta_is_charged_as_before(cap):
    plan = days()
    plain = laplace(plan, cap=cap)
    assert best_for(plain, equal_weights(plan), OFFER, cap) is plain


def test_a_budget_in_rho_pays_the_rho_of_the_noise():
    cap = ApproximateZcdp(rho=1, delta="1e-6")
    found = best(days(), cap=cap)
    assert isinstance(found.mechanisms[0], DiscreteGaussian)
    assert found.loss == charged(found.event, cap)
    assert account(found.event, delta="1e-7").loss <= OFFER.price()


def test_prices_without_an_offer_are_as_before():
    plan = days()
    for terms in (Terms(epsilon=1), Terms(epsilon=1, delta=0), Terms(epsilon=1, delta="1e-200")):
        assert isinstance(best(plan, terms).mechanisms[0], DiscreteLaplace), terms
    private = make_plan(CountRows(), keys=PRIVATE)
    plain = laplace(private)
    assert best_for(plain, equal_weights(private), OFFER, CAP) is plain
    quantile = make_plan(age_quantile(), keys=DAYS, groups_per_unit=200)
    plain = laplace(quantile)
    assert best_for(plain, equal_weights(quantile), OFFER, CAP) is plain


def test_choices_keep_their_part_of_epsilon():
    plan = days(CountRows(), age_quantile())
    plain, found = laplace(plan), best(plan)
    assert isinstance(found.mechanisms[0], DiscreteGaussian)
    assert of_kind(Quantile, found.mechanisms[1]) == plain.mechanisms[1]
    assert found.answers[1] == plain.answers[1]


def test_a_larger_weight_buys_less_noise():
    weights = (Fraction(1, 5), Fraction(4, 5))
    first, second = best(days(CountRows(), CountRows()), weights=weights).mechanisms
    squares = [of_kind(DiscreteGaussian, noise).sigma_squared for noise in (first, second)]
    assert squares[0] == 4 * squares[1]


def test_a_delta_is_proposed_where_it_would_help():
    plan, terms = days(), Terms(epsilon=1)
    plain, weights = laplace(plan, terms), equal_weights(days())
    found = propose_delta(plain, weights, terms, CAP, CAP)
    assert found is not None
    assert found.delta == Fraction("1e-7")
    assert found.priced.mechanisms == best(plan).mechanisms
    assert propose_delta(plain, weights, OFFER, CAP, CAP) is None
    assert propose_delta(plain, weights, terms, Pure(10), Pure(10)) is None
    assert propose_delta(plain, weights, terms, CAP, Approximate(10, "1e-9")) is None
    one = make_plan(CountRows())
    assert propose_delta(laplace(one, terms), equal_weights(one), terms, CAP, CAP) is None


# ---- From SQL to a release.

SQL = "SELECT clinic, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY clinic"
ROWS = [visit(f"p{i}", "abcd"[i % 4], age=i % 90) for i in range(400)]


@pytest.fixture
def folder(tmp_path):
    made = write_project(tmp_path, ROWS, groups_per_unit=4)
    text = (made / "discreet.toml").read_text(encoding="utf-8")
    text = text.replace("{ epsilon = 10 }", "{ epsilon = 10, delta = 1e-6 }")
    (made / "discreet.toml").write_text(text, encoding="utf-8")
    return made


def test_an_answer_spends_the_delta_that_helps(folder):
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=1, delta="1e-7")
        noises = {part.noise.law for part in release.body.aggregates}
        assert noises == {"discrete_gaussian"}
        (status,) = connection.budget()
        assert status.spent == release.cost <= Approximate(1, "1e-7")
        assert connection.sql(SQL, epsilon=1, delta="1e-7").is_stored
        plain = connection.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1, delta="1e-7")
        assert plain.cost == Approximate(1, 0)
        connection.verify()


def test_an_explanation_says_which_noise_and_what_a_delta_would_do(folder):
    with connect(folder) as connection:
        bare = connection.explain(SQL, epsilon=1)
        said = dict(bare.steps())["Noise"]
        assert said.startswith("with delta = 1e-7, COUNT(*) would be within ± ")
        offered = connection.explain(SQL, epsilon=1, delta="1e-7")
        assert "Gaussian, which errs less" in dict(offered.steps())["Noise"]
        told = json.loads(json.dumps(bare.to_json()))["with_delta"]
        assert Fraction(told["delta"]) == Fraction("1e-7")
        errors = {column.name: column.error for column in offered.columns()}
        assert told["errors"] == errors
        assert offered.to_json()["with_delta"] is None
        one = connection.explain("SELECT COUNT(*) AS n FROM visits", epsilon=1, delta="1e-7")
        assert "δ is not spent" in dict(one.steps())["Noise"]
        other = connection.explain("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert "Noise" not in dict(other.steps())


def test_an_answer_without_ends_is_not_paid_for_again(folder, monkeypatch):
    """An earlier version drew Gaussian noise too, and no ends of a quantile's interval."""
    sql = "SELECT clinic, COUNT(*) AS n, SUM(age) AS a, MEDIAN(age) AS m FROM visits GROUP BY 1"
    with connect(folder) as connection:
        with monkeypatch.context() as patch:
            patch.setattr(pricing, "ends_for", lambda *_: ())
            before = connection.sql(sql, epsilon=1, delta="1e-7")
        assert before.body.aggregates[0].noise.law == "discrete_gaussian"
        again = connection.sql(sql, epsilon=1, delta="1e-7")
        assert again.is_stored
        assert again.receipt == before.receipt
        told = connection.explain(sql, epsilon=1).with_delta
        assert told is not None
        assert told.priced.earlier == ()


def test_a_delta_of_zero_offers_none_whatever_the_default_is(folder):
    written = SQL.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=0)")
    with connect(folder, epsilon=1, delta="1e-7") as connection:
        assert isinstance(connection.explain(SQL).priced.mechanisms[0], DiscreteGaussian)
        for explained in (connection.explain(SQL, delta=0), connection.explain(written)):
            assert isinstance(explained.priced.mechanisms[0], DiscreteLaplace)
        with pytest.raises(MissingLoss):
            connection.explain("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", delta=0)
        with pytest.raises(InvalidArgument):
            connection.explain(SQL, delta=-1)


def test_a_single_question_is_as_good_as_a_batch_of_one(folder, rng):
    counts = "COUNT(*) AS n, COUNT(DISTINCT person) AS p, COUNT(age) AS a, COUNT(note) AS m"
    sql = f"SELECT clinic, {counts} FROM visits GROUP BY clinic"
    curator = make_curator(folder, rng)
    (batch,) = price_batch(curator, [sql], Approximate(1, "1e-7")).plans
    with connect(folder) as connection:
        single = connection.explain(sql, epsilon=1, delta="1e-7").priced
    for one, other in zip(single.mechanisms, batch.mechanisms, strict=True):
        assert float(one.spread) == pytest.approx(float(other.spread), rel=1e-4)
