"""Nested queries: a SELECT or a UNION inside another query, as a relation."""

from collections.abc import Sequence

from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import BARE_UNIT
from discreet.sql.expressions.refusals import require_unique, two_columns
from discreet.sql.rows.fields import field_values, projected, require_whole_unit
from discreet.sql.rows.grouping import grouped, has_total
from discreet.sql.rows.items import (
    Item,
    expanded,
    is_star,
    item_name,
    item_value,
    lateral,
    with_aliases,
)
from discreet.sql.rows.scope import Context, Scope, Stage, require_few_tables
from discreet.sql.rows.sources import with_clause
from discreet.sql.rows.totals import windowed
from discreet.sql.rows.where import filtered, opened
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    conjuncts,
    function_name,
    is_a,
    is_set,
    listed,
    marked,
    part,
    replaced,
    require_plain,
)
from discreet.tables.column import ColumnType
from discreet.tables.functions.cast import cast
from discreet.tables.functions.conditions import as_condition
from discreet.tables.relations.relation import Distinct, Filter, Relation, UnionAll


def resolve_query(node: Node, context: Context) -> Relation:
    """Return the relation of a nested query."""
    while is_a(node, "Subquery"):
        require_plain(node, "this", next=_NO_ORDER)
        node = node.this
    if is_a(node, "Union"):
        return _union(node, context)
    if is_a(node, "Select"):
        return _select(node, context)
    raise RefusedQuery(
        f"{function_name(node)} is not supported in a sub-query",
        must="be SELECT or UNION ALL",
        next="INTERSECT and EXCEPT can be written with EXISTS and NOT EXISTS",
    )


_NO_ORDER = (
    f"Rows of a sub-query have no order. To keep a few of each {BARE_UNIT}, number them: "
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


def _union(node: Node, context: Context) -> Relation:
    steps = []
    while is_a(node, "Union"):
        if is_set(node, "by_name"):
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
        if is_set(step, "distinct"):
            relation = _distinct(relation, where="UNION (without ALL)")
    return relation


def _widened(relation: Relation, other: Relation) -> Relation:
    """Return one side of a UNION with integers as reals, where the other side has reals."""
    values = field_values(relation)
    pairs = zip(
        values, other.fields(), strict=False
    )  # different numbers of columns are refused later
    wide = {
        value
        for value, field in pairs
        if (value.type, field.type) == (ColumnType.INTEGER, ColumnType.REAL)
    }
    if not wide:
        return relation
    cells = [cast(value, ColumnType.REAL) if value in wide else value for value in values]
    return projected(relation, cells, [field.name for field in relation.fields()])


def _distinct(relation: Relation, *, where: str) -> Relation:
    require_whole_unit(relation, field_values(relation), where=where)
    return Distinct(source=relation)


def _select(select: Node, context: Context) -> Relation:
    """Return the relation of a nested SELECT.

    It begins as the outermost SELECT does, in ``opened``. From GROUP BY on they have nothing in
    common: here the rows of one person are put together exactly, and are rows again; there the
    rows of all people are, which only noise may show.
    """
    require_plain(select, *_SELECT_PARTS, where="a sub-query", next=_NO_ORDER)
    asked = opened(select, context)
    select, scope = asked.select, asked.scope
    named = _named(select, scope)
    conditions = [with_aliases(node, named, scope) for node in asked.conditions]
    scope = filtered(scope, conditions, asked.context)
    stage, items, qualify = _grouped(select, scope, named)
    stage, items, qualify = _windowed(select, stage, items, qualify)
    relation = _filtered(stage, qualify)
    names = [name for name, _ in items]
    require_unique(names, two_columns)
    relation = projected(relation, [stage.row(node) for _, node in items], names)
    distinct = part(select, "distinct")
    if distinct is None:
        return relation
    require_plain(distinct, next=f"Number the rows of each {BARE_UNIT} with ROW_NUMBER() instead")
    return _distinct(relation, where="SELECT DISTINCT in a sub-query")


def _named(select: Node, scope: Scope) -> list[Item]:
    """Return the items of the SELECT without its stars, with aliases written out."""
    items = [item for item in select.expressions if not is_star(item)]
    return lateral([(item_name(item), item_value(item)) for item in items], scope)


def _grouped(select: Node, scope: Scope, named: list[Item]) -> tuple[Stage, list[Item], list[Node]]:
    """Return the stage after GROUP BY and HAVING, the items of SELECT and those of QUALIFY."""
    having, qualify = (
        [with_aliases(node, named, scope) for node in conjuncts(condition_of(select, clause))]
        for clause in ("having", "qualify")
    )
    is_grouped = part(select, "group") is not None or having
    if not is_grouped and not any(has_total(node) for _, node in named):
        return scope, lateral(expanded(select.expressions, scope), scope), qualify
    if len(named) < len(select.expressions):
        raise RefusedQuery("* is not supported beside GROUP BY", next="Name the columns")
    groups, items, others = grouped(select, scope, named, [*having, *qualify])
    relation = _filtered(groups, others[: len(having)])
    return groups.over(relation), items, others[len(having) :]


def _filtered(stage: Stage, nodes: Sequence[Node]) -> Relation:
    """Return the rows of a stage for which the conditions of HAVING or QUALIFY are true."""
    relation = stage.relation
    for node in nodes:
        relation = Filter(source=relation, condition=as_condition(stage.row(node)))
    return relation


def _windowed(
    select: Node, stage: Stage, items: Sequence[Item], qualify: Sequence[Node]
) -> tuple[Stage, list[Item], list[Node]]:
    """Return the stage with a field for each window, and the nodes with their windows replaced."""
    definitions = listed(select, "windows")
    current = stage

    def change(node: Node) -> Node:
        nonlocal current
        if not is_a(node, "Window"):
            return node
        relation = windowed(current, node, definitions)
        current = current.over(relation)
        return marked(len(relation.fields()) - 1)

    new_items = [(name, replaced(node, change)) for name, node in items]
    new_qualify = [replaced(node, change) for node in qualify]
    return current, new_items, new_qualify
