"""Intervals in all groups: by columns where that can be, and else one by one."""

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce, singledispatch
from itertools import product

from attrs import frozen

from discreet.releases.estimates.column_functions import (
    Column,
    larger,
    roots,
    rounded,
    smaller,
    within,
)
from discreet.releases.estimates.column_value import column_of
from discreet.releases.estimates.enclosures import ENCLOSURES, KEPT, Interval
from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    QuantileOf,
    SelectedOf,
    TotalOf,
    VarianceOf,
)
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.interval import (
    CHOOSING,
    Margins,
    enclosed,
    enclosed_by,
    half_width,
    interval_of,
    margins_of,
)
from discreet.releases.estimates.linear import linear
from discreet.releases.estimates.ratios import Mask, Ratios, TooLong, choose


@frozen(eq=False)
class Intervals:
    """An interval in each row; both ends are known, or neither."""

    lows: Ratios
    highs: Ratios

    @staticmethod
    def of(intervals: Sequence[Interval | None]) -> "Intervals":
        """Return intervals that are given one by one."""
        ends = [(None, None) if interval is None else interval for interval in intervals]
        return Intervals(Ratios.of([low for low, _ in ends]), Ratios.of([high for _, high in ends]))

    def least_width(self) -> Fraction | None:
        """Return how wide the narrowest is, of those that have a width."""
        try:
            return self.highs.minus(self.lows).least_positive()
        except TooLong:
            widths = [high - low for low, high in filter(None, self.each()) if high > low]
            return min(widths, default=None)

    def each(self) -> list[Interval | None]:
        """Return the intervals one by one."""
        ends = zip(self.lows.scalars(), self.highs.scalars(), strict=True)
        return [None if low is None or high is None else (low, high) for low, high in ends]


def intervals_of(
    estimate: Estimate, groups: Groups, margins: Margins, *, beta: Fraction
) -> Intervals:
    """Return what :func:`~discreet.releases.estimates.interval.interval_of` says of each group."""
    coefficients = linear(estimate)
    each = margins_of(estimate, margins, beta=beta)
    try:
        if coefficients is None:
            return _short(_enclosed(estimate, groups, each))
        return _short(_around(column_of(estimate, groups), half_width(coefficients, each)))
    except TooLong:
        return Intervals.of(
            [interval_of(estimate, group, margins, beta=beta) for group in groups.each]
        )


def _short(intervals: Intervals) -> Intervals:
    """Refuse long ends, which are shortened one by one."""
    if max(intervals.lows.bits(), intervals.highs.bits()) > KEPT:
        raise TooLong
    return intervals


def _around(values: Column, width: Fraction | None) -> Intervals:
    if width is None or not isinstance(values, Ratios):
        return _unknown(len(values))
    margin = Ratios.constant(width, len(values))
    return Intervals(values.minus(margin), values.plus(margin))


def _unknown(size: int) -> Intervals:
    nothing = Ratios.constant(None, size)
    return Intervals(nothing, nothing)


@singledispatch
def _enclosed(estimate: Estimate, groups: Groups, margins: Mapping[int, Fraction]) -> Intervals:
    """Go group by group, unless there is a better way."""
    return Intervals.of([enclosed(estimate, group, margins) for group in groups.each])


@_enclosed.register(Constant)
@_enclosed.register(KeyOf)
@_enclosed.register(GroupingOf)
def _(estimate: Estimate, groups: Groups, _: Mapping[int, Fraction]) -> Intervals:
    return _around(column_of(estimate, groups), Fraction(0))


@_enclosed.register
def _(estimate: TotalOf, groups: Groups, margins: Mapping[int, Fraction]) -> Intervals:
    return _around(groups.values[estimate.index], margins[estimate.index])


@_enclosed.register
def _(estimate: SelectedOf, groups: Groups, margins: Mapping[int, Fraction]) -> Intervals:
    if groups.threshold is None:
        return _unknown(groups.size)
    found = _around(groups.values[estimate.index], margins[estimate.index])
    least, one = groups.constant(groups.threshold), groups.constant(1)
    is_high = found.lows.compared(least, operator.gt)
    lows = choose(is_high, found.lows, one)
    return Intervals(larger(lows, one), larger(found.highs, one))


@_enclosed.register
def _(estimate: QuantileOf, groups: Groups, _: Mapping[int, Fraction]) -> Intervals:
    return _unknown(groups.size)


def _count(index: int, groups: Groups, margins: Mapping[int, Fraction], least: int) -> Intervals:
    found, fewest = _around(groups.values[index], margins[index]), groups.constant(least)
    return Intervals(larger(found.lows, fewest), larger(found.highs, fewest))


def _mean(total: Intervals, count: Intervals, lower: Ratios, upper: Ratios) -> Intervals:
    """Return where a mean lies: a quotient by at least one row, and within its bounds."""
    quotient = _over(total, count)
    return Intervals(*(within(end, lower, upper) for end in (quotient.lows, quotient.highs)))


