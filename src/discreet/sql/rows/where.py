"""A SELECT as far as its WHERE: conditions on one row, IN and EXISTS, and values of sub-queries."""

import datetime
from collections.abc import Iterator, Sequence

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.expressions.zones import is_conversion
from discreet.sql.rows.fields import require_same_unit
from discreet.sql.rows.scope import STEPS_OF_A_ZONE, Context, Scope, require_few_tables
from discreet.sql.rows.sources import from_clause, with_clause
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    conjuncts,
    is_a,
    listed,
    part,
    require_plain,
    table_of,
    unbracketed,
    within,
    written,
)
from discreet.tables.column import Key
from discreet.tables.expression import Expression, FieldValue, Literal, measure
from discreet.tables.functions.call import call
from discreet.tables.functions.conditions import as_condition, both
from discreet.tables.relations.join import Exists
from discreet.tables.relations.relation import Field, Filter, Relation


@frozen(kw_only=True)
class OpenedSelect:
    """A SELECT whose WITH and FROM are read, and of the rest only how WHERE falls into parts."""

    select: Node
    """With the value of each sub-query that stands in an expression."""
    context: Context
    """In which the queries of its WITH have names."""
    conditions: list[Node]
    """The parts of WHERE that are joined by AND."""
    scope: Scope


def opened(select: Node, outside: Context) -> OpenedSelect:
    """Return what every SELECT begins with, the outermost and those inside of others."""
    context = with_clause(select, outside)
    select = with_scalars(select, context)
    conditions = conjuncts(condition_of(select, "where"))
    context.work.spend(STEPS_OF_A_ZONE * _conversions(select))
    scope = from_clause(select, context, conditions)
    return OpenedSelect(select=select, context=context, conditions=conditions, scope=scope)


def _conversions(select: Node) -> int:
    """Return how often a SELECT says AT TIME ZONE, not counting the queries in it."""
    return sum(is_conversion(node) for one in select.iter_expressions() for node in within(one))


def filtered(scope: Scope, nodes: Sequence[Node], context: Context) -> Scope:
    """Return the scope over the rows for which all the conditions are true."""
    tests = [_test(node) for node in nodes]
    plain = [scope.condition(node) for node, test in zip(nodes, tests, strict=True) if not test]
    condition = both(plain)
    if condition is not None:
        _require_small(condition)
        scope = scope.over(Filter(source=scope.relation, condition=condition))
    for test in tests:
        if test is not None:
            apply = _in if is_a(test.node, "In") else _exists
            scope = apply(test, scope, context)
    return scope


MOST_PARTS = 50_000
"""How many parts the conditions of one SELECT have together. A text has fewer, unless it says much
with a few words: the name of an item, AT TIME ZONE."""


def _require_small(condition: Expression) -> None:
    _, size = measure(condition)
    if size > MOST_PARTS:
        raise RefusedQuery(
            "The conditions of a SELECT are too large",
            must=f"have at most {MOST_PARTS:,} parts, with what their names stand for written out",
            next="Compute what they share in a sub-query, and write the conditions around it",
        )


@frozen(kw_only=True)
class _Test:
    """A condition that asks a sub-query: IN or EXISTS, and whether NOT stands in front."""

    node: Node
    query: Node
    lacks: bool


def _test(node: Node) -> _Test | None:
    lacks, inner = False, unbracketed(node)
    while is_a(inner, "Not"):
        require_plain(inner, "this")
        lacks, inner = not lacks, unbracketed(inner.this)
    query = part(inner, "this" if is_a(inner, "Exists") else "query")
    if query is None or not is_a(inner, "Exists", "In"):
        return None
    return _Test(node=inner, query=query, lacks=lacks)


def _in(test: _Test, scope: Scope, context: Context) -> Scope:
    require_plain(test.node, "this", "query")
    left = unbracketed(test.node.this)
    nodes = left.expressions if is_a(left, "Tuple") else [left]
    values = [scope.row(value) for value in nodes]
    partners = _partners(test.query, scope, context)
    fields, width = partners.fields(), len(scope.relation.fields())
    if len(fields) != len(values):
        raise RefusedQuery(
            "The two sides of IN have different numbers of columns",
            got=f"{len(values)} and {len(fields)}",
        )
    if test.lacks:
        _require_no_null(values, scope.relation, partners)
    pairs = [
        call("=", (value, FieldValue(field.type, width + i)))
        for i, (value, field) in enumerate(zip(values, fields, strict=True))
    ]
    return _existing(scope, partners, pairs, lacks=test.lacks, where="IN (SELECT ...)")


