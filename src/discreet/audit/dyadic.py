"""Directed rounding to short binary fractions, so that long exact sums stay quick."""

from fractions import Fraction


def dyadic_down(value: Fraction, bits: int) -> Fraction:
    """Return a binary fraction of about ``bits`` significant bits that is not above ``value``.

    The error is at most ``2**(1 - bits)`` of the value's size. Sums of such numbers have a power of
    two below the line, where sums of arbitrary fractions grow without limit.

    Example:
        >>> dyadic_down(Fraction(1, 3), 4), dyadic_down(Fraction(-1, 3), 4)
        (Fraction(5, 16), Fraction(-11, 32))
    """
    size = value.numerator.bit_length() - value.denominator.bit_length()
    shift = bits - size
    if shift >= 0:
        return Fraction((value.numerator << shift) // value.denominator, 1 << shift)
    return Fraction((value.numerator // (value.denominator << -shift)) << -shift)


def dyadic_up(value: Fraction, bits: int) -> Fraction:
    """Return a binary fraction of about ``bits`` significant bits that is not below ``value``."""
    return -dyadic_down(-value, bits)
