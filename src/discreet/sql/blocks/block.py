"""Blocks: a SELECT over people that is an answer, because its rows have no owner any more."""

from collections.abc import Callable, Sequence

from attrs import frozen

from discreet.sql.blocks.trees import changed, clause, ordered
from discreet.sql.rows.fields import names_whole_unit
from discreet.sql.rows.grouping import has_total, written_group
from discreet.sql.rows.items import (
    Item,
    is_star,
    item_name,
    item_value,
    lateral,
    with_aliases,
)
from discreet.sql.rows.scope import Context
from discreet.sql.rows.where import opened
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    conjuncts,
    is_a,
    is_set,
    small_number,
    unbracketed,
)


@frozen(kw_only=True)
class Block:
    """A SELECT over people that is an answer: its rows have no owner any more."""

    name: str
    """By which the SELECT around it knows it; nothing if it gave it no name."""
    select: Node
    """With positions and aliases written out, except for its items."""
    items: tuple[Item, ...]
    """What it gives: names and what they mean in it."""
    source: str = ""
    """The name of the query of WITH that it is, if it is one."""

    def value(self, name: str) -> Node | None:
        """Return what a name of it means."""
        found = (value for known, value in self.items if known.lower() == name.lower())
        return next(found, None)


def answer_of(select: Node, context: Context) -> Block | None:
    """Return the block of a SELECT over people whose rows have no owner, else None."""
    values = [item_value(item) for item in select.expressions]
    is_grouped = is_set(select, "group") or is_set(select, "having")
    if not is_grouped and not any(map(has_total, values)):
        return None
    if any(map(is_star, select.expressions)):
        return None
    asked = opened(select, context.deeper())
    select, scope = asked.select, asked.scope
    owner = scope.relation.owner()
    if owner is None:
        return None
    named = [(item_name(item), item_value(item)) for item in select.expressions]
    items = lateral(named, scope)
    group, keys = written_group(select, items, scope)
    if owner.unit.column is not None and names_whole_unit(scope.relation, map(scope.row, keys)):
        return None

    def written(node: Node) -> Node:
        return with_aliases(node, items, scope)

    return Block(
        name="",
        select=changed(
            select,
            where=clause("Where", [written(one) for one in asked.conditions]),
            group=group,
            having=clause("Having", map(written, conjuncts(condition_of(select, "having")))),
            qualify=clause("Qualify", map(written, conjuncts(condition_of(select, "qualify")))),
            order=ordered(select, lambda node: _placed(node, items, written)),
        ),
        items=tuple(items),
    )


def _placed(node: Node, items: Sequence[Item], written: Callable[[Node], Node]) -> Node:
    """Return what an item of ORDER BY means: a place, an alias, or itself."""
    inner = unbracketed(node)
    place = small_number(inner, 5) if is_a(inner, "Literal") else None
    if place is not None and 1 <= place <= len(items):
        return items[place - 1][1].copy()
    return written(inner)
