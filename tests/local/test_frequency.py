"""Schemes for shares: supports, exact means and variances, and intervals."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.hadamard_sketch import HadamardSketch
from discreet.local.frequency.share_estimate import estimate_shares
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.support.local.device_law import device_law

FREQUENCY = [case for case in CASES if isinstance(case.scheme, FrequencyScheme)]


def scheme_of(case: Case) -> FrequencyScheme:
    assert isinstance(case.scheme, FrequencyScheme)
    return case.scheme


@pytest.mark.parametrize("case", FREQUENCY, ids=str)
def test_supports_are_exactly_as_likely_as_is_said(case: Case):
    """By enumeration: which values a report supports, given what its person holds."""
    scheme = scheme_of(case)
    for held, asked in itertools.product(case.values, repeat=2):
        likely = Fraction(0)
        for report, weight in device_law(scheme.recipe(), held).items():
            row = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
            supported = int(scheme.supports(scheme.tally(row))[asked])
            assert supported in (0, 1)
            likely += weight * supported
        assert likely == (scheme.held if held == asked else scheme.other)


COINS = [case for case in FREQUENCY if not isinstance(case.scheme, HadamardSketch)]
"""Those whose estimates are random by the devices' coins alone, and not by maps besides."""


@pytest.mark.parametrize("case", COINS, ids=str)
def test_the_variance_is_that_of_the_estimate(case: Case):
    """By enumeration: mean and variance of the share that one report gives for one value."""
    scheme, asked = scheme_of(case), case.values[-1]
    for share in (0, 1):
        first, second = 0.0, 0.0
        for report, weight in device_law(scheme.recipe(), case.values[-1 if share else 0]).items():
            row = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
            told = float(scheme.estimate(row).shares[asked])
            first, second = first + float(weight) * told, second + float(weight) * told**2
        assert first == pytest.approx(share, abs=1e-9)
        claimed = float(scheme.variance(10, share=Fraction(share)))
        assert (second - first**2) / 10 == pytest.approx(claimed, rel=1e-9)


def covered(people: int, holding: int, held: Fraction, other: Fraction) -> float:
    """Exactly: people who hold a value and those who do not give two binomial laws."""
    first = stats.binom.pmf(np.arange(holding + 1), holding, float(held))
    rest = people - holding
    second = stats.binom.pmf(np.arange(rest + 1), rest, float(other))
    estimate = estimate_shares(np.arange(people + 1), people, held=held, other=other)
    share = holding / people
    covers = (estimate.low <= share) & (share <= estimate.high)
    return float(np.convolve(first, second)[covers].sum())


@pytest.mark.parametrize("holding", [0, 1, 7, 30, 60])
@pytest.mark.parametrize(
    "other", [Fraction(27, 100), Fraction(1, 1000), Fraction(72, 100)], ids=str
)
def test_intervals_cover(holding: int, other: Fraction):
    assert covered(people=60, holding=holding, held=Fraction(73, 100), other=other) >= 0.95


def test_intervals_are_no_wider_than_they_must_be():
    """They miss less often than 1 in 20, and not never: they are not much too wide."""
    missed = 1 - covered(people=5000, holding=1000, held=Fraction(1, 2), other=Fraction(1, 4))
    assert 0.03 < missed <= 0.05


def test_consistent_shares_are_the_projection():
    estimate = estimate_shares(
        np.array([900, 300, 10]), 1000, held=Fraction(3, 4), other=Fraction(1, 4)
    )
    shares = estimate.consistent()
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    for other in (np.array([1.0, 0, 0]), np.array([0.9, 0.1, 0]), np.ones(3) / 3):
        gap = np.square(shares - estimate.shares).sum()
        assert gap <= np.square(other - estimate.shares).sum() + 1e-12
