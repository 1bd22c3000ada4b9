"""Arithmetic on single exact numbers that never raises: what has no value or size is None.

A result that is long is shortened to 512 significant bits, so that no query can make us work with
endless numbers.
"""

from collections.abc import Callable
from fractions import Fraction

from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.rounding import short_down

LARGEST = Fraction(10) ** 300
"""A number beyond this size is out of range, as it would be for a float."""
SURELY_KEPT = 900
"""A number of so many bits is below the largest, and whole numbers are quick to look at."""
KEPT = 512
"""Significant bits of what was shortened."""
LARGEST_POWER = 64

_LONG = 1024
_LARGEST_EXPONENT = 690


def kept(value: Fraction) -> Fraction | None:
    """Return a number of sensible length and size, or None if it is out of range."""
    longest = max(value.numerator.bit_length(), value.denominator.bit_length())
    if longest <= SURELY_KEPT:
        return value
    if abs(value) > LARGEST:
        return None
    if longest <= _LONG:
        return value
    return Fraction(0) if abs(value) < 1 / LARGEST else short_down(value, KEPT)


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
