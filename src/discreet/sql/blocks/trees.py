"""Syntax trees put together anew: clauses, conditions and the queries of a WITH."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from discreet.core import optional
from discreet.sql.syntax.nodes import Node, is_a, order_items, part, unbracketed


def changed(select: Node, **parts: object) -> Node:
    """Return a copy of a node with other parts."""
    found = select.copy()
    for name, value in parts.items():
        found.set(name, value)
    return found


def given(node: Node) -> Iterator[str]:
    """Return which parts of a node say something."""
    return (name for name, value in node.args.items() if value)


def clause(kind: str, conditions: Iterable[Node]) -> Node | None:
    """Return a clause with all of the conditions, or None if there are none."""
    exp = optional.load("sqlglot.expressions")
    both: Node | None = None
    for node in conditions:
        one = exp.Paren(this=unbracketed(node).copy())
        both = one if both is None else exp.And(this=both, expression=one)
    found: Node | None = None if both is None else getattr(exp, kind)(this=both)
    return found


def ordered(select: Node, meant: Callable[[Node], Node]) -> Node | None:
    """Return the ORDER BY with what each of its items means."""
    if not order_items(select):
        return None
    found = part(select, "order")
    assert found is not None
    order = found.copy()
    for item in order.expressions:
        item.set("this", meant(item.this).copy())
    return order


def named_queries(select: Node) -> list[Node]:
    """Return the queries that the WITH of a SELECT names."""
    found = part(select, "with_")
    return [] if found is None else found.expressions


def name_of(item: Node) -> str:
    """Return the name of a query of WITH, in small letters."""
    alias = part(item, "alias")
    return "" if alias is None else alias.this.name.lower()


def with_queries(select: Node, queries: Sequence[Node]) -> Node:
    """Return a SELECT with those queries in its WITH that it reads, itself or through another."""
    bare = changed(select, with_=None)
    kept: list[Node] = []
    wanted = _tables(bare)
    for item in reversed(queries):
        if name_of(item) in wanted:
            wanted |= _tables(item.this)
            kept.insert(0, item)
    if not kept:
        return bare
    found = optional.load("sqlglot.expressions").With(expressions=[one.copy() for one in kept])
    return changed(bare, with_=found)


def _tables(node: Node) -> set[str]:
    return {inner.name.lower() for inner in node.walk() if is_a(inner, "Table")}
