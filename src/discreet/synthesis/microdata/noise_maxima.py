"""How large the largest of many noises is, on average."""

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.errors import Unsupported
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.synthesis.counted.integer_noise import IntegerNoise

_SCALES, _DEVIATIONS = 800, 40
"""Beyond so many of either the rest of a tail is below the smallest float."""

_MOST_TERMS = 1 << 24


@frozen
class NoiseMaxima:
    r"""The means of :math:`\max |Z_i|` and :math:`\max Z_i^2` of independent noises."""

    size: float
    square: float


def noise_maxima(noise: IntegerNoise | TruncatedGeometric, count: int) -> NoiseMaxima:
    r"""Return the two means for ``count`` noises, by their exact law summed in floating point.

    :math:`E \max|Z| = \sum_{k \ge 1} P[\max|Z| \ge k]` and
    :math:`E \max Z^2 = \sum_{k \ge 1} (2k - 1) P[\max|Z| \ge k]`, where
    :math:`P[\max|Z| \ge k] = 1 - (1 - P[|Z| \ge k])^d`. For continuous Laplace noise of scale
    :math:`s` they are at most :math:`s(\ln d + 1)` and :math:`s^2(\ln^2 d + 2 \ln d + 2)`
    [Das22, Lemma 9.4, which prints :math:`\ln d` for its square].

    Example:
        >>> from discreet import DiscreteLaplace
        >>> found = noise_maxima(DiscreteLaplace(scale=2), 1000)
        >>> round(found.size, 1), round(found.square)
        (14.9, 229)
    """
    tails = _tails(noise)
    with np.errstate(divide="ignore"):
        largest = -np.expm1(count * np.log1p(-tails))
    places = np.arange(1, tails.size + 1, dtype=np.float64)
    return NoiseMaxima(float(largest.sum()), float(((2 * places - 1) * largest).sum()))


def _tails(noise: IntegerNoise | TruncatedGeometric) -> NDArray[np.float64]:
    r"""Return :math:`P[|Z| \ge k]` for all whole :math:`k \ge 1` at which it is not nothing."""
    if isinstance(noise, DiscreteGaussian):
        places = _places(math.sqrt(noise.sigma_squared) * _DEVIATIONS)
        masses = np.exp(-(places**2) / (2 * float(noise.sigma_squared)))
        above = np.cumsum(masses[::-1])[::-1]
        tails: NDArray[np.float64] = 2 * above / (1 + 2 * above[0])
        return tails
    places = _places(float(noise.scale) * _SCALES)
    if isinstance(noise, TruncatedGeometric):
        places = places[: noise.bound]
    q = math.exp(-1 / float(noise.scale))
    found: NDArray[np.float64] = 2 * q**places / (1 + q)
    return found


def _places(reach: float) -> NDArray[np.float64]:
    if not reach < _MOST_TERMS:
        raise Unsupported(
            "The largest of so wide noises is not worked out",
            must=f"have a scale below {_MOST_TERMS // _SCALES}",
        )
    return np.arange(1, math.ceil(reach) + 2, dtype=np.float64)
