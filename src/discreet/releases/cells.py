"""Columns of an answer as plain Python values, for all rows at once."""

import math
from collections.abc import Iterable

from discreet.releases.cell import Cell, PlainInterval, cell
from discreet.releases.estimates.columns import Column
from discreet.releases.estimates.enclosures import Intervals
from discreet.releases.estimates.numbers import SURELY_KEPT
from discreet.releases.estimates.ratios import Mask, Ratios
from discreet.tables.column import ColumnType


def cells(values: Column, kind: ColumnType) -> list[Cell]:
    """Return what :func:`~discreet.releases.cell.cell` says of each value.

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


def _known(found: Iterable[Cell], known: Mask) -> list[Cell]:
    if known.all():
        return list(found)
    return [value if is_known else None for value, is_known in zip(found, known, strict=True)]


def plain_intervals(intervals: Intervals, kind: ColumnType) -> tuple[PlainInterval | None, ...]:
    """Return intervals as plain numbers, rounded outwards.

    Example:
        >>> from fractions import Fraction
        >>> plain_intervals(Intervals.of([(Fraction(1, 2), Fraction(5))]), ColumnType.INTEGER)
        ((0, 5),)
    """
    lows, highs = intervals.lows, intervals.highs
    if kind is ColumnType.INTEGER:
        lower, upper = lows.rounded_down().tolist(), (-highs.negative().rounded_down()).tolist()
    else:
        lower = [0.0 - end for end in _floats_up(lows.negative())]  # no negative zero
        upper = [0.0 + end for end in _floats_up(highs)]
    found = zip(lower, upper, lows.known.tolist(), strict=True)
    return tuple((low, high) if known else None for low, high, known in found)


def _floats_up(values: Ratios) -> list[float]:
    """Return the smallest floats that are not below."""
    found = []
    for nearest, (top, bottom, _) in zip(values.floats().tolist(), values.pairs(), strict=True):
        above, below = nearest.as_integer_ratio()
        is_enough = above * bottom >= top * below
        found.append(nearest if is_enough else math.nextafter(nearest, math.inf))
    return found
