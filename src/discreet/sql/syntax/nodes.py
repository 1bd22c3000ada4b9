"""The parser's nodes: one way to read them, without overlooking a part of any."""

import datetime
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol, Self

from discreet.core import optional
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.releases.estimates.estimate import Constant
from discreet.sql.syntax.spelling import generated, spelled_call, spelled_name
from discreet.tables.column import ColumnType
from discreet.tables.expression import Literal
from discreet.tables.functions.rules import read_date, read_time, read_timestamp


class Node(Protocol):
    """One node of the parser's syntax tree, as far as it is read here.

    ``this``, ``expression`` and ``expressions`` are what most nodes are about. Other parts, and
    these where they may be missing, are read with ``part``, ``listed``, ``word`` and ``is_set``.
    """

    key: str
    """What kind of node it is: the parser's name, in small letters."""
    args: Mapping[str, object]
    """Every part of it by name, whether or not it is set."""
    this: "Node"
    """What it is about."""
    expression: "Node"
    """The second of two."""
    expressions: "list[Node]"
    """All of a list."""
    name: str
    """The text of an identifier or a constant; of a column its name."""
    is_string: bool
    """Whether it is a text in quotes."""
    parent: "Node | None"
    """The node that it stands in."""
    arg_key: str | None
    """Which part of its parent it is."""
    meta: dict[str, Any]
    """Notes on it, which are no part of the query."""

    def sql(self, dialect: str | None = None, *, comments: bool = True) -> str:
        """Return the text of it."""
        ...

    def walk(self) -> "Iterator[Node]":
        """Return it and all that stands in it."""
        ...

    def iter_expressions(self, reverse: bool = False) -> "Iterator[Node]":
        """Return the nodes directly in it."""
        ...

    def copy(self) -> Self:
        """Return a copy of it and all that stands in it."""
        ...

    def set(self, arg_key: str, value: object) -> None:
        """Change a part of it."""
        ...

    def replace(self, expression: "Node") -> "Node":
        """Put another node in its place."""
        ...

    def transform(self, fun: "Callable[[Node], Node]", copy: bool = True) -> "Node":
        """Return it with nodes changed, from the outside in."""
        ...


class Token(Protocol):
    """One word or sign of a query, before it is parsed."""

    text: str
    start: int
    """Where it begins in the query."""
    end: int
    """Where its last character stands."""
    token_type: Enum


def tokens_of(sql: str) -> list[Token]:
    """Return the words and signs of a query."""
    return list(optional.load("sqlglot").tokenize(sql, dialect="duckdb"))


def token_kind(token: Token) -> str:
    """Return what a word or sign is, by the parser's name in capitals."""
    return token.token_type.name


def is_a(node: Node | None, *names: str) -> bool:
    """Tell whether a node is of one of the parser's classes, by their names."""
    exp = optional.load("sqlglot.expressions")
    return isinstance(node, tuple(getattr(exp, name) for name in names))


def part(node: Node, name: str) -> Node | None:
    """Return a part of a node, if it is there."""
    found: Any = node.args.get(name)
    return found or None


def listed(node: Node, name: str) -> list[Node]:
    """Return a part of a node that is a list; nothing if it is not there."""
    found: Any = node.args.get(name)
    return list(found or ())


def word(node: Node, name: str) -> str:
    """Return a part of a node that is a word of SQL, in capitals; nothing if it is not there."""
    return str(node.args.get(name) or "").upper()


def is_set(node: Node, name: str) -> bool:
    """Tell whether a node says something in a part."""
    return bool(node.args.get(name))


_SHOWN = {
    "select": "SELECT",
    "join": "JOIN",
    "table": "a table",
    "subquery": "a sub-query",
    "union": "UNION",
    "cte": "WITH",
    "with": "WITH",
    "window": "OVER",
    "group": "GROUP BY",
    "order": "ORDER BY",
    "ordered": "ORDER BY",
    "limit": "LIMIT",
    "star": "*",
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


def require_plain(node: Node, *read: str, where: str = "", next: str = "") -> None:
    """Refuse a node of the rows with any part that the caller does not read."""
    for name in _unread(node, read):
        place = where or _SHOWN.get(node.key) or function_name(node)
        clause = _CLAUSES.get(name, name.strip("_").upper())
        raise RefusedQuery(f"{clause} is not supported in {place}", next=next)


def require_plain_output(node: Node, *read: str) -> None:
    """Refuse a node of the outputs with any part that the caller does not read."""
    for name in _unread(node, read):
        raise RefusedQuery(
            f"{function_name(node)} is written with something that is not supported here",
            got=name.strip("_").replace("_", " ").upper(),
            next=f"Write {function_name(node)} without it",
        )


def _unread(node: Node, read: tuple[str, ...]) -> Iterator[str]:
    return (name for name, value in node.args.items() if value and name not in read)


_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "intdiv": "//",
    "mod": "%",
    "neg": "-",
    "dpipe": "||",
    "eq": "=",
    "neq": "<>",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
    "nullsafeeq": "IS NOT DISTINCT FROM",
    "nullsafeneq": "IS DISTINCT FROM",
}
"""Operators as SQL writes them, by the parser's names."""


_WRITTEN = _SIGNS | {
    "groupconcat": "STRING_AGG",
    "logicalor": "BOOL_OR",
    "logicaland": "BOOL_AND",
    "bitwiseandagg": "BIT_AND",
    "bitwiseoragg": "BIT_OR",
    "bitwisexoragg": "BIT_XOR",
}
"""What is called otherwise in SQL than by the parser."""


