"""Calibration: within the target, and the next smaller scale is not."""

from fractions import Fraction

import pytest

from discreet.accounting.account import account
from discreet.accounting.calibrate import DIGITS, calibrate
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import DiscreteLaplaceEvent
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.stated_event import GaussianEvent, LaplaceEvent

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
    found = calibrate(make, target=target)
    assert account(make(found.scale), delta=target.delta).loss <= target
    below = account(make(next_smaller(found.scale)), delta=target.delta).loss
    assert not below <= target


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


def test_impossible_targets():
    with pytest.raises(InvalidArgument, match="above 0"):
        calibrate(gaussians(1), target=Approximate(0, 0))
    with pytest.raises(Unsupported, match="No scale"):
        calibrate(gaussians(1), target=Pure(1))
    with pytest.raises(InvalidArgument):
        calibrate(gaussians(1), target=ApproximateZcdp(1, "1e-6"))
