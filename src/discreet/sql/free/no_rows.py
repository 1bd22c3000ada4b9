"""Statements that have no rows, whatever the data is: so tools ask which columns there are.

A tool puts a query that somebody wrote into ``SELECT * FROM (...) AS t WHERE 1 = 0``, or under
``LIMIT 0``. The text alone says that nothing is to be seen of any row.
"""

import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from discreet.sql.blocks.trees import clause, name_of, named_queries
from discreet.sql.rows.grouping import has_total
from discreet.sql.rows.items import item_value
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    conjuncts,
    constant,
    is_a,
    is_set,
    listed,
    part,
    small_number,
    unbracketed,
)

_CONDITIONS = {"where": "Where", "having": "Having", "qualify": "Qualify"}


def has_no_rows(select: Node) -> bool:
    """Tell whether a statement has no rows, by its text alone.

    An aggregate over no rows is a row, unless there are groups.
    """
    if _limit(select) == 0 or any(_drops_all(select, name) for name in ("having", "qualify")):
        return True
    is_empty = _drops_all(select, "where") or _reads_nothing(select)
    return is_empty and (_is_grouped(select) or not has_totals(select))


def without_noughts(select: Node) -> Node:
    """Return a statement with the columns of one that has no rows, over all rows.

    What has no part in columns is left out of it and of its sub-queries: LIMIT, OFFSET, ORDER BY,
    DISTINCT, and conditions that never hold.
    """
    found = select.copy()
    for node in list(found.walk()):
        if is_a(node, "Select", "Subquery"):
            for name in ("limit", "offset", "order", "distinct"):
                node.set(name, None)
        for name, kind in _CONDITIONS.items() if is_a(node, "Select") else ():
            kept = [one for one in _conditions(node, name) if not never_holds(one)]
            node.set(name, clause(kind, kept))
    return found


def _limit(select: Node) -> int | None:
    """Return the number of LIMIT, if it is one."""
    found = part(select, "limit")
    if found is None or is_set(found, "limit_options"):
        return None
    return small_number(found.expression, 9)


def _conditions(select: Node, name: str) -> list[Node]:
    return conjuncts(condition_of(select, name))


def _drops_all(select: Node, name: str) -> bool:
    return any(map(never_holds, _conditions(select, name)))


def _reads_nothing(select: Node) -> bool:
    """Tell whether all that a statement reads is one query without rows."""
    source = part(select, "from_")
    if source is None or listed(select, "joins") or listed(source.this, "joins"):
        return False
    inner = _query_of(source.this, select)
    return inner is not None and has_no_rows(inner)


def _query_of(node: Node, select: Node) -> Node | None:
    """Return the SELECT that is read, if it is one: in brackets, or by the name that WITH gives."""
    if is_a(node, "Subquery"):
        return node.this if is_a(node.this, "Select") else None
    if not is_a(node, "Table") or is_set(node, "db"):
        return None
    found = [one.this for one in named_queries(select) if name_of(one) == node.name.lower()]
    return found[0] if found and is_a(found[0], "Select") else None


def _is_grouped(select: Node) -> bool:
    """Tell whether there are groups, each with a key: of a total over all there is always one."""
    group = part(select, "group")
    if group is None or any(value for name, value in group.args.items() if name != "expressions"):
        return False
    sets = ("Tuple", "Rollup", "Cube", "GroupingSets")
    return bool(group.expressions) and not any(is_a(one, *sets) for one in group.expressions)


def has_totals(select: Node) -> bool:
    """Tell whether a SELECT aggregates, its sub-queries left aside."""
    order = part(select, "order")
    also = [*_conditions(select, "having"), *([] if order is None else order.expressions)]
    return any(map(has_total, [*map(item_value, select.expressions), *also]))


def never_holds(node: Node) -> bool:
    """Tell whether a condition is true of no row, by its text alone.

    Example:
        >>> from discreet.sql.parse import parse
        >>> from discreet.sql.syntax.nodes import condition_of
        >>> sql = "SELECT a FROM t WHERE 1 = 0 AND a > 3"
        >>> never_holds(condition_of(parse(sql).select, "where"))
        True
    """
    return True not in _truths(node)


Truths = frozenset[bool | None]
"""What a condition may be: true, false, or unknown as NULL is."""

_ANY: Truths = frozenset({True, False, None})


def _truths(node: Node) -> Truths:
    node = unbracketed(node)
    if is_a(node, "Not"):
        return frozenset(None if one is None else not one for one in _truths(node.this))
    if is_a(node, "And", "Or"):
        ends = is_a(node, "Or")  # what decides, whatever the other side is
        pairs = product(_truths(node.this), _truths(node.expression))
        return frozenset(
            ends if ends in pair else None if None in pair else not ends for pair in pairs
        )
    if is_a(node, "Null"):
        return frozenset({None})
    if is_a(node, "Boolean"):
        return frozenset({is_set(node, "this")})
    number = small_number(node, 9)
    if number is not None:
        return frozenset({bool(number)})  # WHERE 0
    return _compared(node) if node.key in _COMPARISONS else _ANY


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "neq": operator.ne, "lt": operator.lt, "lte": operator.le,
    "gt": operator.gt, "gte": operator.ge,
}  # fmt: skip


def _compared(node: Node) -> Truths:
    """Return what a comparison of two constants of one kind is."""
    first, second = (constant(unbracketed(side)) for side in (node.this, node.expression))
    if first is None or second is None:
        return _ANY
    if first.value is None or second.value is None:
        return frozenset({None})
    if type(first.value) is not type(second.value):
        return _ANY
    return frozenset({_COMPARISONS[node.key](first.value, second.value)})