def function_name(node: Node) -> str:
    """Return what a function or an operator is called in a message, in SQL's words."""
    if is_a(node, "Anonymous"):
        return node.name.upper()
    if node.key in _WRITTEN:
        return _WRITTEN[node.key]
    # The parser puts ANY_VALUE into a node of its own, which nobody wrote.
    return function_name(node.this) if is_a(node, "IgnoreNulls") else spelled_name(node)


_LONGEST_SHOWN = 60


def written(node: Node) -> str:
    """Return a node as a message quotes it: its text, cut where it is long."""
    return (spelled_call(node) or text_of(node))[:_LONGEST_SHOWN]


def text_of(node: Node) -> str:
    """Return a node as text, whatever it is: the parser reads some things that it cannot write."""
    return generated(node) or f"{function_name(node)}(...)"


def unbracketed(node: Node) -> Node:
    """Return what stands inside brackets."""
    while is_a(node, "Paren"):
        node = node.this
    return node


def joined_text(node: Node) -> Node:
    """Return texts that are joined by || as one text; any other node as it is.

    Tools write a pattern so: ``note LIKE '%' || 'flu' || '%'``.
    """
    parts, waiting = [], [node]
    while waiting:
        inner = unbracketed(waiting.pop())
        if is_a(inner, "DPipe"):
            waiting += [inner.expression, inner.this]
        elif is_a(inner, "Literal") and inner.is_string:
            parts.append(inner.name)
        else:
            return node
    joined: Node = optional.load("sqlglot.expressions").Literal.string("".join(parts))
    return joined


def conjuncts(node: Node | None) -> list[Node]:
    """Return the parts of a condition that are joined by AND, in order."""
    found: list[Node] = []
    waiting = [] if node is None else [node]
    while waiting:
        condition = unbracketed(waiting.pop())
        if is_a(condition, "And"):
            waiting += [condition.expression, condition.this]
        else:
            found.append(condition)
    return found


def condition_of(select: Node, clause: str) -> Node | None:
    """Return the condition of WHERE, HAVING or QUALIFY, if there is one."""
    found = part(select, clause)
    if found is None:
        return None
    require_plain(found, "this")
    return found.this


def order_items(node: Node) -> list[Node]:
    """Return the items of an ORDER BY, if there is one."""
    order = part(node, "order")
    if order is None:
        return []
    require_plain(order, "expressions")
    return order.expressions


def has_part(node: Node, *names: str) -> bool:
    """Tell whether a node of one of these classes stands in the node, sub-queries left out."""
    return any(is_a(inner, *names) for inner in within(node))


def within(node: Node) -> Iterator[Node]:
    """Return the node and all that stands in it, without looking into sub-queries."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        if not is_a(inner, "Query"):
            waiting += inner.iter_expressions(reverse=True)


def replaced(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a copy of the node with parts changed, from the outside in."""
    return node.transform(change, copy=True)


_MARK = "discreet_field"
"""In the notes of a column node that stands for something computed: the index of its field."""


def marked(index: int) -> Node:
    """Return a node that stands for the field at ``index`` of a relation."""
    node: Node = optional.load("sqlglot.expressions").column("computed")
    node.meta[_MARK] = index
    return node


def mark_of(node: Node) -> int | None:
    """Return the index of the field that a node stands for, if it does."""
    found: int | None = node.meta.get(_MARK)
    return found


def table_of(column: Node) -> str:
    """Return the table that stands in front of a column, or nothing."""
    table = part(column, "table")
    return "" if table is None else table.name


def small_number(node: Node, digits: int) -> int | None:
    """Return the whole number of at most so many digits that a node is, if it is one."""
    text = node.name if is_a(node, "Literal") and not node.is_string else ""
    is_small = text.isascii() and text.isdigit() and len(text) <= digits
    return int(text) if is_small else None


def constant(node: Node) -> Constant | None:
    """Return the constant that a node is, if it is one."""
    if is_a(node, "Null"):
        return Constant(ColumnType.REAL, None)
    if is_a(node, "Boolean"):
        return Constant(ColumnType.BOOLEAN, is_set(node, "this"))
    if is_a(node, "Neg"):
        inner = constant(unbracketed(node.this))
        if inner is None or not isinstance(inner.value, Fraction):
            return None
        return Constant(inner.type, -inner.value)
    if is_a(node, "Literal"):
        return Constant(ColumnType.TEXT, node.name) if node.is_string else _number(node.name)
    return _moment(node) if node.key == "cast" else None


def _number(text: str) -> Constant:
    try:
        value = exact(text)
    except InvalidArgument:
        raise RefusedQuery("A number of the query is too long", got=text[:20]) from None
    return Constant(ColumnType.INTEGER if text.isdigit() else ColumnType.REAL, value)


def _moment(cast: Node) -> Constant | None:
    """Return a date, timestamp or time of day that is written as a constant."""
    to, text = part(cast, "to"), cast.this
    kind = None if to is None else _MOMENTS.get(to.this.name)
    if kind is None or not is_a(text, "Literal") or not text.is_string:
        return None
    read, example = _READ[kind]
    found = read(text.name)
    value = None if found is None else found.value
    if not isinstance(value, datetime.date | datetime.time):
        raise RefusedQuery(
            f"This is not a {kind.value}", must=f"look like {example}", got=text.name[:20]
        )
    return Constant(kind, value)


_MOMENTS = {
    "DATE": ColumnType.DATE,
    "TIMESTAMPNTZ": ColumnType.TIMESTAMP,
    "TIME": ColumnType.TIME,
}
_READ: Mapping[ColumnType, tuple[Callable[[str], Literal | None], str]] = {
    ColumnType.DATE: (read_date, "DATE '2025-01-31'"),
    ColumnType.TIMESTAMP: (read_timestamp, "TIMESTAMP '2025-01-31 10:00:00'"),
    ColumnType.TIME: (read_time, "TIME '10:00:00'"),
}
