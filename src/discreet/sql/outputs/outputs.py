"""Outputs: from what SELECT, HAVING and ORDER BY name to aggregates, their weights and a view."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import evolve, field, frozen

from discreet.core.errors import QueryError, RefusedQuery
from discreet.releases.estimates.estimate import Estimate, GroupingOf, KeyOf, left_by, parts
from discreet.releases.view import Ordering, Output, View
from discreet.sql.aggregates.call import AggregateCall, AskedAggregates, OutputScope
from discreet.sql.aggregates.functions import aggregate_function, is_aggregate, is_of_answer
from discreet.sql.expressions.refusals import (
    aggregate_of_aggregate,
    not_a_key,
    not_grouped,
    require_unique,
    single_person,
    two_outputs,
    unknown_aggregate,
)
from discreet.sql.outputs.arithmetic import ARITHMETIC, arithmetic
from discreet.sql.outputs.remarks import ranges, remarks, roundings
from discreet.sql.outputs.windows import refuse_windows, window
from discreet.sql.rows.whole_keys import as_key
from discreet.sql.syntax.nodes import (
    Node,
    constant,
    is_a,
    require_plain_output,
    table_of,
    unbracketed,
)
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.functions.conditions import as_condition
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.plan import scans_of
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import Scan


@frozen(kw_only=True)
class Outputs:
    """The aggregates that the outputs need, their parts of the price, and how they are shown."""

    aggregates: tuple[Aggregate, ...]
    weights: tuple[Fraction, ...]
    """The part of each aggregate; together 1, unless there is no aggregate."""
    view: View


@frozen(kw_only=True)
class OrderItem:
    """One item of ORDER BY."""

    node: Node
    descending: bool = False
    nulls_first: bool = False


def resolve_outputs(
    *,
    items: Sequence[tuple[str, Node]],
    having: Node | None = None,
    qualify: Node | None = None,
    order: Sequence[OrderItem] = (),
    limit: int | None = None,
    offset: int | None = None,
    scope: OutputScope,
) -> Outputs:
    """Return the aggregates and the view of the outermost SELECT.

    ``items`` are names with nodes. The plan does
    not depend on the order or the names of the outputs: aggregates have a canonical order.
    """
    require_unique((name for name, _ in items), two_outputs)
    _refuse_nothing(limit)
    for node in (*(node for _, node in items), having, qualify, *(item.node for item in order)):
        if node is not None:
            _require_shallow(node)
    clauses = _Clauses(items=items, having=having, qualify=qualify, order=order)
    draft = AskedAggregates()
    _view(draft, clauses, scope)
    asked = draft.in_order()
    view = _view(asked, clauses, scope)
    return Outputs(
        aggregates=asked.aggregates,
        weights=asked.weights(),
        view=evolve(
            view,
            limit=limit,
            offset=offset or 0,
            clamps=asked.clamps,
            ranges=ranges(asked.sourced(), scope.relation),
            remarks=remarks(asked.sourced(), scope.relation),
            roundings=roundings(asked.sourced(), scope.relation),
            missing_units=_missing_units(scope.relation),
        ),
    )


def _missing_units(relation: Relation) -> tuple[str, ...]:
    """Return the columns that name the unit of a private table and may be NULL, each once."""
    columns = (
        scan.table.column(name)
        for scan in scans_of(relation)
        if isinstance(scan, Scan)
        for name in scan.table.unit.key_columns()
    )
    return tuple(dict.fromkeys(column.name for column in columns if column.nullable))


DEEPEST = 100
"""How deeply one output may be nested."""


def _require_shallow(node: Node) -> None:
    """Refuse a very deep tree, which only a machine would write."""
    level = [node]
    for _ in range(DEEPEST):
        level = [child for item in level for child in item.iter_expressions()]
        if not level:
            return
    raise RefusedQuery("An output is nested too deeply", must=f"be at most {DEEPEST} levels deep")


def _refuse_nothing(limit: int | None) -> None:
    if limit == 0:
        raise RefusedQuery(
            "LIMIT 0 would show nothing, for the full price",
            must="be at least 1",
            next="Leave LIMIT out; explain and rehearse cost nothing",
        )


@frozen(kw_only=True)
class _Clauses:
    """What the query says about its outputs, as nodes."""

    items: Sequence[tuple[str, Node]]
    having: Node | None
    qualify: Node | None
    order: Sequence[OrderItem]


def _view(asked: AskedAggregates, clauses: _Clauses, scope: OutputScope) -> View:
    known = _Reader(scope=scope, asked=asked)
    for name, node in clauses.items:  # an output may use the ones before it by name
        output = Output(name, _small(known.estimate(node)))
        known = evolve(known, outputs=(*known.outputs, output))
    having = known.condition(clauses.having, "HAVING")
    if having is not None:
        refuse_windows([having], "HAVING comes before windows: use QUALIFY")
    qualify = known.condition(clauses.qualify, "QUALIFY")

    def placed(estimate: Estimate) -> Estimate:
        return left_by(having, estimate, is_found=scope.has_private_keys)

    return View(
        outputs=tuple(evolve(one, estimate=placed(one.estimate)) for one in known.outputs),
        having=having,
        qualify=None if qualify is None else placed(qualify),
        order=tuple(
            Ordering(placed(known.criterion(item.node)), item.descending, item.nulls_first)
            for item in clauses.order
        ),
    )


LARGEST_OUTPUT = 1_000
"""How many parts one output may have, with the outputs that it uses written out."""


def _small(estimate: Estimate) -> Estimate:
    if len(parts(estimate)) > LARGEST_OUTPUT:
        raise RefusedQuery("An output is too long", must=f"have at most {LARGEST_OUTPUT:,} parts")
    return estimate


@frozen(kw_only=True)
class _Reader:
    """Reads one node after another, and notes the aggregates that are asked for."""

    scope: OutputScope
    asked: AskedAggregates
    outputs: tuple[Output, ...] = field(default=())
    """What may be referred to by name: all of SELECT, or in SELECT what stands before."""

    @property
    def _by_name(self) -> Mapping[str, Estimate]:
        return {output.name.lower(): output.estimate for output in self.outputs}

    def condition(self, node: Node | None, clause: str) -> Estimate | None:
        """Return the condition of a clause, if there is one."""
        if node is None:
            return None
        estimate = self.estimate(node)
        if estimate.type is not ColumnType.BOOLEAN:
            raise RefusedQuery(f"{clause} is not a condition", must="be true or false")
        return estimate

    def criterion(self, node: Node) -> Estimate:
        """Return what one item of ORDER BY means: an output by its name or place, or a value."""
        node = unbracketed(node)
        if is_a(node, "Literal") and not node.is_string:
            return self._at_place(node.name)
        if is_a(node, "Var"):
            raise RefusedQuery(
                "ORDER BY ALL is not supported", next="Name the columns, such as ORDER BY 1, 2"
            )
        named = self._named(node)
        return self.estimate(node) if named is None else named

    def _at_place(self, place: str) -> Estimate:
        places = {str(i): output.estimate for i, output in enumerate(self.outputs, start=1)}
        if place not in places:
            raise RefusedQuery(
                "ORDER BY names no output",
                must=f"be a place from 1 to {len(places)}",
                got=place[:20],
            )
        return places[place]

    def _named(self, node: Node) -> Estimate | None:
        is_bare = is_a(node, "Column") and not table_of(node)
        return self._by_name.get(node.name.lower()) if is_bare else None

    def estimate(self, node: Node) -> Estimate:
        """Return the estimate that a node means."""
        node = unbracketed(node)
        if is_a(node, "Grouping", "GroupingId"):
            return self._grouping(node)
        if is_a(node, "Window"):
            return window(node, self.estimate)
        if is_aggregate(node) or is_a(node, "Filter", "WithinGroup", "IgnoreNulls"):
            return self._aggregate(node)
        found = constant(node)
        if found is not None:
            return found
        if not is_of_answer(node):
            key = self._key(node)
            if key is not None:
                return key
        if is_a(node, "Column"):
            return self._output_or_refuse(node)
        if node.key not in ARITHMETIC and self._is_of_keys(node):
            raise not_a_key(node)
        return arithmetic(node, self.estimate)

    def _is_of_keys(self, node: Node) -> bool:
        """Tell whether a node is a row-wise function of keys alone."""
        try:
            self.scope.row(node)
        except QueryError:
            return False
        columns = [inner for inner in node.walk() if is_a(inner, "Column")]
        return bool(columns) and all(self._key(column) is not None for column in columns)

    def _key(self, node: Node) -> KeyOf | None:
        """Return the key that a row-wise node is, if it is one."""
        try:
            expression = as_key(self.scope.row(node), self.scope.relation)
        except QueryError:
            return None  # part of it may still be a key, or the name of an output
        if expression not in self.scope.keys:
            return None
        return KeyOf(expression.type, self.scope.keys.index(expression))

    def _output_or_refuse(self, node: Node) -> Estimate:
        named = self._named(node)
        if named is not None:
            return named
        value = self.scope.row(node)  # an unknown column has a message of its own
        owner = self.scope.relation.owner()
        is_unit = (
            isinstance(value, FieldValue)
            and self.scope.relation.fields()[value.index].unit_part == 0
            and (owner is None or not owner.unit.others)
        )
        raise single_person(node.name) if is_unit else not_grouped(node.name, value)

    def _grouping(self, node: Node) -> Estimate:
        require_plain_output(node, "expressions")
        keys = [self._key(unbracketed(inner)) for inner in node.expressions]
        places = tuple(key.place for key in keys if key is not None)
        if not places or len(places) < len(keys):
            raise RefusedQuery(
                "GROUPING takes keys of GROUP BY", next="Write GROUPING(key) with one of them"
            )
        return GroupingOf(ColumnType.INTEGER, places)

    def _aggregate(self, node: Node) -> Estimate:
        where = None
        if is_a(node, "Filter"):
            require_plain_output(node, "this", "expression")
            where = self._row_condition(node.expression.this)
            node = node.this
        function = aggregate_function(node)
        if function is None:
            raise unknown_aggregate(node)
        is_nested = any(is_of_answer(inner) for inner in node.iter_expressions())
        if is_nested and not is_a(node, "WithinGroup"):
            raise aggregate_of_aggregate(node)
        call = AggregateCall(node=node, where=where, scope=self.scope, asked=self.asked)
        return function.build(call)

    def _row_condition(self, node: Node) -> Expression:
        if is_of_answer(node):
            raise RefusedQuery(
                "FILTER is about rows, not about the numbers of a group", next="Use HAVING instead"
            )
        return as_condition(self.scope.row(node))
