"""Private keys: exact enumeration of both neighbours, minimal thresholds, the law released."""

import datetime
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants import approximate
from discreet.accounting.accountants.approximate import (
    any_of,
    close_gaussian_tail,
    laplace_tail_bounds,
)
from discreet.accounting.accounting_question import account
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import enclosed
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.key_order import in_key_order
from discreet.mechanisms.stability.stable_histogram import stable_histogram
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from tests.mechanisms.stability.laws import ALMOST, Counts, keys_law, one_key, scaled
from tests.support.statistics.exact_tests import alpha, binomial_p_value, cells_p_value

LAPLACE = ThresholdedKeys(noise=DiscreteLaplace(scale="3/2"), threshold=5)
GAUSSIAN = ThresholdedKeys(noise=DiscreteGaussian(sigma_squared=3), threshold=5)
REACH = 7


def moved(first: Counts, second: Counts) -> Contribution:
    moves = [abs(a - b) for a, b in zip(first, second, strict=True)]
    signs = {a > b for a, b in zip(first, second, strict=True) if a != b}
    metric = Metric.ADD_REMOVE if len(signs) < 2 else Metric.CHANGE_ONE
    return Contribution(l0=sum(map(bool, moves)), linf=max(moves), metric=metric)


ADDED = [
    (before, tuple(count + 1 for count in before))
    for size in (1, 2, 3)
    for before in itertools.combinations_with_replacement((0, 1, 4), size)
]
CHANGED = [((1, 0), (0, 1)), ((1, 1, 0), (0, 0, 1)), ((1, 4, 0), (0, 4, 1)), ((1, 5), (0, 6))]
PAIRS = [*ADDED, *CHANGED, ((2, 4), (2, 5)), ((0, 4, 4), (1, 4, 4))]


def pair_of(keys: ThresholdedKeys, first: Counts, second: Counts, reach: int = REACH) -> LawPair:
    return LawPair(
        first=keys_law(keys, first, reach=reach), second=keys_law(keys, second, reach=reach)
    )


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=str)
def test_laplace_loss_holds_for_every_pair(first: Counts, second: Counts):
    loss = LAPLACE.loss(moved(first, second))
    assert verify(pair_of(LAPLACE, first, second), loss).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_laplace_delta_is_attained_by_a_unit_alone_in_all_its_groups(groups: int):
    loss = LAPLACE.loss(Contribution(l0=groups, linf=1))
    pair = pair_of(LAPLACE, (0,) * groups, (1,) * groups)
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS
    assert verify(pair, scaled(loss, ALMOST)).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize("groups", [1, 2])
def test_laplace_epsilon_is_attained_by_keys_that_stay(groups: int):
    loss: Any = LAPLACE.loss(Contribution(l0=groups, linf=1))
    pair = pair_of(LAPLACE, (6,) * groups, (7,) * groups, 9)
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS
    assert verify(pair, Approximate(loss.epsilon * ALMOST, 0)).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize("largest", [2, 3])
def test_counts_that_move_by_more_are_covered(largest: int):
    """If a unit may count several times, its own keys count as much."""
    loss = LAPLACE.loss(Contribution(l0=2, linf=largest))
    pair = pair_of(LAPLACE, (0, 0), (largest, largest))
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS
    assert verify(pair, scaled(loss, ALMOST)).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if len(p[0]) < 3], ids=str)
def test_gaussian_pairs_split_as_proved(first: Counts, second: Counts):
    """A key of one's own is shown with at most δ; given that none is, zCDP is not refuted."""
    reach = 30
    loss = GAUSSIAN.loss(moved(first, second))
    assert isinstance(loss, ApproximateZcdp)
    for here, there in ((first, second), (second, first)):
        kept = Fraction(1)
        for own, other in zip(here, there, strict=True):
            if other == 0 and own:
                law = enclosed(one_key(GAUSSIAN, own, reach))
                kept *= law.masses[None][0]
        assert 1 - kept - Fraction(1, 10**20) <= loss.delta
    both = [i for i in range(len(first)) if first[i] and second[i]]
    if both:
        common = pair_of(
            GAUSSIAN, tuple(first[i] for i in both), tuple(second[i] for i in both), reach
        )
        assert verify(common, Zcdp(rho=loss.rho)).answer is not VerdictAnswer.BROKEN


