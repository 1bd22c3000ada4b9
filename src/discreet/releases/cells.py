"""Cells: the values of an answer as plain Python, one by one and for all rows at once."""

import datetime
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core import optional
from discreet.core.numbers import float_up
from discreet.tables.arithmetic.columns import Column, Scalar, day_of
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import SURELY_KEPT, Mask, Ratios, kept
from discreet.tables.column import ColumnType

Cell = str | int | float | bool | datetime.date | datetime.time | None
"""One value of an answer."""

PlainInterval = tuple[Any, Any]
"""Where a value lies: two ends of its own type, which are integers, floats or days."""

PlainEnds = tuple[Any, Any]
"""Where a value lies; an end that is not known is None."""

_MOST_DECIMALS = 12
_DIGITS = 3
_SMALLEST = -6


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


def json_cell(value: Cell) -> str | int | float | bool | None:
    """Return a value as JSON has it: days and times are text."""
    return value if value is None or isinstance(value, str | int | float) else value.isoformat()


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


def rough_text(value: Scalar | None) -> str:
    """Return a value of which little is known: three digits are enough, and whole numbers to 9999.

    Example:
        >>> [rough_text(Fraction(number)) for number in ("252.17391", "1987", "-123456", "0.00123")]
        ['252', '1987', '-123000', '0.00123']
    """
    if not isinstance(value, Fraction) or not value:
        return text(value)
    size = math.floor(math.log10(abs(float(value))))
    if not _SMALLEST <= size <= _MOST_DECIMALS:
        return f"{float(value):.{_DIGITS - 1}e}"
    decimals = _DIGITS - 1 - size
    if size == _DIGITS:
        decimals = 0
    shown = f"{float(round(value, decimals)):.{max(decimals, 0)}f}"
    return shown.rstrip("0").rstrip(".") if decimals > 0 else shown


def cells(values: Column, kind: ColumnType) -> list[Cell]:
    """Return what :func:`~discreet.releases.cells.cell` says of each value.

    Example:
        >>> from fractions import Fraction
        >>> cells(Ratios.of([Fraction(3), None]), ColumnType.INTEGER)
        [3, None]
    """
    if not isinstance(values, Ratios):
        return [cell(value, kind) for value in values]
    if values.bits() > SURELY_KEPT:
        return [cell(value, kind) for value in values.scalars()]
    if kind is not ColumnType.INTEGER:
        return _known(values.floats().tolist(), values.known)
    if values.is_whole():
        return _known(values.rounded_down().tolist(), values.known)
    return [cell(value, kind) for value in values.scalars()]


def is_unknown(values: Sequence[Cell], noise: Intervals) -> bool:
    """Tell whether some row has a value, and no interval of its noise."""
    pairs = zip(values, noise.known.tolist(), strict=True)
    return any(value is not None and not known for value, known in pairs)


def _known(found: Iterable[Cell], known: Mask) -> list[Cell]:
    if known.all():
        return list(found)
    return [value if is_known else None for value, is_known in zip(found, known, strict=True)]


def plain_intervals(intervals: Intervals, kind: ColumnType) -> tuple[PlainInterval | None, ...]:
    """Return intervals as plain numbers, or days, rounded outwards.

    Example:
        >>> from fractions import Fraction
        >>> plain_intervals(Intervals.of([(Fraction(1, 2), Fraction(5))]), ColumnType.INTEGER)
        ((0, 5),)
    """
    lows, highs = intervals.lows, intervals.highs
    lower: Sequence[Cell]
    upper: Sequence[Cell]
    if kind in (ColumnType.INTEGER, ColumnType.DATE):
        whole = lows.rounded_down().tolist(), (-highs.negative().rounded_down()).tolist()
        is_day = kind is ColumnType.DATE
        lower, upper = ([day_of(n) for n in ends] if is_day else ends for ends in whole)
    else:
        lower = [0.0 - end for end in _floats_up(lows.negative())]  # no negative zero
        upper = [0.0 + end for end in _floats_up(highs)]
    found = zip(lower, upper, lows.known.tolist(), strict=True)
    return tuple((low, high) if known else None for low, high, known in found)


