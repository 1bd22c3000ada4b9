"""Aggregates: what is added up over the kept rows of a group, and what one unit can move of it.

All that is said of an aggregate stands in its class. How an engine adds it up stands there.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.expression_text import expression_text, show_expression
from discreet.tables.limits import Limits
from discreet.tables.relations.relation import Field

Fields = Sequence[Field]
Names = Sequence[str]


@frozen(kw_only=True)
class Aggregate(ABC):
    """Exact integers for each group, from the rows for which ``where`` is true.

    ``where`` is looked at after the limits: one sample of a unit's rows serves all aggregates of a
    plan, so that what is compared was counted on the same rows.
    """

    where: Expression | None = None

    @property
    @abstractmethod
    def step(self) -> Fraction:
        """What one of its integers is worth, in the units of the answer."""

    @abstractmethod
    def contribution(self, limits: Limits) -> Contribution:
        """Return what one unit can move when its rows are limited."""

    @abstractmethod
    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Return how the contribution follows, in words; ``clamp`` says whose the range is."""

    @abstractmethod
    def label(self, fields: Fields) -> dict[str, str]:
        """Return what it is, for a release; ``fields`` are those of its relation."""

    def plan_text(self, names: Names) -> str:
        """Return its line of a plan; ``names`` are those of the fields."""
        where = "" if self.where is None else f" where {show_expression(self.where, names)}"
        return self._plan_text(names) + where

    @abstractmethod
    def _plan_text(self, names: Names) -> str: ...

    def _text(self, shown: str, fields: Fields) -> str:
        """Return it with its condition, unless that only says that there is a value."""
        if self.where is None or self.where == _presence(getattr(self, "value", None)):
            return shown
        return f"{shown} where {expression_text(self.where, fields)}"


@frozen(kw_only=True)
class Tally(Aggregate):
    """One integer for each group, to which noise is added."""


@frozen(kw_only=True)
class Count(Tally):
    """A number of something: of rows, of units, of values."""

    @property
    def step(self) -> Fraction:
        """The worth of one: 1."""
        return Fraction(1)


@frozen(kw_only=True)
class CountRows(Count):
    r"""The number of kept rows.

    Guarantee:
        A unit has at most ``rows_per_group`` kept rows in each of at most ``groups_per_unit``
        groups, and every kept row adds 1 to one group. Which rows of the others are kept does not
        depend on it. So adding or removing it changes at most that many entries, each by at most
        that much.

    Example:
        >>> CountRows().contribution(Limits(rows_per_group=2, groups_per_unit=5)).l1
        Fraction(10, 1)
        >>> CountRows().derivation(Limits(rows_per_group=2, groups_per_unit=5))
        'a row adds 1: 1 × 2 rows a group × 5 groups = 10'
    """

    stored_as: ClassVar[str] = "CountRows"

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its kept rows."""
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the kept rows."""
        return f"a row adds 1: {_counted(Fraction(1), reach)}"

    def label(self, fields: Fields) -> dict[str, str]:
        """Call it COUNT(*)."""
        return {"aggregate": "count", "text": self._text("COUNT(*)", fields)}

    def _plan_text(self, names: Names) -> str:
        return "count rows"


@frozen(kw_only=True)
class CountUnits(Count):
    """The number of units with a row in the group. Each counts once, however many rows it has.

    Example:
        >>> CountUnits().contribution(Limits(rows_per_group=2, groups_per_unit=5)).l1
        Fraction(5, 1)
    """

    stored_as: ClassVar[str] = "CountUnits"

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit: 1 in each of its groups."""
        return Contribution(l0=limits.groups_per_unit, linf=1)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Count the groups of a unit."""
        total = f"1 × {_groups(reach)} = {reach.groups_per_unit}"
        return f"one unit adds 1 to each of its groups: {total}"

    def label(self, fields: Fields) -> dict[str, str]:
        """Call it COUNT(DISTINCT unit)."""
        return {"aggregate": "count_units", "text": self._text("COUNT(DISTINCT unit)", fields)}

    def _plan_text(self, names: Names) -> str:
        return "count units"


