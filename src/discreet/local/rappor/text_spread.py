"""How far estimates of texts are off: by coins, and by hashes of texts that nobody listed."""

import math
from typing import Self

import numpy as np
from attrs import fields, frozen
from numpy.typing import NDArray

from discreet.local.rappor.rappor import Rappor

Floats = NDArray[np.float64]
_OUTWARDS = 1 + 1e-9
_CLEAR = 1e-9
_LEAST = 1e-30
_AT_ONCE = 64
"""So many estimates are looked at together, so that memory does not grow with their number."""


@frozen(kw_only=True, eq=False)
class TextSpread:
    r"""Bounds of what one person adds to each estimate, whatever text is held.

    Guarantee:
        *Coins.* One report adds from ``least`` to ``most``, with a variance of at most
        ``variance``, and a mean from ``lowest`` to ``highest``: over all filters of as many bits as
        there are hash functions.

        *Hashes.* A text that is not listed has filters of its own, drawn by the hash functions. If
        all people held it, an estimate would be off by a share :math:`B`, the mean over cohorts of
        independent numbers: of mean 0 together, with a variance of ``stray_variance``, and not
        more than ``stray_up`` above and ``stray_down`` below the means of each. Of several texts
        with shares :math:`f_r` that sum to :math:`\varphi` it is :math:`\sum_r f_r B_r`. As
        the logarithm of :math:`E[e^{\lambda B}]` is convex in :math:`\lambda` and 0 at 0, it is
        not heavier than :math:`\varphi B`. So :func:`reach` of these numbers, times
        :math:`\varphi`, is exceeded with the level's probability at most.
    """

    variance: Floats
    least: Floats
    most: Floats
    lowest: Floats
    highest: Floats
    stray_variance: Floats
    stray_up: Floats
    stray_down: Floats

    @classmethod
    def of(cls, scheme: Rappor, weights: Floats) -> Self:
        """Return the bounds for estimates with these weights: by estimate, cohort and bit."""
        starts = range(0, len(weights), _AT_ONCE)
        parts = [cls._of_some(scheme, weights[start : start + _AT_ONCE]) for start in starts]
        names = [one.name for one in fields(cls)]
        return cls(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})

    @classmethod
    def _of_some(cls, scheme: Rappor, weights: Floats) -> Self:
        one, zero = float(scheme.coins.told_one), float(scheme.coins.told_zero)
        gap, cohorts = one - zero, scheme.cohorts
        up, down = weights * ((1 - zero) / gap), weights * (-zero / gap)
        squares, sums = weights**2, weights.sum(axis=2)
        above, below = _largest(weights, scheme.hashes), _largest(-weights, scheme.hashes)
        of_one, of_zero = one * (1 - one) / gap**2, zero * (1 - zero) / gap**2
        second = squares.sum(axis=2) * of_zero + np.maximum(above, below) ** 2
        second += max(of_one - of_zero, 0.0) * _largest(squares, scheme.hashes)
        # A bit of a filter is 1, and two are both 1, with these chances.
        rest = 1 - 1 / scheme.bits
        bit = 1 - rest**scheme.hashes
        both = bit - rest**scheme.hashes + (1 - 2 / scheme.bits) ** scheme.hashes
        square = squares.sum(axis=2)
        stray = (bit * square + both * (sums**2 - square) - (bit * sums) ** 2).sum(axis=1)
        return cls(
            variance=second.sum(axis=1) / cohorts * _OUTWARDS,
            least=np.minimum(up, down).sum(axis=2).min(axis=1) * _OUTWARDS,
            most=np.maximum(up, down).sum(axis=2).max(axis=1) * _OUTWARDS,
            lowest=-below.mean(axis=1) * _OUTWARDS,
            highest=above.mean(axis=1) * _OUTWARDS,
            stray_variance=np.maximum(stray / cohorts**2 * _OUTWARDS, _LEAST),
            stray_up=(above - bit * sums).max(axis=1) / cohorts * _OUTWARDS + _CLEAR,
            stray_down=(below + bit * sums).max(axis=1) / cohorts * _OUTWARDS + _CLEAR,
        )


def _largest(numbers: Floats, count: int) -> Floats:
    """Return the largest sum of at most so many of the last axis, at least 0."""
    kept = np.partition(np.maximum(numbers, 0.0), -count, axis=-1)[..., -count:]
    found: Floats = kept.sum(axis=-1)
    return found


def log_tail(excess: float, variance: float, most: float) -> float:
    """Return the logarithm of Bennett's bound on how likely a sum exceeds its mean by so much."""
    if excess <= 0:
        return 0.0
    u = most * excess / variance
    return -variance / most**2 * ((1 + u) * math.log1p(u) - u) * (1 - _CLEAR)


def reach(variance: float, most: float, level: float) -> float:
    """Return an excess at which the bound is at most ``level``."""
    low, high, wanted = 0.0, 1.0, math.log(level)
    while log_tail(high, variance, most) > wanted:
        high *= 2
    while high - low > _CLEAR * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_tail(middle, variance, most) > wanted else (low, middle)
    return high


def reaches(variances: Floats, mosts: Floats, level: float) -> Floats:
    """Return the same for several sums."""
    pairs = zip(variances.tolist(), mosts.tolist(), strict=True)
    return np.array([reach(variance, most, level) for variance, most in pairs])