def _partners(query: Node, scope: Scope, context: Context) -> Relation:
    """Return the relation of the sub-query of an IN; say so if it names the query around it."""
    try:
        return context.query(query, context.deeper())
    except (UnknownColumn, UnknownTable) as error:
        columns = [column for column in query.walk() if is_a(column, "Column")]
        outer = [
            column
            for column in columns
            if f"'{table_of(column) or column.name}'" in error.what and _is_local(column, scope)
        ]
        if not outer:
            raise
        raise RefusedQuery(
            "The sub-query of IN names a column of the query around it",
            must="name columns of its own tables",
            got=written(outer[0]),
            next="Write EXISTS (SELECT 1 FROM ... WHERE ... AND inner.column = outer.column)",
        ) from None


def _require_no_null(values: list[Expression], left: Relation, right: Relation) -> None:
    """Refuse NOT IN where a NULL on either side would make it NULL for everybody at once."""
    if any(_may_be_null(value, left) for value in values) or any(
        field.nullable for field in right.fields()
    ):
        raise RefusedQuery(
            "NOT IN with values that may be NULL depends on everybody's rows",
            must="compare columns that are never NULL",
            next="Write NOT EXISTS (SELECT 1 FROM ... WHERE inner.column = outer.column)",
        )


def _may_be_null(value: Expression, relation: Relation) -> bool:
    if isinstance(value, FieldValue):
        return relation.fields()[value.index].nullable
    return not isinstance(value, Literal) or value.value is None


def _exists(test: _Test, scope: Scope, context: Context) -> Scope:
    require_plain(test.node, "this")
    select = test.query
    while is_a(select, "Subquery"):
        require_plain(select, "this")
        select = select.this
    if not is_a(select, "Select"):
        raise RefusedQuery("EXISTS takes a SELECT")
    read = ("expressions", "from_", "joins", "where", "with_")
    require_plain(select, *read, where="EXISTS", next=_PLAIN_EXISTS)
    if not all(is_a(item, *_BARE) for item in select.expressions):
        raise RefusedQuery("EXISTS takes SELECT 1", next=_PLAIN_EXISTS)
    asked = opened(select, context.deeper())
    local = [node for node in asked.conditions if _test(node) or _is_local(node, asked.scope)]
    inner = filtered(asked.scope, local, asked.context)
    reach = _NestedNames(inner=inner, outer=scope)
    pairs = [reach.condition(node) for node in asked.conditions if node not in local]
    return _existing(scope, inner.relation, pairs, lacks=test.lacks, where="EXISTS")


_BARE = ("Literal", "Star", "Column", "Null", "Boolean")
_PLAIN_EXISTS = (
    "Write EXISTS (SELECT 1 FROM ... WHERE ...), or column IN (SELECT column FROM ... GROUP BY ...)"
)


def _is_local(node: Node, scope: Scope) -> bool:
    try:
        scope.row(node)
    except (UnknownColumn, UnknownTable):
        return False
    return True


@frozen(kw_only=True)
class _NestedNames:
    """The names of a sub-query, and behind them those of the query around it."""

    inner: Scope
    outer: Scope

    def column(self, node: Node) -> Expression:
        try:
            found = self.inner.index(node)
        except (UnknownColumn, UnknownTable):
            return self.outer.column(node)
        width = len(self.outer.relation.fields())
        return FieldValue(self.inner.field(found).type, width + found)

    def condition(self, node: Node) -> Expression:
        return as_condition(resolve_expression(node, self.column, self._field_of))

    def _field_of(self, value: Expression) -> Field | None:
        width = len(self.outer.relation.fields())
        if isinstance(value, FieldValue) and value.index >= width:
            return self.inner.field(value.index - width)
        return self.outer.field_of(value)


def _existing(
    scope: Scope, partners: Relation, pairs: list[Expression], *, lacks: bool, where: str
) -> Scope:
    condition = both(pairs)
    rewrite = "Write EXISTS (SELECT 1 FROM ... WHERE ...) and in it (with names of tables in front)"
    require_same_unit(scope.relation, partners, condition, where=where, rewrite=rewrite)
    relation = Exists(left=scope.relation, right=partners, condition=condition, lacks=lacks)
    return scope.over(require_few_tables(relation))


