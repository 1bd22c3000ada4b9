"""Small questions about nodes of the parser's tree."""

import datetime
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from discreet.core import optional
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.releases.estimates.estimate import Constant
from discreet.tables.column import ColumnType

DEEPEST = 100
"""How deeply one output may be nested."""


def unbracketed(node: Any) -> Any:
    """Return what stands inside brackets."""
    while node.key == "paren":
        node = node.this
    return node


def shown(node: Any) -> str:
    """Return what a function is called in a message."""
    name = node.name if node.key == "anonymous" else node.sql_name() if _is_function(node) else ""
    return str(name).upper() or node.key.upper()


def _is_function(node: Any) -> bool:
    return isinstance(node, optional.load("sqlglot.expressions").Func)


def require_plain(node: Any, *allowed: str) -> None:
    """Refuse a node that says more than we read."""
    for name, value in node.args.items():
        if value and name not in allowed:
            raise RefusedQuery(
                f"{shown(node)} is written with something that is not supported here",
                got=name.strip("_").replace("_", " ").upper(),
                next=f"Write {shown(node)} without it",
            )


def require_shallow(node: Any) -> None:
    """Refuse a very deep tree, which only a machine would write."""
    level = [node]
    for _ in range(DEEPEST):
        level = [child for item in level for child in children(item)]
        if not level:
            return
    raise RefusedQuery("An output is nested too deeply", must=f"be at most {DEEPEST} levels deep")


def children(node: Any) -> Iterator[Any]:
    """Return the nodes directly inside a node."""
    yield from node.iter_expressions()


def has_aggregate(node: Any) -> bool:
    """Tell whether an aggregate function stands in a node."""
    return any(is_aggregate(part) for part in node.walk())


_LIKE_AGGREGATES = {"filter", "withingroup", "ignorenulls", "window", "grouping", "groupingid"}


def is_aggregate(node: Any) -> bool:
    """Tell whether a node is about a whole group rather than a row."""
    kind = optional.load("sqlglot.expressions").AggFunc
    is_mean = node.key == "anonymous" and node.name.lower() == "mean"
    return isinstance(node, kind) or node.key in _LIKE_AGGREGATES or is_mean


def constant(node: Any) -> Constant | None:
    """Return the constant that a node is, if it is one."""
    if node.key == "null":
        return Constant(ColumnType.REAL, None)
    if node.key == "boolean":
        return Constant(ColumnType.BOOLEAN, bool(node.this))
    if node.key == "neg":
        inner = constant(unbracketed(node.this))
        if inner is None or not isinstance(inner.value, Fraction):
            return None
        return Constant(inner.type, -inner.value)
    if node.key == "literal":
        return Constant(ColumnType.TEXT, str(node.this)) if node.is_string else _number(node)
    return _date(node) if node.key == "cast" and node.to.this.name == "DATE" else None


def _number(node: Any) -> Constant:
    try:
        value = exact(str(node.this))
    except InvalidArgument:
        raise RefusedQuery("A number of the query is too long", got=str(node.this)[:20]) from None
    is_whole = str(node.this).isdigit()
    return Constant(ColumnType.INTEGER if is_whole else ColumnType.REAL, value)


def _date(node: Any) -> Constant | None:
    inner = node.this
    if inner.key != "literal" or not inner.is_string:
        return None
    try:
        return Constant(ColumnType.DATE, datetime.date.fromisoformat(str(inner.this)))
    except ValueError:
        raise RefusedQuery(
            "This is not a date", must="look like DATE '2025-01-31'", got=str(inner.this)[:20]
        ) from None
