"""Exact numbers as people write them: a short decimal if there is one, else a quotient."""

from decimal import Context, Decimal, Inexact
from fractions import Fraction

_DIGITS = 15
"""A decimal of so many digits survives being read as a float."""

_LARGEST_EXPONENT = 290


def written(value: Fraction | int) -> str:
    """Return a text that means exactly ``value``, in Python, in SQL and to ``exact``.

    Example:
        >>> written(Fraction(1, 8)), written(Fraction(1, 3)), written(Fraction(1, 10**9))
        ('0.125', '1/3', '1e-9')
    """
    number = Fraction(value)
    context = Context(prec=_DIGITS)
    decimal = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize()
    is_short = not context.flags[Inexact] and abs(decimal.adjusted()) <= _LARGEST_EXPONENT
    if number.denominator == 1 and (not is_short or decimal.adjusted() < _DIGITS):
        return str(number.numerator)
    return f"{decimal:g}" if is_short else str(number)
