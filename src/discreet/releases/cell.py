"""Cells: values of an answer as plain Python, and as text for people."""

import datetime
import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.core.numbers import float_up
from discreet.releases.estimates.estimate import Scalar
from discreet.releases.estimates.numbers import kept
from discreet.tables.column import ColumnType

Cell = str | int | float | bool | datetime.date | None
"""One value of an answer."""

PlainInterval = tuple[int | float, int | float]

_MOST_DECIMALS = 12
_DIGITS = 3


def cell(value: Scalar | None, kind: ColumnType) -> Cell:
    """Return a value as plain Python: whole numbers as int, others as the nearest float.

    A number that no float can hold is None, as after any other overflow.

    Example:
        >>> cell(Fraction(3), ColumnType.INTEGER), cell(Fraction(3), ColumnType.REAL)
        (3, 3.0)
    """
    if not isinstance(value, Fraction):
        return value
    if kept(value) is None:
        return None
    return value.numerator if kind is ColumnType.INTEGER else float(value)


def plain_up(value: Fraction) -> int | float:
    """Return an integer where the value is one, and else a float that is not below it."""
    return value.numerator if value.denominator == 1 else float_up(value)


def decimals_for(widths: Sequence[Fraction]) -> int:
    """Return how many decimals to show, so that the smallest width has three digits.

    Example:
        >>> decimals_for([Fraction(1, 8)]), decimals_for([Fraction(500)])
        (3, 0)
    """
    known = [width for width in widths if width > 0]
    if not known:
        return _MOST_DECIMALS // 2
    size = math.floor(math.log10(float_up(min(known))))
    return min(max(0, _DIGITS - 1 - size), _MOST_DECIMALS)


def text(value: Scalar | None) -> str:
    """Return a value without an error bar as text.

    Example:
        >>> text(None), text(Fraction(7)), text(Fraction(1, 3)), text(True)
        ('NULL', '7', '0.3333333333', 'true')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        is_whole = value.denominator == 1
        return str(value.numerator) if is_whole else f"{float(value):.10g}"
    return str(value)
