"""The values of functions, for whole columns: of numbers all at once, of others row by row."""

import datetime
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from discreet.core.numbers import exp_bounds, log_bounds
from discreet.tables.arithmetic.columns import Column, Scalar, column, is_true, scalars, truths
from discreet.tables.arithmetic.ratios import (
    Ratios,
    add,
    choose,
    kept,
    larger,
    smaller,
    times,
    whole,
)

ColumnFunction = Callable[..., Column]
RowFunction = Callable[..., Scalar | None]

LARGEST_POWER = 64
_LARGEST_EXPONENT = 690


def each(work: Callable[[Sequence[Any]], Scalar | None]) -> ColumnFunction:
    """Return a function of columns that works on each row of arguments by itself."""

    def value(*columns: Column) -> Column:
        return column([work(row) for row in zip(*map(scalars, columns), strict=True)])

    return value


def strict(work: RowFunction) -> ColumnFunction:
    """Return a function of each row that is NULL if any argument is, and never without end."""

    def value(row: Sequence[Any]) -> Scalar | None:
        if any(argument is None for argument in row):
            return None
        result = work(*row)
        return kept(result) if isinstance(result, Fraction) else result

    return each(value)


def kept_numbers(work: Callable[..., Ratios]) -> Callable[..., Ratios]:
    """Return a function of columns of numbers whose values have sensible length and size."""
    return lambda *columns: work(*columns).kept()


def of_numbers(work: Callable[..., Column], otherwise: ColumnFunction) -> ColumnFunction:
    """Return a function that is one of columns of numbers, and another of all others."""

    def value(*columns: Column) -> Column:
        is_numeric = all(isinstance(part, Ratios) for part in columns)
        return work(*columns) if is_numeric else otherwise(*columns)

    return value


def rounded(values: Ratios, decimals: Ratios | None = None) -> Ratios:
    """Return the values to so many decimals, halves away from zero.

    Example:
        >>> rounded(Ratios.of([Fraction(5, 2), Fraction(-5, 2)])).scalars()
        [Fraction(3, 1), Fraction(-3, 1)]
    """
    if decimals is None:
        return _to_places(values, [0])
    places = decimals.rounded_down().tolist()
    is_same = len(set(places)) == 1
    return _to_places(values, places[:1] if is_same else places).where_known(decimals.known)


def _to_places(values: Ratios, places: Sequence[int]) -> Ratios:
    fits = np.array([abs(place) <= LARGEST_POWER for place in places], dtype=np.bool_)
    powers = np.where(fits, np.array(places, dtype=object), 0).tolist()
    up = whole([10 ** max(0, power) for power in powers])
    down = whole([10 ** max(0, -power) for power in powers])
    bottoms = times(values.bottoms, down)
    halves = add(times(abs(values.tops), times(up, whole([2]))), bottoms)
    half_up = halves // times(bottoms, whole([2]))
    tops = times(times(half_up, down), np.where(values.tops < 0, -1, 1))
    return Ratios(tops, np.broadcast_to(up, tops.shape), values.known).where_known(fits)


def floor(values: Ratios) -> Ratios:
    """Return the largest integers that are not above."""
    return Ratios(values.rounded_down(), np.ones(len(values), dtype=np.int64), values.known)


def ceiling(values: Ratios) -> Ratios:
    """Return the smallest integers that are not below."""
    return floor(values.negative()).negative()


def sign(values: Ratios) -> Ratios:
    """Return -1, 0 or 1."""
    return Ratios(np.sign(values.tops), np.ones(len(values), dtype=np.int64), values.known)


def whole_ratio(a: Ratios, b: Ratios) -> Ratios:
    """Return the quotients, rounded towards 0.

    Example:
        >>> whole_ratio(Ratios.of([Fraction(-7)]), Ratios.of([Fraction(2)])).scalars()
        [Fraction(-3, 1)]
    """
    return a.over(b).truncated()


def remainder(a: Ratios, b: Ratios) -> Ratios:
    """Return what is left of ``a``, with the sign of ``a``, as SQL has it.

    Example:
        >>> remainder(Ratios.of([Fraction(-7)]), Ratios.of([Fraction(3)])).scalars()
        [Fraction(-1, 1)]
    """
    return a.minus(b.times(whole_ratio(a, b)))