@pytest.mark.parametrize("epsilon", ["1/2", "1", "2"])
@pytest.mark.parametrize(
    ("first", "second"), [((0, 0), (1, 1)), ((0, 4), (1, 5)), ((1, 0), (0, 1))]
)
def test_gaussian_account_holds(first: Counts, second: Counts, epsilon: str):
    """The (ε, δ) that the accountant derives from the event holds exactly."""
    event = GAUSSIAN.event(moved(first, second))
    loss = account(event, epsilon=epsilon).loss
    assert verify(pair_of(GAUSSIAN, first, second, 30), loss).answer is VerdictAnswer.HOLDS


def test_gaussian_delta_is_that_of_the_unit_alone():
    loss = GAUSSIAN.loss(Contribution(l0=3, linf=1))
    mass = enclosed(one_key(GAUSSIAN, 1, 30)).masses[None]
    assert (
        1 - mass[1] ** 3 - Fraction(1, 10**20)
        <= loss.delta
        <= 1 - mass[0] ** 3 + Fraction(1, 10**20)
    )


EPSILONS = st.fractions(min_value="1/20", max_value=6, max_denominator=100)


@settings(max_examples=40)
@given(epsilon=EPSILONS, exponent=st.integers(1, 15), groups=st.integers(1, 1000))
def test_laplace_threshold_is_the_smallest(epsilon: Fraction, exponent: int, groups: int):
    d_in, target = Contribution(l0=groups, linf=1), Approximate(epsilon, Fraction(1, 10**exponent))
    keys: Any = ThresholdedKeys.calibrate(d_in=d_in, loss=target)
    assert keys.loss(d_in) <= target
    assert keys.loss(d_in).epsilon == epsilon
    if keys.threshold > 1:
        low, _ = laplace_tail_bounds(keys.noise.scale, keys.threshold - 2)
        assert (1 - low) ** groups < 1 - target.delta, "one below is certainly not enough"


@settings(max_examples=20)
@given(rho=EPSILONS, exponent=st.integers(1, 12), groups=st.integers(1, 50))
def test_gaussian_threshold_is_the_smallest(rho: Fraction, exponent: int, groups: int):
    d_in, delta = Contribution(l0=groups, linf=1), Fraction(1, 10**exponent)
    target = ApproximateZcdp(rho=rho, delta=delta)
    keys: Any = ThresholdedKeys.calibrate(d_in=d_in, loss=target)
    assert keys.loss(d_in) <= target
    if keys.threshold > 1:
        low, _ = close_gaussian_tail(keys.noise.sigma_squared, keys.threshold - 2)
        assert (1 - low) ** groups < 1 - delta


@pytest.mark.parametrize(
    ("epsilon", "exponent", "groups"), [("1", 6, 1), ("1/2", 9, 4), ("1/10", 5, 20), ("3", 8, 2)]
)
def test_close_to_the_formula_for_continuous_noise(epsilon: str, exponent: int, groups: int):
    """1 − (l0/ε) ln(2 − 2(1 − δ)^(1/l0)): the published threshold, for the continuous law."""
    d_in = Contribution(l0=groups, linf=1)
    keys = ThresholdedKeys.calibrate(
        d_in=d_in, loss=Approximate(epsilon, Fraction(1, 10**exponent))
    )
    scale = groups / float(Fraction(epsilon))
    published = 1 - scale * math.log(-2 * math.expm1(math.log1p(-(10.0**-exponent)) / groups))
    assert published - 1 < keys.threshold < published + 2


def test_any_of_tiny_chances_needs_no_long_numbers(monkeypatch):
    """Powers of numbers of 100,000 digits on the old code: minutes for a far threshold."""
    monkeypatch.setattr(approximate, "short_down", None)
    chance = Fraction(1, 2**300_000)
    assert any_of(chance, 10**6) == 10**6 * chance


def test_any_of_very_many_likely_chances_is_1():
    """2 to the power of -10**12 on the old code, bit by bit: no machine has room for that."""
    assert any_of(Fraction(1, 2), 10**12) == 1
    assert any_of(Fraction(1, 10**6), 10**9) < 1 + Fraction(1, 2**90)


