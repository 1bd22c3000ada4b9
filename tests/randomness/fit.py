"""Tests of fit for integer samples: the whole distribution function, cells, tails, residues."""

import math
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli
from tests.support.statistics.exact_tests import cells_p_value, dkw_p_value


class Reference(Protocol):
    def pmf(self, z: int, /) -> float: ...
    def cdf(self, z: int, /) -> float: ...


def fit_p_value(sample: IntArray, law: Reference, middle: int = 3) -> float:
    """A valid p-value: the smaller of two, doubled."""
    cells = {z: law.pmf(z) for z in range(-middle, middle + 1)}
    return min(1.0, 2 * min(dkw_p_value(sample, law.cdf), cells_p_value(sample, cells)))


def bucket_p_value(sample: IntArray, law: Reference, scale: Fraction) -> float:
    """A valid p-value from the ends of the law on: buckets of a quarter scale, and all tails."""
    near = range(-3, 4)
    edges = sorted({math.floor(scale * quarter / 4) for quarter in range(-80, 81)} | {*near})
    counts = np.searchsorted(np.sort(sample), edges, side="right")
    masses = np.array([law.cdf(edge) for edge in edges])
    inner = np.diff(counts, prepend=0, append=sample.size)
    inner_masses = np.maximum(np.diff(masses, prepend=0.0, append=1.0), 0.0)
    found = [_binomial(counts, sample.size, masses, masses)]
    found.append(_binomial(inner, sample.size, inner_masses, inner_masses))
    return min(1.0, 2 * min(found))


def _binomial(counts: IntArray, trials: int, low: ArrayLike, high: ArrayLike) -> float:
    """Exact binomial tests with Bonferroni's factor, for probabilities from ``low`` to ``high``."""
    few, many = stats.binom.cdf(counts, trials, low), stats.binom.sf(counts - 1, trials, high)
    return min(1.0, 2 * counts.size * float(np.minimum(few, many).min()))


def residue_p_value(sample: IntArray, modulus: int, most: float) -> float:
    """A valid p-value for uniform residues, if the law has one peak and no mass above ``most``.

    The members of two residue classes interleave. Where the law rises, the sums over the two differ
    by at most its largest mass, and where it falls by at most that in the other direction; so each
    class is within ``most`` of ``1 / modulus``. The binomial tails are taken at the ends of that
    interval.
    """
    counts = np.bincount(sample % modulus, minlength=modulus)
    low, high = max(0.0, 1 / modulus - most), min(1.0, 1 / modulus + most)
    return _binomial(counts, sample.size, low, high)


def double_zero(sample: IntArray, zero: float, rng: Rng) -> IntArray:
    """The broken twin that counts +0 and -0: a sample of the law with the weight of 0 doubled."""
    return np.where(zero_again(sample.size, zero, rng), 0, sample)


def zero_again(count: int, zero: float, rng: Rng) -> NDArray[np.bool_]:
    return bernoulli(exact(zero / (1 + zero)), count, rng)
