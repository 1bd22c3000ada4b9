"""The values of an estimate in all groups: by columns where that can be, and else one by one."""

import datetime
from fractions import Fraction
from functools import singledispatch

from discreet.releases.estimates.column_functions import (
    COLUMN_FUNCTIONS,
    Column,
    larger,
    scalars,
    within,
)
from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    QuantileOf,
    Scalar,
    SelectedOf,
    TotalOf,
    VarianceOf,
    WindowOf,
)
from discreet.releases.estimates.functions import FUNCTIONS
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.ratios import MOST_BITS, Ratios, TooLong
from discreet.releases.estimates.value import value_of


def column_of(estimate: Estimate, groups: Groups) -> Column:
    """Return what :func:`~discreet.releases.estimates.value.value_of` says of each group."""
    try:
        return _column(estimate, groups)
    except TooLong:
        return _one_by_one(estimate, groups)


def column(values: list[Scalar | None]) -> Column:
    """Return values as a column of numbers, if they are numbers.

    Example:
        >>> type(column([Fraction(1), None])).__name__, column(["a", None])
        ('Ratios', ['a', None])
    """
    numbers = [value for value in values if value is None or isinstance(value, Fraction)]
    return Ratios.of(numbers) if len(numbers) == len(values) else values


def _one_by_one(estimate: Estimate, groups: Groups) -> Column:
    return column([value_of(estimate, group) for group in groups.each])


@singledispatch
def _column(estimate: Estimate, groups: Groups) -> Column:
    return _one_by_one(estimate, groups)


@_column.register
def _(estimate: Constant, groups: Groups) -> Column:
    value = estimate.value
    if value is None or isinstance(value, Fraction):
        return Ratios.constant(value, groups.size)
    return [value] * groups.size


@_column.register
def _(estimate: KeyOf, groups: Groups) -> Column:
    keys = groups.keys[estimate.place]
    if all(type(key) is int or key is None for key in keys):
        return Ratios.integers(keys)
    plain = (str, bool, datetime.date)
    return [key if key is None or isinstance(key, plain) else Fraction(key) for key in keys]


@_column.register
def _(estimate: GroupingOf, groups: Groups) -> Column:
    bits = [
        int("".join("0" if place in places else "1" for place in estimate.places), 2)
        for places in groups.places
    ]
    return Ratios.integers([bits[which] for which in groups.sets.tolist()])


@_column.register(TotalOf)
@_column.register(SelectedOf)
@_column.register(QuantileOf)
def _(estimate: TotalOf | SelectedOf | QuantileOf, groups: Groups) -> Column:
    values = groups.values[estimate.index]
    if values.bits() > MOST_BITS:
        raise TooLong
    return values


@_column.register
def _(estimate: MeanOf, groups: Groups) -> Column:
    count = larger(groups.values[estimate.count], groups.constant(1))
    mean = groups.constant(estimate.centre).plus(groups.values[estimate.total].over(count))
    return within(mean, groups.constant(estimate.lower), groups.constant(estimate.upper))


@_column.register
def _(estimate: VarianceOf, groups: Groups) -> Column:
    number, half, offset = groups.constant, estimate.half_range, estimate.offset
    count = larger(groups.values[estimate.count], number(1 + estimate.freedom))
    shift = within(groups.values[estimate.total].over(count), number(-half), number(half))
    spread = groups.values[estimate.squares].over(count)
    spread = within(spread, number(-offset), number(half**2 - offset))
    variance = number(offset).plus(spread).minus(shift.times(shift))
    variance = within(variance, number(0), number(estimate.largest))
    return variance.times(count.over(count.minus(number(estimate.freedom))))


@_column.register
def _(estimate: WindowOf, groups: Groups) -> Column:
    return groups.windows[estimate]


@_column.register
def _(estimate: Calculation, groups: Groups) -> Column:
    arguments = [column_of(argument, groups) for argument in estimate.arguments]
    work = COLUMN_FUNCTIONS.get(estimate.function)
    try:
        found = None if work is None else work(*arguments)
    except TooLong:
        found = None  # one by one, long numbers are shortened
    if found is not None:
        return found
    value = FUNCTIONS[estimate.function].value
    return column([value(row) for row in zip(*map(scalars, arguments), strict=True)])
