"""Lower a bounded plan: its keys, limits and aggregates as steps that an engine runs.

Read downwards: the rows of the relation; what each adds (on its grid) and the group it is in; so
many of a unit's rows over all groups, where that is limited; the *pairs* of a unit and a group, of
which so many are kept; the *sample* of rows of each kept pair; and the totals, which alone meet
rows of different owners. What can be told from the pairs (how many rows, how many units) is,
because there are far fewer of them than rows.
"""

from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate, count

from attrs import define

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression
from discreet.tables.keyset import LONGEST_KEY, PrivateKeys, PublicKeys
from discreet.tables.lowered.lower_relation import lower_relation
from discreet.tables.lowered.plan import (
    UNITS,
    Answered,
    CappedTotal,
    ClampedTotal,
    LoweredPlan,
    RowTotal,
    Total,
    UnitTotal,
)
from discreet.tables.lowered.prove import require_claim
from discreet.tables.lowered.rows import (
    HASH,
    Columns,
    Copied,
    Different,
    Grouped,
    GroupKey,
    InAnyGroup,
    InGroups,
    InSteps,
    Projected,
    Rows,
    RowsOf,
    Sampled,
    Step,
    Together,
    Value,
    Worked,
    fields,
    owner_columns,
    unit_columns,
)
from discreet.tables.plans.aggregate import Aggregate, CountDistinct, CountRows, CountUnits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals


def lower(plan: BoundedPlan) -> LoweredPlan:
    """Return the plan as an engine runs it.

    Guarantee:
        In each grouping set, if ``rows_per_unit`` is limited, one fair sample of so many of a
        unit's rows comes first, whatever group they are in, and all else is made of these. A unit
        keeps its first ``groups_per_unit`` groups in the order of a keyed hash. Of each kept group
        *one* fair sample of at most ``rows_per_group`` of the unit's
        rows serves all aggregates, which look at their conditions afterwards: so whatever is
        compared was counted on the same rows. Units are counted on the kept pairs, totals that are
        clamped as a whole are of all rows of a pair, and distinct values are chosen among these. No
        other unit's rows matter, and no row's position does. What one unit can move is read off the
        result (:mod:`discreet.tables.lowered.prove`), and a plan that claims anything else is
        refused.
    """
    lowered = _Lowering(plan).lowered()
    claims = {f"a{i}": moved for i, moved in enumerate(plan.contributions())}
    if isinstance(plan.keys, PrivateKeys):
        claims[UNITS] = CountUnits().contribution(plan.reach())
    require_claim(lowered, claims)
    return lowered


