"""The proof refuses each plan in which one owner could move more than it would say.

The plans are made by hand, and no question leads to them: each is a mistake that lowering might
make one day. An engine that ran them would let one owner move more than one.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.tables.catalog import Limits, PrivacyUnit, Table
from discreet.tables.column import Bounds, Column, ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.lowered.plan import Answered, LoweredPlan, RowTotal, Total, UnitTotal
from discreet.tables.lowered.prove import contributions
from discreet.tables.lowered.rows import (
    Copied,
    Different,
    Grouped,
    InAnyGroup,
    InGroups,
    InSteps,
    Owned,
    Paired,
    Pairing,
    Projected,
    Read,
    Rows,
    RowsOf,
    Sampled,
    Step,
    Together,
    Totalled,
    Value,
    Worked,
)
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.sums import SumValues
from discreet.tables.relations.scan import Scan
from discreet.tables.relations.totals import InnerTotal
from discreet.tables.relations.totals import Total as Totals
from discreet.tables.source import Source, SourceFormat

WHOLE = ColumnType.INTEGER
BOUNDS = Bounds(lower=0, upper=10)
SUM = SumValues(value=FieldValue(WHOLE, 0), bounds=BOUNDS)
VISITS = Table(
    name="visits",
    source=Source(path=Path("/nowhere/visits.parquet"), format=SourceFormat.PARQUET),
    unit=PrivacyUnit(id_space="people", column="person"),
    columns=tuple(Column(name=name, type=WHOLE) for name in ("person", "a", "b")),
    limits=Limits(rows_per_group=1, groups_per_unit=1),
)


def read(table: Table = VISITS) -> Rows:
    """Return the rows of a table, with u, h, f0, f1 and f2."""
    rows = Read(scan=Scan.of(table), place=0)
    return rows if table.unit.column is None else Owned(source=rows, unit=("u",))


def copied(*names: str) -> tuple[tuple[str, Value], ...]:
    return tuple((name, Copied(name)) for name in names)


def made(name: str, column: str) -> tuple[str, Value]:
    return name, Worked(FieldValue(WHOLE, 0), (column,))


def in_one_group(source: Rows, *kept: str) -> InGroups:
    return InGroups(source=source, number=0, on=(), first=0, size=1, kept=kept)


def sampled(source: Rows, *content: str, within: tuple[str, ...] = ("u", "s", "g")) -> Sampled:
    return Sampled(source=source, within=within, key=("h",), content=content, most=1, rank="place")


def plan(source: Rows, total: Total | None = None, by: tuple[str, ...] = ("g",)) -> LoweredPlan:
    totals = (("a0", total or UnitTotal()),)
    part = Answered(name="all", source=source, by=by, totals=totals)
    return LoweredPlan(parts=(part,), group=by, shown=(("a0", CountRows()),))


SIMPLE = Projected(source=read(), values=copied("u", "h", "f1"))
GROUPED = in_one_group(SIMPLE, "u", "h", "f1")


def private_pairs(source: Rows, *keys: str) -> tuple[Step, Step]:
    """Return rows in private groups, and the kept pairs of these."""
    keyed = Step(
        name="keyed", rows=InAnyGroup(source=source, allowed=(), group=keys, kept=("u", "h"))
    )
    pairs = Grouped(source=keyed, by=("u", "h", "s", *keys), some=())
    kept = Sampled(
        source=pairs,
        within=("u", "s"),
        key=("h",),
        content=keys,
        most=1,
        rank="group_rank",
        is_different=True,
    )
    return keyed, Step(name="kept", rows=kept)


def test_what_is_right_is_proved():
    assert contributions(plan(sampled(GROUPED, "f1"))) == {"a0": Contribution(l0=1, linf=1)}


def two_clamps() -> LoweredPlan:
    values = (made("v0", "f1"), ("v0", InSteps(column="f1", type=WHOLE, bounds=BOUNDS)))
    rows = Projected(source=read(), values=(*copied("u", "h"), *values))
    total = RowTotal(aggregate=SUM, value="v0", where=None)
    return plan(sampled(in_one_group(rows, "u", "h", "v0"), "v0"), total)


def another_owner() -> LoweredPlan:
    rows = Projected(source=read(), values=(made("u", "f1"), *copied("h", "f2")))
    return plan(sampled(in_one_group(rows, "u", "h", "f2"), "f2"))


def two_owners() -> LoweredPlan:
    rows = Projected(source=read(), values=(made("u", "f1"), *copied("u", "h", "f2")))
    return plan(sampled(in_one_group(rows, "u", "h", "f2"), "f2"))


def owner_of_the_right() -> LoweredPlan:
    right = Projected(source=read(), values=copied("u", "h", "f1"))
    pairs = Paired(
        left=SIMPLE,
        right=right,
        pairing=Pairing.LEFT_WITH,
        same=("u",),
        shown=(("h", "f1"),),
        is_guarded=True,
        types=(WHOLE,),
    )
    return plan(sampled(in_one_group(pairs, "u", "h", "f1"), "f1"))


def owner_of_a_total() -> LoweredPlan:
    rows = Totalled(
        source=read(),
        by=("u", "h", "f1"),
        keys=(("u", "f1"), ("u", "u"), ("h", "h")),
        totals=(("f0", InnerTotal(total=Totals.COUNT_ROWS, value=None)),),
        cells=("f1",),
    )
    return plan(sampled(in_one_group(rows, "u", "h", "f0"), "f0"))


def another_group() -> LoweredPlan:
    values = (*copied("u", "h", "s", "f1"), made("g", "f1"))
    return plan(sampled(Projected(source=GROUPED, values=values), "f1"))


def another_set() -> LoweredPlan:
    values = (*copied("u", "h", "g", "f1"), made("s", "f1"))
    return plan(sampled(Projected(source=GROUPED, values=values), "f1"))


def own_number_of_a_set() -> LoweredPlan:
    values = (*copied("u", "h"), ("k0", Copied("f1")), ("s", Copied("f2")))
    rows = Projected(source=read(), values=values)
    keyed = InAnyGroup(source=rows, allowed=(), group=("k0",), kept=("u", "h", "s"))
    return plan(Grouped(source=keyed, by=("u", "h", "s", "k0"), some=()), by=("k0",))


def pairs_that_come_twice() -> LoweredPlan:
    few = Step(name="few", rows=sampled(GROUPED, "f1"))
    shown = ("u", "h", "s", "g", "f1")
    return plan(RowsOf(rows=few, pairs=GROUPED, pair=("u", "s", "g"), shown=shown))


def a_place_that_is_a_value() -> LoweredPlan:
    rows = Different(source=GROUPED, by=GROUPED.columns())
    return plan(evolve(sampled(rows, "f1"), rank="f1", is_different=True))


def a_hash_of_something_else() -> LoweredPlan:
    rows = Projected(source=read(), values=copied("u", "h", "f1", "f2"))
    grouped = in_one_group(rows, "u", "h", "f1", "f2")
    return plan(evolve(sampled(grouped, "f2"), key=("h", "f1")))


def groups_of_two_sets() -> LoweredPlan:
    parts = tuple(evolve(GROUPED, number=number) for number in (0, 1))
    return plan(sampled(Together(parts=parts), "f1"))


def rows_of_other_sets() -> LoweredPlan:
    other = in_one_group(Projected(source=read(), values=copied("u", "h", "f1")), "u", "h", "f1")
    parts = (GROUPED, evolve(other, number=1, first=1))
    return plan(sampled(Together(parts=parts), "f1"))


def rows_without_a_name() -> LoweredPlan:
    rows = read(evolve(VISITS, unit=PrivacyUnit(id_space="people", column=None)))
    both = Projected(source=Together(parts=(rows, rows)), values=copied("u", "h", "f1"))
    return plan(sampled(in_one_group(both, "u", "h", "f1"), "f1"))


def owners_of_two_kinds() -> LoweredPlan:
    other = read(evolve(VISITS, unit=PrivacyUnit(id_space="animals", column="person")))
    both = Projected(source=Together(parts=(read(), other)), values=copied("u", "h", "f1"))
    return plan(sampled(in_one_group(both, "u", "h", "f1"), "f1"))


def fewer_groups_first() -> LoweredPlan:
    first, second = plan(sampled(GROUPED, "f1")), plan(sampled(GROUPED, "f1"))
    part = evolve(second.parts[0], name="others", totals=(("a1", UnitTotal()),))
    return evolve(first, parts=(*first.parts, part))


def groups_that_are_joined_crosswise() -> LoweredPlan:
    values = (*copied("u", "h"), ("k0", Copied("f1")), ("k1", Copied("f2")))
    _, kept = private_pairs(Projected(source=read(), values=values), "k0", "k1")
    return evolve(plan(kept, by=("k0", "k1")), group=("k0",))


def totals_of_one_name() -> LoweredPlan:
    found = plan(sampled(GROUPED, "f1"))
    (part,) = found.parts
    return evolve(found, parts=(evolve(part, totals=(*part.totals, *part.totals)),))


def a_condition_that_is_no_column() -> LoweredPlan:
    return plan(sampled(GROUPED, "f1"), UnitTotal(where="TRUE OR f1"))


def a_centre_beyond_64_bits() -> LoweredPlan:
    values = (*copied("u", "h"), ("v0", InSteps(column="f1", type=WHOLE, bounds=BOUNDS)))
    rows = in_one_group(Projected(source=read(), values=values), "u", "h", "v0")
    far = RowTotal(aggregate=evolve(SUM, centre=-(2**63)), value="v0", where=None)
    return plan(sampled(rows, "v0"), far)


BROKEN: list[tuple[Callable[[], LoweredPlan], str]] = [
    (two_clamps, "one name"),
    (another_owner, "stay its owner"),
    (two_owners, "one name"),
    (owner_of_the_right, "new names"),
    (owner_of_a_total, "one name"),
    (another_group, "stay its group"),
    (another_set, "stay its group"),
    (own_number_of_a_set, "one name"),
    (pairs_that_come_twice, "twice"),
    (a_place_that_is_a_value, "a new name"),
    (a_hash_of_something_else, "what is hashed"),
    (groups_of_two_sets, "different numbers"),
    (rows_of_other_sets, "the same rows"),
    (rows_without_a_name, "with a name"),
    (owners_of_two_kinds, "one kind of owner"),
    (fewer_groups_first, "all groups"),
    (groups_that_are_joined_crosswise, "the known groups"),
    (totals_of_one_name, "one name"),
    (a_condition_that_is_no_column, "columns must be known"),
    (a_centre_beyond_64_bits, "64 bits"),
]


@pytest.mark.parametrize(("make", "rule"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
def test_what_is_broken_is_refused(make, rule):
    with pytest.raises(Unsupported, match=rule):
        contributions(make())


def test_values_that_need_no_choice_may_come_as_often_as_they_are_there():
    """What was told apart before is not any more: only the limit counts."""
    values = (*copied("u", "h"), ("k0", Copied("f1")))
    keyed, kept = private_pairs(Projected(source=read(), values=values), "k0")
    shown = ("u", "s", "k0", "h")
    rows = RowsOf(rows=keyed, pairs=kept, pair=("u", "s", "k0"), shown=shown)
    few = Sampled(
        source=Different(source=rows, by=shown),
        within=("u", "s", "k0"),
        key=("h", "k0"),
        content=(),
        most=5,
        rank="d",
        is_different=True,
        counted="n",
    )
    assert contributions(plan(few, by=("k0",))) == {"a0": Contribution(l0=1, linf=5)}
