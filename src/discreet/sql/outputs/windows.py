"""Windows of the outermost SELECT: shares, ranks and running totals of the rows of an answer."""

from collections.abc import Callable, Iterable
from fractions import Fraction

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Constant, Estimate, WindowOf, parts
from discreet.sql.aggregates.call import argument_of
from discreet.sql.aggregates.functions import aggregate_name, is_of_answer
from discreet.sql.expressions.refusals import unknown_window
from discreet.sql.syntax.nodes import (
    Node,
    constant,
    function_name,
    is_a,
    is_set,
    listed,
    order_items,
    part,
    require_plain_output,
    word,
    written,
)
from discreet.tables.column import ColumnType

Inner = Callable[[Node], Estimate]
"""How to resolve a node that stands inside the window."""

MOST_ROWS = 1_000
"""How many rows away a frame, LAG and LEAD may reach."""

_INTEGER, _REAL = ColumnType.INTEGER, ColumnType.REAL
_RANKS = {"rownumber": "row_number", "rank": "rank", "denserank": "dense_rank"}
_TOTALS = {"SUM": "sum", "AVG": "avg", "COUNT": "count", "MIN": "min", "MAX": "max"}
_OTHERS = {"lag": "lag", "lead": "lead", "firstvalue": "first_value"}
_NEED_ORDER = ("rank", "dense_rank", "lag", "lead")
_SUPPORTED = "SUM, AVG, COUNT, MIN, MAX, RANK, DENSE_RANK, ROW_NUMBER, LAG, LEAD or FIRST_VALUE"


def window(node: Node, inner: Inner) -> Estimate:
    """Return the window over the rows of the answer that a node says."""
    if is_set(node, "alias"):
        raise RefusedQuery(
            "A window over the rows of an answer has no name",
            next="Write it out: OVER (PARTITION BY ... ORDER BY ...)",
        )
    require_plain_output(node, "this", "partition_by", "order", "spec", "over")
    function = node.this
    name = {**_RANKS, **_OTHERS}.get(function.key) or _TOTALS.get(aggregate_name(function))
    if name is None:
        raise unknown_window(function, _SUPPORTED)
    inside = _of_answer(function, name, inner)
    order = tuple(_ordering(item, inside) for item in order_items(node))
    if not order and name in _NEED_ORDER:
        raise RefusedQuery(
            f"{function_name(function)} has no order", next="Add ORDER BY inside OVER (...)"
        )
    argument = _argument(function, name, inside)
    found = WindowOf(
        _type(function, name, argument),
        function=name,
        argument=argument,
        partition=tuple(inside(item) for item in listed(node, "partition_by")),
        order=order,
        rows=_frame(part(node, "spec"), name, has_order=bool(order)),
        offset=_offset(function) if name in ("lag", "lead") else 1,
    )
    refuse_windows(found.arguments, "Ask for the inner one as an output of its own")
    return found


def refuse_windows(estimates: Iterable[Estimate], instead: str) -> None:
    """Refuse a window where windows are not worked out yet."""
    if any(isinstance(part, WindowOf) for estimate in estimates for part in parts(estimate)):
        raise RefusedQuery("A window cannot stand here", next=instead)


def _argument(function: Node, name: str, inner: Inner) -> Estimate | None:
    if name in _RANKS.values():
        require_plain_output(function)
        return None
    called = function_name(function)
    if is_set(function, "default"):
        raise RefusedQuery(
            f"A default is not supported in {called}",
            next=f"Write COALESCE({called}(value) OVER (...), default); the default then"
            " also stands where there is such a row and its value is NULL",
        )
    if is_a(function, "Anonymous"):
        return inner(argument_of(function))
    require_plain_output(function, "this", "offset", "big_int")
    node = part(function, "this")
    if node is None or is_a(node, "Star"):
        if name != "count":
            raise RefusedQuery(f"{called}() is about nothing", next="Name an aggregate")
        return Constant(_INTEGER, Fraction(1))
    return inner(node)


def _of_answer(function: Node, name: str, inner: Inner) -> Inner:
    """Return how to resolve a part of a window; a column of a table is refused with a rewrite."""

    def resolve(node: Node) -> Estimate:
        try:
            return inner(node)
        except RefusedQuery as refusal:
            if is_of_answer(node):
                raise
            raise RefusedQuery(
                "A window in the outermost SELECT is about the rows of the answer, not of a table",
                must="be about aggregates and keys",
                got=refusal.what,
                next=_instead(function, name),
            ) from None

    return resolve


def _instead(function: Node, name: str) -> str:
    if name not in _TOTALS.values():
        return "Compare rows of a table in a sub-query, with the unit in PARTITION BY"
    return (
        f"Write {written(function)} without OVER, and GROUP BY; a share of all is"
        " COUNT(*) / SUM(COUNT(*)) OVER ()"
    )


def _type(function: Node, name: str, argument: Estimate | None) -> ColumnType:
    if argument is None or name == "count":
        return _INTEGER
    if name in ("sum", "avg"):
        if argument.type not in (_INTEGER, _REAL):
            raise RefusedQuery(
                f"{function_name(function)} takes numbers",
                got=argument.type.value,
                next="Use COUNT",
            )
        return _REAL if name == "avg" else argument.type
    return argument.type


def _ordering(item: Node, inner: Inner) -> tuple[Estimate, bool]:
    if is_set(item, "nulls_first"):
        raise RefusedQuery("NULLS FIRST is not supported in OVER", next="NULL always comes last")
    require_plain_output(item, "this", "desc")
    return inner(item.this), is_set(item, "desc")


def _offset(function: Node) -> int:
    node = part(function, "offset")
    return 1 if node is None else _whole(node)


def _whole(node: Node) -> int:
    found = constant(node)
    number = found.value if found is not None else None
    is_whole = isinstance(number, Fraction) and number.denominator == 1
    if not is_whole or not isinstance(number, Fraction) or not 0 <= number <= MOST_ROWS:
        raise RefusedQuery(
            "The number of rows in a window is out of range",
            must=f"be a whole number from 0 to {MOST_ROWS:,}",
        )
    return number.numerator


Rows = tuple[int | None, int | None]


def _frame(spec: Node | None, name: str, *, has_order: bool) -> Rows | None:
    """Return how many rows before and after count, or None for the usual frame."""
    if spec is None or name not in (*_TOTALS.values(), "first_value"):
        return None
    require_plain_output(spec, "kind", "start", "start_side", "end", "end_side")
    before = _edge(spec, "start", "PRECEDING")
    after = 0 if not is_set(spec, "end") else _edge(spec, "end", "FOLLOWING")
    if (before, after) == (None, None):
        return None, None
    if word(spec, "kind") == "ROWS" and has_order:
        return before, after
    if (before, after) == (None, 0):
        return None
    raise RefusedQuery(
        "This frame of a window is not supported",
        next="Write ORDER BY ... ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    )


def _edge(spec: Node, end: str, side: str) -> int | None:
    """Return how many rows away one end of a frame is, None if it has none."""
    if word(spec, end) == "CURRENT ROW":
        return 0
    if word(spec, f"{end}_side") != side:
        raise RefusedQuery(
            "This frame of a window is not supported",
            must="begin before the current row or at it, and end at it or after it",
        )
    edge = part(spec, end)
    return None if edge is None or word(spec, end) == "UNBOUNDED" else _whole(edge)
