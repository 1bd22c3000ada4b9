r"""How large an error to expect of a noise on many numbers, in four senses.

These are statements about accuracy, so floating point will do; no privacy rests on them. Only
``max`` is an exact bound, that of the mechanism itself.
"""

import math
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import check, optional
from discreet.core.errors import Unsupported
from discreet.core.numbers import Number
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise

Reals = NDArray[np.float64]


class OneWayError(Enum):
    """What is meant by the error of many numbers."""

    L1 = "l1"
    """The mean of the sizes of all errors."""
    L2 = "l2"
    """The root of the mean square of all errors."""
    LINF = "linf"
    """The largest error, on average."""
    MAX = "max"
    """A bound that the largest error exceeds with probability at most β."""


def one_way_error_of(value: OneWayError | str) -> OneWayError:
    """Return the kind of error that is meant, also by its name; refuse any other."""
    return check.chosen(OneWayError, value, noun="kind of error")


def expected_error(
    noise: Any, dimension: int, error: OneWayError | str, *, beta: Number = "0.05"
) -> float:
    """Return the error of ``noise`` on so many numbers.

    Example:
        >>> round(expected_error(DiscreteLaplace(scale=10), 100, "l1"), 2)
        9.98
        >>> expected_error(DiscreteLaplace(scale=10), 100, "max")
        76.0
    """
    return _error(noise, check.whole(dimension), one_way_error_of(error), check.level(beta))


@singledispatch
def _error(noise: Any, dimension: int, error: OneWayError, beta: Fraction) -> float:
    raise Unsupported("No error is known of this noise", got=type(noise).__name__)


@_error.register
def _(noise: DiscreteLaplace, dimension: int, error: OneWayError, beta: Fraction) -> float:
    r"""With :math:`q = e^{-1/scale}`: :math:`E|Z| = 2q/(1 - q^2)`, :math:`E Z^2 = 2q/(1 - q)^2`."""
    if error is OneWayError.MAX:
        return float(NoisyHistogram(noise=noise, cells=dimension).radius(beta))
    scale = float(noise.scale)
    q = math.exp(-1 / scale)
    missing = -math.expm1(-1 / scale)
    if error is OneWayError.L1:
        return 2 * q / (missing * (1 + q))
    if error is OneWayError.L2:
        return math.sqrt(2 * q) / missing
    return _mean_largest(
        lambda t: 2 * np.exp(-(t + 1) / scale) / (1 + q), dimension, scale * math.log(dimension)
    )


@_error.register
def _(noise: DiscreteGaussian, dimension: int, error: OneWayError, beta: Fraction) -> float:
    """Close to the normal law's, from a variance of about 1 on; an upper bound for ``l2``."""
    if error is OneWayError.MAX:
        return float(NoisyHistogram(noise=noise, cells=dimension).radius(beta))
    sigma = math.sqrt(noise.sigma_squared)
    if error is OneWayError.L1:
        return sigma * math.sqrt(2 / math.pi)
    if error is OneWayError.L2:
        return sigma
    ndtr = optional.load("scipy.special").ndtr
    far = sigma * math.sqrt(2 * math.log(2 * dimension))
    return _mean_largest(lambda t: 2 * ndtr(-(t + 0.5) / sigma), dimension, far)


@_error.register
def _(noise: LinfExponential, dimension: int, error: OneWayError, beta: Fraction) -> float:
    """By the law of the cube's radius, and of a uniform point in it."""
    if error is OneWayError.MAX:
        return float(noise.error_quantile(beta))
    if error is OneWayError.LINF:
        radii, weights = _radii(noise, shell=True)
        return float(weights @ radii)
    radii, weights = _radii(noise, shell=False)
    if error is OneWayError.L1:
        return float(weights @ (radii * (radii + 1) / (2 * radii + 1)))
    return math.sqrt(float(weights @ (radii * (radii + 1) / 3)))


@_error.register
def _(noise: TwoStageNoise, dimension: int, error: OneWayError, beta: Fraction) -> float:
    """Bound them: the first two by the first stage alone, ``linf`` by what may fail where."""
    if error is OneWayError.MAX:
        return float(noise.error_quantile(beta))
    first = DiscreteGaussian(sigma_squared=noise.first_variance)
    if error is not OneWayError.LINF or not noise.rounds:
        return _error(first, dimension, error, beta)
    far = math.sqrt(noise.first_variance) * math.sqrt(2 * math.log(2 * dimension))
    reach = np.linspace(0, 2 * far, _COARSE)
    fails = np.array([min(1.0, noise.rough_failure(t)) for t in reach])
    return float(np.trapezoid(fails, reach))


_COARSE = 400
_FINE = 1 << 16


def _mean_largest(tail: Callable[[Reals], Reals], dimension: int, far: float) -> float:
    """Return the sum over ``t`` of the chance that the largest of independent errors exceeds it."""
    most = 3 * far + 60
    step = max(1.0, most / _FINE)
    reach = np.arange(0.0, most, step)
    none = dimension * np.log1p(-np.minimum(tail(reach + (step - 1) / 2), 1.0 - 1e-16))
    return float(-np.expm1(none).sum() * step)


def _radii(noise: LinfExponential, *, shell: bool) -> tuple[Reals, Reals]:
    r"""Return radii and how likely they are: of the cube, or of the largest entry."""
    scale, dimension = float(noise.scale), noise.dimension
    middle, width = dimension * scale, scale * math.sqrt(dimension)
    low = max(0.0, math.floor(middle - 12 * width))
    high = middle + 12 * width + 60 * scale + 10
    step = max(1.0, (high - low) / _FINE)
    radii = np.arange(low, high, step)
    logs = dimension * np.log(2 * radii + 1) - radii / scale
    if shell:
        inner = np.maximum(2 * radii - 1, 0.0) / (2 * radii + 1)
        logs += np.log1p(-(inner**dimension))
    weights = np.exp(logs - logs.max())
    return radii, weights / weights.sum()
