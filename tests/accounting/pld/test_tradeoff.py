"""Trade-off functions: closed forms lie between the curves, and comparisons are right."""

import math
from fractions import Fraction

import pytest
from scipy import special

from discreet.accounting import tradeoff
from discreet.accounting.pld.counted_events import Uses, count_events
from discreet.accounting.pld.enclosure import _directions
from discreet.accounting.tradeoff import Comparison, TradeOff, trade_off
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import PoissonSampledEvent
from discreet.core.stated_event import (
    ApproximateEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
)

EPSILONS = tuple(Fraction(k, 10) for k in range(41))


def test_gaussian_is_between():
    curve = trade_off(GaussianEvent(scale=1))
    for alpha, low, high in curve.points(41):
        truth = special.ndtr(-special.ndtri(alpha) - 1) if 0 < alpha < 1 else 1 - alpha
        assert low - 1e-12 <= truth <= high + 1e-12
        assert high - low < 1e-3


@pytest.mark.parametrize(
    "event",
    [
        LaplaceEvent(scale=1),
        GaussianEvent(scale=10) * 100 + LaplaceEvent(scale=2),
        PoissonSampledEvent(inner=GaussianEvent(scale=1), rate="1/10") * 20,
    ],
)
def test_curves_are_within_a_thousandth(event):
    """Up to 0.04 apart on the old code."""
    for alpha, low, high in trade_off(event).points(101):
        assert 0 <= low <= high <= 1 - alpha
        assert high - low < 1e-3


@pytest.mark.parametrize(("told", "count"), [("0.1", 1), ("0.001", 20), ("0.9999", 1), ("0.5", 40)])
def test_what_is_told_with_certainty_is_a_corner_of_the_curve(told: str, count: int):
    """Refused on the old code, which looked for the ε of a δ that no ε has."""
    curve = trade_off(ApproximateEvent(epsilon=0, delta=told) * count)
    hidden = (1 - float(told)) ** count
    for alpha, low, high in curve.points(21):
        truth = max(0.0, hidden - alpha)
        assert low - 1e-12 <= truth <= high + 1e-8
        assert high - low < 1e-3
    both = trade_off(ApproximateEvent(epsilon=1, delta=told))
    rest = 1 - float(told)
    for alpha, low, high in both.points(21):
        truth = max(0.0, rest - math.e * alpha, (rest - alpha) / math.e)
        assert low - 1e-12 <= truth <= high + 1e-8
        assert high - low < 1e-3


def test_a_curve_that_is_not_known_well_is_not_looked_at_for_ever(monkeypatch):
    """Six times as many points each time on the old code, and minutes; twice is what helps."""
    looks = []
    once = tradeoff._at_once

    def counted(uses, epsilons):
        looks.append(epsilons)
        return once(uses, epsilons)

    monkeypatch.setattr(tradeoff, "_at_once", counted)
    inner = LaplaceEvent(scale=1)
    event = PoissonSampledEvent(inner=inner, rate="1/10", metric=Metric.CHANGE_ONE) * 10
    curve = trade_off(event)
    assert len(looks) <= 3
    assert len(curve.epsilons) < 300
    assert all(low <= high for _, low, high in curve.points(21))


def responses(count: int, epsilon: float, alpha: float) -> float:
    """The least misses of a test of repeated responses: reject the largest losses first."""
    lie = 1 / (1 + math.exp(epsilon))
    misses = 1.0
    for lies in range(count + 1):
        rejected = math.comb(count, lies) * (1 - lie) ** lies * lie ** (count - lies)
        gain = math.comb(count, lies) * lie**lies * (1 - lie) ** (count - lies)
        share = min(1.0, alpha / rejected)
        misses, alpha = misses - share * gain, alpha - share * rejected
        if share < 1.0:
            break
    return misses


def test_responses_are_between_by_one_law_of_the_sum(monkeypatch):
    """Each ε had a law of its own before, which took seconds."""
    monkeypatch.setattr(tradeoff, "pld_delta", None)
    curve = trade_off(PureEvent(epsilon="1/2") * 12)
    for alpha, low, high in curve.points(41):
        truth = responses(12, 0.5, alpha)
        assert low - 1e-12 <= truth <= high + 1e-12
        assert high - low < 1e-3
    assert not curve.lower("1/40") <= responses(12, 0.55, 1 / 40) <= curve.upper("1/40")


def test_a_law_with_a_long_tail_has_a_short_window():
    """The window of this law was 2,400 wide, for a deviation of a half."""
    event = PoissonSampledEvent(inner=GaussianEvent(scale="0.7"), rate="0.001") * 10_000
    (composition, _) = _directions(Uses.of(count_events(event)), 1e-60)
    low, high = composition.on_grid(2**-10, 1e-15).upper(0.0).law.ends
    assert high - low < 20


