"""Aggregates: what is made of the kept rows of a group, and what one unit can move of it.

All that is said of an aggregate stands in its class; those that add up values are in ``sums.py``.
How an engine works one out stands there.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.loss import short
from discreet.tables.catalog import Limits
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression
from discreet.tables.plans.expression_text import expression_text, show_expression
from discreet.tables.relations.relation import Field

Fields = Sequence[Field]
Names = Sequence[str]


@frozen(kw_only=True)
class Aggregate(ABC):
    """Exact integers for each group, from the rows for which ``where`` is true.

    ``where`` is looked at after the limits: one sample of a unit's rows serves all aggregates of a
    plan, so that what is compared was counted on the same rows.
    """

    kind: ClassVar[str]
    """What it is called in a release."""
    where: Expression | None = None

    @property
    def looked_at(self) -> Expression | None:
        """The value of a row that counts, or None if its being there is all that does."""
        return None

    @property
    def grid(self) -> Bounds | None:
        """The bounds and the step to which the value is clamped, or None if it is not."""
        return None

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

    def label(self, fields: Fields) -> dict[str, str]:
        """Return what it is, for a release; ``fields`` are those of its relation."""
        value, where = self.looked_at, self.where
        shown = {} if value is None else {"value": expression_text(value, fields)}
        text = self._written(shown.get("value", "*"))
        if where is not None and where != _presence(value):
            text += f" where {expression_text(where, fields)}"
        return {"aggregate": self.kind} | shown | self._numbers() | {"text": text}

    @abstractmethod
    def _written(self, value: str) -> str:
        """Return it as a person would write it, over what is written for its value."""

    def _numbers(self) -> dict[str, str]:
        """Return the numbers that belong to its label."""
        return {}

    def plan_text(self, names: Names) -> str:
        """Return its line of a plan; ``names`` are those of the fields."""
        where = "" if self.where is None else f" where {show_expression(self.where, names)}"
        return self._plan_text(names) + where

    @abstractmethod
    def _plan_text(self, names: Names) -> str: ...


@frozen(kw_only=True)
class Tally(Aggregate):
    """One integer for each group, to which noise is added."""


@frozen(kw_only=True)
class OfClamped(Aggregate):
    """Made of a value that is clamped to public bounds, in whole steps, right below it."""

    value: Expression
    bounds: Bounds

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    @property
    def grid(self) -> Bounds:
        """The bounds and the step of the clamp."""
        return self.bounds

    @property
    def step(self) -> Fraction:
        """The worth of one: a step of the grid."""
        return self.bounds.step

    def _clamped(self, clamp: str | None) -> str:
        bounds, whose = self.bounds, "" if clamp is None else f" ({clamp})"
        return (
            f"a value is moved into {short(bounds.lower)} to {short(bounds.upper)}{whose} and"
            f" rounded to steps of {short(bounds.step)}"
        )

    def _in_range(self, names: Names) -> str:
        ends = f"{self.bounds.lower} to {self.bounds.upper}"
        return f"{show_expression(self.value, names)} in {ends} by {self.bounds.step}"


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
        groups, and ``rows_per_unit`` over all groups if that is limited; every kept row adds 1 to
        one group. Which rows of the others are kept does not depend on it. So adding or removing it
        changes at most that many entries, each by at most that much
        (:func:`~discreet.core.contribution.of_kept_rows`).

    Example:
        >>> CountRows().contribution(Limits(rows_per_group=2, groups_per_unit=5)).l1
        Fraction(10, 1)
        >>> CountRows().derivation(Limits(rows_per_group=2, groups_per_unit=5))
        'a row adds 1: 1 × 2 rows a group × 5 groups = 10'
    """

    stored_as: ClassVar[str] = "CountRows"
    kind: ClassVar[str] = "count"

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its kept rows."""
        return limits.contribution(1)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the kept rows."""
        return f"a row adds 1: {reach.multiplied(1)}"

    def _written(self, value: str) -> str:
        return "COUNT(*)"

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
    kind: ClassVar[str] = "count_units"

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit: 1 in each of its groups."""
        return Contribution(l0=limits.groups_per_unit, linf=1)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Count the groups of a unit."""
        total = f"1 × {reach.groups_in_words()} = {reach.groups_per_unit}"
        return f"one unit adds 1 to each of its groups: {total}"

    def _written(self, value: str) -> str:
        return "COUNT(DISTINCT unit)"

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
    kind: ClassVar[str] = "count_distinct"
    value: Expression

    @property
    def looked_at(self) -> Expression:
        """The value."""
        return self.value

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the change of one unit by its kept values."""
        return limits.contribution(1)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Multiply the kept values, and say which are missed."""
        most = reach.rows_per_group
        return (
            f"at most {counted(str(most), 'different value')} of one unit"
            f" {'counts' if most == 1 else 'count'} in a group, and each adds at most 1:"
            f" {reach.multiplied(1)} (values that only units with more of them have may be missed,"
            " so the count tends to be low)"
        )

    def _written(self, value: str) -> str:
        return f"COUNT(DISTINCT {value})"

    def _plan_text(self, names: Names) -> str:
        return f"count distinct {show_expression(self.value, names)}"


@frozen(kw_only=True)
class QuantileValues(OfClamped):
    """All kept values of a group, clamped and in whole steps, to choose a quantile from.

    Guarantee:
        A unit adds at most ``rows_per_group`` values to each of at most ``groups_per_unit``
        groups. ``contribution`` counts values added or taken away.
    """

    stored_as: ClassVar[str] = "QuantileValues"
    kind: ClassVar[str] = "quantile"
    quantile: Fraction

    def contribution(self, limits: Limits) -> Contribution:
        """Bound the number of values of one unit."""
        return limits.contribution(1)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        """Say how many values of a unit a choice can see."""
        return (
            f"{self._clamped(clamp)}; one unit adds at most"
            f" {counted(str(reach.rows_per_group), 'value')} to each of at most"
            f" {reach.groups_in_words()}, and in each a value is chosen by itself"
        )

    def _written(self, value: str) -> str:
        return f"QUANTILE({value}, {short_decimal(self.quantile)})"

    def _numbers(self) -> dict[str, str]:
        return {"quantile": str(self.quantile)}

    def _plan_text(self, names: Names) -> str:
        return f"quantile {self.quantile} of {self._in_range(names)}"


def _presence(value: Expression | None) -> Expression:
    parts = () if value is None else (Call(ColumnType.BOOLEAN, "is_null", (value,)),)
    return Call(ColumnType.BOOLEAN, "not", parts)


def short_decimal(value: Fraction) -> str:
    """Return a fraction as a short decimal, and a whole number as it is."""
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"