@given(count=st.integers(0, 400), chance=st.fractions(0, 1, max_denominator=10**4))
def test_any_of_rounds_up_and_closely(count: int, chance: Fraction):
    exact = 1 - (1 - chance) ** count if count else Fraction(0)
    found = any_of(chance, count) if count else Fraction(0)
    assert exact <= found <= exact * (1 + Fraction(1, 2**80))


def test_any_of_is_close_for_tiny_chances_and_many_groups():
    chance, count = Fraction(1, 10**40), 10**6
    union = count * chance
    assert union * (1 - union) <= any_of(chance, count) <= union * (1 + Fraction(1, 2**80))


@pytest.mark.parametrize("start", [-30, -1, 0, 1, 2, 40, 2000])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(50)])
def test_laplace_tail_is_enclosed_closely(scale: Fraction, start: int):
    low, high = laplace_tail_bounds(scale, start)
    assert 0 < low <= high < 1
    assert high - low <= high / 2**80
    decay = math.exp(-1 / float(scale))
    near = float(start) / float(scale)
    right = math.exp(-near) / (1 + decay) if start > 0 else 1 - decay * math.exp(near) / (1 + decay)
    assert float(low) == pytest.approx(right, rel=1e-9)


def test_events_compose_and_are_remembered():
    d_in = Contribution(l0=2, linf=1)
    for keys in (LAPLACE, GAUSSIAN):
        event = keys.event(d_in)
        assert event_from_json(event.to_json()) == event
        twice = account(event * 2, delta="0.3").loss
        assert isinstance(twice, Approximate)
        assert twice.delta == Fraction(3, 10)
    once, own = account(LAPLACE.event(d_in), delta="0.1").loss, LAPLACE.loss(d_in)
    assert isinstance(once, Approximate)
    assert isinstance(own, Approximate)
    assert once.epsilon <= own.epsilon


def test_pure_accounts_refuse():
    with pytest.raises(Unsupported):
        account(LAPLACE.event(Contribution(l0=1, linf=1)), delta=0)


def test_what_moves_nothing_costs_nothing():
    for keys in (LAPLACE, GAUSSIAN):
        assert set(keys.loss(Contribution(l1=0)).to_json().values()) <= {
            "0",
            "approximate",
            "approximate_zcdp",
        }


def test_loss_grows_with_the_groups():
    for keys in (LAPLACE, GAUSSIAN):
        losses: list[Any] = [keys.loss(Contribution(l0=groups, linf=1)) for groups in range(5)]
        assert all(less <= more for less, more in itertools.pairwise(losses))


# ---------------------------------------------------------------- what comes out


