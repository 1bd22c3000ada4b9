"""WHERE: conditions on one row, and the semi- and anti-joins that IN and EXISTS are."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.rows.conditions import both
from discreet.sql.rows.context import Context, require_few_tables
from discreet.sql.rows.nodes import conjuncts, is_a, require_plain, unwrapped
from discreet.sql.rows.scalars import with_scalars
from discreet.sql.rows.scope import Scope, as_condition
from discreet.sql.rows.sources import from_clause, with_clause
from discreet.sql.rows.unit_key import require_same_unit
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.filter import Filter
from discreet.tables.relations.relation import Relation


def where_parts(select: Any) -> list[Any]:
    """Return the parts of the WHERE clause that are joined by AND."""
    clause = select.args.get("where")
    if clause is None:
        return []
    require_plain(clause, "this")
    return conjuncts(clause.this)


def filtered(scope: Scope, nodes: Sequence[Any], context: Context) -> Scope:
    """Return the scope over the rows for which all the conditions are true."""
    tests = [_test(node) for node in nodes]
    plain = [scope.condition(node) for node, test in zip(nodes, tests, strict=True) if not test]
    scope = kept(scope, plain)
    for test in tests:
        if test is not None:
            scope = test.applied(scope, context)
    return scope


def kept(scope: Scope, conditions: Sequence[Expression]) -> Scope:
    """Return the scope over the rows for which typed conditions are true."""
    condition = both(conditions)
    if condition is None:
        return scope
    return scope.over(Filter(source=scope.relation, condition=condition))


@frozen(kw_only=True)
class _Test:
    """A condition that asks a sub-query: IN or EXISTS, and whether NOT stands in front."""

    node: Any
    lacks: bool

    def applied(self, scope: Scope, context: Context) -> Scope:
        apply = _in if is_a(self.node, "In") else _exists
        return apply(self.node, scope, context, self.lacks)


def _test(node: Any) -> _Test | None:
    lacks, inner = False, unwrapped(node)
    while is_a(inner, "Not"):
        require_plain(inner, "this")
        lacks, inner = not lacks, unwrapped(inner.this)
    if is_a(inner, "Exists") or (is_a(inner, "In") and inner.args.get("query")):
        return _Test(node=inner, lacks=lacks)
    return None


def _in(node: Any, scope: Scope, context: Context, lacks: bool) -> Scope:
    require_plain(node, "this", "query")
    left = unwrapped(node.this)
    nodes = left.expressions if is_a(left, "Tuple") else [left]
    values = [scope.row(value) for value in nodes]
    partners = _listed(node.args["query"], scope, context)
    fields, width = partners.fields(), len(scope.relation.fields())
    if len(fields) != len(values):
        raise RefusedQuery(
            "The two sides of IN have different numbers of columns",
            got=f"{len(values)} and {len(fields)}",
        )
    if lacks:
        _require_no_null(values, scope.relation, partners)
    pairs = [
        call("=", (value, FieldValue(field.type, width + i)))
        for i, (value, field) in enumerate(zip(values, fields, strict=True))
    ]
    return _existing(scope, partners, pairs, lacks=lacks, where="IN (SELECT ...)")


def _listed(query: Any, scope: Scope, context: Context) -> Relation:
    """Return the relation of the sub-query of an IN; say so if it names the query around it."""
    try:
        return context.query(query, context.deeper())
    except (UnknownColumn, UnknownTable) as error:
        outer = [
            column
            for column in query.find_all(optional.load("sqlglot.expressions").Column)
            if f"'{column.table or column.name}'" in error.what and _is_local(column, scope)
        ]
        if not outer:
            raise
        raise RefusedQuery(
            "The sub-query of IN names a column of the query around it",
            must="name columns of its own tables",
            got=str(outer[0].sql("duckdb"))[:_LONGEST_SHOWN],
            next="Write EXISTS (SELECT 1 FROM ... WHERE ... AND inner.column = outer.column)",
        ) from None


_LONGEST_SHOWN = 60


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


def _exists(node: Any, scope: Scope, context: Context, lacks: bool) -> Scope:
    require_plain(node, "this")
    select = node.this
    while is_a(select, "Subquery"):
        require_plain(select, "this")
        select = select.this
    if not is_a(select, "Select"):
        raise RefusedQuery("EXISTS takes a SELECT")
    parts = ("expressions", "from_", "joins", "where", "with_")
    require_plain(select, *parts, where="EXISTS", next=_PLAIN_EXISTS)
    if not all(is_a(item, *_BARE) for item in select.expressions):
        raise RefusedQuery("EXISTS takes SELECT 1", next=_PLAIN_EXISTS)
    inner_context = with_clause(select, context.deeper())
    select = with_scalars(select, inner_context)
    nodes = where_parts(select)
    inner = from_clause(select, inner_context, nodes)
    local = [part for part in nodes if _test(part) or _is_local(part, inner)]
    inner = filtered(inner, local, inner_context)
    reach = _Reach(inner=inner, outer=scope)
    pairs = [reach.condition(part) for part in nodes if part not in local]
    return _existing(scope, inner.relation, pairs, lacks=lacks, where="EXISTS")


_BARE = ("Literal", "Star", "Column", "Null", "Boolean")
_PLAIN_EXISTS = (
    "Write EXISTS (SELECT 1 FROM ... WHERE ...), or column IN (SELECT column FROM ... GROUP BY ...)"
)


def _is_local(node: Any, scope: Scope) -> bool:
    try:
        scope.row(node)
    except (UnknownColumn, UnknownTable):
        return False
    return True


@frozen(kw_only=True)
class _Reach:
    """The names of a sub-query, and behind them those of the query around it."""

    inner: Scope
    outer: Scope

    def column(self, node: Any) -> Expression:
        try:
            found = self.inner.index(node)
        except (UnknownColumn, UnknownTable):
            return self.outer.column(node)
        width = len(self.outer.relation.fields())
        return FieldValue(self.inner.field(found).type, width + found)

    def condition(self, node: Any) -> Expression:
        return as_condition(resolve_expression(node, self.column))


def _existing(
    scope: Scope, partners: Relation, pairs: list[Expression], *, lacks: bool, where: str
) -> Scope:
    condition = both(pairs)
    rewrite = "Write EXISTS (SELECT 1 FROM ... WHERE ...) with"
    require_same_unit(scope.relation, partners, condition, where=where, rewrite=rewrite)
    relation = Exists(left=scope.relation, right=partners, condition=condition, lacks=lacks)
    return scope.over(require_few_tables(relation))
