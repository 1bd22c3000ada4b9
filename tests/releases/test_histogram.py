"""Histograms of units: bins, bounds that hold as often as they say, and what limits leave out."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.core.errors import Unsupported
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile
from discreet.releases.histogram import Histogram, count_bins
from tests.support.statistics.exact_tests import alpha, binomial_p_value

MOST = 400


def crowd(rng: np.random.Generator) -> np.ndarray:
    """Return how many rows each of some units has: a heavy tail."""
    return np.minimum(np.ceil(rng.pareto(1.1, 4000) * 5).astype(int) + 1, MOST)


def true_units(rows: np.ndarray, ends: tuple[int, ...]) -> np.ndarray:
    found = np.searchsorted(np.array(ends), rows, side="left")
    return np.bincount(found, minlength=len(ends) + 1)


def noisy(true: np.ndarray, scale: Fraction, rng: np.random.Generator) -> tuple[int, ...]:
    p = -math.expm1(-1 / float(scale))
    noise = rng.geometric(p, len(true)) - rng.geometric(p, len(true))
    return tuple((true + noise).tolist())


@pytest.mark.parametrize("most", [1, 2, 9, 10, 11, 57, 10_000])
def test_every_number_is_in_one_bin(most):
    ends = count_bins(most)
    assert ends[-1] == most
    assert list(ends) == sorted(set(ends))
    assert all(after <= max(10, math.ceil(before * 1.2)) for before, after in pairwise(ends))
    assert ends[:10] == tuple(range(1, min(most, 10) + 1))


def test_without_noise_bounds_hold_the_truth_and_are_as_wide_as_a_bin():
    rows = crowd(np.random.default_rng(5))
    ends = count_bins(MOST)
    exact = Histogram(
        ends=ends,
        values=tuple(true_units(rows, ends).tolist()),
        noise=DiscreteLaplace(scale=Fraction(1, 100)),
        most=MOST,
    )
    for limit in (0, 1, 5, 10, 33, 399):
        low, high = exact.amount_beyond(limit, 1e-3)
        truth = int(np.maximum(rows - limit, 0).sum())
        assert high is not None
        assert low <= truth <= high <= 1.25 * truth + 1.25 * limit * int((rows > limit).sum()) + 900
        few, many = exact.number_beyond(limit, 1e-3)
        assert few - 1 <= int((rows > limit).sum()) <= many


BETA = 0.05
RUNS = 400


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(40), Fraction(2, 7)])
def test_bounds_fail_no_more_often_than_they_say(scale):
    """Each of the five bounds is tried on noise of its own; power: without a margin it fails."""
    share = alpha("histogram/bounds", parts=15)
    rng = np.random.default_rng(11)
    rows, ends = crowd(rng), count_bins(MOST)
    true, failures, bare = true_units(rows, ends), np.zeros(5, dtype=int), 0
    largest = np.sort(rows)[::-1]
    for _ in range(RUNS):
        found = Histogram(
            ends=ends,
            values=noisy(true, scale, rng),
            noise=DiscreteLaplace(scale=scale),
            most=MOST,
        )
        limit = int(rng.integers(1, 200))
        truth, cut = int(np.maximum(rows - limit, 0).sum()), int((rows > limit).sum())
        low, high = found.amount_beyond(limit, BETA)
        few, many = found.number_beyond(limit, BETA)
        top = found.amount_of_largest(100, BETA)
        assert high is not None
        assert top is not None
        failures += [truth < low, truth > high, cut < few, cut > many, largest[:100].sum() > top]
        ones = [int(start > 5) for start in found.starts]
        bare += sum(w * v for w, v in zip(ones, found.values, strict=True)) < int((rows > 5).sum())
    for failed in failures:
        assert failed <= BETA * RUNS or binomial_p_value(int(failed), RUNS, BETA) > share
    assert binomial_p_value(int(bare), RUNS, BETA) < share or scale < 1


def test_a_margin_is_near_the_exact_quantile():
    scale, weights = Fraction(10), [1, 1, 1, 1]
    found = Histogram(ends=(1, 2, 3), values=(0,) * 4, noise=DiscreteLaplace(scale=scale))
    p = math.exp(-1 / 10)
    law = np.array([(1 - p) / (1 + p) * p ** abs(k) for k in range(-900, 901)])
    whole = law
    for _ in range(3):
        whole = np.convolve(whole, law)
    tail = 1 - np.cumsum(whole)
    exact = int(np.argmax(tail <= 0.05)) - 3600
    assert exact <= found.margin(weights, 0.05) <= 1.8 * exact


def test_gaussian_noise_has_a_margin_and_a_choice_has_none():
    weights = [1, 2, 0]
    gaussian = Histogram(ends=(1, 2), values=(5, 5, 5), noise=DiscreteGaussian(sigma_squared=100))
    exact = math.sqrt(2 * 500 * math.log(20))
    assert exact <= gaussian.margin(weights, 0.05) <= 1.01 * exact
    choice = Quantile(quantile=Fraction(1, 2), lower=0, upper=5, scale=Fraction(1))
    with pytest.raises(Unsupported):
        Histogram(ends=(1, 2), values=(5, 5, 5), noise=choice).margin(weights, 0.05)


def test_nothing_is_known_above_if_nobody_knows_the_most():
    found = Histogram(ends=(1, 2), values=(5, 5, 0), noise=DiscreteLaplace(scale=1))
    assert found.amount_beyond(1, 0.05)[1] is None
    assert found.amount_of_largest(3, 0.05) is None
    assert found.number_beyond(2, 0.05)[1] > 0
