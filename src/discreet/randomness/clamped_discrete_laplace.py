"""Discrete Laplace variables clamped to an interval (the truncated geometric noise of a source)."""

import numpy as np

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.discrete_laplace import discrete_laplace
from discreet.randomness.size import Size

_LARGEST_BOUND = 1 << 62


def clamped_discrete_laplace(scale: Number, bound: Number, size: Size, rng: Rng) -> IntArray:
    r"""Return discrete Laplace integers, those beyond :math:`\pm bound` moved to :math:`\pm bound`.

    The mass beyond the bound is moved to it, not spread over the inside: for :math:`|z| < bound`
    :math:`P(z) = \frac{1 - q}{1 + q} q^{|z|}` and :math:`P(\pm bound) = \frac{q^{bound}}{1 + q}`
    with :math:`q = e^{-1/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one: a function of an exact variable.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> int(abs(clamped_discrete_laplace(100, 7, 1000, SystemRng())).max())
        7
    """
    limit = check.whole(bound)
    if not 0 <= limit <= _LARGEST_BOUND:
        raise InvalidArgument(
            "bound is out of range", must="be between 0 and 2**62", got=str(bound)
        )
    values = discrete_laplace(scale, size, rng)
    return np.clip(values, -limit, limit, out=values)
