"""Two answers about the same groups of the same rows, side by side."""

from collections.abc import Sequence

from attrs import evolve

from discreet.core import optional
from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import UNITS
from discreet.sql.blocks.block import Block
from discreet.sql.blocks.trees import changed, clause, given
from discreet.sql.rows.grouping import has_total, is_total
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    conjuncts,
    is_a,
    is_set,
    listed,
    part,
    replaced,
    table_of,
    text_of,
    unbracketed,
)


def side_by_side(select: Node, blocks: Sequence[Block]) -> list[Block]:
    """Return answers about the same groups of the same rows as one, each under its condition."""
    for block, join in zip(blocks[1:], listed(select, "joins"), strict=True):
        _require_same(blocks[0], block)
        _require_on_keys(join, block)
    wheres = [conjuncts(condition_of(block.select, "where")) for block in blocks]
    common = [node for node in wheres[0] if all(node in where for where in wheres[1:])]
    whole = changed(blocks[0].select, where=clause("Where", common))
    whole.meta[_MARK] = True
    found = []
    for block, where in zip(blocks, wheres, strict=True):
        own = [node for node in where if node not in common]
        items = tuple((name, _filtered(value, own)) for name, value in block.items)
        found.append(evolve(block, select=whole, items=items))
    return found


_MARK = "discreet_side_by_side"


def is_side_by_side(select: Node) -> bool:
    """Tell whether a SELECT was put together from several answers."""
    return bool(select.meta.get(_MARK))


_ALIKE = ("from_", "joins", "group")
_BARE = ("having", "qualify", "order", "limit", "offset")


def _require_same(first: Block, other: Block) -> None:
    def text(block: Block, name: str) -> str:
        one = part(block.select, name)
        nodes = listed(block.select, name) if name == "joins" else [one]
        return " ".join(text_of(node).lower() for node in nodes if node is not None)

    is_alike = all(text(first, name) == text(other, name) for name in _ALIKE)
    is_bare = not any(is_set(block.select, name) for block in (first, other) for name in _BARE)
    if not is_alike or not is_bare:
        raise RefusedQuery(
            f"Two answers about {UNITS} are joined that are of different rows or groups",
            must="read the same tables and GROUP BY the same keys, and differ in WHERE alone",
            next="Ask for both in one SELECT, such as SUM(x) FILTER (WHERE ...); or ask twice, in a"
            " batch",
        )


def _require_on_keys(join: Node, block: Block) -> None:
    """Refuse a join that does not say that all keys are equal, and nothing else."""
    keys = {name.lower() for name, value in block.items if not has_total(value)}
    using = {one.name.lower() for one in listed(join, "using")}
    on = part(join, "on")
    for node in conjuncts(on):
        sides = (
            [unbracketed(side) for side in (node.this, node.expression)] if is_a(node, "EQ") else []
        )
        names = {side.name.lower() for side in sides if is_a(side, "Column")}
        tables = {table_of(side).lower() for side in sides if is_a(side, "Column")}
        is_pair = len(sides) == 2 and len(names) == 1 and len(tables) == 2
        using |= names if is_pair else {""}
    is_plain = all(name in ("this", "using", "on", "kind", "side") for name in given(join))
    if using != keys or not is_plain or not keys or is_set(join, "side"):
        raise RefusedQuery(
            f"Two answers about {UNITS} are joined otherwise than on all of their keys",
            must=f"be joined with USING ({', '.join(sorted(keys)) or 'the keys'})",
            next="Ask for both in one SELECT, such as COUNT(*) FILTER (WHERE ...)",
        )


def _filtered(value: Node, conditions: Sequence[Node]) -> Node:
    """Return an item in which each aggregate is over the rows for which the conditions hold."""
    where = clause("Where", conditions)
    if where is None:
        return value
    exp = optional.load("sqlglot.expressions")

    def change(node: Node) -> Node:
        if not is_total(node):
            return node
        if not is_a(node, "Filter"):
            return exp.Filter(this=node.copy(), expression=where.copy())  # type: ignore[no-any-return]
        both = [node.expression.this, *conditions]
        return exp.Filter(this=node.this.copy(), expression=clause("Where", both))  # type: ignore[no-any-return]

    return replaced(value, change)
