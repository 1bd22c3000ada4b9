"""Work: the most steps that one unit can cause in a plan. Public numbers alone decide it.

An analyst chooses whose rows are dear: a CASE makes a long text for one person and an empty one for
all others. So every expression counts with the longest texts that it can meet, and as if the rows
of one unit met all of it.
"""

from collections.abc import Sequence
from functools import singledispatch

from attrs import define, evolve, field, frozen

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression
from discreet.tables.functions.work import COPIED, NOTHING, PLAIN, TEXT, Steps
from discreet.tables.keyset import LONGEST_KEY, PrivateKeys
from discreet.tables.plans.aggregate import Aggregate, CountDistinct, CountUnits
from discreet.tables.plans.bill import HOLDING, Bill, RowCount, Value, Work, text_value, value_of
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Distinct,
    Filter,
    Projection,
    Relation,
    RowLimit,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, Total, Window

# ---- The work of the outermost SELECT for one row: keys, conditions, values, limits and totals.

SET = Steps(150)
"""Putting a row into its group of one grouping set."""

PRIVATE = Steps(500)
"""Finding the groups, and counting their units, if keys are private."""

KEY, PRIVATE_KEY = Steps(50), Steps(200)
"""More for each key of a group; private ones are compared and copied more often."""

FOUND, FOUND_KEY = Steps(2_500), Steps(50)
"""A private group that leaves the engine, is put in order and chosen from; more for each key."""

SORT = Steps(350)
"""Putting the rows of a unit in order; more for each value and each condition that goes along."""

SORTED_VALUE, SORTED_CONDITION = Steps(100), Steps(30)

TOTAL = Steps(50)
"""Adding a row to an aggregate."""

CLAMP = PLAIN * 8


def outermost_work(plan: BoundedPlan, fields: Sequence[Value]) -> Steps:
    """Return the work for one row of the relation, over all grouping sets.

    In each set a row is put in order once for the groups of its unit, twice for the sample of rows
    and twice for each distinct value, with all values of the row along.
    """
    ready = [field.ready() for field in fields]
    tests = [value_of(where, ready) for where in _conditions(plan.aggregates)]
    values = [value_of(value, ready) for value in _values(plan.aggregates)]
    keys = [_key(plan, ready[index]) for index in plan.keys.fields]
    counted = [value_of(a.value, ready) for a in plan.aggregates if isinstance(a, CountDistinct)]
    sort = SORT + SORTED_VALUE * len(values) + SORTED_CONDITION * len(tests) + _room_of(values)
    work = SET + KEY * len(keys) + TOTAL * len(plan.aggregates) + CLAMP * len(values)
    work += _sum([value.steps + _hashing(value) for value in [*tests, *values, *keys]])
    if isinstance(plan.keys, PrivateKeys):
        sort += _room_of(keys)
        work += PRIVATE + PRIVATE_KEY * len(keys) + _room_of(keys)
    work += sort * (_sorts(plan) + 2 * len(counted)) + _room_of(counted) * 2
    sets = 1 if isinstance(plan.keys, PrivateKeys) else len(plan.keys.sets)
    return work if sets == 1 else work * sets + _room_of([*ready, *values, *keys])


def found_work(plan: BoundedPlan) -> Steps:
    """Return the work for one group of a unit that was found, if keys are private.

    The keys of those that are not chosen stay in the engine's columns.
    """
    if not isinstance(plan.keys, PrivateKeys):
        return NOTHING
    return FOUND + FOUND_KEY * len(plan.keys.fields)


def _values(aggregates: Sequence[Aggregate]) -> list[Expression]:
    """Return what each aggregate looks at, if it looks at a value."""
    found = (getattr(aggregate, "value", None) for aggregate in aggregates)
    return [value for value in found if isinstance(value, Expression)]


def _sorts(plan: BoundedPlan) -> int:
    """Return how often the rows of a unit are put in order, beside the distinct values."""
    keys, most = plan.keys, plan.limits.groups_per_unit
    is_limited = isinstance(keys, PrivateKeys) or any(len(part.rows) > most for part in keys.sets)
    is_by_row = any(
        not isinstance(a, CountUnits | CountDistinct | SumTotals) for a in plan.aggregates
    )
    is_limited_in_all = plan.limits.rows_per_unit is not None
    return is_limited + 2 * (is_by_row + is_limited_in_all)


def _conditions(aggregates: Sequence[Aggregate]) -> list[Expression]:
    return list(dict.fromkeys(a.where for a in aggregates if a.where is not None))