def root(values: Ratios) -> Ratios:
    """Return the square roots, to at least 60 significant bits."""
    known = values.where_known(values.tops >= 0)
    return roots(known, [64 + length for length in known.lengths()])


def roots(values: Ratios, bits: Sequence[int], *, round_up: bool = False) -> Ratios:
    """Return the square roots of numbers that are not negative, each to so many bits."""
    tops = []
    for (top, bottom, _), places in zip(values.pairs(), bits, strict=True):
        square = top << (2 * places)
        found = math.isqrt(square // bottom)
        tops.append(found + (round_up and found * found * bottom < square))
    return Ratios(whole(tops), whole([1 << places for places in bits]), values.known)


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


def comparison(relation: Callable[[Any, Any], Any]) -> ColumnFunction:
    """Return where a relation such as ``operator.lt`` holds."""

    def work(first: Ratios, second: Ratios) -> Column:
        return truths(first.compared(second, relation), first.known & second.known)

    return of_numbers(work, strict(relation))


def extreme(
    pick: Callable[[Ratios, Ratios], Ratios], pick_one: Callable[[list[Any]], Scalar]
) -> ColumnFunction:
    """Return the extreme of what is known, as SQL has it."""

    def both(first: Ratios, second: Ratios) -> Ratios:
        picked = pick(first, second)
        return choose(first.known & second.known, picked, choose(first.known, first, second))

    def of_row(row: Sequence[Scalar | None]) -> Scalar | None:
        known = [argument for argument in row if argument is not None]
        return pick_one(known) if known else None

    return of_numbers(lambda *columns: reduce(both, columns), each(of_row))


GREATEST, LEAST = extreme(larger, max), extreme(smaller, min)


def _first_known(*columns: Ratios) -> Ratios:
    return reduce(lambda first, second: choose(first.known, first, second), columns)


first_known = of_numbers(
    _first_known, each(lambda row: next((one for one in row if one is not None), None))
)


def _null_if(first: Ratios, second: Ratios) -> Ratios:
    same = first.compared(second, operator.eq) & first.known & second.known
    return first.where_known(~same)


null_if = of_numbers(_null_if, each(lambda row: None if row[0] == row[1] else row[0]))


def case(*columns: Column) -> Column:
    """Return the first result whose condition holds, or else the last argument."""
    results = (*columns[1::2], columns[-1])
    if not all(isinstance(result, Ratios) for result in results):
        return _case_of_rows(*columns)
    found = columns[-1]
    for condition, result in zip(columns[-3::-2], columns[-2::-2], strict=True):
        assert isinstance(result, Ratios)
        assert isinstance(found, Ratios)
        found = choose(is_true(condition), result, found)
    return found


def _case_of_row(row: Sequence[Scalar | None]) -> Scalar | None:
    pairs = zip(row[:-1:2], row[1::2], strict=True)
    return next((result for condition, result in pairs if condition is True), row[-1])


_case_of_rows = each(_case_of_row)


def _any(row: Sequence[Scalar | None]) -> bool | None:
    return True if True in row else None if None in row else False


every = each(lambda row: False if False in row else None if None in row else True)
some = each(_any)


def among(wanted: Column, *known: Column) -> Column:
    """Tell where a value is one of others."""
    return some(*(EQUAL(wanted, other) for other in known))


EQUAL = comparison(operator.eq)


def is_null(values: Column) -> Column:
    """Tell where there is no value."""
    if isinstance(values, Ratios):
        return list((~values.known).tolist())
    return [value is None for value in values]


def add_days(left: Any, right: Any) -> Scalar | None:
    """Return a day so many days later, whichever comes first."""
    return _later(right, left) if isinstance(right, datetime.date) else _later(left, right)


def subtract_days(left: datetime.date, right: Any) -> Scalar | None:
    """Return the number of days between two days, or a day so many days earlier."""
    is_day = isinstance(right, datetime.date)
    return Fraction((left - right).days) if is_day else _later(left, -right)


def _later(day: datetime.date, count: Fraction) -> datetime.date | None:
    """Return the day so many days later, if the calendar has it."""
    try:
        return day + datetime.timedelta(days=math.floor(count))
    except OverflowError:
        return None
