"""Columns: the values of one estimate in all groups, and the exact order of them."""

import datetime
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.tables.arithmetic.ratios import Mask, Ratios

Scalar = Fraction | str | bool | datetime.date | datetime.time
"""A value that an estimate can have. Numbers are exact; missing is None, as always."""

Column = Ratios | Sequence[Scalar | None]
"""The values of one estimate in all groups: numbers, or values of another type."""


def column(values: Sequence[Scalar | None]) -> Column:
    """Return values of one type, as a column of numbers if they are numbers.

    Example:
        >>> type(column([Fraction(1), None])).__name__, column(["a", None])
        ('Ratios', ['a', None])
    """
    first = next((value for value in values if value is not None), None)
    if first is not None and not isinstance(first, Fraction):
        return values
    numbers = [value for value in values if value is None or isinstance(value, Fraction)]
    return Ratios.of(numbers) if len(numbers) == len(values) else values


def constant(value: Scalar | None, size: int) -> Column:
    """Return the same value everywhere."""
    if value is None or isinstance(value, Fraction):
        return Ratios.constant(value, size)
    return [value] * size


def scalars(values: Column) -> list[Scalar | None]:
    """Return the values one by one."""
    return list(values.scalars() if isinstance(values, Ratios) else values)


def in_numbers(values: Column) -> Ratios | None:
    """Return numbers as they are, and days as the number of days from the first of year 1.

    Nothing if they are neither.

    Example:
        >>> in_numbers([datetime.date(1, 1, 2), None]).scalars()
        [Fraction(2, 1), None]
    """
    if isinstance(values, Ratios):
        return values
    days = [value for value in values if value is None or isinstance(value, datetime.date)]
    if len(days) < len(values):
        return None
    return Ratios.of([None if day is None else Fraction(day.toordinal()) for day in days])


def day_of(number: int) -> datetime.date:
    """Return the day with this number, or the first or last that there is if it is beyond.

    Example:
        >>> day_of(2), day_of(-5)
        (datetime.date(1, 1, 2), datetime.date(1, 1, 1))
    """
    first, last = datetime.date.min.toordinal(), datetime.date.max.toordinal()
    return datetime.date.fromordinal(min(max(number, first), last))


def truths(mask: Mask, known: Mask) -> list[Scalar | None]:
    """Return truth values one by one, None where they are not known."""
    found = mask.tolist()
    if known.all():
        return list(found)
    return [truth if is_known else None for truth, is_known in zip(found, known, strict=True)]


def is_true(truths_of: Column) -> Mask:
    """Tell where a truth value is true: neither false, nor missing."""
    return np.array([truth is True for truth in scalars(truths_of)], dtype=np.bool_)


def sorted_rows(
    values: Column, *, descending: bool, nulls_first: bool = False
) -> NDArray[np.int64]:
    """Return the places of the rows in order. Equal ones stay; those without a value come last.

    Example:
        >>> sorted_rows(["b", None, "a", "b"], descending=True).tolist()
        [0, 3, 2, 1]
        >>> sorted_rows(["b", None, "a", "b"], descending=True, nulls_first=True).tolist()
        [1, 0, 3, 2]
    """
    quick = _by_floats(values, descending) if isinstance(values, Ratios) else None
    order = _one_by_one(values, descending) if quick is None else quick
    if not nulls_first:
        return order
    known = values.known if isinstance(values, Ratios) else [one is not None for one in values]
    has_value = np.asarray(known, dtype=bool)[order]
    return np.concatenate([order[~has_value], order[has_value]])


def _by_floats(values: Ratios, descending: bool) -> NDArray[np.int64] | None:
    """Sort by the nearest floats, which never turn an order round; None if they hide one."""
    floats = -values.floats() if descending else values.floats()
    order = np.lexsort((floats, ~values.known)).astype(np.int64)
    shown = floats[order]
    ties = np.flatnonzero((shown[1:] == shown[:-1]) & values.known[order][1:])
    first, second = values.take(order[ties]), values.take(order[ties + 1])
    return None if first.compared(second, operator.ne).any() else order


def _one_by_one(values: Column, descending: bool) -> NDArray[np.int64]:
    plain = values.scalars() if isinstance(values, Ratios) else values

    def key(place: int) -> tuple[Any, ...]:
        value = plain[place]
        is_first = (value is not None) is descending
        return (is_first,) if value is None else (is_first, value)

    return np.array(sorted(range(len(plain)), key=key, reverse=descending), dtype=np.int64)
