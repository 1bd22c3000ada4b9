r"""What the clamps of a plan cut off, read off the declared ranges and the profile of its table.

A sum adds :math:`c(v)`, the value :math:`v` moved into :math:`[l, h]`. Over the rows that count in
a group, :math:`\sum v - \sum c(v)` is at most the sum of :math:`(v - h)^+` and at least that of
:math:`-(l - v)^+`. Let :math:`M` be the largest value of a unit in the table, of whose rows at most
``r`` count in a group. Three bounds hold of the first; of the second they do the other way round.

*By values.* A unit adds at most :math:`r (M - h)^+`, and the histogram of largest values bounds the
sum of :math:`(M - h)^+` over units.

*By units.* Only units with :math:`M > h` add anything. That histogram bounds how many there are,
and that of rows how many rows so many units have at most; each adds at most the distance from
:math:`h` to the end of the declared range. This bounds the sum over *all* rows too, whether or not
they count.

*By rows.* As many rows as count at most, times that distance: without a profile of values.

All of them hold for every filter and every group, which have no more rows of a unit. Where no range
is declared (or the profile shows that it is false), nobody knows how far values reach: noise never
proves that a bin is empty.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from attrs import frozen

from discreet.curator.profile.one_table import column_of, known_fields, to_profile
from discreet.releases.left_out import Change, Clamping
from discreet.releases.profile import Profile
from discreet.releases.values import Values
from discreet.tables.catalog import Table
from discreet.tables.column import Bounds
from discreet.tables.expression import Expression, FieldValue, fields_in
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.expression_text import expression_text
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals
from discreet.tables.relations.relation import Relation

BOUNDS = 7
"""How many bounds with a probability the clamp of one aggregate needs at most."""

Clampings = tuple[Clamping | None, ...]
"""For each aggregate of a plan what its clamp cuts; None if it surely cuts nothing."""


def has_clamps(plan: BoundedPlan) -> bool:
    """Tell whether any value of the plan is clamped."""
    return any(aggregate.grid is not None for aggregate in plan.aggregates)


def clampings(
    plan: BoundedPlan, table: Table | None, profile: Profile | None, beta: float
) -> Clampings:
    """Return what each clamp cuts; each of the bounds fails with probability ``beta`` at most."""
    return tuple(_clamping(plan, aggregate, table, profile, beta) for aggregate in plan.aggregates)


def _clamping(
    plan: BoundedPlan,
    aggregate: Aggregate,
    table: Table | None,
    profile: Profile | None,
    beta: float,
) -> Clamping | None:
    grid, value = aggregate.grid, aggregate.looked_at
    if grid is None or value is None or (isinstance(aggregate, SumTotals) and aggregate.is_wide):
        return None  # of rows without a range nothing is known in any case
    lowest, highest = _reach(plan.relation, value, profile)
    is_low, is_high = (
        lowest is None or lowest < grid.lower,
        highest is None or highest > grid.upper,
    )
    if not is_low and not is_high:
        return None
    found = column_of(plan.relation, value.index) if isinstance(value, FieldValue) else None
    column = None if found is None else found.name
    values = None if profile is None or column is None else profile.values.get(column)
    cut = _Cut(plan=plan, profile=profile, values=values, grid=grid, beta=beta)
    down = cut.down(lowest) if is_low else _NOTHING
    up = cut.up(highest) if is_high else _NOTHING
    share = None
    if values is not None and profile is not None and column is not None:
        share = profile.clamped(column, grid.lower, grid.upper)
    return Clamping(
        text=expression_text(value, plan.relation.fields()),
        taken=(_negative(down.kept), up.kept),
        taken_of_all=(_negative(down.everything), up.everything),
        lowest=lowest if is_low else grid.lower,
        highest=highest if is_high else grid.upper,
        units=share,
        reason=_reason(table, column, values, is_known=None not in (lowest, highest)),
    )


def _reason(
    table: Table | None, column: str | None, values: Values | None, *, is_known: bool
) -> str:
    """Say why it is not known how much a clamp cuts; nothing if that was measured."""
    if table is None:
        return "a profile says nothing about rows that were joined"
    if column is None:
        return "a profile says nothing about values that are computed"
    if table.unit.column is None:
        return "nobody has measured how many"
    if values is None:
        return f"nobody has measured how many; the owner can: {to_profile(table, column)}"
    if values.is_refuted:
        return f"values of {column} lie outside its declared min and max"
    return "" if is_known else f"min and max of {column} are not declared"


def _reach(
    relation: Relation, value: Expression, profile: Profile | None
) -> tuple[Fraction | None, Fraction | None]:
    """Return how far values reach, by declared ranges that no profile refutes."""
    is_believed = profile is None or not profile.is_refuted
    span = propose_bounds(value, known_fields(relation) if is_believed else relation.fields())
    if span is None:
        return None, None
    if profile is None:
        return span.lower, span.upper
    columns = [column_of(relation, index) for index in fields_in(value)]
    names = [column.name for column in columns if column is not None]
    looked_at = [profile.values[name] for name in names if name in profile.values]
    if any(one.is_refuted for one in profile.values.values()) and len(names) < len(columns):
        return None, None  # a total or a window may be of the values that are refuted
    if not isinstance(value, FieldValue):
        return (
            (None, None) if any(one.is_refuted for one in looked_at) else (span.lower, span.upper)
        )
    is_low, is_high = (
        all(end is not None for end in ends)
        for ends in ([one.below.most for one in looked_at], [one.above.most for one in looked_at])
    )
    return span.lower if is_low else None, span.upper if is_high else None


@frozen
class _Taken:
    """What a clamp takes off on one side at most: of the rows that count, and of all rows."""

    kept: Fraction | None
    everything: Fraction | None


_NOTHING = _Taken(Fraction(0), Fraction(0))


@frozen(kw_only=True)
class _Cut:
    """One clamp, and all that is known of the values under it."""

    plan: BoundedPlan
    profile: Profile | None
    values: Values | None
    grid: Bounds
    beta: float

    def up(self, highest: Fraction | None) -> _Taken:
        if highest is None or self.profile is None:
            return _Taken(None, None)
        far, values = highest - self.grid.upper, self.values
        if values is None or values.steps_above(self.grid.upper)[0] < 0:
            return self._by_rows(far)
        amount = values.above.amount_beyond(values.steps_above(self.grid.upper)[0], self.beta)[1]
        units = values.most_above(self.grid.upper, self.beta)
        return self._by_values(far, values, amount, units)

    def down(self, lowest: Fraction | None) -> _Taken:
        if lowest is None or self.profile is None:
            return _Taken(None, None)
        far, values = self.grid.lower - lowest, self.values
        if values is None or values.steps_below(self.grid.lower)[0] < 0:
            return self._by_rows(far)
        amount = values.below.amount_beyond(values.steps_below(self.grid.lower)[0], self.beta)[1]
        units = values.most_below(self.grid.lower, self.beta)
        return self._by_values(far, values, amount, units)

    def _by_values(
        self, far: Fraction, values: Values, amount: float | None, units: float
    ) -> _Taken:
        by_rows = self._by_rows(far)
        assert self.profile is not None
        rows = self.profile.rows.amount_of_largest(math.ceil(units), self.beta)
        everything = None if rows is None else math.ceil(rows) * far
        counted = self.plan.limits.rows_per_group
        summed = None if amount is None else counted * math.ceil(amount) * values.bins.step
        return _Taken(_least([summed, everything, by_rows.kept]), everything)

    def _by_rows(self, far: Fraction) -> _Taken:
        assert self.profile is not None
        counted = self.plan.limits.rows_per_group
        return _Taken(math.ceil(self.profile.most_kept(counted, self.beta)) * far, None)


def _least(found: Iterable[Fraction | None]) -> Fraction | None:
    return min((one for one in found if one is not None), default=None)


def _negative(number: Fraction | None) -> Fraction | None:
    return None if number is None else -number


def added(first: Change, second: Change) -> Change:
    """Return both changes together."""
    low, high = (_sum(*pair) for pair in zip(first, second, strict=True))
    return low, high


def _sum(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else first + second


def narrower(first: Change, second: Change) -> Change:
    """Return the tighter one of two bounds on the same change, on each side."""
    lows = [low for low, _ in (first, second) if low is not None]
    highs = [high for _, high in (first, second) if high is not None]
    return max(lows, default=None), min(highs, default=None)