MOST_SCALARS = 20
"""How many sub-queries one SELECT may have in its expressions."""
_CLAUSES = ("where", "group", "having", "qualify", "order")


def with_scalars(select: Node, context: Context) -> Node:
    """Return the SELECT with the value of each sub-query that stands in an expression.

    Guarantee:
        Only public tables are read for it. So what the query means then, and every refusal, is a
        function of the query and of public data.
    """
    if next(scalar_queries(select), None) is None:
        return select
    changed = select.copy()
    found = list(scalar_queries(changed))
    if len(found) > MOST_SCALARS:
        raise RefusedQuery(
            "There are too many sub-queries in expressions", must=f"be at most {MOST_SCALARS}"
        )
    for node in found:
        node.replace(_constant(_value(node, context)))
    return changed


def scalar_queries(select: Node) -> Iterator[Node]:
    """Return the sub-queries in the expressions of one SELECT, not those inside others."""
    joins = [part(join, "on") for join in listed(select, "joins")]
    clauses = [part(select, name) for name in _CLAUSES]
    found = (*joins, *listed(select, "expressions"), *clauses)
    waiting = [node for node in found if node is not None]
    while waiting:
        node = waiting.pop()
        if is_a(node, "Subquery"):
            is_list = node.arg_key == "query" or is_a(node.parent, "Any", "All", "Exists")
            if not is_list:
                yield node
        elif not is_a(node, "Query"):
            waiting += node.iter_expressions(reverse=True)


def _value(node: Node, context: Context) -> Key | float | None:
    if _reads_private(node, context):
        raise _private()
    try:
        relation = context.query(node, context.deeper())
    except (UnknownColumn, UnknownTable) as error:
        # It may be a name of the query around it, which a value that is read once cannot have.
        also = "A sub-query in an expression sees only its own tables; to compare with a row, JOIN"
        raise type(error)(error.what, must=error.must, next=f"{error.next}. {also}") from None
    if relation.owner() is not None:
        raise _private()
    if len(relation.fields()) != 1:
        raise RefusedQuery("A sub-query in an expression gives several columns", must="give one")
    rows = context.work.rows(relation, context.public_rows)
    if len(rows) > 1:
        raise RefusedQuery(
            "A sub-query in an expression gives several rows",
            must="give one",
            next="Use MAX, MIN or another aggregate in it, or x IN (SELECT ...)",
        )
    return rows[0][0] if rows else None


def _private() -> RefusedQuery:
    return RefusedQuery(
        "The value of a sub-query over a private table depends on everybody's rows",
        must="read public tables only, where it stands in an expression",
        next="Ask for that value first, and write it here as a number; or join with a sub-query"
        " that groups by the unit",
    )


def _reads_private(node: Node, context: Context) -> bool:
    """Tell whether any table that a query names is private, by itself or through WITH."""
    private = {table.name.lower() for table in context.catalog.tables}
    waiting, seen = [(node, context)], set()
    while waiting:
        query, around = waiting.pop()
        for name in (table.name.lower() for table in query.walk() if is_a(table, "Table")):
            named = around.named.get(name)
            if named is None and name in private:
                return True
            if named is not None and id(named) not in seen:
                seen.add(id(named))
                waiting.append((named.query, named.context))
    return False


def _of_type(value: datetime.date | datetime.time) -> str:
    """Return what the parser calls the type of a value; a timestamp is a date too, for Python."""
    if isinstance(value, datetime.datetime):
        return "TIMESTAMPNTZ"
    return "TIME" if isinstance(value, datetime.time) else "DATE"


def _constant(value: Key | float | None) -> Node:
    """Return a node that says the value."""
    exp = optional.load("sqlglot.expressions")
    node: Node
    if value is None:
        node = exp.Null()
    elif isinstance(value, bool):
        node = exp.Boolean(this=value)
    elif isinstance(value, datetime.date | datetime.time):
        text = exp.Literal.string(value.isoformat())
        node = exp.Cast(this=text, to=exp.DataType(this=exp.DataType.Type[_of_type(value)]))
    elif isinstance(value, str):
        node = exp.Literal.string(value)
    else:
        size = exp.Literal.number(repr(abs(value)))
        node = exp.Paren(this=exp.Neg(this=size)) if value < 0 else size
    return node
