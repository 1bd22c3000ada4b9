"""Reading the parser's nodes without overlooking a part of them."""

from collections.abc import Iterator
from typing import Any

from discreet.core import optional
from discreet.core.errors import RefusedQuery


def is_a(node: Any, *names: str) -> bool:
    """Tell whether the node is of one of the parser's classes, by their names."""
    exp = optional.load("sqlglot.expressions")
    return isinstance(node, tuple(getattr(exp, name) for name in names))


_SHOWN = {
    "Select": "SELECT",
    "Join": "JOIN",
    "Table": "a table",
    "Subquery": "a sub-query",
    "Union": "UNION",
    "CTE": "WITH",
    "With": "WITH",
    "Window": "OVER",
    "Group": "GROUP BY",
    "Order": "ORDER BY",
    "Ordered": "ORDER BY",
    "Limit": "LIMIT",
    "Star": "*",
}
_CLAUSES = {
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "laterals": "LATERAL",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "locks": "FOR UPDATE",
    "into": "INTO",
    "with_": "WITH",
    "recursive": "RECURSIVE",
    "distinct": "DISTINCT",
    "having": "HAVING",
    "group": "GROUP BY",
    "where": "WHERE",
    "joins": "JOIN",
    "db": "a schema name in front",
    "replace": "REPLACE",
    "rename": "RENAME",
    "by_name": "BY NAME",
    "limit_options": "percent or WITH TIES",
}


def require_plain(node: Any, *allowed: str, where: str = "", next: str = "") -> None:
    """Refuse a node with any part that the caller does not read."""
    for name, value in node.args.items():
        if value and name not in allowed:
            place = where or _SHOWN.get(type(node).__name__, type(node).__name__)
            part = _CLAUSES.get(name, name.strip("_").upper())
            raise RefusedQuery(f"{part} is not supported in {place}", next=next)


def unwrapped(node: Any) -> Any:
    """Return what stands inside brackets."""
    while is_a(node, "Paren"):
        require_plain(node, "this")
        node = node.this
    return node


def conjuncts(node: Any) -> list[Any]:
    """Return the parts of a condition that are joined by AND, in order."""
    found: list[Any] = []
    waiting = [node]
    while waiting:
        part = unwrapped(waiting.pop())
        if is_a(part, "And"):
            require_plain(part, "this", "expression")
            waiting += [part.expression, part.this]
        else:
            found.append(part)
    return found


def has_part(node: Any, *names: str) -> bool:
    """Tell whether a node of one of these classes stands in the node, sub-queries left out."""
    return any(is_a(part, *names) for part in parts(node))


def parts(node: Any) -> Iterator[Any]:
    """Return the node and all that stands in it, without looking into sub-queries."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if not is_a(part, "Query"):
            waiting += list(part.iter_expressions(reverse=True))


def alias_of(item: Any) -> str:
    """Return the name that AS gives to an item of a SELECT, or nothing."""
    if not is_a(item, "Alias"):
        return ""
    require_plain(item, "this", "alias")
    return str(item.args["alias"].name)


def item_value(item: Any) -> Any:
    """Return an item of a SELECT without its alias."""
    return item.this if is_a(item, "Alias") else item


def item_name(item: Any) -> str:
    """Return what an item of a SELECT is called: its alias, its column, or its text."""
    value = unwrapped(item_value(item))
    if alias_of(item):
        return alias_of(item)
    return str(value.name) if is_a(value, "Column") else str(value.sql("duckdb")).lower()
