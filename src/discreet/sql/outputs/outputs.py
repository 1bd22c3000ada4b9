"""Outputs: from what SELECT, HAVING and ORDER BY name to aggregates, their weights and a view."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve, field, frozen

from discreet.core.errors import QueryError, RefusedQuery
from discreet.releases.estimates.estimate import Estimate, GroupingOf, KeyOf, parts
from discreet.releases.view import Ordering, Output, View
from discreet.sql.outputs.aggregates import AGGREGATES
from discreet.sql.outputs.arithmetic import ARITHMETIC, arithmetic
from discreet.sql.outputs.asked import Asked, require_condition
from discreet.sql.outputs.book import Book
from discreet.sql.outputs.nodes import (
    children,
    constant,
    has_aggregate,
    is_aggregate,
    require_plain,
    require_shallow,
    unbracketed,
)
from discreet.sql.outputs.output_scope import OutputScope
from discreet.sql.outputs.refusals import (
    aggregate_of_aggregate,
    not_a_key,
    not_grouped,
    single_person,
    unknown_aggregate,
)
from discreet.sql.outputs.windows import refuse_windows, window
from discreet.tables.aggregate import Aggregate
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue


@frozen(kw_only=True)
class Outputs:
    """The aggregates that the outputs need, their parts of the price, and how they are shown."""

    aggregates: tuple[Aggregate, ...]
    weights: tuple[Fraction, ...]
    """The part of each aggregate; together 1, unless there is no aggregate."""
    view: View


def resolve_outputs(
    *,
    items: Sequence[tuple[str, Any]],
    having: Any = None,
    qualify: Any = None,
    order: Sequence[tuple[Any, bool]] = (),
    limit: int | None = None,
    offset: int | None = None,
    scope: OutputScope,
) -> Outputs:
    """Return the aggregates and the view of the outermost SELECT.

    ``items`` are names with nodes, ``order`` are nodes with whether they descend. The plan does
    not depend on the order or the names of the outputs: aggregates have a canonical order.
    """
    _refuse_repeated_names([name for name, _ in items])
    _refuse_nothing(limit)
    for node in (*(node for _, node in items), having, qualify, *(node for node, _ in order)):
        if node is not None:
            require_shallow(node)
    asked = _Written(items=items, having=having, qualify=qualify, order=order)
    draft = Book()
    _view(draft, asked, scope)
    book = draft.in_order()
    view = _view(book, asked, scope)
    return Outputs(
        aggregates=book.aggregates,
        weights=book.weights(),
        view=evolve(view, limit=limit, offset=offset or 0, clamps=book.clamps),
    )


def _refuse_repeated_names(names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise RefusedQuery(f"Two outputs are called '{name}'", next="Give one another name")
        seen.add(name.lower())


def _refuse_nothing(limit: int | None) -> None:
    if limit == 0:
        raise RefusedQuery(
            "LIMIT 0 would show nothing, for the full price",
            must="be at least 1",
            next="Leave LIMIT out; explain and rehearse cost nothing",
        )


@frozen(kw_only=True)
class _Written:
    """What the query says about its outputs, as nodes."""

    items: Sequence[tuple[str, Any]]
    having: Any
    qualify: Any
    order: Sequence[tuple[Any, bool]]


def _view(book: Book, asked: _Written, scope: OutputScope) -> View:
    known = _Reader(scope=scope, book=book)
    for name, node in asked.items:  # an output may use the ones before it by name
        output = Output(name, _small(known.estimate(node)))
        known = evolve(known, outputs=(*known.outputs, output))
    having = None if asked.having is None else _condition(known.estimate(asked.having), "HAVING")
    if having is not None:
        refuse_windows([having], "HAVING comes before windows: use QUALIFY")
    qualify = asked.qualify
    return View(
        outputs=known.outputs,
        having=having,
        qualify=None if qualify is None else _condition(known.estimate(qualify), "QUALIFY"),
        order=tuple(Ordering(known.criterion(node), bool(down)) for node, down in asked.order),
    )


LARGEST_OUTPUT = 1_000
"""How many parts one output may have, with the outputs that it uses written out."""


def _small(estimate: Estimate) -> Estimate:
    if len(parts(estimate)) > LARGEST_OUTPUT:
        raise RefusedQuery("An output is too long", must=f"have at most {LARGEST_OUTPUT:,} parts")
    return estimate


def _condition(estimate: Estimate, clause: str) -> Estimate:
    if estimate.type is not ColumnType.BOOLEAN:
        raise RefusedQuery(f"{clause} is not a condition", must="be true or false")
    return estimate


@frozen(kw_only=True)
class _Reader:
    """Reads one node after another, and notes the aggregates in the book."""

    scope: OutputScope
    book: Book
    outputs: tuple[Output, ...] = field(default=())
    """What may be referred to by name: all of SELECT, or in SELECT what stands before."""

    @property
    def _by_name(self) -> Mapping[str, Estimate]:
        return {output.name.lower(): output.estimate for output in self.outputs}

    def criterion(self, node: Any) -> Estimate:
        """Return what one item of ORDER BY means: an output by its name or place, or a value."""
        node = unbracketed(node)
        if node.key == "literal" and not node.is_string:
            return self._at_place(str(node.this))
        if node.key == "var":
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

    def _named(self, node: Any) -> Estimate | None:
        is_bare = node.key == "column" and not node.args.get("table")
        return self._by_name.get(str(node.name).lower()) if is_bare else None

    def estimate(self, node: Any) -> Estimate:
        """Return the estimate that a node means."""
        node = unbracketed(node)
        if node.key in ("grouping", "groupingid"):
            return self._grouping(node)
        if node.key == "window":
            return window(node, self.estimate)
        if is_aggregate(node):
            return self._aggregate(node)
        found = constant(node)
        if found is not None:
            return found
        if not has_aggregate(node):
            key = self._key(node)
            if key is not None:
                return key
        if node.key == "column":
            return self._output_or_refuse(node)
        if node.key not in ARITHMETIC and self._is_of_keys(node):
            raise not_a_key(node)
        return arithmetic(node, self.estimate)

    def _is_of_keys(self, node: Any) -> bool:
        """Tell whether a node is a row-wise function of keys alone."""
        try:
            self.scope.row(node)
        except QueryError:
            return False
        columns = [part for part in node.walk() if part.key == "column"]
        return bool(columns) and all(self._key(part) is not None for part in columns)

    def _key(self, node: Any) -> KeyOf | None:
        """Return the key that a row-wise node is, if it is one."""
        try:
            expression = self.scope.row(node)
        except QueryError:
            return None  # part of it may still be a key, or the name of an output
        if expression not in self.scope.keys:
            return None
        return KeyOf(expression.type, self.scope.keys.index(expression))

    def _output_or_refuse(self, node: Any) -> Estimate:
        named = self._named(node)
        if named is not None:
            return named
        value = self.scope.row(node)  # an unknown column has a message of its own
        is_unit = (
            isinstance(value, FieldValue)
            and self.scope.relation.fields()[value.index].unit_part == 0
        )
        raise single_person(str(node.name)) if is_unit else not_grouped(str(node.name), value)

    def _grouping(self, node: Any) -> Estimate:
        require_plain(node, "expressions")
        keys = [self._key(unbracketed(part)) for part in node.expressions]
        places = tuple(key.place for key in keys if key is not None)
        if not places or len(places) < len(keys):
            raise RefusedQuery(
                "GROUPING takes keys of GROUP BY", next="Write GROUPING(key) with one of them"
            )
        return GroupingOf(ColumnType.INTEGER, places)

    def _aggregate(self, node: Any) -> Estimate:
        where = None
        if node.key == "filter":
            require_plain(node, "this", "expression")
            where = self._row_condition(node.expression.this)
            node = node.this
        name = node.name.lower() if node.key == "anonymous" else node.key
        build = AGGREGATES.get(name)
        if build is None:
            raise unknown_aggregate(node)
        if any(has_aggregate(part) for part in children(node)) and name != "withingroup":
            raise aggregate_of_aggregate(node)
        return build(Asked(node=node, where=where, scope=self.scope, book=self.book))

    def _row_condition(self, node: Any) -> Expression:
        if has_aggregate(node):
            raise RefusedQuery(
                "FILTER is about rows, not about the numbers of a group", next="Use HAVING instead"
            )
        condition = self.scope.row(node)
        require_condition(condition)
        return condition