@define(eq=False, slots=False)
class _Lowering:
    """The steps of one plan, each made from those above it."""

    plan: BoundedPlan

    # ---- Names.

    @cached_property
    def conditions(self) -> Mapping[Expression, str]:
        """The column of each different condition."""
        wheres = dict.fromkeys(a.where for a in self.plan.aggregates if a.where is not None)
        return {where: f"w{i}" for i, where in enumerate(wheres)}

    @cached_property
    def values(self) -> Mapping[int, str]:
        """The column with what each aggregate looks at, if it looks at a value."""
        return {i: f"v{i}" for i, a in enumerate(self.plan.aggregates) if a.looked_at is not None}

    @cached_property
    def group(self) -> Columns:
        """The columns that say which group a row is in."""
        if isinstance(self.plan.keys, PublicKeys):
            return ("g",)
        return tuple(f"k{n}" for n in range(len(self.plan.keys.fields)))

    @cached_property
    def unit(self) -> Columns:
        return unit_columns(self.plan.owner())

    @cached_property
    def pair(self) -> Columns:
        """The columns that tell one pair of a unit and a group from another."""
        return (*self.unit, "s", *self.group)

    def test(self, aggregate: Aggregate) -> str | None:
        """Return the column of the aggregate's condition, if it has one."""
        return None if aggregate.where is None else self.conditions[aggregate.where]

    # ---- Rows, and what each adds.

    @cached_property
    def owned(self) -> Step:
        return Step(name="owned", rows=lower_relation(self.plan.relation, count()))

    @cached_property
    def looked(self) -> Step:
        """The keys, conditions and values of each row, if there are any."""
        cells = fields(len(self.plan.relation.fields()))
        keys = [(f"k{n}", self.key(i)) for n, i in enumerate(self.plan.keys.fields)]
        tests = [(name, Worked(where, cells)) for where, name in self.conditions.items()]
        values = [(name, self.looked_at(i, cells)) for i, name in self.values.items()]
        if not (keys or tests or values):
            return self.owned
        return Step(
            name="looked",
            rows=Projected(source=self.owned, values=(*self.owner(), *keys, *tests, *values)),
        )

    def key(self, index: int) -> GroupKey:
        """Return a grouped field.

        A private text is cut: how much room all keys that were found take must decide nothing.
        """
        kind = self.plan.relation.fields()[index].type
        if kind is ColumnType.REAL:
            raise Unsupported("A real number cannot be a key", next="Group by whole numbers")
        is_cut = kind is ColumnType.TEXT and isinstance(self.plan.keys, PrivateKeys)
        return GroupKey(column=f"f{index}", type=kind, longest=LONGEST_KEY if is_cut else None)

    def looked_at(self, index: int, cells: Columns) -> Worked:
        value = self.plan.aggregates[index].looked_at
        assert value is not None
        return Worked(value, cells)

    @cached_property
    def measured(self) -> Step:
        """What each row adds: the clamp stands here, and nothing but totals stands above it."""
        if not self.values:
            return self.looked
        rest = [name for name in self.looked.columns() if name not in self.values.values()]
        values = [(name, self.added(i, name)) for i, name in self.values.items()]
        copied = [(name, Copied(name)) for name in rest]
        return Step(name="measured", rows=Projected(source=self.looked, values=(*copied, *values)))

    def added(self, index: int, name: str) -> Value:
        aggregate = self.plan.aggregates[index]
        if aggregate.grid is None or aggregate.looked_at is None:
            return Copied(name)
        return InSteps(column=name, type=aggregate.looked_at.type, bounds=aggregate.grid)

    def owner(self) -> list[tuple[str, Value]]:
        return [(name, Copied(name)) for name in owner_columns(self.plan.owner())]

    @cached_property
    def keyed(self) -> Step:
        """The rows in their groups; with grouping sets a row is in one group of each."""
        keys, names = self.plan.keys, (*self.conditions.values(), *self.values.values())
        kept = (*self.unit, HASH, *names)
        if isinstance(keys, PrivateKeys):
            allowed = [(n, f"k{n}") for n, some in enumerate(keys.allowed) if some is not None]
            rows: Rows = InAnyGroup(
                source=self.measured, allowed=tuple(allowed), group=self.group, kept=kept
            )
            return Step(name="keyed", rows=rows)
        firsts = accumulate((len(keyset.rows) for keyset in keys.sets), initial=0)
        parts = tuple(
            InGroups(
                source=self.measured,
                number=number,
                first=first,
                on=tuple(f"k{place}" for place in keyset.places),
                size=len(keyset.rows),
                kept=kept,
            )
            for number, (keyset, first) in enumerate(zip(keys.sets, firsts, strict=False))
        )
        return Step(name="keyed", rows=parts[0] if len(parts) == 1 else Together(parts=parts))

    @cached_property
    def drawn(self) -> Step:
        """The rows of each unit that may count, over all groups of a set together."""
        most = self.plan.limits.rows_per_unit
        if most is None:
            return self.keyed
        known = (*self.unit, HASH, "s")
        chosen = Sampled(
            source=self.keyed,
            within=(*self.unit, "s"),
            key=(HASH, "s"),
            content=tuple(name for name in self.keyed.columns() if name not in known),
            most=most,
            rank="place_in_all",
        )
        return Step(name="drawn", rows=chosen)

    # ---- Pairs of a unit and a group.

    @cached_property
    def pairs(self) -> Step:
        counted = (self.test(a) for a in self.plan.aggregates if isinstance(a, CountUnits))
        some = tuple(sorted({test for test in counted if test is not None}))
        by = (*self.unit, HASH, "s", *self.group)
        sums = tuple(
            (f"t{i}", self.values[i], self.test(a))
            for i, a in enumerate(self.plan.aggregates)
            if isinstance(a, SumTotals)
        )
        return Step(name="pairs", rows=Grouped(source=self.drawn, by=by, some=some, sums=sums))

    @cached_property
    def kept(self) -> Step:
        """The pairs that count: the first groups of each unit."""
        keys, most = self.plan.keys, self.plan.limits.groups_per_unit
        # With fewer groups than a unit may be in, or rows, there is nothing to choose.
        is_few = isinstance(keys, PublicKeys) and all(len(part.rows) <= most for part in keys.sets)
        if is_few or self.plan.limits.rows_per_unit == most:
            return self.pairs
        chosen = Sampled(
            source=self.pairs,
            within=(*self.unit, "s"),
            key=(HASH,),
            content=self.group,
            most=most,
            rank="group_rank",
            is_different=True,
        )
        return Step(name="kept", rows=chosen)

    # ---- The rows of kept pairs that count.

    @cached_property
    def sampled(self) -> Step:
        content = self.content()
        shown = (*self.pair, HASH, *content)
        chosen = Sampled(
            source=RowsOf(rows=self.drawn, pairs=self.kept, pair=self.pair, shown=shown),
            within=self.pair,
            key=(HASH, *self.group),
            content=content,
            most=self.plan.limits.rows_per_group,
            rank="place",
            counted="n",
        )
        return Step(name="sampled", rows=chosen)

    def content(self) -> Columns:
        """Return all that the totals of rows look at."""
        by_row = [(i, a) for i, a in enumerate(self.plan.aggregates) if self.is_by_row(a)]
        names = [name for i, a in by_row for name in (self.test(a), self.values.get(i))]
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def chosen_values(self, index: int) -> Rows:
        """Return the different values of a group, of each unit the first ones."""
        test, value = self.test(self.plan.aggregates[index]), self.values[index]
        shown = (*self.pair, HASH, value)
        rows = RowsOf(
            rows=self.drawn,
            pairs=self.kept,
            pair=self.pair,
            shown=shown,
            where=() if test is None else (test,),
            present=value,
        )
        return Sampled(
            source=Different(source=rows, by=shown),
            within=self.pair,
            key=(HASH, *self.group),
            content=(value,),
            most=self.plan.limits.rows_per_group,
            rank="d",
            is_different=True,
            counted="n",
        )

    # ---- Totals of each group.

    def lowered(self) -> LoweredPlan:
        """Return the totals of each group; the first part lacks none.

        A kept pair has at least one row in the sample, so the totals of rows lack no group; only
        the distinct values can.
        """
        aggregates = list(enumerate(self.plan.aggregates))
        different = [self.different_values(i) for i, a in aggregates if _is_different(a)]
        by_pair, by_row = self.by_pair(), self.by_row()
        is_private = isinstance(self.plan.keys, PrivateKeys)
        parts: list[Answered] = []
        if by_pair or is_private or different:
            totals = ((UNITS, UnitTotal()), *by_pair)
            parts.append(self.answered("of_pairs", self.kept, totals))
        if by_row:
            parts.append(self.answered("of_rows", self.sampled, by_row))
        shown = [(f"a{i}", aggregate) for i, aggregate in aggregates]
        units: list[tuple[str, Aggregate | None]] = [(UNITS, None)] if is_private else []
        return LoweredPlan(parts=(*parts, *different), group=self.group, shown=(*units, *shown))

    def answered(self, name: str, source: Rows, totals: tuple[tuple[str, Total], ...]) -> Answered:
        return Answered(name=name, source=source, by=self.group, totals=totals)

    def by_pair(self) -> tuple[tuple[str, Total], ...]:
        """Return what is told by pairs: units, rows without a condition, and totals of units."""
        found = enumerate(self.plan.aggregates)
        return tuple((f"a{i}", self.total_of_pairs(i, a)) for i, a in found if self.is_by_pair(a))

    def total_of_pairs(self, index: int, aggregate: Aggregate) -> Total:
        if isinstance(aggregate, CountUnits):
            return UnitTotal(where=self.test(aggregate))
        if isinstance(aggregate, SumTotals):
            ends = aggregate.bounds
            return ClampedTotal(column=f"t{index}", lower=ends.lower_steps, upper=ends.upper_steps)
        return CappedTotal(column="n", most=self.plan.limits.rows_per_group)

    def by_row(self) -> tuple[tuple[str, Total], ...]:
        """Return what is added up over the sample of rows."""
        return tuple(
            (f"a{i}", RowTotal(aggregate=a, value=self.values.get(i), where=self.test(a)))
            for i, a in enumerate(self.plan.aggregates)
            if self.is_by_row(a)
        )

    def is_by_pair(self, aggregate: Aggregate) -> bool:
        """Tell whether the kept pairs alone say what an aggregate is."""
        is_plain = isinstance(aggregate, CountRows) and aggregate.where is None
        return is_plain or isinstance(aggregate, CountUnits | SumTotals)

    def is_by_row(self, aggregate: Aggregate) -> bool:
        """Tell whether an aggregate is added up over the sample of rows."""
        return not self.is_by_pair(aggregate) and not _is_different(aggregate)

    def different_values(self, index: int) -> Answered:
        aggregate = self.plan.aggregates[index]
        total = RowTotal(aggregate=aggregate, value=self.values[index], where=None)
        rows = self.chosen_values(index)
        return self.answered(f"of_v{index}", rows, ((f"a{index}", total),))


def _is_different(aggregate: Aggregate) -> bool:
    return isinstance(aggregate, CountDistinct)
