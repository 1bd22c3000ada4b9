"""A private histogram of units by how much they contribute, and what follows from it for nothing.

A unit is in exactly one bin, so adding or removing one moves one cell by one. What is read off the
noisy cells is post-processing. Bounds here are about truth, not about privacy: they are worked out
in floating point, with a margin for its rounding.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.errors import Unsupported
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism

Floats = NDArray[np.float64]

BEYOND = 0
"""The key of the bin for all that is more than the last end."""

_SINGLE, _GROWTH = 10, Fraction(6, 5)


def count_bins(most: int) -> tuple[int, ...]:
    """Return the last number of each bin: 1 to 10 by themselves, then growing by a fifth.

    Example:
        >>> count_bins(30)
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 22, 27, 30)
    """
    ends = list(range(1, min(most, _SINGLE) + 1))
    while ends[-1] < most:
        ends.append(min(most, math.ceil(ends[-1] * _GROWTH)))
    return tuple(ends)


_SURELY_NOT = 1e-6


@frozen(kw_only=True, eq=False)
class Histogram:
    """How many units have so many of something: noisy numbers of units, bin by bin.

    The last number, behind those of all bins, is that of units with more than the last end.
    """

    ends: tuple[int, ...]
    """The largest number of each bin."""
    values: tuple[int, ...] = field(repr=False)
    """The noisy number of units of each bin, and of those beyond the last one."""
    noise: AggregateMechanism
    most: int | None = None
    """The most that a unit can have, if that is declared: then nobody is beyond it."""

    def contradicts_most(self, beta: float = _SURELY_NOT) -> bool:
        """Tell whether units surely have more than what is declared as the most."""
        if self.most is None or self.most > self.ends[-1]:
            return False
        beyond = [0] * len(self.ends) + [1]
        return self.least(beyond, beta) > 0

    @property
    def starts(self) -> tuple[int, ...]:
        """The smallest number of each bin, and of what is beyond."""
        return (1, *(end + 1 for end in self.ends))

    def _weights(self, each: Callable[[int], int], numbers: Sequence[int]) -> list[int]:
        """Return a weight for each bin; where nobody can be beyond the last one, it has none."""
        is_closed = self.most is not None and self.most <= self.ends[-1]
        weights = [each(number) for number in numbers]
        return [*weights[:-1], 0] if is_closed else weights

    def widest(self) -> tuple[int, ...]:
        """Return the largest number that a unit of each bin can have; of the last, if declared."""
        last = 2 * self.ends[-1] if self.most is None else max(self.most, self.ends[-1])
        return (*self.ends, last)

    @cached_property
    def cleaned(self) -> Floats:
        """The numbers of units as they probably are.

        The number of units that have at least so many falls as that grows, and is never negative:
        of the noisy ones, added up from the end, the nearest that do so are taken. A tail of fewer
        units than noise makes is taken as empty.
        """
        noisy = np.array(self.values, dtype=np.float64)
        at_least = np.maximum(_falling(noisy[::-1].cumsum()[::-1]), 0)
        places = np.arange(len(noisy), 0, -1)
        is_clear = at_least >= _CLEAR * float(self.noise.spread) * np.sqrt(places)
        last = int(np.flatnonzero(is_clear)[-1]) + 1 if is_clear.any() else 0
        at_least[last:] = 0
        return -np.diff(np.append(at_least, 0.0))

    @cached_property
    def typical(self) -> Floats:
        """A usual number of what a unit of each bin has."""
        pairs = zip(self.starts, self.widest(), strict=True)
        return np.array([math.sqrt(start * max(start, end)) for start, end in pairs])

    def total(self) -> float:
        """Return about how much all units have together."""
        return float(self.cleaned @ self.typical)

    def beyond(self, limit: int) -> float:
        """Return about how much of it lies beyond a limit for each unit."""
        return float(self.cleaned @ np.maximum(self.typical - limit, 0))

    def units_beyond(self, limit: int) -> float:
        """Return about how many units have more than the limit."""
        return float(self.cleaned @ (self.typical > limit))

    def hidden_near(self, limit: int, zero: int) -> float:
        """Return about how much more than it seems may lie beyond a limit, as noise would hide it.

        It is looked for up to four times as far from ``zero`` as the last bin that clearly has
        units. Where bins reach to sizes that no value of the column has, the noise of all others
        would decide.
        """
        clear = np.flatnonzero(self.cleaned > 0)
        end = self.ends[min(int(clear[-1]), len(self.ends) - 1)] if len(clear) else zero
        last = max(end, zero + _HORIZON * (end - zero))
        cut = np.maximum(np.minimum(self.typical, last) - limit, 0)
        near = cut * (np.array(self.starts) <= last)
        return math.sqrt(2 * float(near @ near)) * float(self.noise.spread)

    # ---- Bounds that hold with a stated probability.

    def least(self, weights: Sequence[int], beta: float) -> float:
        """Return a number that the weighted sum over units is not below, except as often."""
        noisy = sum(weight * value for weight, value in zip(weights, self.values, strict=True))
        return max(0.0, noisy - self.margin(weights, beta))

    def largest(self, weights: Sequence[int], beta: float) -> float:
        """Return a number that the weighted sum over units is not above, except as often."""
        noisy = sum(weight * value for weight, value in zip(weights, self.values, strict=True))
        return max(0.0, noisy + self.margin(weights, beta))

    def margin(self, weights: Sequence[int], beta: float) -> float:
        r"""Return what the weighted sum of the noise exceeds with probability at most ``beta``.

        Proof. By Chernoff's bound :math:`P[\sum_b w_b Z_b \ge q] \le e^{-tq} \prod_b E e^{t w_b
        Z_b}` for every :math:`t > 0`, because the noise of different bins is independent; so
        :math:`q = (\ln 1/\beta + \sum_b \ln E e^{t w_b Z_b})/t` is one for each :math:`t`, and the
        least over a grid of them is taken. The noise is symmetric, so it holds for both sides. For
        discrete Laplace noise of scale :math:`s`, with :math:`p = e^{-1/s}`,
        :math:`E e^{xZ} = (1-p)^2/((1 - p e^x)(1 - p e^{-x}))` where :math:`|x| < 1/s`; for the
        discrete Gaussian it is at most :math:`e^{\sigma^2 x^2/2}` ([CKS20]_, Lemma 5).
        """
        used = tuple(sorted(weight for weight in weights if weight))
        return _margin(self.noise, used, beta) if used else 0.0

    def amount_beyond(self, limit: int, beta: float) -> tuple[float, float | None]:
        """Return bounds on how much lies beyond a limit; the upper one is known if the most is."""

        def cut(number: int) -> int:
            return max(number - limit, 0)

        low = self.least(self._weights(cut, self.starts), beta)
        if self.most is None:
            return low, None
        return low, self.largest(self._weights(cut, self.widest()), beta)

    def number_beyond(self, limit: int, beta: float) -> tuple[float, float]:
        """Return bounds on how many units have more than the limit."""

        def is_cut(number: int) -> int:
            return int(number > limit)

        ends = (*self.ends, max(limit + 1, self.ends[-1])) if self.most is None else self.widest()
        low = self.least(self._weights(is_cut, self.starts), beta)
        return low, self.largest(self._weights(is_cut, ends), beta)

    def amount(self, beta: float) -> tuple[float, float | None]:
        """Return bounds on how much all units have together."""
        return self.amount_beyond(0, beta)

    def amount_of_largest(self, units: float, beta: float) -> float | None:
        r"""Return a bound on how much the ``units`` with the most have together.

        Proof. Let :math:`C_b` bound from above the number of units beyond bin :math:`b`, for all
        bins at once except with probability ``beta``. Of any so many units at most :math:`C_b`
        have more than the end of bin :math:`b`, so put in order from the largest, the first
        :math:`C_b` are bounded by the end of the next bin, and so on.
        """
        if self.most is None:
            return None
        each = beta / len(self.values)
        found, above = 0.0, 0.0
        widest = self.widest()
        for place in range(len(widest) - 1, -1, -1):
            ones = [int(i >= place) for i in range(len(widest))]
            weights = self._weights(int, ones)
            taken = min(units, max(above, self.largest(weights, each)))
            found, above = found + (taken - above) * widest[place], taken
        return found


_CLEAR = 3.5
"""From how many times the noise on the tail is taken for units. There are some fifty tails, so that
two or three times the noise are there by chance, and a limit that follows them is far too wide."""

_HORIZON = 4


def _falling(values: Floats) -> Floats:
    """Return the nearest numbers that never grow (by pooling neighbours that do)."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-1][0] > pools[-2][0]:
            (last, many), (before, few) = pools.pop(), pools.pop()
            pools.append(((last * many + before * few) / (many + few), many + few))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


@lru_cache(maxsize=4096)
def _margin(noise: AggregateMechanism, weights: tuple[int, ...], beta: float) -> float:
    largest, log_moment = _moments(noise)
    each, counts = np.unique(np.array(weights, dtype=np.float64), return_counts=True)
    grid = np.geomspace(1e-4, 0.999, 120) * (largest / each.max())
    moments = log_moment(np.outer(grid, each)) @ counts
    return float(((moments - math.log(beta)) / grid).min()) * (1 + 1e-9)


def _moments(noise: AggregateMechanism) -> tuple[float, Callable[[Floats], Floats]]:
    """Return up to where the moments of the noise exist, and the logarithm of them."""
    if isinstance(noise, DiscreteLaplace):
        rate = float(1 / noise.scale)
        log_gap = 2 * math.log(-math.expm1(-rate))

        def of_laplace(x: Floats) -> Floats:
            both = np.log(-np.expm1(x - rate)) + np.log(-np.expm1(-x - rate))
            return np.asarray(log_gap - both, dtype=np.float64)

        return rate, of_laplace
    if isinstance(noise, DiscreteGaussian):
        variance = float(noise.sigma_squared)
        return 40 / math.sqrt(variance), lambda x: np.asarray(variance * x * x / 2)
    raise Unsupported("The moments of this noise are not known", got=type(noise).__name__)
