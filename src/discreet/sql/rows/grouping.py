"""GROUP BY of the outermost SELECT: the grouped expressions and the grouping sets."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.sql.rows.group_items import all_keys, group_node, plain_group
from discreet.sql.rows.nodes import is_a, item_name, require_plain, unwrapped
from discreet.sql.rows.scope import Scope
from discreet.tables.expression import Expression

MOST_SETS = 64
MOST_KEYS = 100
"""How many grouped expressions a question may have."""


@frozen(kw_only=True)
class Grouping:
    """The grouped expressions, what each is called, and which of them each grouping set has."""

    keys: tuple[Expression, ...]
    names: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]


NO_GROUPING = Grouping(keys=(), names=(), sets=((),))

NodeSet = tuple[Any, ...]
"""The nodes of one grouping set."""


def resolve_grouping(select: Any, items: Sequence[tuple[str, Any]], scope: Scope) -> Grouping:
    """Return what the outermost SELECT groups by."""
    group = select.args.get("group")
    if group is None:
        return NO_GROUPING
    if plain_group(group):
        node_sets: list[NodeSet] = [tuple(all_keys(items))]
    else:
        require_plain(group, "expressions")
        node_sets = _crossed([_sets(node) for node in group.expressions])
    _require_no_repetition(group, node_sets, items, scope)
    return _resolved(node_sets, items, scope)


def _sets(node: Any) -> list[NodeSet]:
    """Return the grouping sets that one item of a GROUP BY means."""
    rule = _RULES.get(type(node).__name__)
    return [_elements(node)] if rule is None else rule(node)


def _elements(node: Any) -> NodeSet:
    """Return the nodes of one element: several in brackets count as one."""
    inner = unwrapped(node)
    if is_a(inner, "Tuple"):
        require_plain(inner, "expressions")
        return tuple(inner.expressions)
    return (inner,)


def _rollup(node: Any) -> list[NodeSet]:
    require_plain(node, "expressions")
    parts = [_elements(part) for part in node.expressions]
    return [_flat(parts[:size]) for size in range(len(parts), -1, -1)]


def _cube(node: Any) -> list[NodeSet]:
    require_plain(node, "expressions")
    parts = [_elements(part) for part in node.expressions]
    if 2 ** len(parts) > MOST_SETS:
        raise _too_many()
    sizes = range(len(parts), -1, -1)
    return [_flat(chosen) for size in sizes for chosen in combinations(parts, size)]


def _grouping_sets(node: Any) -> list[NodeSet]:
    require_plain(node, "expressions")
    return [found for part in node.expressions for found in _sets(part)]


_RULES = {"Rollup": _rollup, "Cube": _cube, "GroupingSets": _grouping_sets}


def _flat(parts: Iterable[NodeSet]) -> NodeSet:
    return tuple(node for part in parts for node in part)


def _crossed(choices: list[list[NodeSet]]) -> list[NodeSet]:
    size = 1
    for choice in choices:
        size *= len(choice)
        if size > MOST_SETS:
            raise _too_many()
    return [_flat(parts) for parts in product(*choices)]


def _too_many() -> RefusedQuery:
    return RefusedQuery(
        "There are too many grouping sets", must=f"be at most {MOST_SETS}", next="Ask for fewer"
    )


def _require_no_repetition(
    group: Any, node_sets: list[NodeSet], items: Sequence[tuple[str, Any]], scope: Scope
) -> None:
    if len(node_sets) > 1:
        return
    found = [scope.row(group_node(node, items, scope)) for node in node_sets[0]]
    if len(set(found)) < len(found):
        raise RefusedQuery("GROUP BY names a column twice", next="Name it once")


def _resolved(node_sets: list[NodeSet], items: Sequence[tuple[str, Any]], scope: Scope) -> Grouping:
    names: dict[Expression, str] = {}
    sets: list[tuple[int, ...]] = []
    for nodes in node_sets:
        chosen = set()
        for node in nodes:
            meant = group_node(node, items, scope)
            key = scope.row(meant)
            names.setdefault(key, _name(key, meant, items, scope))
            _require_few(names)
            chosen.add(list(names).index(key))
        sets.append(tuple(sorted(chosen)))
    if len(set(sets)) < len(sets):
        raise RefusedQuery("The same grouping set appears twice", next="Name each once")
    return Grouping(keys=tuple(names), names=tuple(names.values()), sets=tuple(sets))


def _require_few(names: Mapping[Expression, str]) -> None:
    if len(names) > MOST_KEYS:
        raise RefusedQuery(
            "The query groups by too many columns",
            must=f"group by at most {MOST_KEYS}",
            next="Group by fewer",
        )


def _name(key: Expression, node: Any, items: Sequence[tuple[str, Any]], scope: Scope) -> str:
    """Return what a key is called: as the SELECT calls it, if it has it."""
    return next((name for name, value in items if value == node), item_name(node))
