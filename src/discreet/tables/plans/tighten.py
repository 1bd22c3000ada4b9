"""Tighten: a limit of one row, where a plan shows that no unit has more.

``SELECT COUNT(*) FROM (SELECT person FROM visits GROUP BY person)`` has one row for each person by
construction. With the declared limits it would get the noise of many rows, for nothing.
"""

from collections.abc import Iterable, Iterator
from functools import singledispatch

from attrs import evolve

from discreet.core.errors import Unsupported
from discreet.tables.catalog import Limits
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountUnits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals
from discreet.tables.relations.join import Exists, Join, equal_fields
from discreet.tables.relations.relation import (
    Distinct,
    Filter,
    Projection,
    Relation,
    RowLimit,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, Ranked, Ranking, Window

Told = frozenset[frozenset[int]]
"""Sets of fields. At most one row of an owner has the same values in all fields of such a set."""

MOST_SETS = 16
"""So many sets are kept, the smallest ones: to know fewer is never wrong."""

_ONE_ROW: Told = frozenset({frozenset()})
_NOTHING: Told = frozenset()


def tighten(plan: BoundedPlan) -> BoundedPlan:
    """Return the plan with limits of 1 where no unit can have more.

    Guarantee:
        Nothing that counted is left out: a unit with at most one row is in at most one group of
        each grouping set, with one row (:func:`told_apart`). Privacy does not rest on that. The
        smaller limits are part of the plan, and engines hold every unit to them as to any others;
        if the proof were wrong, rows would be missing from the answer, and no more would be told.
        A limit on all rows of a unit that never binds goes.
    """
    told = told_apart(plan.relation)
    limits = plan.limits
    if frozenset() in told:
        limits = Limits(rows_per_group=1, groups_per_unit=1)
    elif _is_one_row_a_group(plan, told):
        limits = evolve(limits, rows_per_group=1)
    limits = _without_idle(plan, limits)
    return plan if limits == plan.limits else evolve(plan, limits=limits)


def _without_idle(plan: BoundedPlan, limits: Limits) -> Limits:
    """Return the limits without one on all rows of a unit that the others imply.

    Where ``rows_per_group`` rows in as many groups as a unit can be in are no more than
    ``rows_per_unit``, drawing so many rows first would leave out some for nothing: what one unit
    moves is the same without it.
    """
    if limits.rows_per_unit is None:
        return limits
    groups, keys = limits.groups_per_unit, plan.keys
    if isinstance(keys, PublicKeys):
        groups = min(groups, max((len(part.rows) for part in keys.sets), default=0))
    is_idle = limits.rows_per_group * groups <= limits.rows_per_unit
    return evolve(limits, rows_per_unit=None) if is_idle else limits


def leaves_out(plan: BoundedPlan) -> bool:
    """Tell whether the limits of the plan can leave out anything of anybody."""
    told = told_apart(plan.relation)
    if frozenset() in told:
        return False
    is_whole = _is_one_row_a_group(plan, told) or not counts_rows(plan)
    return not (is_whole and _has_few_groups(plan))


def has_one_row(plan: BoundedPlan) -> bool:
    """Tell whether a unit has at most one row in a group, whatever its limits are."""
    told = told_apart(plan.relation)
    return frozenset() in told or _is_one_row_a_group(plan, told)


def counts_rows(plan: BoundedPlan) -> bool:
    """Tell whether it matters how many rows of a unit count in a group.

    Units are counted once, and totals that are clamped as a whole are of all rows.
    """
    return not all(isinstance(part, CountUnits | SumTotals) for part in plan.aggregates)


def _is_one_row_a_group(plan: BoundedPlan, told: Told) -> bool:
    return all(any(some <= grouped for some in told) for grouped in _grouped(plan))


def _grouped(plan: BoundedPlan) -> Iterator[frozenset[int]]:
    """Yield the fields that make the groups of each grouping set."""
    keys = plan.keys
    if not isinstance(keys, PublicKeys):
        yield frozenset(keys.fields)
        return
    for part in keys.sets:
        yield frozenset(keys.fields[place] for place in part.places)


def _has_few_groups(plan: BoundedPlan) -> bool:
    """Tell whether there are so few groups that a unit counts in each of them.

    With a limit on all of its rows it may not: these can all be in others.
    """
    keys, most = plan.keys, plan.limits.groups_per_unit
    is_few = isinstance(keys, PublicKeys) and all(len(part.rows) <= most for part in keys.sets)
    return is_few and plan.limits.rows_per_unit is None


@singledispatch
def told_apart(relation: Relation) -> Told:
    r"""Return sets of fields that tell the rows of one owner apart.

    Guarantee:
        For each set :math:`K` and each owner at most one row of the relation has the same values
        in :math:`K` (NULL being a value). If the empty set is among them, every owner has at most
        one row. A public relation is read as that of a single owner.

        Proof, by induction over the relation; each case below says its step. What holds of a
        relation holds of any part of its rows, and a field that is the same in all rows of an
        owner (a part of the unit) may be taken out of any set.
    """
    raise Unsupported("We do not know how many rows this relation has", got=type(relation).__name__)


@told_apart.register
def _(node: Scan) -> Told:
    """Where each row is a unit, an owner has the one row; elsewhere it may have any number."""
    return _ONE_ROW if node.owner().unit.column is None else _NOTHING


@told_apart.register(PublicScan)
@told_apart.register(UnionAll)
def _(node: PublicScan | UnionAll) -> Told:
    """A public table may repeat a row, and so may one side of a union what is on the other."""
    return _NOTHING


@told_apart.register
def _(node: Filter) -> Told:
    """Some of the rows of the source. A field that equals a constant in all of them tells nothing.

    So the rows with ``ROW_NUMBER() ... = 1`` are at most one in each part.
    """
    fixed = _fixed(node.condition)
    return _smallest(node, (some - fixed for some in told_apart(node.source)))


@told_apart.register
def _(node: RowLimit) -> Told:
    """Some of the rows of the source; a single one, if that is the limit."""
    return _ONE_ROW if node.rows == 1 and node.owner() is not None else told_apart(node.source)


@told_apart.register
def _(node: Exists) -> Told:
    """Some of the rows of the left."""
    return told_apart(node.left)


@told_apart.register
def _(node: Distinct) -> Told:
    """One row of an owner for all values together; and some of the rows of the source."""
    return _smallest(node, [frozenset(range(len(node.fields()))), *told_apart(node.source)])


@told_apart.register
def _(node: Projection) -> Told:
    """One row for each of the source. A set stays if all of its fields are passed on unchanged."""
    places = {
        value.index: place
        for place, value in enumerate(node.values)
        if isinstance(value, FieldValue)
    }
    return _smallest(node, _moved(told_apart(node.source), places))


@told_apart.register
def _(node: InnerAggregate) -> Told:
    """One row of an owner for each combination of the keys.

    If a set of the source is among the keys, then two rows with the same values in it are of the
    same row of the source, so they are one.
    """
    places = {index: place for place, index in enumerate(node.keys)}
    keys = frozenset(range(len(node.keys)))
    return _smallest(node, [keys, *_moved(told_apart(node.source), places)])


@told_apart.register
def _(node: Window) -> Told:
    """The rows of the source with one more field. Row numbers differ within a partition."""
    found = [*told_apart(node.source)]
    parts = [part.index for part in node.partition if isinstance(part, FieldValue)]
    is_number = isinstance(node.function, Ranked) and node.function.ranking is Ranking.ROW_NUMBER
    if is_number and len(parts) == len(node.partition):
        found.append(frozenset({*parts, len(node.source.fields())}))
    return _smallest(node, found)


@told_apart.register
def _(node: Join) -> Told:
    r"""Pairs of rows of one owner, or of a row of an owner and a public one.

    A set :math:`K` of the left names its row, and so all of its values. Of a set :math:`L` of the
    right, those fields that the condition makes equal to one of the left (of the same type) then
    have known values too. So :math:`K` and the rest of :math:`L` name the pair. If no row of the
    right is met, there is one row at most, with NULL. The other way round it holds as well, unless
    rows of the left stay without a partner. Where one row meets a single public row at most,
    :math:`K` is enough.
    """
    left, right = node.left.fields(), node.right.fields()
    width = len(left)
    pairs = [
        (i, j)
        for i, j in equal_fields(node.condition, width)
        if left[i].type is right[j].type is not ColumnType.REAL
    ]
    firsts = told_apart(node.left)
    seconds = [frozenset(width + i for i in some) for some in told_apart(node.right)]
    mine, theirs = {i for i, _ in pairs}, {width + j for _, j in pairs}
    found = list(firsts) if node.right.owner() is None and node.partners in (0, 1) else []
    found += [first | (second - theirs) for first in firsts for second in seconds]
    if not node.keep_left:
        found += [second | (first - mine) for first in firsts for second in seconds]
    return _smallest(node, found)


def _smallest(relation: Relation, found: Iterable[frozenset[int]]) -> Told:
    """Return the sets without parts of the unit, and without those that contain another."""
    fields = relation.fields()
    bare = {frozenset(i for i in some if fields[i].unit_part is None) for some in found}
    kept: list[frozenset[int]] = []
    for some in sorted(bare, key=lambda some: (len(some), sorted(some))):
        if len(kept) < MOST_SETS and not any(smaller <= some for smaller in kept):
            kept.append(some)
    return frozenset(kept)


def _moved(told: Told, places: dict[int, int]) -> Iterator[frozenset[int]]:
    for some in told:
        if all(i in places for i in some):
            yield frozenset(places[i] for i in some)


def _fixed(condition: Expression) -> frozenset[int]:
    """Return the fields that a condition makes equal to a constant of their type.

    Of reals, and between types, values that differ can be equal.
    """
    found, waiting = set(), [condition]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Call):
            continue
        if part.function == "and":
            waiting += part.arguments
        elif part.function == "=":
            fields = [side.index for side in part.arguments if isinstance(side, FieldValue)]
            constants = [side for side in part.arguments if isinstance(side, Literal)]
            types = {side.type for side in part.arguments}
            is_exact = len(types) == 1 and ColumnType.REAL not in types
            if is_exact and len(fields) == len(constants) == 1:
                found.add(fields[0])
    return frozenset(found)
