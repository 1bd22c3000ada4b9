"""Arithmetic on exact numbers that never raises: what has no value, or no sensible size, is None.

A result that is long is shortened to 512 significant bits, so that no query can make us work with
endless numbers.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.core.numbers import exp_bounds, log_bounds, sqrt_bounds
from discreet.core.rounding import short_down

LARGEST = Fraction(10) ** 300
"""A number beyond this size is out of range, as it would be for a float."""

_LONG, _KEPT = 1024, 512
_SURELY_IN_RANGE = 900  # 2**900 is below the largest, and whole numbers are quick to look at
_LARGEST_EXPONENT = 690
LARGEST_POWER = 64


def kept(value: Fraction) -> Fraction | None:
    """Return a number of sensible length and size, or None if it is out of range."""
    longest = max(value.numerator.bit_length(), value.denominator.bit_length())
    if longest <= _SURELY_IN_RANGE:
        return value
    if abs(value) > LARGEST:
        return None
    if longest <= _LONG:
        return value
    return Fraction(0) if abs(value) < 1 / LARGEST else short_down(value, _KEPT)


def divide(a: Fraction, b: Fraction) -> Fraction | None:
    """Return the quotient; there is none by zero."""
    return None if b == 0 else a / b


def whole_divide(a: Fraction, b: Fraction) -> Fraction | None:
    """Return the quotient, rounded towards 0.

    Example:
        >>> whole_divide(Fraction(-7), Fraction(2))
        Fraction(-3, 1)
    """
    return None if b == 0 else Fraction(math.trunc(a / b))


def remainder(a: Fraction, b: Fraction) -> Fraction | None:
    """Return what is left of ``a``, with the sign of ``a``, as SQL has it.

    Example:
        >>> remainder(Fraction(-7), Fraction(3))
        Fraction(-1, 1)
    """
    return None if b == 0 else a - b * math.trunc(a / b)


def rounded(value: Fraction, decimals: Fraction = Fraction(0)) -> Fraction | None:
    """Return the value to so many decimals, halves away from zero.

    Example:
        >>> rounded(Fraction(5, 2)), rounded(Fraction(-1, 8), Fraction(2))
        (Fraction(3, 1), Fraction(-13, 100))
    """
    if abs(decimals) > LARGEST_POWER:
        return None
    unit = Fraction(10) ** -math.floor(decimals)
    steps = math.floor(abs(value) / unit + Fraction(1, 2))
    return steps * unit if value >= 0 else -steps * unit


def root(value: Fraction) -> Fraction | None:
    """Return the square root, to at least 60 significant bits."""
    if value < 0:
        return None
    return sqrt_bounds(value, bits=64 + value.denominator.bit_length())[0]


def logarithm(value: Fraction) -> Fraction | None:
    """Return the natural logarithm."""
    return None if value <= 0 else log_bounds(value)[0]


def logarithm_to(base: int) -> Callable[[Fraction], Fraction | None]:
    """Return the logarithm to another base, as a function."""

    def log(value: Fraction) -> Fraction | None:
        natural = logarithm(value)
        return None if natural is None else natural / log_bounds(Fraction(base), bits=96)[0]

    return log


def exponential(value: Fraction) -> Fraction | None:
    """Return e to the power of ``value``."""
    return None if value > _LARGEST_EXPONENT else exp_bounds(value, bits=96)[0]


def power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return a power: exact for small whole exponents, and of positive numbers for all others."""
    if exponent.denominator == 1 and abs(exponent) <= LARGEST_POWER:
        return None if base == 0 and exponent < 0 else base ** int(exponent)
    if base == 0 and exponent > 0:
        return Fraction(0)
    natural = logarithm(base)
    return None if natural is None else exponential(natural * exponent)


def sign(value: Fraction) -> Fraction:
    """Return -1, 0 or 1."""
    return Fraction((value > 0) - (value < 0))