def plain_ends(lows: Ratios, highs: Ratios, kind: ColumnType) -> tuple[PlainEnds, ...]:
    """Return ends as plain numbers, rounded outwards; each is None where it is not known.

    Example:
        >>> from fractions import Fraction
        >>> plain_ends(Ratios.of([Fraction(1, 2)]), Ratios.of([None]), ColumnType.INTEGER)
        ((0, None),)
    """
    lower = [pair and pair[0] for pair in plain_intervals(Intervals(lows, lows), kind)]
    upper = [pair and pair[1] for pair in plain_intervals(Intervals(highs, highs), kind)]
    return tuple(zip(lower, upper, strict=True))


def _floats_up(values: Ratios) -> list[float]:
    """Return the smallest floats that are not below."""
    found = []
    for nearest, (top, bottom, _) in zip(values.floats().tolist(), values.pairs(), strict=True):
        above, below = nearest.as_integer_ratio()
        is_enough = above * bottom >= top * below
        found.append(nearest if is_enough else math.nextafter(nearest, math.inf))
    return found


_TYPES = {
    ColumnType.INTEGER: ("int64",),
    ColumnType.REAL: ("float64",),
    ColumnType.TEXT: ("string",),
    ColumnType.BOOLEAN: ("bool_",),
    ColumnType.DATE: ("date32",),
    ColumnType.TIMESTAMP: ("timestamp", "us"),
    ColumnType.TIME: ("time64", "us"),
}
"""The name of each Arrow type, and its unit."""


def arrow_table(
    names: Sequence[str], kinds: Sequence[ColumnType], columns: Sequence[Sequence[Cell]]
) -> Any:
    """Return columns as an Arrow table.

    Example:
        >>> arrow_table(["n"], [ColumnType.INTEGER], [[3, None]])["n"].to_pylist()
        [3, None]
    """
    arrow = optional.load("pyarrow")
    arrays = [_array(*pair) for pair in zip(columns, kinds, strict=True)]
    return arrow.table(dict(zip(names, arrays, strict=True)))


_LONGEST_DECIMAL = 38
"""So many digits a decimal number of 128 bits has."""


def _array(cells: Sequence[Cell], kind: ColumnType) -> Any:
    """Return one column. Integers that 64 bits do not hold keep all of their digits.

    Then the column has decimal numbers of 128 bits; beyond 38 digits it is text.
    """
    arrow = optional.load("pyarrow")
    name, *unit = _TYPES[kind]
    try:
        return arrow.array(cells, type=getattr(arrow, name)(*unit))
    except OverflowError:
        texts = [None if value is None else str(value) for value in cells]
    if max(len(text.lstrip("-")) for text in texts if text is not None) > _LONGEST_DECIMAL:
        return arrow.array(texts, type=arrow.string())
    numbers = [None if text is None else Decimal(text) for text in texts]
    return arrow.array(numbers, type=arrow.decimal128(_LONGEST_DECIMAL, 0))


def pandas_column(cells: Sequence[Cell], kind: ColumnType) -> Any:
    """Return one column of a pandas data frame; whole numbers beside NULL stay whole.

    Integers that 64 bits do not hold are Python's own, with all of their digits.
    """
    pandas = optional.load("pandas")
    is_whole = None not in cells
    if kind is ColumnType.REAL:
        return pandas.array([math.nan if value is None else value for value in cells], dtype=float)
    if kind is ColumnType.BOOLEAN:
        return pandas.array(cells, dtype=bool if is_whole else "boolean")
    if kind is not ColumnType.INTEGER:
        return list(cells)
    fits = all(-(2**63) <= value < 2**63 for value in cells if isinstance(value, int))
    return pandas.array(cells, dtype=("int64" if is_whole else "Int64") if fits else object)
