"""Margins: how far the true number of an aggregate may be from the noisy one, and why."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from attrs import evolve, frozen

from discreet.releases.estimates.groups import Groups
from discreet.tables.arithmetic.enclosures import Interval, Intervals
from discreet.tables.arithmetic.ratios import Ratios, larger, smaller

Plain = Fraction | Interval
"""An error bar, in the units of the answer: the same on both sides, or how far below a noisy number
and how far above it the true one may be."""


@frozen(kw_only=True)
class Coarse:
    r"""A margin of a number that is made of rounded values, and what rounding does besides.

    A sum of ``n`` rows moves by at most ``n`` times what a value does, so the number of rows is
    bounded as well: by a count of them in the answer with a margin of its own, by what is known
    otherwise, or by the smaller of both.
    """

    margin: Plain
    most: Fraction
    """By how much a value moves at most."""
    count: int | None
    """Which aggregate counts the rows, or more."""
    count_margin: Fraction
    rows: Fraction | None
    """How many rows of a group there are at most, if that is known otherwise."""

    def further(self, low: Fraction, high: Fraction) -> "Coarse":
        """Return the same where the number changes besides by something between two others."""
        return evolve(self, margin=further(self.margin, low, high))

    def of_one(self) -> Plain:
        """Return the margin of a value that is one of those that were rounded."""
        return further(self.margin, -self.most, self.most)

    def of_sum(self, found: Intervals, groups: Groups) -> Intervals:
        """Return where a sum of the values lies, given where that of the rounded ones does."""
        far = self.most_rows(groups).times(groups.constant(self.most))
        return Intervals(found.lows.minus(far), found.highs.plus(far))

    def most_rows(self, groups: Groups) -> Ratios:
        """Return how many rows each group has at most, as far as that is known."""
        known = groups.constant(self.rows)
        if self.count is None:
            return known
        counted = groups.values[self.count].plus(groups.constant(self.count_margin))
        counted = larger(counted, groups.constant(0))
        return counted if self.rows is None else smaller(counted, known)


Margin = Plain | Coarse
Margins = Callable[[int, Fraction], Fraction]
"""The error bar of an aggregate at a failure probability."""
AnyMargins = Callable[[int, Fraction], Margin]
Each = Mapping[int, Margin]
"""The margin of each aggregate that matters."""


def further(margin: Plain, low: Fraction, high: Fraction) -> Plain:
    """Return the margin of a number that changes besides by something between two others.

    Example:
        >>> further(Fraction(3), Fraction(-1), Fraction(1))
        Fraction(4, 1)
        >>> further(Fraction(3), Fraction(0), Fraction(1))
        (Fraction(3, 1), Fraction(4, 1))
    """
    below, above = (margin, margin) if isinstance(margin, Fraction) else margin
    ends = below - low, above + high
    return ends[0] if ends[0] == ends[1] else ends


def noisy(index: int, groups: Groups, each: Each) -> Intervals:
    """Return where the exact number of an aggregate lies, of values as they are rounded."""
    given, values = each[index], groups.values[index]
    margin = given.margin if isinstance(given, Coarse) else given
    if isinstance(margin, Fraction):
        return Intervals.around(values, margin)
    below, above = map(groups.constant, margin)
    return Intervals(values.minus(below), values.plus(above))


def moved(index: int, each: Each) -> Fraction:
    """Return how far rounding moved a value of an aggregate at most."""
    margin = each[index]
    return margin.most if isinstance(margin, Coarse) else Fraction(0)
