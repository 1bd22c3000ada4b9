"""Directed rounding: short numbers that are certainly not below, or not above, the true one.

Floats may choose where to look; what is found there is stated with these. Every function says in
its name which way it rounds.
"""

from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds, log_bounds, sqrt_bounds

Ends = tuple[Fraction, Fraction]
"""A number that is not above the true one, and one that is not below it."""

BITS = 96
"""Significant bits of what is computed here."""

_SHORT = 64
_LEAST_EXPONENT = Fraction(-100_000)


def short_down(value: Fraction, bits: int = _SHORT) -> Fraction:
    """Return a binary fraction of about ``bits`` significant bits that is not above ``value``.

    Example:
        >>> short_down(Fraction(2, 67), 4), short_down(Fraction(-2, 67), 4)
        (Fraction(15, 512), Fraction(-1, 32))

    A number that is short already is returned as it is.
    """
    if value.denominator.bit_length() <= bits and value.numerator.bit_length() <= bits:
        return value
    return dyadic_down(value, bits)


def short_up(value: Fraction, bits: int = _SHORT) -> Fraction:
    """Return a binary fraction of about ``bits`` significant bits that is not below ``value``."""
    return -short_down(-value, bits)


def dyadic_down(value: Fraction, bits: int) -> Fraction:
    """Return a binary fraction of about ``bits`` significant bits that is not above ``value``.

    The error is at most ``2**(1 - bits)`` of the value's size. Sums of such numbers have a power of
    two below the line, where sums of arbitrary fractions grow without limit: so a short number that
    is no binary fraction is rounded too.

    Example:
        >>> dyadic_down(Fraction(1, 3), 4), dyadic_down(Fraction(-1, 3), 4)
        (Fraction(5, 16), Fraction(-11, 32))
    """
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    if shift >= 0:
        return Fraction((value.numerator << shift) // value.denominator, 1 << shift)
    return Fraction((value.numerator // (value.denominator << -shift)) << -shift)


def dyadic_up(value: Fraction, bits: int) -> Fraction:
    """Return a binary fraction of about ``bits`` significant bits that is not below ``value``."""
    return -dyadic_down(-value, bits)


def exp_up(x: Fraction) -> Fraction:
    r"""Return a number not below :math:`e^x`, close to it also where it is tiny.

    The argument is brought near 0 by a multiple of :math:`\ln 2`, rounded up. Below
    :math:`e^{-100000}` it is that.

    Example:
        >>> tiny = exp_up(Fraction(-690))
        >>> Fraction("2.17e-300") < tiny < Fraction("2.18e-300")
        True
    """
    x = max(x, _LEAST_EXPONENT)
    power, low, high = _halvings(x)
    return short_up(exp_bounds(x - min(power * low, power * high), BITS)[1], BITS) * _two(power)


def exp_down(x: Fraction) -> Fraction:
    r"""Return a number not above :math:`e^x`, close to it also where it is tiny.

    Below :math:`e^{-100000}` it is 0.
    """
    if x < _LEAST_EXPONENT:
        return Fraction(0)
    power, low, high = _halvings(x)
    return short_down(exp_bounds(x - max(power * low, power * high), BITS)[0], BITS) * _two(power)


def _halvings(x: Fraction) -> tuple[int, Fraction, Fraction]:
    """Return about x / ln 2, and an enclosure of ln 2 that stays tight when multiplied by it."""
    if x > -_LEAST_EXPONENT:
        raise InvalidArgument(
            "The exponent is too large", must=f"be at most {-_LEAST_EXPONENT}", got=str(x)
        )
    low, high = log_bounds(Fraction(2), BITS + 24)
    return int(x / high), low, high


def _two(power: int) -> Fraction:
    return Fraction(1 << power) if power >= 0 else Fraction(1, 1 << -power)


def log_up(x: Fraction) -> Fraction:
    """Return a number not below ``ln x``."""
    return log_bounds(x, BITS)[1]


def log_down(x: Fraction) -> Fraction:
    """Return a number not above ``ln x``."""
    return log_bounds(x, BITS)[0]


def sqrt_up(x: Fraction) -> Fraction:
    """Return a number not below the square root, close to it also where it is tiny.

    Example:
        >>> sqrt_up(Fraction(1, 4)), float(sqrt_up(Fraction("1e-60")))
        (Fraction(1, 2), 1e-30)
    """
    return sqrt_bounds(x, _root_bits(x))[1]


def sqrt_down(x: Fraction) -> Fraction:
    """Return a number not above the square root, close to it also where it is tiny."""
    return sqrt_bounds(x, _root_bits(x))[0]


def _root_bits(x: Fraction) -> int:
    return BITS + max(0, x.denominator.bit_length() - x.numerator.bit_length())


def bits_above_one(value: Fraction) -> int:
    """Return about how many binary digits a positive number has before the point; at least 0.

    A quotient by something as small as ``1 / value`` needs that many bits more.

    Example:
        >>> bits_above_one(Fraction(1000)), bits_above_one(Fraction(1, 1000))
        (10, 0)
    """
    return max(0, value.numerator.bit_length() - value.denominator.bit_length() + 1)
