"""How far a mean of independent numbers can be off, for every number of them."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

Floats = NDArray[np.float64]

OUTWARDS = 1e-9
"""By how much ends are moved outwards, relative to them, because floats are rounded."""

_TRIED = 2.0 ** np.arange(-6.0, 3.0, 0.0625)


def bennett_radius(
    variance: Floats, most: Floats, people: int, beta: float, *, repeats: int = 1
) -> Floats:
    r"""Return a distance that the mean of independent errors exceeds with probability ``beta``.

    Guarantee:
        Let errors be independent with mean 0, at most ``most``, and let the variance of each be
        at most ``variance``, :math:`V`. For any :math:`\lambda > 0`,
        :math:`\ln E[e^{\lambda X}] \le V(e^{\lambda M} - 1 - \lambda M)/M^2` [Ben62], so by
        Markov's inequality the mean of :math:`n` exceeds
        :math:`(V(e^{\lambda M} - 1 - \lambda M)/M^2 + \ln(1/\beta)/n)/\lambda` with
        probability at most :math:`\beta`. The smallest of these over some :math:`\lambda` is
        returned; which are tried depends on no report.

        With ``repeats``, :math:`r`, so many of the errors at most may be of one device and depend
        on one another. A device with :math:`k \le r` of them adds at most :math:`kM`, with a
        variance of at most :math:`k^2 V`, so at most
        :math:`g(k) = V(e^{\lambda kM} - 1 - \lambda kM)/M^2` to the logarithm. As :math:`g` is
        convex and 0 at 0, :math:`g(k) \le \frac{k}{r} g(r)`: together not more than :math:`n/r`
        devices with :math:`r` equal errors each. Their mean is that of :math:`n/r` independent
        errors.

    Example:
        >>> one = np.ones(1)
        >>> round(float(bennett_radius(one, one, 10_000, 0.025)[0]), 4)
        0.0273
    """
    needed = -np.log(beta) * repeats / people
    rates = _TRIED[:, None] * np.sqrt(2.0 * needed / variance)
    scaled = np.minimum(rates * most, 500.0)
    rates = scaled / most
    grown = np.where(scaled < 1e-3, scaled**2 / 2 * (1 + scaled), np.expm1(scaled) - scaled)
    found: Floats = ((variance / most**2 * grown + needed) / rates).min(axis=0)
    return found * (1.0 + OUTWARDS)


def read_level(confidence: Number) -> Fraction:
    """Return a confidence, refusing one that is none."""
    level = exact(confidence)
    if not 0 < level < 1:
        raise InvalidArgument(
            "confidence is out of range", must="lie strictly between 0 and 1", got=str(confidence)
        )
    return level