def _key(plan: BoundedPlan, value: Value) -> Value:
    """Return a grouped field; a private text is cut."""
    if not isinstance(plan.keys, PrivateKeys) or not value.length:
        return evolve(value, steps=PLAIN)
    cut = TEXT + Steps(COPIED * min(value.length, LONGEST_KEY))
    return evolve(value, length=min(value.length, LONGEST_KEY), steps=cut)


def _hashing(value: Value) -> Steps:
    return Steps(2 * value.length)


def _room_of(values: Sequence[Value]) -> Steps:
    return _sum([value.keeping() for value in values])


def _sum(parts: Sequence[Steps]) -> Steps:
    return sum(parts, NOTHING)


PAIR, GROUPED, SORTED = Steps(50), Steps(150), Steps(600)
"""Looking at a pair of rows, putting a row into its group, putting it in order."""

FIELD = Steps(50)
"""More for each field that goes along."""

_DECODED = 16
"""The steps of one character of a stored text: it is checked and perhaps cut each time that a
condition looks at it."""


def work(plan: BoundedPlan) -> Work:
    """Return the most work that one unit can cause in a plan."""
    return Meter().work(plan)


@frozen
class PassedOn:
    """What an operator passes on: its fields, how many rows of one unit, and the work so far."""

    fields: tuple[Value, ...]
    rows: RowCount
    bill: Bill


@define
class Meter:
    """Counts the work of plans. It remembers relations: plans that share some are soon counted."""

    _known: dict[int, tuple[Relation, PassedOn]] = field(factory=dict)

    def work(self, plan: BoundedPlan) -> Work:
        """Return the work of a plan."""
        passed = self.passed(plan.relation)
        bill = passed.bill + Bill.of(passed.rows, outermost_work(plan, passed.fields), keeps=True)
        found = min(passed.rows.behind, plan.limits.groups_per_unit)
        return (bill + Bill.of(evolve(passed.rows, behind=found), found_work(plan))).work()

    def passed(self, relation: Relation) -> PassedOn:
        """Return what a relation passes on, and its work."""
        name = id(relation)
        if name not in self._known:
            self._known[name] = (relation, _passed(relation, self))
        return self._known[name][1]


@singledispatch
def _passed(relation: Relation, meter: Meter) -> PassedOn:
    """Count the work of a relation, and return what it passes on."""
    raise Unsupported("Nobody has measured this relation", got=type(relation).__name__)


@_passed.register
def _(node: Scan, meter: Meter) -> PassedOn:
    is_row = node.table.unit.column is None  # each is a unit of its own, and has no other rows
    rows = RowCount(behind=1, limits=1) if is_row else RowCount(stored={node.table.name: 1})
    return PassedOn(_columns(node), rows, Bill())


@_passed.register
def _(node: PublicScan, meter: Meter) -> PassedOn:
    return PassedOn(
        tuple(evolve(value, is_stored=False) for value in _columns(node)), RowCount(), Bill()
    )


def _columns(node: Scan | PublicScan) -> tuple[Value, ...]:
    """Return the columns; whoever reads one in a condition looks at what is stored again."""
    return tuple(
        evolve(text_value(length), steps=PLAIN + Steps(_DECODED * length), is_stored=True)
        for length in node.lengths()
    )


@_passed.register
def _(node: Filter, meter: Meter) -> PassedOn:
    """Count a condition with all that it reads: engines test it before they make the fields."""
    source = meter.passed(node.source)
    steps = value_of(node.condition, source.fields).steps
    return evolve(source, bill=source.bill + Bill.of(source.rows, steps))


@_passed.register
def _(node: Projection, meter: Meter) -> PassedOn:
    source = meter.passed(node.source)
    ready = _ready(source.fields)
    made = sum((value_of(value, ready).steps for value in node.values), NOTHING)
    fields = tuple(value_of(value, source.fields) for value in node.values)
    return PassedOn(fields, source.rows, source.bill + Bill.of(source.rows, made))


