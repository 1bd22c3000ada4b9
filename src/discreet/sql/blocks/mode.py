"""MODE(x): the value with the largest noisy count, written as the groups that it is chosen from.

``SELECT urgent, MODE(clinic) FROM visits GROUP BY urgent`` is a histogram of clinics for each kind,
of which the first row is shown. So what is asked, and paid for, is the histogram; whoever has asked
for that has the mode for nothing.
"""

from collections.abc import Sequence

from discreet.core import optional
from discreet.releases.mode import Mode
from discreet.sql.aggregates.functions import has_aggregate
from discreet.sql.blocks.trees import changed, given
from discreet.sql.expressions.refusals import lonely_mode
from discreet.sql.rows.items import is_star, item_value, output_names
from discreet.sql.syntax.nodes import (
    Node,
    has_part,
    is_a,
    is_set,
    listed,
    order_items,
    part,
    require_plain_output,
    small_number,
    unbracketed,
)
from discreet.tables.plans.aggregate import Aggregate, CountRows

_MARK = "discreet_mode"
"""In the notes of a SELECT: the name of the output that is a mode."""
_SETS = ("Rollup", "Cube", "GroupingSets", "Tuple")
_TAKEN = ("having", "qualify", "distinct", "windows")


def with_mode(select: Node) -> Node:
    """Return a SELECT of keys and one MODE as the groups that it is chosen from; others as is."""
    items = select.expressions
    found = [place for place, item in enumerate(items) if _moded(item) is not None]
    if not found:
        return select
    (place, *others) = found
    rest = [item for i, item in enumerate(items) if i != place]
    if others or any(has_aggregate(one) or has_part(one, "Window") for one in rest):
        raise lonely_mode()
    if any(map(is_star, rest)) or any(is_set(select, name) for name in _TAKEN):
        raise lonely_mode()
    if any(has_aggregate(item.this) for item in order_items(select)):
        raise lonely_mode()  # it would be about the value that was chosen, not about the group
    names = output_names(items)
    value = _moded(items[place])
    assert value is not None
    exp = optional.load("sqlglot.expressions")
    keys = _keys(select)
    name = exp.to_identifier(names[place], quoted=True)
    shown = exp.Alias(this=value.copy(), alias=name)
    many = exp.Ordered(this=exp.Count(this=exp.Star()), desc=True, nulls_first=False)
    first = exp.Window(
        this=exp.RowNumber(),
        partition_by=[key.copy() for key in keys],
        order=exp.Order(expressions=[many]),
    )
    written = changed(
        select,
        expressions=[shown if i == place else item.copy() for i, item in enumerate(items)],
        group=exp.Group(expressions=[*(key.copy() for key in keys), value.copy()]),
        # NULL is no value that can be the most frequent one, as elsewhere.
        having=exp.Having(this=exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))),
        qualify=exp.Qualify(this=exp.EQ(this=first, expression=exp.Literal.number(1))),
    )
    written.meta[_MARK] = names[place]
    return written


def mode_of(select: Node, keys: int, aggregates: Sequence[Aggregate]) -> Mode | None:
    """Return which output of a SELECT is a mode, if one is: of the last of its keys."""
    name = select.meta.get(_MARK)
    if name is None:
        return None
    counts = [i for i, one in enumerate(aggregates) if isinstance(one, CountRows)]
    return Mode(name=name, key=keys - 1, count=counts[0])


def _moded(item: Node) -> Node | None:
    """Return of what an item is the mode, if it is one: MODE(x), or with WITHIN GROUP."""
    node = unbracketed(item_value(item))
    if is_a(node, "WithinGroup") and is_a(node.this, "Mode") and part(node.this, "this") is None:
        ordered = _ordered(node)
        return ordered[0].this if len(ordered) == 1 else None
    if not is_a(node, "Mode") or is_a(part(node, "this"), "Distinct", "Order"):
        return None
    require_plain_output(node, "this")
    return part(node, "this")


def _ordered(within: Node) -> list[Node]:
    return listed(within.expression, "expressions") if is_a(within.expression, "Order") else []


def _keys(select: Node) -> list[Node]:
    """Return what a SELECT groups by; a position is what stands there."""
    group = part(select, "group")
    if group is None:
        return []
    if is_set(group, "all"):
        return [item_value(one) for one in select.expressions if _moded(one) is None]
    is_plain = set(given(group)) == {"expressions"}
    if not is_plain or any(is_a(node, *_SETS) for node in group.expressions):
        raise lonely_mode()
    found = []
    for node in group.expressions:
        place = small_number(unbracketed(node), 5)
        is_place = place is not None and 1 <= place <= len(select.expressions)
        found.append(item_value(select.expressions[place - 1]) if place and is_place else node)
    return found
