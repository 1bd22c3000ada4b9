"""The items of a SELECT: stars written out, aliases, and what each is called."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.aggregates.functions import is_aggregate
from discreet.sql.expressions.expression import MOST_NODES
from discreet.sql.expressions.refusals import require_unique, two_outputs
from discreet.sql.rows.scope import Scope
from discreet.sql.syntax.nodes import (
    Node,
    is_a,
    listed,
    mark_of,
    marked,
    part,
    require_plain,
    table_of,
    text_of,
    unbracketed,
    within,
)
from discreet.sql.syntax.spelling import one_name

Item = tuple[str, Node]
"""An item of a SELECT: its name, and its node without the alias."""


def is_star(item: Node) -> bool:
    """Tell whether an item is * or table.*."""
    return is_a(item, "Star") or (is_a(item, "Column") and is_a(item.this, "Star"))


def item_value(item: Node) -> Node:
    """Return an item without its alias."""
    return item.this if is_a(item, "Alias") else item


def item_name(item: Node) -> str:
    """Return what an item is called: its alias, its column, or its text."""
    value = unbracketed(item_value(item))
    return _alias(item) or (value.name if is_a(value, "Column") else _as_written(value))


def _alias(item: Node) -> str:
    """Return the name that AS gives to an item, or nothing."""
    if not is_a(item, "Alias"):
        return ""
    require_plain(item, "this", "alias")
    name = part(item, "alias")
    return "" if name is None else name.name


def with_aliases(node: Node, items: Sequence[Item], scope: Scope) -> Node:
    """Return a node in which the aliases of a SELECT are written out; columns come first.

    A sub-query has names of its own, so nothing is changed inside of one.
    """
    values = {name.lower(): value for name, value in reversed(items)}
    return _written_out(node, values, scope)


def lateral(items: Sequence[Item], scope: Scope) -> list[Item]:
    """Return the items of a SELECT, in each of which the aliases before it are written out.

    Example: ``age * 2 AS twice, twice + 1 AS more`` is ``age * 2 AS twice, age * 2 + 1 AS more``.
    """
    known: dict[str, Node] = {}
    found = []
    for name, node in items:
        value = _written_out(node, known, scope)
        known.setdefault(name.lower(), value)
        found.append((name, value))
    return found


def _written_out(node: Node, values: Mapping[str, Node], scope: Scope) -> Node:
    def meant(inner: Node) -> Node | None:
        if not is_a(inner, "Column") or table_of(inner) or mark_of(inner) is not None:
            return None
        name = inner.name.lower()
        return None if name in scope.columns else values.get(name)

    used = [value for inner in within(node) if (value := meant(inner)) is not None]
    if not used:
        return node
    _require_small([node, *used])
    whole = meant(node)
    if whole is not None:
        return whole.copy()
    changed = node.copy()
    for inner in list(within(changed)):
        value = meant(inner)
        if value is not None:
            inner.replace(value.copy())
    return changed


def _require_small(nodes: Sequence[Node]) -> None:
    """Refuse aliases of aliases that would make a short text a huge expression."""
    if sum(1 for node in nodes for _ in node.walk()) > MOST_NODES:
        raise RefusedQuery(
            "An expression is too large with its aliases written out",
            must=f"have at most {MOST_NODES:,} parts",
            next="Compute parts of it in a sub-query",
        )


def expanded(items: Sequence[Node], scope: Scope) -> list[Item]:
    """Return the items of a SELECT as names and nodes, each star as the columns that it means."""
    found: list[Item] = []
    for item in items:
        if not is_star(item):
            found.append((item_name(item), item_value(item)))
        elif is_a(item, "Star"):
            found += _columns(scope, item, "")
        else:
            require_plain(item, "this", "table")
            found += _columns(scope, item.this, table_of(item))
    return found


def _columns(scope: Scope, star: Node, table: str) -> list[Item]:
    require_plain(star, "except_", next="Write the columns out")
    if table and table.lower() not in [name.lower() for name in scope.tables]:
        raise UnknownTable(
            f"No table '{table}' in FROM", next=f"In reach: {', '.join(scope.tables)}"
        )
    names = [
        name
        for name in scope.names
        if (name.table.lower() == table.lower() if table else not name.is_merged)
    ]
    left_out = {column.name.lower() for column in listed(star, "except_")}
    unknown = left_out - {name.column.lower() for name in names}
    if unknown:
        raise UnknownColumn(
            f"EXCLUDE names no column here: {', '.join(sorted(unknown))}",
            next=f"Columns: {', '.join(name.column for name in names)}",
        )
    return [
        (name.column, marked(name.index)) for name in names if name.column.lower() not in left_out
    ]


def output_names(items: Sequence[Node]) -> list[str]:
    """Return a name for each item of a SELECT: all different, case ignored.

    COUNT(*) is called count, SUM(age) sum_age, and anything longer as it is written.
    """
    names = _apart([(_alias(item), unbracketed(item)) for item in items])
    require_unique(names, two_outputs)
    return names


def _apart(items: Sequence[Item]) -> list[str]:
    """Return the names; where two without an alias would be alike, they are called as written.

    So COUNT(a.x) and COUNT(b.x) are both shown. If these are alike as well, as where texts differ
    in case alone, they are numbered. The same item twice stays the same name.
    """
    names = [alias or _own_name(node) for alias, node in items]
    found: list[str] = []
    nodes: list[Node] = []
    for name, (alias, node) in zip(names, items, strict=True):
        taken = {other.lower() for other in found}
        is_renamed = name.lower() in taken and node not in nodes and not alias
        others = (one for one in _numbered(_text(node)) if one.lower() not in taken)
        found.append(next(others) if is_renamed else name)
        nodes.append(node)
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in count(2))


def _own_name(node: Node) -> str:
    if is_a(node, "Column"):
        return node.name
    if is_a(node, "Count") and is_a(node.this, "Star"):
        return "count"
    if is_aggregate(node):
        inner = list(node.iter_expressions())
        if len(inner) == 1 and is_a(inner[0], "Column"):
            return f"{one_name(node)}_{inner[0].name}"
    return _text(node)


LONGEST_NAME = 60


def _text(node: Node) -> str:
    return _as_written(node)[:LONGEST_NAME]


_PARTS = re.compile(r"""('[^']*')|"[^"]*"|[^'"]+""")
"""Of a text in SQL: what stands in quotes, and what does not."""


def _as_written(node: Node) -> str:
    """Return a node as text in small letters; constants keep theirs."""
    return _PARTS.sub(lambda found: found[1] or found[0].lower(), text_of(node))
