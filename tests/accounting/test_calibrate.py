"""Calibration: within the target, and the next smaller scale is not."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting import calibration as calibrate_module
from discreet.accounting.accounting_question import account
from discreet.accounting.calibration import DIGITS, calibrate, most_uses
from discreet.accounting.pld.parameters import Target
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event, PoissonSampledEvent
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.stated_event import (
    BoundedRangeEvent,
    BoundedZcdpEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
)

TARGETS = [Approximate(1, "1e-6"), Approximate("0.1", "1e-9"), Approximate(8, "1e-5")]


def gaussians(count):
    return lambda scale: GaussianEvent(scale=scale) * count


def mixed(scale):
    """A workload: laplace noise of twice the scale beside gaussian noise, many times."""
    return GaussianEvent(scale=scale) * 30 + LaplaceEvent(scale=2 * scale) * 20


def next_smaller(scale: Fraction) -> Fraction:
    digits = scale
    power = 0
    while digits >= 10**DIGITS:
        digits, power = digits / 10, power + 1
    while digits < 10 ** (DIGITS - 1):
        digits, power = digits * 10, power - 1
    return (digits - 1) * Fraction(10) ** power


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("make", [gaussians(1), gaussians(100), mixed])
def test_the_least_scale(make, target):
    """Certified at that ε, and not with the next smaller scale; the usual account says as much."""
    found = calibrate(make, target=target)
    wanted = Target(target.epsilon, target.delta)
    assert found.result.loss <= target
    assert wanted.excess(make(found.scale)) <= 0 < wanted.excess(make(next_smaller(found.scale)))
    near = account(make(found.scale * Fraction("1.002")), delta=target.delta)
    assert near.loss <= target


def training(scale):
    return PoissonSampledEvent(inner=GaussianEvent(scale=scale), rate="0.01") * 10_000


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (training, "1.56498"),
        (lambda scale: LaplaceEvent(scale=scale) * 100, "41.4875"),
        (lambda scale: BoundedRangeEvent(epsilon=1 / scale) * 20, "10.1314"),
    ],
)
def test_one_door_is_as_good_as_asking_the_accountant_at_each_scale(make, known):
    """The first took 13 seconds that way; the last is better by another theorem than a grid's."""
    target = Approximate(3, "1e-5") if make is training else Approximate(1, "1e-6")
    found = calibrate(make, target=target)
    assert abs(found.scale / Fraction(known) - 1) < Fraction(1, 50_000)
    assert found.result.loss <= target


def test_a_scale_that_the_accountant_would_better_is_not_kept(monkeypatch):
    """A broken twin: a quick search that stops too early is noticed and not used."""
    monkeypatch.setattr(calibrate_module, "least_scale", lambda make, **wanted: Fraction(50))
    found = calibrate(gaussians(100), target=Approximate(1, "1e-6"))
    assert abs(found.scale - Fraction("42.2468")) < Fraction(1, 10_000)


def many_groups(scale):
    return DiscreteGaussianEvent(200 * scale**2, 200, entries=200, largest=1)


@pytest.mark.parametrize("target", [Approximate("0.001", "1e-12")])
def test_a_better_method_is_asked_alone_and_the_whole_accountant_only_at_the_end(
    monkeypatch, target
):
    """At each of thirty scales it took 27 seconds, and found the same."""
    usual, asked = account, list[str]()

    def noting(event, *, delta, measure="auto"):
        asked.append(measure)
        return usual(event, delta=delta, measure=measure)

    monkeypatch.setattr(calibrate_module, "account", noting)
    found = calibrate(many_groups, target=target)
    assert asked.count("auto") <= 3
    assert set(asked) == {"auto", "gaussian"}
    assert found.result.loss <= target
    assert usual(many_groups(found.scale), delta=target.delta).loss <= target
    assert not usual(many_groups(next_smaller(found.scale)), delta=target.delta).loss <= target


@pytest.mark.parametrize("method", ["zcdp", "discrete"])
def test_a_method_that_another_one_betters_is_not_kept(method):
    """A broken twin: the scale of a method that is not the best is found out by the last look."""
    target = Approximate("0.05", "1e-12")
    assert calibrate_module._by_one_method(many_groups, target, method) is None


def test_most_uses():
    assert most_uses(LaplaceEvent(scale=10), target=Pure(1)) == 10
    assert most_uses(GaussianEvent(scale=10) * 2, target=Zcdp(rho="1/10")) == 10
    target = Approximate(3, "1e-5")
    step = PoissonSampledEvent(inner=GaussianEvent(scale="1.56499"), rate="0.01")
    assert most_uses(step, target=target) == 10_000
    assert most_uses(GaussianEvent(scale="1/10"), target=target) == 0
    for nothing in (Pure(1), target):
        with pytest.raises(Unsupported, match="cost nothing"):
            most_uses(PureEvent(epsilon=0), target=nothing)


@pytest.mark.parametrize(
    ("event", "counted"),
    [
        # More than privacy-loss distributions are counted with: μ² of the target, over that of one.
        (GaussianEvent(scale=20_000), 22_411_585),
        (DiscreteGaussianEvent(sigma_squared=10**12, distance_squared=1), 56_028_963_825),
        # Where a Rényi curve knows more than they do.
        (BoundedZcdpEvent(rho="0.0001", order=20), 240),
    ],
)
def test_one_use_more_is_not_within_the_target(event: Event, counted: int):
    target = Approximate(1, "1e-6")
    found = most_uses(event, target=target)
    assert abs(found - counted) <= counted // 10**8
    assert account(event * found, delta=target.delta).epsilon <= 1
    assert account(event * (found + 1), delta=target.delta).epsilon > 1
    assert most_uses(event * 2 * 5, target=target) == found // 10


def test_what_is_calibrated_is_a_function_of_the_scale():
    wrong: Any = 5
    with pytest.raises(InvalidArgument, match="such as GaussianEvent"):
        calibrate(wrong, target=Pure(1))


def test_the_known_gaussian():
    found = calibrate(gaussians(1), target=Approximate(1, "1e-6"))
    assert abs(found.scale - Fraction("4.2247")) < Fraction(1, 10_000)


def test_pure_and_zcdp_targets_are_met_exactly():
    pure = calibrate(lambda s: DiscreteLaplaceEvent(scale=s, distance=3), target=Pure("0.5"))
    assert pure.scale == 6
    assert pure.result.loss == Pure("0.5")
    zcdp = calibrate(gaussians(2), target=Zcdp(rho="1/100"))
    assert zcdp.scale == 10


def test_laplace_without_delta_needs_scale_one():
    assert calibrate(lambda s: LaplaceEvent(scale=s), target=Pure(1)).scale == 1


@pytest.mark.parametrize("epsilon", ["1e15", "1e20"])
def test_targets_that_nearly_no_noise_meets(epsilon):
    """For a Gaussian ρ is about ε there, so the scale is about the square root of 1/(2ε)."""
    target = Approximate(epsilon, "1e-6")
    found = calibrate(GaussianEvent, target=target)
    assert found.result.loss <= target
    assert float(found.scale) == pytest.approx((2 * float(epsilon)) ** -0.5, rel=1e-4)


def test_impossible_targets():
    with pytest.raises(InvalidArgument, match="above 0"):
        calibrate(gaussians(1), target=Approximate(0, 0))
    with pytest.raises(Unsupported, match="No scale"):
        calibrate(gaussians(1), target=Pure(1))
    with pytest.raises(InvalidArgument):
        calibrate(gaussians(1), target=ApproximateZcdp(1, "1e-6"))