@_enclosed.register
def _(estimate: MeanOf, groups: Groups, margins: Mapping[int, Fraction]) -> Intervals:
    total = _around(groups.values[estimate.total], margins[estimate.total])
    count = _count(estimate.count, groups, margins, 1)
    centre = groups.constant(estimate.centre)
    bounds = (groups.constant(end - estimate.centre) for end in (estimate.lower, estimate.upper))
    found = _mean(total, count, *bounds)
    return Intervals(centre.plus(found.lows), centre.plus(found.highs))


@_enclosed.register
def _(estimate: VarianceOf, groups: Groups, margins: Mapping[int, Fraction]) -> Intervals:
    number, half, offset = groups.constant, estimate.half_range, estimate.offset
    count = _count(estimate.count, groups, margins, 1 + estimate.freedom)
    squares, total = (
        _around(groups.values[index], margins[index])
        for index in (estimate.squares, estimate.total)
    )
    spread = _mean(squares, count, number(-offset), number(half**2 - offset))
    shift = _square(_mean(total, count, number(-half), number(half)))
    low = number(offset).plus(spread.lows).minus(shift.highs)
    high = number(offset).plus(spread.highs).minus(shift.lows)
    low, high = (within(end, number(0), number(estimate.largest)) for end in (low, high))
    freedom = number(estimate.freedom)
    return Intervals(
        low.times(count.highs.over(count.highs.minus(freedom))),
        high.times(count.lows.over(count.lows.minus(freedom))),
    )


def _square(a: Intervals) -> Intervals:
    ends = [end.times(end) for end in (a.lows, a.highs)]
    inside = (a.lows.tops <= 0) & (a.highs.tops >= 0)
    zero = Ratios.constant(Fraction(0), len(a.lows))
    return Intervals(choose(inside, zero, smaller(*ends)), larger(*ends))


def _over(a: Intervals, b: Intervals) -> Intervals:
    """Return where a quotient lies; nothing is known if the divisor may be zero."""
    known = (b.lows.tops > 0) | (b.highs.tops < 0)
    quotients = [x.over(y) for x, y in product((a.lows, a.highs), (b.lows, b.highs))]
    return _hull(quotients, known)


def _times(a: Intervals, b: Intervals) -> Intervals:
    products = [x.times(y) for x, y in product((a.lows, a.highs), (b.lows, b.highs))]
    return _hull(products, a.lows.known)


def _root(a: Intervals) -> Intervals:
    """Return where a square root lies; where the argument is negative there is none to miss."""
    known = a.lows.known & (a.highs.tops >= 0)
    zero = Ratios.constant(Fraction(0), len(known))
    lows, highs = larger(a.lows, zero).where_known(known), a.highs.where_known(known)
    bits = [64 + max(pair) for pair in zip(lows.lengths(), highs.lengths(), strict=True)]
    return Intervals(roots(lows, bits), roots(highs, bits, round_up=True))


def _round(a: Intervals, places: Intervals | None = None) -> Intervals:
    """Return where a rounded number lies, where it is known to how many places."""
    if places is None:
        return Intervals(rounded(a.lows), rounded(a.highs))
    is_point = places.lows.compared(places.highs, operator.eq)
    if not is_point.all():
        raise TooLong  # how many places there are depends on the group, so each goes by itself
    return Intervals(rounded(a.lows, places.lows), rounded(a.highs, places.lows))


def _hull(ends: Sequence[Ratios], known: Mask) -> Intervals:
    lows, highs = reduce(smaller, ends), reduce(larger, ends)
    return Intervals(lows.where_known(known), highs.where_known(known))


_BY_COLUMNS: dict[str, Callable[..., Intervals]] = {
    "+": lambda a, b: Intervals(a.lows.plus(b.lows), a.highs.plus(b.highs)),
    "-": lambda a, b: Intervals(a.lows.minus(b.highs), a.highs.minus(b.lows)),
    "*": _times,
    "/": _over,
    "sqrt": _root,
    "neg": lambda a: Intervals(a.highs.negative(), a.lows.negative()),
    "real": lambda a: a,
    "round": _round,
}
"""The enclosures that go by columns; those of other functions are worked out group by group."""


@_enclosed.register
def _(estimate: Calculation, groups: Groups, margins: Mapping[int, Fraction]) -> Intervals:
    if estimate.function in CHOOSING:
        return Intervals.of([enclosed(estimate, group, margins) for group in groups.each])
    if estimate.function not in ENCLOSURES:
        return _unknown(groups.size)
    inner = [_enclosed(argument, groups, margins) for argument in estimate.arguments]
    work = _BY_COLUMNS.get(estimate.function)
    if work is not None:
        return _short(work(*inner))
    rows = zip(*(intervals.each() for intervals in inner), strict=True)
    return Intervals.of([enclosed_by(estimate.function, row) for row in rows])
