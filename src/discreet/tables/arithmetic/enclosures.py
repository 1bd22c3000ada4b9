"""Interval arithmetic: for each function, where its values lie if its arguments lie in intervals.

Of an interval that is missing nothing is known. Ends are exact, or rounded outwards.
"""

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.rounding import short_down, short_up
from discreet.tables.arithmetic import function_values
from discreet.tables.arithmetic.function_values import LARGEST_POWER, roots, rounded
from discreet.tables.arithmetic.ratios import (
    KEPT,
    Mask,
    Ratios,
    choose,
    kept,
    larger,
    smaller,
    within,
)

Interval = tuple[Fraction, Fraction]


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

    @staticmethod
    def around(values: Ratios, width: Fraction) -> "Intervals":
        """Return the numbers with a margin on both sides."""
        margin = Ratios.constant(width, len(values))
        return Intervals(values.minus(margin), values.plus(margin))

    @staticmethod
    def unknown(size: int) -> "Intervals":
        """Return intervals of which nothing is known."""
        nothing = Ratios.constant(None, size)
        return Intervals(nothing, nothing)

    @property
    def known(self) -> Mask:
        """Where there is an interval."""
        return self.lows.known

    def least_width(self) -> Fraction | None:
        """Return how wide the narrowest is, of those that have a width."""
        return self.highs.minus(self.lows).least_positive()

    def each(self) -> list[Interval | None]:
        """Return the intervals one by one."""
        ends = zip(self.lows.scalars(), self.highs.scalars(), strict=True)
        return [None if low is None or high is None else (low, high) for low, high in ends]

    def ends(self, work: Callable[[Ratios], Ratios]) -> "Intervals":
        """Return the same function of both ends, one that never falls."""
        return Intervals(work(self.lows), work(self.highs))

    def are_around(self, values: Ratios, width: Fraction) -> bool:
        """Tell whether each of them is a number with this margin on both sides."""
        margins = Intervals.around(values, width)
        ends = ((self.lows, margins.lows), (self.highs, margins.highs))
        return all(
            np.array_equal(one.known, other.known)
            and bool(one.compared(other, operator.eq)[one.known].all())
            for one, other in ends
        )

    def take(self, rows: NDArray[np.int64]) -> "Intervals":
        """Return the intervals at these places, in this order."""
        return self.ends(lambda end: end.take(rows))

    def negative(self) -> "Intervals":
        """Return where the numbers with the other sign lie."""
        return Intervals(self.highs.negative(), self.lows.negative())

    def where_known(self, mask: Mask) -> "Intervals":
        """Return the intervals, known only where the mask is true as well."""
        return self.ends(lambda end: end.where_known(mask))

    def outwards(self) -> "Intervals":
        """Return intervals with ends of sensible length and size, which are no smaller."""
        if max(self.lows.bits(), self.highs.bits()) <= KEPT:
            return self
        return Intervals.of([None if pair is None else _outwards(pair) for pair in self.each()])


def _outwards(interval: Interval) -> Interval | None:
    if any(kept(end) is None for end in interval):
        return None
    return short_down(interval[0], KEPT), short_up(interval[1], KEPT)


Enclosure = Callable[..., Intervals]


def rising(work: Callable[[Ratios], Ratios]) -> Enclosure:
    """Return the enclosure of an exact function that never falls."""
    return lambda a: a.ends(work)


def each_by_itself(work: Callable[..., Interval | None]) -> Enclosure:
    """Return an enclosure that is worked out row by row."""

    def enclose(*given: Intervals) -> Intervals:
        rows = zip(*(intervals.each() for intervals in given), strict=True)
        return Intervals.of([None if None in row else work(*row) for row in rows])

    return enclose


def plus(a: Intervals, b: Intervals) -> Intervals:
    """Return where a sum lies."""
    return Intervals(a.lows.plus(b.lows), a.highs.plus(b.highs))


def minus(a: Intervals, b: Intervals) -> Intervals:
    """Return where a difference lies."""
    return plus(a, b.negative())


def product_of(a: Intervals, b: Intervals) -> Intervals:
    """Return where a product lies."""
    return _hull([x.times(y) for x, y in product((a.lows, a.highs), (b.lows, b.highs))])


def ratio(a: Intervals, b: Intervals) -> Intervals:
    """Return where a quotient lies; nothing is known if the divisor may be zero."""
    known = (b.lows.tops > 0) | (b.highs.tops < 0)
    quotients = [x.over(y) for x, y in product((a.lows, a.highs), (b.lows, b.highs))]
    return _hull(quotients).where_known(known)


