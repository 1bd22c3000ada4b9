"""Prune: leave out the fields and conditions that a plan does not need.

Less is read, and equal questions become equal plans whether or not they name more than they use.
Which rows there are does not change: a distinct and the keys of an inner aggregate keep theirs.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch

import attrs
from attrs import evolve

from discreet.core.errors import Unsupported
from discreet.tables.expression import Call, Expression, FieldValue, fields_in, moved
from discreet.tables.functions.call import call
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Distinct,
    Field,
    Filter,
    Projection,
    Relation,
    RowLimit,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Ranked, SortKey, Window

Places = Mapping[int, int]
"""Where each field that is needed has gone."""

Pruned = tuple[Relation, Places]


def prune(plan: BoundedPlan) -> BoundedPlan:
    """Return the plan without the fields that none of its keys and aggregates needs."""
    needed = set(plan.keys.fields).union(*(_used(aggregate) for aggregate in plan.aggregates))
    relation, places = pruned(plan.relation, frozenset(needed))
    return BoundedPlan(
        relation=relation,
        keys=evolve(plan.keys, fields=tuple(places[i] for i in plan.keys.fields)),
        limits=plan.limits,
        aggregates=tuple(_replaced(aggregate, places) for aggregate in plan.aggregates),
    )


@singledispatch
def pruned(relation: Relation, needed: frozenset[int]) -> Pruned:
    """Return the relation with at least the fields ``needed``, and where they are in it."""
    raise Unsupported("This relation cannot be pruned", got=type(relation).__name__)


@pruned.register(Scan)
@pruned.register(PublicScan)
def _(node: Scan | PublicScan, needed: frozenset[int]) -> Pruned:
    kept = sorted(needed)
    return evolve(node, columns=tuple(node.columns[i] for i in kept)), _places(kept)


@pruned.register
def _(node: Filter, needed: frozenset[int]) -> Pruned:
    source, places = pruned(node.source, needed | fields_in(node.condition))
    return Filter(source=source, condition=moved(node.condition, places)), places


@pruned.register
def _(node: RowLimit, needed: frozenset[int]) -> Pruned:
    source, places = pruned(node.source, needed.union(node.texts))
    return evolve(node, source=source, texts=tuple(places[i] for i in node.texts)), places


@pruned.register
def _(node: Projection, needed: frozenset[int]) -> Pruned:
    kept = sorted(needed)
    values = [node.values[i] for i in kept]
    source, places = pruned(node.source, _in_all(values))
    moved_values = tuple(moved(value, places) for value in values)
    shape = tuple(node.shape[i] for i in kept)
    return Projection(source=source, values=moved_values, shape=shape), _places(kept)


@pruned.register(Join)
@pruned.register(Exists)
def _(node: Join | Exists, needed: frozenset[int]) -> Pruned:
    condition = _beside_owner(node)
    used = needed | _in_all([] if condition is None else [condition])
    (left, right), places = _sides(node.left, node.right, used)
    condition = None if condition is None else moved(condition, places)
    return evolve(node, left=left, right=right, condition=condition), places


def _beside_owner(node: Join | Exists) -> Expression | None:
    """Return the condition of a join without what engines add to it: that both have one owner."""
    condition = node.condition
    if node.right.owner() is None or condition is None:
        return condition
    fields = (*node.left.fields(), *node.right.fields())
    is_chain = isinstance(condition, Call) and condition.function == "and"
    parts = condition.arguments if isinstance(condition, Call) and is_chain else (condition,)
    width = len(node.left.fields())
    kept = [part for part in parts if not _is_owner(part, fields, width)]
    if len(kept) < 2:
        return kept[0] if kept else None
    return call("and", kept)


def _is_owner(part: Expression, fields: Sequence[Field], width: int) -> bool:
    """Tell whether a condition is the equality of one part of the unit on both sides."""
    if not isinstance(part, Call) or part.function != "=":
        return False
    places = [side.index for side in part.arguments if isinstance(side, FieldValue)]
    units = {fields[i].unit_part for i in places}
    is_pair = len(places) == 2 and min(places) < width <= max(places)
    return is_pair and len(units) == 1 and None not in units


@pruned.register
def _(node: Distinct, needed: frozenset[int]) -> Pruned:
    every = range(len(node.fields()))
    source, places = pruned(node.source, frozenset(every))
    return Distinct(source=_exactly(source, places, every)), _places(every)


@pruned.register
def _(node: UnionAll, needed: frozenset[int]) -> Pruned:
    kept = sorted(needed)
    sides = [_exactly(*pruned(side, needed), kept) for side in node.inputs()]
    return UnionAll(first=sides[0], second=sides[1]), _places(kept)


@pruned.register
def _(node: InnerAggregate, needed: frozenset[int]) -> Pruned:
    first = len(node.keys)
    kept = sorted({*range(first), *needed})
    totals = [node.totals[i - first] for i in kept if i >= first]
    used = frozenset(node.keys) | _in_all([t.value for t in totals if t.value is not None])
    source, places = pruned(node.source, used)
    smaller = InnerAggregate(
        source=source,
        keys=tuple(places[i] for i in node.keys),
        totals=tuple(_moved_total(inner, places) for inner in totals),
        shape=tuple(node.shape[i] for i in kept),
    )
    return smaller, _places(kept)


@pruned.register
def _(node: Window, needed: frozenset[int]) -> Pruned:
    new = len(node.source.fields())
    if new not in needed:
        return pruned(node.source, needed)
    values = [*node.partition, *(key.value for key in node.order)]
    if node.function.value is not None:
        values.append(node.function.value)
    source, places = pruned(node.source, (needed - {new}) | _in_all(values))
    smaller = Window(
        source=source,
        function=_moved_function(node.function, places),
        partition=tuple(moved(value, places) for value in node.partition),
        order=tuple(
            SortKey(value=moved(key.value, places), descending=key.descending) for key in node.order
        ),
        shape=node.shape,
    )
    return smaller, {**places, new: len(source.fields())}


def _sides(
    left: Relation, right: Relation, used: frozenset[int]
) -> tuple[tuple[Relation, Relation], Places]:
    """Return both sides of a pair with the fields that are used of them, and no other.

    What is limited there are rows with these fields: a long text that was only asked about does not
    count.
    """
    before, kept = len(left.fields()), sorted(used)
    mine, theirs = [i for i in kept if i < before], [i - before for i in kept if i >= before]
    first, second = (
        _exactly(*pruned(side, frozenset(some)), some)
        for side, some in ((left, mine), (right, theirs))
    )
    return (first, second), _places(kept)


def _exactly(source: Relation, places: Places, kept: Sequence[int]) -> Relation:
    """Return the relation with just the fields ``kept``, in this order."""
    wanted = [places[i] for i in kept]
    fields = source.fields()
    if wanted == list(range(len(fields))):
        return source
    return Projection(
        source=source,
        values=tuple(FieldValue(fields[i].type, i) for i in wanted),
        shape=tuple(fields[i] for i in wanted),
    )


def _places(kept: Iterable[int]) -> Places:
    return {old: new for new, old in enumerate(kept)}


def _in_all(values: Iterable[Expression]) -> frozenset[int]:
    return frozenset().union(*(fields_in(value) for value in values))


def _moved_total(inner: InnerTotal, places: Places) -> InnerTotal:
    return evolve(inner, value=None if inner.value is None else moved(inner.value, places))


def _moved_function(function: InnerTotal | Ranked, places: Places) -> InnerTotal | Ranked:
    if function.value is None:
        return function
    return evolve(function, value=moved(function.value, places))


def _used(aggregate: Aggregate) -> frozenset[int]:
    return _in_all(value for value in _expressions(aggregate).values())


def _replaced(aggregate: Aggregate, places: Places) -> Aggregate:
    parts = {name: moved(value, places) for name, value in _expressions(aggregate).items()}
    return evolve(aggregate, **parts)


def _expressions(aggregate: Aggregate) -> dict[str, Expression]:
    """Return the expressions of an aggregate, by the names of its parts."""
    found = {part.name: getattr(aggregate, part.name) for part in attrs.fields(type(aggregate))}
    return {name: value for name, value in found.items() if isinstance(value, Expression)}