@_passed.register
def _(node: RowLimit, meter: Meter) -> PassedOn:
    source = meter.passed(node.source)
    kept = _keeping(source.fields)
    steps = SORTED * 2 + FIELD * len(source.fields) + kept * 3
    rows = source.rows.limited(node.rows)
    fields = list(_fewer(_ready(source.fields), source.rows, rows))
    for i in node.texts:
        usual = -(-node.characters // max(1, rows.behind))
        fields[i] = evolve(fields[i], length=min(fields[i].length, usual))
    bill = source.bill + Bill.of(source.rows, steps, keeps=True)
    return PassedOn(tuple(fields), rows, bill)


def _fewer(fields: tuple[Value, ...], before: RowCount, after: RowCount) -> tuple[Value, ...]:
    """Return the fields of fewer rows: those with the longest texts may be left."""
    if before.stored or after.behind >= before.behind:
        return fields
    return tuple(
        evolve(value, length=min(value.longest, -(-value.length * before.behind // after.behind)))
        for value in fields
    )


@_passed.register
def _(node: Distinct, meter: Meter) -> PassedOn:
    source = meter.passed(node.source)
    steps = _grouping(source.fields)
    return evolve(source, bill=source.bill + Bill.of(source.rows, steps, keeps=True))


@_passed.register
def _(node: UnionAll, meter: Meter) -> PassedOn:
    first, second = meter.passed(node.first), meter.passed(node.second)
    pairs = zip(first.fields, second.fields, strict=True)
    fields = tuple(_either(*pair) for pair in pairs)
    return PassedOn(fields, first.rows + second.rows, first.bill + second.bill)


def _either(first: Value, second: Value) -> Value:
    return Value(
        length=max(first.length, second.length),
        longest=max(first.longest, second.longest),
        steps=max(first.steps, second.steps, key=lambda steps: steps.each + steps.alone),
        is_stored=first.is_stored and second.is_stored,
    )


@_passed.register
def _(node: InnerAggregate, meter: Meter) -> PassedOn:
    source = meter.passed(node.source)
    ready = _ready(source.fields)
    keys = tuple(source.fields[i] for i in node.keys)
    values = [Value() if t.value is None else value_of(t.value, ready) for t in node.totals]
    made = sum((value.steps for value in values), NOTHING)
    steps = _grouping([*keys, *values]) + made
    for value, total in zip(values, node.totals, strict=True):
        if total.total is Total.COUNT_DISTINCT:  # an engine groups by the keys and the value apart
            steps += _grouping([*keys, value])
    totals = [
        value.ready() if total.type() is ColumnType.TEXT else Value()
        for value, total in zip(values, node.totals, strict=True)
    ]
    units = [node.source.fields()[i].unit_part for i in node.keys]
    rows = source.rows if None in units else source.rows.limited(1)
    bill = source.bill + Bill.of(source.rows, steps, keeps=True)
    return PassedOn(_fewer((*keys, *totals), source.rows, rows), rows, bill)


@_passed.register
def _(node: Window, meter: Meter) -> PassedOn:
    source = meter.passed(node.source)
    ready = _ready(source.fields)
    value = node.function.value
    new = Value() if value is None else value_of(value, ready)
    order = [*node.partition, *(key.value for key in node.order)]
    sorted_by = [value_of(part, ready) for part in order]
    made = sum((part.steps for part in [new, *sorted_by]), NOTHING)
    kept = _keeping([*source.fields, *sorted_by, new, new])
    steps = SORTED * 2 + FIELD * len(ready) + made + kept
    shown = new.ready() if node.shape.type is ColumnType.TEXT else Value()
    bill = source.bill + Bill.of(source.rows, steps, keeps=True)
    return PassedOn((*source.fields, shown), source.rows, bill)


@_passed.register(Join)
@_passed.register(Exists)
def _(node: Join | Exists, meter: Meter) -> PassedOn:
    left, right = meter.passed(node.left), meter.passed(node.right)
    fields = (*left.fields, *_ready(right.fields))
    bill = left.bill + right.bill
    for side in (left, right):
        held = sum((value.keeping(HOLDING) for value in side.fields), GROUPED)
        bill += Bill.of(side.rows, held, keeps=True)
    pairs = RowCount() if node.owner() is None else _pairs(node, left.rows, right.rows)
    made = NOTHING if node.condition is None else value_of(node.condition, fields).steps
    bill += Bill.of(pairs, PAIR + made)
    if isinstance(node, Exists):
        return PassedOn(left.fields, left.rows, bill)
    return PassedOn(fields, pairs, bill)


def _pairs(node: Join | Exists, left: RowCount, right: RowCount) -> RowCount:
    """Return how many pairs of rows are looked at; a row that stays without one counts as one."""
    if node.right.owner() is None:
        if node.partners is None:
            raise Unsupported("Nobody has counted the partners of a join")
        return left * max(1, node.partners)
    if left.stored or right.stored:
        raise Unsupported("The rows of a join are not limited")
    pairs = left * max(1, right.behind)
    return evolve(pairs, limits=left.limits + right.limits)


def _ready(fields: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(value.ready() for value in fields)


def _grouping(values: Sequence[Value]) -> Steps:
    """Return the work of putting a row with these values into its group."""
    return GROUPED + FIELD * len(values) + _keeping(values)


def _keeping(values: Sequence[Value]) -> Steps:
    return sum((value.keeping() for value in values), NOTHING)
