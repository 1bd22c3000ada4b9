"""Sums: of values and of squares, in whole steps, with a clamp directly below them."""

import math
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.tables.catalog import Limits
from discreet.tables.column import Bounds
from discreet.tables.expression import Expression
from discreet.tables.plans.aggregate import Names, OfClamped, Tally, short_decimal
from discreet.tables.plans.expression_text import show_expression


@frozen(kw_only=True)
class Sum(OfClamped, Tally):
    """A sum of whole steps over the kept rows, with a clamp directly below it."""

    @abstractmethod
    def largest(self) -> int:
        """Return the largest size of what one row adds."""

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by the largest size, for each of its kept rows."""
        return limits.contribution(self.largest())


@frozen(kw_only=True)
class SumValues(Sum):
    r"""The sum of a value over the kept rows, after a clamp to public bounds, in whole steps.

    With a ``centre`` (in steps) that much is subtracted from every value after the clamp.

    Guarantee:
        The clamp stands directly below the sum, so a kept row adds a whole number of steps within
        the bounds; NULL adds nothing. A unit moves a group by at most ``rows_per_group`` times the
        largest size of a value less the centre, in at most ``groups_per_unit`` groups.
    """

    stored_as: ClassVar[str] = "SumValues"
    kind: ClassVar[str] = "sum"
    centre: int = 0

    def largest(self) -> int:
        """Return the largest size of what one row adds."""
        return _furthest(self.bounds, self.centre)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the largest size of a value by the kept rows."""
        largest = self.largest() * self.step
        centred = f", less {short(self.centre * self.step)}" if self.centre else ""
        return (
            f"{self._clamped(clamp)}{centred}, so a row adds at most {short(largest)} in"
            f" size: {reach.multiplied(largest)}"
        )

    def _written(self, value: str) -> str:
        less = f" - {short_decimal(self.centre * self.step)}" if self.centre else ""
        return f"SUM({value}{less})"

    def _numbers(self) -> dict[str, str]:
        return {"centre": str(self.centre * self.step)}

    def _plan_text(self, names: Names) -> str:
        return f"sum {self._in_range(names)} around {self.centre}"


WIDEST = 2**52
"""The most steps that one row adds to a total whose values have no range of their own."""


@frozen(kw_only=True)
class SumTotals(Tally):
    r"""The sum of the units' totals in the group, each clamped as a whole.

    All rows of a unit that is in a kept group are added up, whatever ``rows_per_group`` says, each
    a whole number of steps of ``rows``. Then the total is moved into ``bounds``. A unit with no
    value in the group adds nothing.

    Guarantee:
        A unit adds one whole number within ``bounds`` to each of at most ``groups_per_unit``
        groups, or nothing: so it moves a group by at most their largest size. How many rows it has
        does not matter. Totals are exact before they are clamped: a row adds at most ``2**53``
        steps in size, so 128 bits hold the sum of any number of rows that can be stored.
    """

    stored_as: ClassVar[str] = "SumTotals"
    kind: ClassVar[str] = "sum_totals"
    value: Expression
    rows: Bounds
    bounds: Bounds

    def __attrs_post_init__(self) -> None:
        """Refuse totals on another grid than the rows that they are made of."""
        if self.rows.step != self.bounds.step:
            raise InvalidArgument(
                "A total is on another grid than its rows", must=f"be in steps of {self.rows.step}"
            )

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    @property
    def grid(self) -> Bounds:
        """The bounds and the step of one row."""
        return self.rows

    @property
    def step(self) -> Fraction:
        """The worth of one: a step of the grid."""
        return self.bounds.step

    @property
    def is_wide(self) -> bool:
        """Whether a row has no range of its own."""
        return self.rows.largest_steps == WIDEST

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its largest total, in each of its groups."""
        return Contribution(l0=limits.groups_per_unit, linf=self.bounds.largest_steps)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the largest size of a total by the groups."""
        whose = "" if clamp is None else f" ({clamp})"
        moved = f"moved into {short(self.rows.lower)} to {short(self.rows.upper)}{whose} and "
        largest = self.bounds.largest_steps * self.step
        total = f"{short(largest)} × {reach.groups_in_words()}"
        return (
            f"a value is {'' if self.is_wide else moved}rounded to steps of {short(self.step)}, and"
            " the total of all rows of one unit in a group is moved into"
            f" {short(self.bounds.lower)} to {short(self.bounds.upper)}, so it adds at most"
            f" {short(largest)} in size: {total} = {short(largest * reach.groups_per_unit)}"
        )

    def _written(self, value: str) -> str:
        ends = f"{short_decimal(self.bounds.lower)}, {short_decimal(self.bounds.upper)}"
        return f"SUM(CLAMP_TOTAL({value}, {ends}))"

    def _numbers(self) -> dict[str, str]:
        return {"lower": str(self.bounds.lower), "upper": str(self.bounds.upper)}

    def _plan_text(self, names: Names) -> str:
        value = show_expression(self.value, names)
        rows, whole = (f"{one.lower} to {one.upper}" for one in (self.rows, self.bounds))
        of = value if self.is_wide else f"{value} in {rows}"
        return f"sum of totals in {whole} of {of} by {self.step}"


LARGEST_ROOT = 2**16
"""The most steps from its centre that a value may be if its square is summed.

Squares then need noise of a scale that can be drawn, at every usual price; and a grid of a 2**17th
of the range is far finer than any private variance.
"""


@frozen(kw_only=True)
class SumSquares(Sum):
    r"""The sum of the squares of a value's distance from ``centre``, less ``offset`` for each row.

    Guarantee:
        As for a sum: after the clamp a row adds an integer between ``-offset`` and
        :math:`h^2 - offset`, where :math:`h` is the largest distance from the centre in steps.
    """

    stored_as: ClassVar[str] = "SumSquares"
    kind: ClassVar[str] = "sum_squares"
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
    def step(self) -> Fraction:
        """The worth of one: the square of a step of the grid."""
        return self.bounds.step**2

    def largest_square(self) -> int:
        """Return the largest square of a distance from the centre, in steps."""
        return _furthest(self.bounds, self.centre) ** 2

    def largest(self) -> int:
        """Return the largest size of what one row adds."""
        return max(abs(self.offset), abs(self.largest_square() - self.offset))

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the largest size of a square by the kept rows."""
        largest = self.largest() * self.step
        return (
            f"{self._clamped(clamp)}; the square of its distance from"
            f" {short(self.centre * self.bounds.step)}, less {short(self.offset * self.step)}, is"
            f" at most {short(largest)} in size: {reach.multiplied(largest)}"
        )

    def _written(self, value: str) -> str:
        centre, offset = self.centre * self.bounds.step, self.offset * self.step
        return f"SUM(({value} - {short_decimal(centre)})² - {short_decimal(offset)})"

    def _numbers(self) -> dict[str, str]:
        centre, offset = self.centre * self.bounds.step, self.offset * self.step
        return {"centre": str(centre), "offset": str(offset)}

    def _plan_text(self, names: Names) -> str:
        around = f"around {self.centre} less {self.offset}"
        return f"sum of squares {self._in_range(names)} {around}"


def middle(bounds: Bounds) -> int:
    """Return the step nearest to the middle of the bounds.

    Example:
        >>> middle(Bounds(lower=0, upper=110))
        55
    """
    return math.floor(Fraction(bounds.lower_steps + bounds.upper_steps, 2))


def _furthest(bounds: Bounds, centre: int) -> int:
    return max(abs(end - centre) for end in (bounds.lower_steps, bounds.upper_steps))