def whole_ratio(a: Intervals, b: Intervals) -> Intervals:
    """Return where a quotient lies that is rounded towards 0."""
    return ratio(a, b).ends(Ratios.truncated)


def _hull(ends: Sequence[Ratios]) -> Intervals:
    return Intervals(reduce(smaller, ends), reduce(larger, ends))


def _folded(a: Intervals, ends: Intervals) -> Intervals:
    """Return where an even function lies that rises from 0, given what it is at both ends."""
    zero = Ratios.constant(Fraction(0), len(a.lows))
    inside = (a.lows.tops <= 0) & (a.highs.tops >= 0) & a.known
    found = _hull([ends.lows, ends.highs])
    return Intervals(choose(inside, zero, found.lows), found.highs)


def absolute(a: Intervals) -> Intervals:
    """Return where a size lies."""
    return _folded(a, a.ends(Ratios.absolute))


def square(a: Intervals) -> Intervals:
    """Return where a square lies."""
    return _folded(a, a.ends(lambda end: end.times(end)))


def root(a: Intervals) -> Intervals:
    """Return where a square root lies; where the argument is negative there is none to miss."""
    known = a.known & (a.highs.tops >= 0)
    zero = Ratios.constant(Fraction(0), len(known))
    lows, highs = larger(a.lows, zero).where_known(known), a.highs.where_known(known)
    bits = [64 + max(pair) for pair in zip(lows.lengths(), highs.lengths(), strict=True)]
    return Intervals(roots(lows, bits), roots(highs, bits, round_up=True))


def round_to(a: Intervals, places: Intervals | None = None) -> Intervals:
    """Return where a rounded number lies, where it is known to how many places."""
    if places is None:
        return a.ends(rounded)
    is_point = places.lows.compared(places.highs, operator.eq)
    return a.ends(lambda end: rounded(end, places.lows)).where_known(is_point)


def unless(a: Intervals, b: Intervals) -> Intervals:
    """Return where the first argument lies, if it is not missing."""
    return a.where_known(b.known)


def mean(total: Intervals, count: Intervals, lower: Ratios, upper: Ratios) -> Intervals:
    """Return where a mean lies: a quotient by at least one row, and within its bounds."""
    return ratio(total, count).ends(lambda end: within(end, lower, upper))


def hull_where(found: Intervals, more: Intervals, mask: Mask) -> Intervals:
    """Return the smallest intervals around both where the mask is true, and the first elsewhere.

    One that is missing does not count: nothing is in it.
    """
    both, only = mask & found.known & more.known, mask & ~found.known
    wide = Intervals(smaller(found.lows, more.lows), larger(found.highs, more.highs))
    return _chosen(both, wide, _chosen(only, more, found))


def _chosen(mask: Mask, first: Intervals, second: Intervals) -> Intervals:
    return Intervals(choose(mask, first.lows, second.lows), choose(mask, first.highs, second.highs))


def logarithm(a: Interval) -> Interval | None:
    """Return where a natural logarithm lies."""
    return None if a[0] <= 0 else (log_bounds(a[0])[0], log_bounds(a[1])[1])


def logarithm_to(base: int) -> Callable[[Interval], Interval | None]:
    """Return where a logarithm to another base lies, as a function."""

    def enclose(a: Interval) -> Interval | None:
        natural = logarithm(a)
        if natural is None:
            return None
        quotients = [x / y for x, y in product(natural, log_bounds(Fraction(base)))]
        return min(quotients), max(quotients)

    return enclose


def exponential(a: Interval) -> Interval | None:
    """Return where a power of e lies."""
    if function_values.exponential(a[1]) is None:
        return None
    return exp_bounds(a[0], bits=96)[0], exp_bounds(a[1], bits=96)[1]


def power(a: Interval, b: Interval) -> Interval | None:
    """Return where a power lies, if the exponent is a small whole number."""
    exponent = b[0]
    if b[0] != b[1] or exponent.denominator != 1 or not 0 <= exponent <= LARGEST_POWER:
        return None
    ends = sorted(end ** int(exponent) for end in a)
    is_folded = exponent % 2 == 0 and a[0] <= 0 <= a[1]
    return (Fraction(0) ** int(exponent) if is_folded else ends[0]), ends[1]
