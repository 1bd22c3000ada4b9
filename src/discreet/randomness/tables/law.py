"""The laws that are drawn from tables, and what they are asked for: a scale and a size.

The scale of noise is an exact number within the range that the tables serve. Noise of scale
``2**50`` goes beyond ``2**62``, where 64 bits leave no room to add it to a value, with a
probability below ``2**-5900`` (``e**-4096``); of a larger scale it would go there too often to be
passed over.
"""

import math
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


@frozen
class NoiseLaw:
    r"""Integers ``X`` with :math:`P(X) \propto e^{-h(|X|)}`, :math:`h(x) = q x^2 + l x`.

    With ``two_sided`` the support is all integers, otherwise the integers from 0; ``length`` cuts
    a one-sided law to ``0 .. length - 1``. Discrete Laplace has ``q = 0``, the discrete Gaussian
    ``l = 0``.
    """

    quadratic: Fraction
    linear: Fraction
    two_sided: bool = True
    length: int | None = None

    def exponent(self, x: int) -> Fraction:
        """Return ``h(x)``, for a distance ``x >= 0``."""
        return self.rise(0, x)

    def rise(self, start: int, step: int) -> Fraction:
        """Return ``h(start + step) - h(start)``."""
        return step * (self.quadratic * (2 * start + step) + self.linear)


SMALLEST = Fraction(1, 1000)
LARGEST = Fraction(2**50)


def exact_scale(scale: Number) -> Fraction:
    """Return ``scale`` exactly, refusing one outside 1/1000 .. 2**50.

    Example:
        >>> exact_scale("7/2")
        Fraction(7, 2)
    """
    return _between("scale", exact(scale), SMALLEST, LARGEST)


def exact_variance(sigma_squared: Number) -> Fraction:
    """Return ``sigma_squared`` exactly, refusing one whose root is outside 1/1000 .. 2**50."""
    return _between("sigma_squared", exact(sigma_squared), SMALLEST**2, LARGEST**2)


def _between(name: str, value: Fraction, smallest: Fraction, largest: Fraction) -> Fraction:
    if not smallest <= value <= largest:
        raise InvalidArgument(
            f"{name} is out of range", must=f"be between {smallest} and {largest}", got=str(value)
        )
    return value


ArraySize = int | tuple[int, ...]
"""A number of values, or the shape of an array of them."""

_LARGEST_SIZE = 1 << 40


def shape_of(size: ArraySize) -> tuple[int, ...]:
    """Return ``size`` as a shape, refusing what is not one.

    Example:
        >>> shape_of(3), shape_of((2, 0))
        ((3,), (2, 0))
    """
    shape = size if isinstance(size, tuple) else (size,)
    for length in shape:
        if isinstance(length, bool) or not hasattr(length, "__index__"):
            raise _bad(size)
    lengths = tuple(int(length) for length in shape)
    if any(not 0 <= n <= _LARGEST_SIZE for n in lengths) or math.prod(lengths) > _LARGEST_SIZE:
        raise _bad(size)
    return lengths


def _bad(size: object) -> InvalidArgument:
    return InvalidArgument(
        "size is out of range",
        must="be an integer of at least 0, or a tuple of them with at most 2**40 values in all",
        got=repr(size)[:64],
    )
