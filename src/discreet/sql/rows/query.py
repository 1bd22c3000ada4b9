"""Nested queries: a SELECT or a UNION inside another query, as a relation."""

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.rows.aliases import lateral, with_aliases
from discreet.sql.rows.context import Context, require_few_tables
from discreet.sql.rows.inner_groups import Item, grouped, has_aggregate
from discreet.sql.rows.nodes import (
    conjuncts,
    is_a,
    item_name,
    item_value,
    require_plain,
)
from discreet.sql.rows.projecting import projected
from discreet.sql.rows.scalars import with_scalars
from discreet.sql.rows.scope import Scope, as_condition
from discreet.sql.rows.sources import from_clause, require_unique, with_clause
from discreet.sql.rows.stage import Stage, marked, replaced
from discreet.sql.rows.stars import expanded
from discreet.sql.rows.unit_key import require_whole_unit
from discreet.sql.rows.where import filtered, where_parts
from discreet.sql.rows.windows import windowed
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.functions.cast import cast
from discreet.tables.relations.distinct import Distinct
from discreet.tables.relations.filter import Filter
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.union_all import UnionAll


def resolve_query(node: Any, context: Context) -> Relation:
    """Return the relation of a nested query."""
    while is_a(node, "Subquery"):
        require_plain(node, "this", next=_NO_ORDER)
        node = node.this
    if is_a(node, "Union"):
        return _union(node, context)
    if is_a(node, "Select"):
        return _select(node, context)
    raise RefusedQuery(
        f"{type(node).__name__.upper()} is not supported in a sub-query",
        must="be SELECT or UNION ALL",
        next="INTERSECT and EXCEPT can be written with EXISTS and NOT EXISTS",
    )


_NO_ORDER = (
    "Rows of a sub-query have no order. To keep a few of each person, number them: "
    "SELECT *, ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ...) AS place, and filter on place"
)
_SELECT_PARTS = (
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "qualify",
    "windows",
    "distinct",
    "with_",
)


def _union(node: Any, context: Context) -> Relation:
    steps = []
    while is_a(node, "Union"):
        if node.args.get("by_name"):
            raise RefusedQuery(
                "UNION BY NAME is not supported",
                next="List the columns of both sides in the same order, and write UNION ALL",
            )
        require_plain(node, "this", "expression", "distinct", "with_", next=_NO_ORDER)
        steps.append(node)
        node = node.this
    for step in steps:
        context = with_clause(step, context)
    relation = resolve_query(node, context.deeper())
    for step in reversed(steps):
        second = resolve_query(step.expression, context.deeper())
        first, second = _widened(relation, second), _widened(second, relation)
        relation = require_few_tables(UnionAll(first=first, second=second))
        if step.args.get("distinct"):
            relation = _distinct(relation, where="UNION (without ALL)")
    return relation


def _widened(relation: Relation, other: Relation) -> Relation:
    """Return one side of a UNION with integers as reals, where the other side has reals."""
    fields, others = relation.fields(), other.fields()
    values = [FieldValue(field.type, i) for i, field in enumerate(fields)]
    pairs = zip(values, others, strict=False)  # different numbers of columns are refused later
    wide = {
        value
        for value, field in pairs
        if (value.type, field.type) == (ColumnType.INTEGER, ColumnType.REAL)
    }
    if not wide:
        return relation
    cells = [cast(value, ColumnType.REAL) if value in wide else value for value in values]
    return projected(relation, cells, [field.name for field in fields])


def _distinct(relation: Relation, *, where: str) -> Relation:
    fields = [FieldValue(field.type, i) for i, field in enumerate(relation.fields())]
    require_whole_unit(relation, fields, where=where)
    return Distinct(source=relation)


def _select(select: Any, context: Context) -> Relation:
    require_plain(select, *_SELECT_PARTS, where="a sub-query", next=_NO_ORDER)
    context = with_clause(select, context)
    select = with_scalars(select, context)
    nodes = where_parts(select)
    scope = from_clause(select, context, nodes)
    named = _named(select, scope)
    scope = filtered(scope, [with_aliases(node, named, scope) for node in nodes], context)
    stage, items, qualify = _grouped(select, scope, named)
    stage, items, qualify = _windowed(select, stage, items, qualify)
    relation = _kept(stage, qualify)
    names = [name for name, _ in items]
    require_unique(names)
    relation = projected(relation, [stage.row(node) for _, node in items], names)
    distinct = select.args.get("distinct")
    if distinct is None:
        return relation
    require_plain(distinct, next="Number the rows of each person with ROW_NUMBER() instead")
    return _distinct(relation, where="SELECT DISTINCT in a sub-query")


def _named(select: Any, scope: Scope) -> list[Item]:
    """Return the items of the SELECT without its stars, with aliases written out."""
    items = [item for item in select.expressions if not _is_star(item)]
    return lateral([(item_name(item), item_value(item)) for item in items], scope)


def _grouped(select: Any, scope: Scope, named: list[Item]) -> tuple[Stage, list[Item], list[Any]]:
    """Return the stage after GROUP BY and HAVING, the items of SELECT and those of QUALIFY."""
    clauses = {
        name: [with_aliases(part, named, scope) for part in _parts(select, name)]
        for name in ("having", "qualify")
    }
    having, qualify = clauses["having"], clauses["qualify"]
    is_grouped = select.args.get("group") is not None or having
    if not is_grouped and not any(has_aggregate(node) for _, node in named):
        return scope, lateral(expanded(select.expressions, scope), scope), qualify
    if len(named) < len(select.expressions):
        raise RefusedQuery("* is not supported beside GROUP BY", next="Name the columns")
    groups, items, others = grouped(select, scope, named, [*having, *qualify])
    conditions = [as_condition(groups.row(node)) for node in others[: len(having)]]
    relation: Relation = groups.relation
    for condition in conditions:
        relation = Filter(source=relation, condition=condition)
    return groups.over(relation), items, others[len(having) :]


def _is_star(item: Any) -> bool:
    return is_a(item, "Star") or (is_a(item, "Column") and is_a(item.this, "Star"))


def _parts(select: Any, clause: str) -> list[Any]:
    node = select.args.get(clause)
    if node is None:
        return []
    require_plain(node, "this")
    return conjuncts(node.this)


def _windowed(
    select: Any, stage: Stage, items: Sequence[Item], qualify: Sequence[Any]
) -> tuple[Stage, list[Item], list[Any]]:
    """Return the stage with a field for each window, and the nodes with their windows replaced."""
    definitions = select.args.get("windows") or []
    current = stage

    def change(node: Any) -> Any:
        nonlocal current
        if not is_a(node, "Window"):
            return node
        relation = windowed(current, node, definitions)
        current = current.over(relation)
        return marked(len(relation.fields()) - 1)

    new_items = [(name, replaced(node, change)) for name, node in items]
    new_qualify = [replaced(node, change) for node in qualify]
    return current, new_items, new_qualify


def _kept(stage: Stage, qualify: Sequence[Any]) -> Relation:
    relation = stage.relation
    for node in qualify:
        relation = Filter(source=relation, condition=as_condition(stage.row(node)))
    return relation
