"""Aggregates: what is added up over the kept rows of a group, and what one unit can move of it."""

import math
from fractions import Fraction
from typing import ClassVar

from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.tables.column import Bounds
from discreet.tables.expression import Expression
from discreet.tables.limits import Limits


@frozen(kw_only=True)
class Aggregate:
    """Exact integers for each group, from the rows for which ``where`` is true.

    ``where`` is looked at after the limits: one sample of a unit's rows serves all aggregates of a
    plan, so that what is compared was counted on the same rows.
    """

    where: Expression | None = None

    @property
    def looked_at(self) -> Expression | None:
        """The value of a row that counts, or None if its being there is all that does."""
        return None

    @property
    def grid(self) -> Bounds | None:
        """The bounds and the step to which the value is clamped, or None if it is not."""
        return None

    def contribution(self, limits: Limits) -> Contribution:
        """Return what one unit can move when its rows are limited."""
        raise NotImplementedError


@frozen(kw_only=True)
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

    stored_as: ClassVar[str] = "CountRows"

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its kept rows."""
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group)


@frozen(kw_only=True)
class CountUnits(Aggregate):
    """The number of units with a row in the group. Each counts once, however many rows it has.

    Example:
        >>> CountUnits().contribution(Limits(rows_per_group=2, groups_per_unit=5)).l1
        Fraction(5, 1)
    """

    stored_as: ClassVar[str] = "CountUnits"

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit: 1 in each of its groups."""
        return Contribution(l0=limits.groups_per_unit, linf=1)


@frozen(kw_only=True)
class CountDistinct(Aggregate):
    """The number of different values among those that are kept.

    Guarantee:
        Of each unit at most ``rows_per_group`` different values count in a group, chosen by a keyed
        hash. The values of a group are the union over its units, so a unit adds at most that many.

    Assumes:
        For its use, not for privacy: a value that only people with more values than that have may
        be missed, so the count is biased downwards.
    """

    stored_as: ClassVar[str] = "CountDistinct"
    value: Expression

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its kept values."""
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group)


@frozen(kw_only=True)
class SumValues(Aggregate):
    r"""The sum of a value over the kept rows, after a clamp to public bounds, in whole steps.

    With a ``centre`` (in steps) that much is subtracted from every value after the clamp.

    Guarantee:
        The clamp stands directly below the sum, so a kept row adds a whole number of steps within
        the bounds; NULL adds nothing. A unit moves a group by at most ``rows_per_group`` times the
        largest size of a value less the centre, in at most ``groups_per_unit`` groups.
    """

    stored_as: ClassVar[str] = "SumValues"
    value: Expression
    bounds: Bounds
    centre: int = 0

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    @property
    def grid(self) -> Bounds:
        """The bounds and the step of the clamp."""
        return self.bounds

    def largest(self) -> int:
        """Return the largest size of what one row adds."""
        ends = (self.bounds.lower_steps, self.bounds.upper_steps)
        return max(abs(end - self.centre) for end in ends)

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit, in steps."""
        largest = limits.rows_per_group * self.largest()
        return Contribution(l0=limits.groups_per_unit, linf=largest)


LARGEST_ROOT = 2**16
"""The most steps from its centre that a value may be if its square is summed.

Squares then need noise of a scale that can be drawn, at every usual price; and a grid of a 2**17th
of the range is far finer than any private variance.
"""


@frozen(kw_only=True)
class SumSquares(Aggregate):
    r"""The sum of the squares of a value's distance from ``centre``, less ``offset`` for each row.

    Guarantee:
        As for a sum: after the clamp a row adds an integer between ``-offset`` and
        :math:`h^2 - offset`, where :math:`h` is the largest distance from the centre in steps.
    """

    stored_as: ClassVar[str] = "SumSquares"
    value: Expression
    bounds: Bounds
    centre: int
    offset: int

    def __attrs_post_init__(self) -> None:
        """Refuse a grid on which squares would not fit the accumulator."""
        if self.largest_square() > LARGEST_ROOT**2:
            raise InvalidArgument(
                "The squares of these values are too large",
                must=f"be at most {LARGEST_ROOT:,} steps from the centre",
                next="Take a larger step",
            )

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    @property
    def grid(self) -> Bounds:
        """The bounds and the step of the clamp."""
        return self.bounds

    def largest_square(self) -> int:
        """Return the largest square of a distance from the centre, in steps."""
        ends = (self.bounds.lower_steps, self.bounds.upper_steps)
        return max(abs(end - self.centre) for end in ends) ** 2

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit, in squared steps."""
        largest = max(abs(self.offset), abs(self.largest_square() - self.offset))
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group * largest)


@frozen(kw_only=True)
class QuantileValues(Aggregate):
    """All kept values of a group, clamped and in whole steps, to choose a quantile from.

    Guarantee:
        A unit adds at most ``rows_per_group`` values to each of at most ``groups_per_unit``
        groups. ``contribution`` counts values added or taken away.
    """

    stored_as: ClassVar[str] = "QuantileValues"
    value: Expression
    bounds: Bounds
    quantile: Fraction

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    @property
    def grid(self) -> Bounds:
        """The bounds and the step of the clamp."""
        return self.bounds

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the number of values of one unit."""
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group)


def middle(bounds: Bounds) -> int:
    """Return the step nearest to the middle of the bounds.

    Example:
        >>> middle(Bounds(lower=0, upper=110))
        55
    """
    return math.floor(Fraction(bounds.lower_steps + bounds.upper_steps, 2))