@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent(scale=1),
        LaplaceEvent(scale=5) * 30,
        PoissonSampledEvent(inner=GaussianEvent(scale=1), rate="1/100") * 500,
    ],
)
def test_without_false_alarms_nearly_everything_is_missed(event):
    curve = trade_off(event)
    assert 1 - 1e-6 < curve.lower(0) <= curve.upper(0) <= 1
    assert 0 <= curve.upper("1e-6") - curve.lower("1e-6") < 1e-4


def test_a_loose_point_is_mended_by_its_neighbours():
    """δ is convex: if nothing is known at one ε, the others still bound it there."""
    curve = trade_off(GaussianEvent(scale=1), epsilons=EPSILONS)
    lows = tuple(Fraction(0) if place == 9 else low for place, low in enumerate(curve.lows))
    loose = TradeOff(curve.epsilons, curve.highs, lows)
    for alpha, _, high in loose.points(21):
        truth = special.ndtr(-special.ndtri(alpha) - 1) if 0 < alpha < 1 else 1 - alpha
        assert truth - 1e-12 <= high <= curve.upper(Fraction(alpha)) + 0.01


def test_pure_is_between():
    curve = trade_off(PureEvent(epsilon=1), epsilons=EPSILONS)
    for alpha, low, high in curve.points(21):
        truth = max(0.0, 1 - math.e * alpha, math.exp(-1) * (1 - alpha))
        assert low - 1e-6 <= truth <= high + 1e-12


@pytest.mark.parametrize("epsilon", [36, 40, 100, 600])
def test_a_loss_that_tells_nearly_everything_still_has_a_curve(epsilon):
    """Its δ rounds to 1 where floats are, and its variance to 0."""
    event = PureEvent(epsilon)
    for curve in (trade_off(event), trade_off(event, epsilons=(0, 1, epsilon))):
        truth = math.exp(-epsilon) * 0.95
        assert curve.lower("0.05") <= truth <= curve.upper("0.05") <= truth + 2e-4
        assert curve.lower(0) >= 1 - 1e-3 or curve.epsilons[1] == 1


def test_laplace_is_between():
    curve = trade_off(LaplaceEvent(scale=1), epsilons=EPSILONS)
    for alpha, low, high in curve.points(21):
        if alpha < math.exp(-1) / 2:
            truth = 1 - math.e * alpha
        elif alpha <= 0.5:
            truth = math.exp(-1) / (4 * alpha)
        else:
            truth = math.exp(-1) * (1 - alpha)
        assert low - 1e-3 <= truth <= high + 1e-12


def test_comparisons():
    one, two = (trade_off(GaussianEvent(scale=s), epsilons=EPSILONS) for s in (2, 1))
    assert one.compare(two) is Comparison.HARDER
    assert two.compare(one) is Comparison.EASIER
    laplace = trade_off(LaplaceEvent(scale="0.7"), epsilons=EPSILONS)
    assert laplace.compare(one) is Comparison.CROSSING
    assert one.compare(one) is not Comparison.CROSSING


def test_asymmetric_events_have_a_curve():
    event = PoissonSampledEvent(inner=GaussianEvent(scale=1), rate="1/10")
    curve = trade_off([event] * 5, epsilons=(0, "0.5", 1, 2, 4))
    assert all(low <= high for _, low, high in curve.points(11))


def test_refusals():
    curve = TradeOff((Fraction(0),), (Fraction(1, 2),), (Fraction(0),))
    with pytest.raises(InvalidArgument):
        curve.lower(2)
    with pytest.raises(InvalidArgument):
        curve.points(1)
    with pytest.raises(Unsupported):
        curve.compare(TradeOff((Fraction(1),), (Fraction(1, 2),), (Fraction(0),)))
    with pytest.raises(InvalidArgument):
        trade_off(GaussianEvent(scale=1), epsilons=(1, 2))


@pytest.mark.parametrize("losses", [("1/7", "3", "3"), ("1/3", "5/2", "4")])
def test_bends_that_lie_on_no_grid_are_found(losses):
    """δ of a few responses bends where their losses add up, also where few alarms are false."""
    curve = trade_off([PureEvent(epsilon=epsilon) for epsilon in losses])
    rates = [Fraction(k, 10**5) for k in range(1, 2_000, 41)]
    assert max(curve.upper(rate) - curve.lower(rate) for rate in rates) < 1e-3
