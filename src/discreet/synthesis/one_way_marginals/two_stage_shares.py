r"""How to share a price between the two stages of noise: a search among numbers without data.

In units in which the whole price buys plain Gaussian noise of variance 1, a share ``f`` of it for
the first stage gives a variance of :math:`1/f`; for ``T`` new errors :math:`Tr/f`, where ``r`` is
what one number moves compared with all, :math:`\Delta^2/v`; and for ``T`` choices a temperature of
:math:`\sqrt{Tr/f}`.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core import optional

_FINE = 0.01
_SURE = 1 + 1e-6
_LEVELS = 34
MIDDLES = np.linspace(0.5, 0.96, 14)
"""Where errors may begin to be bad, as parts of the largest that is allowed."""

_DENOMINATOR = 10_000

Reals = NDArray[np.float64]


@frozen
class StageShares:
    """How often to mend an error, and which share of the price each of the three parts has."""

    rounds: int
    shares: tuple[Fraction, Fraction, Fraction]
    """For the first noise, for the choices, and for the noise that is drawn again."""


def missed_weight(variance: float, rate: float, s: int, t: int) -> float:
    r"""Return :math:`E[e^{rate\,|Z|};\ |Z| \le s]\, e^{-rate (t+1)}`, rounded up.

    The weights fall away from 0, so over a step of ``h`` integers each is at most the first; and
    their sum over all integers is at least 1, and at least :math:`\sqrt{2\pi}\,\sigma` (Poisson's
    formula: all its terms are positive).

    Example:
        >>> round(missed_weight(4.0, 0.5, 3, 5), 4)
        0.1005
    """
    step = max(1, math.floor(_FINE / rate))
    starts = np.arange(0, s + 1, step, dtype=np.float64)
    ends = np.minimum(starts + (step - 1), s)
    logs = rate * (ends - t - 1) - starts**2 / (2 * variance)
    sides = 2.0 * step * np.exp(logs).sum()
    if step == 1:
        sides -= math.exp(-rate * (t + 1))
    return float(sides) / max(1.0, math.sqrt(2 * math.pi * variance)) * _SURE


def best_shares(dimension: int, moved: float, beta: float) -> StageShares:
    """Return the shares for which the largest error is likely the smallest.

    ``moved`` is the squared move of one number over that of all. The search is coarse, then finer
    around the best; no rounds at all are among what it compares.
    """
    plain = _plain_quantile(dimension, beta)
    rounds = np.unique(np.round(np.geomspace(1, max(1.0, dimension / 16), 15)))
    grid = (rounds, np.linspace(0.3, 0.95, 9), np.linspace(0.3, 0.97, 7))
    best, at = _best(grid, dimension, moved, beta)
    near = np.unique(np.round(at[0] * np.array([0.7, 0.8, 0.9, 1.0, 1.12, 1.25, 1.4])))
    finer = (near[near >= 1], _around(at[1], 0.07), _around(at[2], 0.08))
    best, at = min((best, at), _best(finer, dimension, moved, beta))
    if best >= plain:
        return StageShares(0, (Fraction(1), Fraction(0), Fraction(0)))
    first = Fraction(round(at[1] * _DENOMINATOR), _DENOMINATOR)
    choices = (1 - first) * Fraction(round(at[2] * _DENOMINATOR), _DENOMINATOR)
    return StageShares(int(at[0]), (first, choices, 1 - first - choices))


def _around(centre: float, width: float) -> Reals:
    return np.unique(np.clip(centre + np.linspace(-width, width, 7), 0.02, 0.98))


def _plain_quantile(dimension: int, beta: float) -> float:
    one = -math.expm1(math.log1p(-beta) / dimension)
    return float(optional.load("scipy.special").ndtri(1 - one / 2))


def _best(
    grid: tuple[Reals, Reals, Reals], dimension: int, moved: float, beta: float
) -> tuple[float, tuple[float, float, float]]:
    """Return the smallest reach on the grid, and where; all points are halved at once."""
    rounds, first, part = (axis.ravel() for axis in np.meshgrid(*grid, indexing="ij"))
    low, high = np.zeros(rounds.shape), np.full(rounds.shape, 4 * _plain_quantile(dimension, beta))
    for _ in range(_LEVELS):
        middle = (low + high) / 2
        holds = _failure(middle, rounds, first, part, dimension, moved) <= beta
        high, low = np.where(holds, middle, high), np.where(holds, low, middle)
    place = int(np.argmin(high))
    return float(high[place]), (float(rounds[place]), float(first[place]), float(part[place]))


def _failure(
    t: Reals, rounds: Reals, first: Reals, part: Reals, dimension: int, moved: float
) -> Reals:
    """Return about the bound of ``TwoStageNoise.failure``, at the best of some middles."""
    t, rounds, first, part = (one[:, None] for one in (t, rounds, first, part))
    stages = RoughStages(
        dimension,
        rounds,
        1 / np.sqrt(first),
        np.sqrt(rounds * moved / ((1 - first) * (1 - part))),
        np.sqrt((1 - first) * part / (rounds * moved)),
    )
    found: Reals = np.min(stages.failure(t, MIDDLES[None, :] * t), axis=1)
    return found


@frozen(eq=False)
class RoughStages:
    """Both stages with normal errors instead of whole ones, in floating point: to search with."""

    dimension: int
    rounds: Reals | float
    first: Reals | float
    """The deviation of the first errors."""
    again: Reals | float
    """The deviation of those that are drawn again."""
    rate: Reals | float
    """One over the temperature."""

    def failure(self, t: Reals | float, s: Reals) -> Reals:
        """Return about how likely the largest error exceeds ``t``, with bad ones above ``s``."""
        special: Any = optional.load("scipy.special")
        bad = np.minimum(1.0, 2 * special.ndtr(-s / self.first))
        many = special.bdtrc(self.rounds, self.dimension, bad)
        fresh = 2 * special.ndtr(-s / self.again)
        missed = self.dimension * self._weight(self.first, t, s)
        missed += self.rounds * self._weight(self.again, t, s)
        found: Reals = many + self.rounds * (fresh + missed)
        return found

    def _weight(self, sigma: Reals | float, t: Reals | float, s: Reals) -> Reals:
        """Return about the truncated moment, for normal errors."""
        log_ndtr = optional.load("scipy.special").log_ndtr
        tilted = self.rate**2 * sigma**2 / 2 - self.rate * t
        logs = log_ndtr(s / sigma - self.rate * sigma)
        found: Reals = 2 * np.exp(np.minimum(tilted + logs, 100.0))
        return found