@pytest.mark.parametrize("keys", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_released_counts_have_the_verified_law(keys: ThresholdedKeys, rng):
    level = alpha("stability/keys", parts=4)
    samples = 20_000
    shown = keys.release(dict.fromkeys(range(samples), 4), rng)
    masses = enclosed(one_key(keys, 4, 30)).masses
    cells = {value: masses[value][0] for value in range(keys.threshold, keys.threshold + 4)}
    drawn = np.array([shown.get(key, -1) for key in range(samples)])
    assert cells_p_value(drawn, cells | {-1: masses[None][0]}) > level
    wrong = one_key(keys, 3, 30)
    rest = enclosed(wrong).masses[None][0]
    assert binomial_p_value(int((drawn == -1).sum()), samples, rest) < level, "it has power"


def test_order_of_the_keys_has_no_influence(rng):
    keys = ThresholdedKeys(noise=DiscreteLaplace(scale="1/100"), threshold=2)
    counts = {("b", None): 9, ("a", 3): 9, ("a", None): 9, ("c", -1): 1, ("a", -3): 9}
    expected = [("a", None), ("a", -3), ("a", 3), ("b", None)]
    assert list(keys.release(counts, rng)) == expected
    assert list(keys.release(dict(reversed(counts.items())), rng)) == expected


def test_every_kind_of_key_has_a_place():
    day = datetime.date(2024, 5, 1)
    mixed = ["b", b"a", None, True, day, np.int64(-2), Fraction(1, 2), Decimal("0.25"), 7, "a"]
    ordered = in_key_order(mixed)
    assert ordered == in_key_order(reversed(mixed))
    assert ordered[0] is None
    numbers = [key for key in ordered if isinstance(key, int | Fraction | Decimal | np.integer)]
    assert [float(key) for key in numbers if key is not True] == [-2, 0.25, 0.5, 7]


def test_absent_keys_draw_nothing_and_are_never_shown(rng):
    keys = ThresholdedKeys(noise=DiscreteLaplace(scale=100), threshold=1)
    for _ in range(50):
        assert set(keys.release({"present": 200, "absent": 0}, rng)) <= {"present"}
    assert keys.release({}, rng) == {}
    assert keys.release_probability(0) == 0


@pytest.mark.parametrize("keys", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_units_needed_is_the_smallest(keys: ThresholdedKeys):
    for probability in ("0.5", "0.95", "0.999"):
        needed = keys.units_needed(probability)
        enough, before = keys.release_probability(needed), keys.release_probability(needed - 1)
        assert before < Fraction(probability) <= enough
        exact = 1 - enclosed(one_key(keys, needed, 40)).masses[None][1]
        assert abs(exact - enough) < Fraction(1, 10**12)


@pytest.mark.parametrize("metric", list(Metric))
def test_histogram_radius_holds_for_all_cells(metric: Metric, rng):
    """Exactly: no cell, shown or not, is further off than the radius more often than stated."""
    histogram: Any = stable_histogram(loss=Approximate(2, "1e-3"), metric=metric)
    cells, beta = 50, Fraction(1, 10)
    radius = histogram.radius(beta, present=cells)
    largest_error = radius - histogram.threshold + 1
    assert histogram.noise.error_quantile(beta / cells) >= largest_error
    worst = Fraction(0)
    for count in range(1, int(radius) + 3):
        off = Fraction(0)
        if count > radius:
            off += 1 - histogram.release_probability(count)
        low = max(histogram.threshold - count, int(radius) + 1)
        off += laplace_tail_bounds(histogram.noise.scale, low)[1]
        worst = max(worst, off)
    assert 1 - (1 - worst) ** cells <= beta


def test_histogram_error_does_not_grow_with_the_domain():
    """The cells that are empty, however many, are not touched."""
    loss = Approximate(1, "1e-6")
    assert stable_histogram(loss=loss, metric=Metric.ADD_REMOVE).radius("0.05", present=1000) == 24


# ---------------------------------------------------------------- bad input

SECRET = 4_611_686_018_427_391_234


class SilentRng:
    def words(self, count: int) -> np.ndarray:
        raise AssertionError("noise was drawn")


@pytest.mark.parametrize(
    "counts", [{"k": -SECRET}, {"k": SECRET}, {"k": 2**80}, {"k": 0.5}, {"k": True}, {"k": "9"}]
)
def test_bad_counts_are_refused_and_not_quoted(counts):
    with pytest.raises(InvalidArgument) as caught:
        LAPLACE.release(counts, SilentRng())
    assert str(SECRET) not in str(caught.value)


def test_keys_without_an_order_are_refused_and_not_quoted(rng):
    for key in (0.125, (1, 0.125), object(), math.nan):
        with pytest.raises(Unsupported) as caught:
            in_key_order([key])
        assert "0.125" not in str(caught.value)


@pytest.mark.parametrize("threshold", [0, -1, "1/2", None, math.nan])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises(InvalidArgument):
        ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=threshold)


@pytest.mark.parametrize(
    "loss", [Approximate(1, 0), Approximate(0, "0.1"), ApproximateZcdp(rho=1, delta=0)]
)
def test_no_threshold_fits_a_loss_of_zero(loss):
    with pytest.raises(InvalidArgument):
        ThresholdedKeys.calibrate(d_in=Contribution(l0=1, linf=1), loss=loss)


def test_other_measures_and_unknown_norms_are_refused():
    with pytest.raises(Unsupported):
        ThresholdedKeys.calibrate(d_in=Contribution(l1=1), loss=Pure(1))  # type: ignore[arg-type]
    with pytest.raises(Unsupported):
        LAPLACE.loss(Contribution(linf=1))
    for bad in (0, 1, "2"):
        with pytest.raises(InvalidArgument):
            LAPLACE.units_needed(bad)
    with pytest.raises(InvalidArgument):
        LAPLACE.release_probability(-1)
    with pytest.raises(InvalidArgument):
        LAPLACE.radius("0.1", present=0)
