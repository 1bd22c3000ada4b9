"""GROUP BY in a sub-query: totals of each person, before anything is limited."""

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.rows.group_items import all_keys, group_node, plain_group
from discreet.sql.rows.nodes import is_a, parts, require_plain
from discreet.sql.rows.projecting import extended
from discreet.sql.rows.scope import Scope
from discreet.sql.rows.stage import Groups, marked, replaced
from discreet.sql.rows.totals import inner_total, total_field
from discreet.sql.rows.unit_key import key_text, require_whole_unit
from discreet.tables.relations.inner_aggregate import InnerAggregate, InnerTotal

Item = tuple[str, Any]


def is_aggregate(node: Any) -> bool:
    """Tell whether a node is an aggregate, and not the function of a window."""
    if is_a(node, "Filter"):
        node, outside = node.this, node.parent
    else:
        outside = node.parent
        if is_a(outside, "Filter", "IgnoreNulls", "RespectNulls"):
            return False
    return is_a(node, "AggFunc") and not is_a(outside, "Window")


def has_aggregate(node: Any) -> bool:
    """Tell whether an aggregate stands in the node."""
    return any(is_aggregate(part) for part in parts(node))


def grouped(
    select: Any, scope: Scope, items: Sequence[Item], others: Sequence[Any]
) -> tuple[Groups, list[Item], list[Any]]:
    """Return the groups, and the items and other nodes with their aggregates replaced."""
    nodes = _group_nodes(select, items, scope)
    keys = tuple(dict.fromkeys(scope.row(node) for node in nodes))
    _require_unit(scope, keys)
    names = [f"key_{i}" for i, _ in enumerate(keys)]
    relation, places = extended(scope.relation, keys, names)
    totals: list[InnerTotal] = []

    def change(node: Any) -> Any:
        if not is_aggregate(node):
            return node
        total = inner_total(node, scope.row, relation)
        if total not in totals:
            totals.append(total)
        return marked(len(keys) + totals.index(total))

    new_items = [(name, replaced(node, change)) for name, node in items]
    new_others = [replaced(node, change) for node in others]
    fields = relation.fields()
    shape = (
        *(fields[place] for place in places),
        *(total_field(total, relation, name=f"total_{i}") for i, total in enumerate(totals)),
    )
    aggregate = InnerAggregate(source=relation, keys=places, totals=tuple(totals), shape=shape)
    return Groups(relation=aggregate, scope=scope, keys=keys), new_items, new_others


def _group_nodes(select: Any, items: Sequence[Item], scope: Scope) -> list[Any]:
    group = select.args.get("group")
    if group is None:
        return []
    if plain_group(group):
        return all_keys(items)
    require_plain(group, "expressions")
    for node in group.expressions:
        if is_a(node, "Rollup", "Cube", "GroupingSets", "Tuple"):
            raise RefusedQuery(
                "Grouping sets are not supported in a sub-query",
                next="Put ROLLUP, CUBE and GROUPING SETS into the outermost SELECT",
            )
    return [group_node(node, items, scope) for node in group.expressions]


def _require_unit(scope: Scope, keys: Sequence[Any]) -> None:
    """Refuse totals over several people: they are answers, and answers are noisy."""
    owner = scope.relation.owner()
    if owner is not None and owner.unit.column is not None and not keys:
        raise RefusedQuery(
            "An aggregate in a sub-query would add up rows of different people",
            must=f"be for each unit: GROUP BY {key_text(owner)}",
            next=(
                "Aggregate over people in the outermost SELECT, where noise is added; "
                "arithmetic between answers is allowed there too"
            ),
        )
    require_whole_unit(
        scope.relation,
        keys,
        where="GROUP BY in a sub-query",
        otherwise="; or aggregate in the outermost SELECT alone, where noise is added",
    )