@frozen(kw_only=True)
class CountDistinct(Count):
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

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the kept values, and say which are missed."""
        return (
            f"at most {reach.rows_per_group} different values of one unit count in a group, and"
            f" each adds at most 1: {_counted(Fraction(1), reach)} (values that only people with"
            " more of them have may be missed, so the count tends to be low)"
        )

    def label(self, fields: Fields) -> dict[str, str]:
        """Call it COUNT(DISTINCT value)."""
        value = expression_text(self.value, fields)
        text = self._text(f"COUNT(DISTINCT {value})", fields)
        return {"aggregate": "count_distinct", "value": value, "text": text}

    def _plan_text(self, names: Names) -> str:
        return f"count distinct {show_expression(self.value, names)}"


@frozen(kw_only=True)
class Sum(Tally):
    """A sum of whole steps over the kept rows, with a clamp directly below it."""

    value: Expression
    bounds: Bounds

    @abstractmethod
    def largest(self) -> int:
        """Return the largest size of what one row adds."""

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by the largest size, for each of its kept rows."""
        linf = limits.rows_per_group * self.largest()
        return Contribution(l0=limits.groups_per_unit, linf=linf)


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
    centre: int = 0

    @property
    def step(self) -> Fraction:
        """The worth of one: a step of the grid."""
        return self.bounds.step

    def largest(self) -> int:
        """Return the largest size of what one row adds."""
        return _furthest(self.bounds, self.centre)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the largest size of a value by the kept rows."""
        largest = self.largest() * self.step
        centred = f", less {short(self.centre * self.step)}" if self.centre else ""
        return (
            f"{_clamped(self.bounds, clamp)}{centred}, so a row adds at most {short(largest)} in"
            f" size: {_counted(largest, reach)}"
        )

    def label(self, fields: Fields) -> dict[str, str]:
        """Call it SUM(value), or SUM(value - centre)."""
        value, centre = expression_text(self.value, fields), self.centre * self.step
        shown = f"SUM({value} - {_number(centre)})" if centre else f"SUM({value})"
        text = self._text(shown, fields)
        return {"aggregate": "sum", "value": value, "centre": str(centre), "text": text}

    def _plan_text(self, names: Names) -> str:
        value = show_expression(self.value, names)
        return f"sum {value} in {_range(self.bounds)} around {self.centre}"


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
            f"{_clamped(self.bounds, clamp)}; the square of its distance from"
            f" {short(self.centre * self.bounds.step)}, less {short(self.offset * self.step)}, is"
            f" at most {short(largest)} in size: {_counted(largest, reach)}"
        )

    def label(self, fields: Fields) -> dict[str, str]:
        """Call it SUM((value - centre)² - offset)."""
        value = expression_text(self.value, fields)
        centre, offset = self.centre * self.bounds.step, self.offset * self.step
        shown = f"SUM(({value} - {_number(centre)})² - {_number(offset)})"
        numbers = {"centre": str(centre), "offset": str(offset)}
        text = self._text(shown, fields)
        return {"aggregate": "sum_squares", "value": value, "text": text} | numbers

    def _plan_text(self, names: Names) -> str:
        value = show_expression(self.value, names)
        around = f"around {self.centre} less {self.offset}"
        return f"sum of squares {value} in {_range(self.bounds)} {around}"


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
    def step(self) -> Fraction:
        """The worth of one: a step of the grid."""
        return self.bounds.step

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the number of values of one unit."""
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Say how many values of a unit a choice can see."""
        return (
            f"{_clamped(self.bounds, clamp)}; one unit adds at most {reach.rows_per_group} values"
            f" to each of at most {_groups(reach)}, and in each a value is chosen by itself"
        )

    def label(self, fields: Fields) -> dict[str, str]:
        """Call it QUANTILE(value, share)."""
        value = expression_text(self.value, fields)
        text = self._text(f"QUANTILE({value}, {_number(self.quantile)})", fields)
        share = str(self.quantile)
        return {"aggregate": "quantile", "value": value, "quantile": share, "text": text}

    def _plan_text(self, names: Names) -> str:
        value = show_expression(self.value, names)
        return f"quantile {self.quantile} of {value} in {_range(self.bounds)}"


def middle(bounds: Bounds) -> int:
    """Return the step nearest to the middle of the bounds.

    Example:
        >>> middle(Bounds(lower=0, upper=110))
        55
    """
    return math.floor(Fraction(bounds.lower_steps + bounds.upper_steps, 2))


def _furthest(bounds: Bounds, centre: int) -> int:
    return max(abs(end - centre) for end in (bounds.lower_steps, bounds.upper_steps))


def _presence(value: Expression | None) -> Expression:
    parts = () if value is None else (Call(ColumnType.BOOLEAN, "is_null", (value,)),)
    return Call(ColumnType.BOOLEAN, "not", parts)


def _clamped(bounds: Bounds, clamp: str | None) -> str:
    whose = "" if clamp is None else f" ({clamp})"
    return (
        f"a value is moved into {short(bounds.lower)} to {short(bounds.upper)}{whose} and rounded"
        f" to steps of {short(bounds.step)}"
    )


def _counted(each: Fraction, reach: Limits) -> str:
    total = each * reach.rows_per_group * reach.groups_per_unit
    rows = "1 row" if reach.rows_per_group == 1 else f"{reach.rows_per_group} rows"
    return f"{short(each)} × {rows} a group × {_groups(reach)} = {short(total)}"


def _groups(reach: Limits) -> str:
    return "1 group" if reach.groups_per_unit == 1 else f"{reach.groups_per_unit} groups"


def _range(bounds: Bounds) -> str:
    return f"{bounds.lower} to {bounds.upper} by {bounds.step}"


def _number(value: Fraction) -> str:
    """Return a fraction as a short decimal, and a whole number as it is."""
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"
