"""Aggregates: what is added up over the kept rows of a group, and what one unit can move of it."""

from fractions import Fraction

from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.tables.column import Bounds, Column
from discreet.tables.limits import Limits


@frozen
class Aggregate:
    """An exact integer for each group, in steps of a public grid."""

    def step(self) -> Fraction:
        """Return the size of one step of the result."""
        raise NotImplementedError

    def contribution(self, limits: Limits) -> Contribution:
        """Return what one unit can move when its rows are limited."""
        raise NotImplementedError


@frozen
class CountRows(Aggregate):
    r"""The number of kept rows.

    Guarantee:
        A unit has at most ``rows_per_group`` kept rows in each of at most ``groups_per_unit``
        groups, and every kept row adds 1 to one group. Which rows of the others are kept does not
        depend on it. So adding or removing it changes at most that many entries, each by at most
        that much.

    Example:
        >>> CountRows().contribution(Limits(rows_per_group=2, groups_per_unit=5)).l1
        Fraction(10, 1)
    """

    def step(self) -> Fraction:
        """Return 1: rows are counted whole."""
        return Fraction(1)

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its kept rows."""
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group)


@frozen
class SumColumn(Aggregate):
    r"""The sum of a column over the kept rows, after a clamp to public bounds, in whole steps.

    Guarantee:
        The clamp stands directly below the sum, so a kept row adds a whole number of steps within
        the bounds; NULL adds nothing. A unit moves a group by at most ``rows_per_group`` times the
        larger end of the range, in at most ``groups_per_unit`` groups.
    """

    column: Column
    bounds: Bounds

    def step(self) -> Fraction:
        """Return the declared step of the column."""
        return self.bounds.step

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit, in steps."""
        largest = limits.rows_per_group * self.bounds.largest_steps
        return Contribution(l0=limits.groups_per_unit, linf=largest)
