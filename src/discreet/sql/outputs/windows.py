"""Windows of the outermost SELECT: shares, ranks and running totals of the rows of an answer."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Constant, Estimate, WindowOf, parts
from discreet.sql.outputs.aggregates import AGGREGATES
from discreet.sql.outputs.nodes import constant, has_aggregate, require_plain, shown
from discreet.tables.column import ColumnType

Inner = Callable[[Any], Estimate]
"""How to resolve a node that stands inside the window."""

MOST_ROWS = 1_000
"""How many rows away a frame, LAG and LEAD may reach."""

_INTEGER, _REAL = ColumnType.INTEGER, ColumnType.REAL
_RANKS = {"rownumber": "row_number", "rank": "rank", "denserank": "dense_rank"}
_TOTALS = {"sum": "sum", "avg": "avg", "count": "count", "min": "min", "max": "max"}
_OTHERS = {"lag": "lag", "lead": "lead", "firstvalue": "first_value"}
_NEED_ORDER = ("rank", "dense_rank", "lag", "lead")
_SUPPORTED = "SUM, AVG, COUNT, MIN, MAX, RANK, DENSE_RANK, ROW_NUMBER, LAG, LEAD or FIRST_VALUE"


def window(node: Any, inner: Inner) -> Estimate:
    """Return the window over the rows of the answer that a node says."""
    require_plain(node, "this", "partition_by", "order", "spec", "over")
    function = node.this
    name = {**_RANKS, **_TOTALS, **_OTHERS}.get(str(function.key))
    if name is None:
        raise _unknown(function)
    inside = _of_answer(function, name, inner)
    order = tuple(_ordering(item, inside) for item in _items(node.args.get("order")))
    if not order and name in _NEED_ORDER:
        raise RefusedQuery(f"{shown(function)} has no order", next="Add ORDER BY inside OVER (...)")
    argument = _argument(function, name, inside)
    found = WindowOf(
        _type(function, name, argument),
        function=name,
        argument=argument,
        partition=tuple(inside(part) for part in node.args.get("partition_by") or []),
        order=order,
        rows=_frame(node.args.get("spec"), name, has_order=bool(order)),
        offset=_offset(function) if name in ("lag", "lead") else 1,
    )
    refuse_windows(found.arguments, "Ask for the inner one as an output of its own")
    return found


def refuse_windows(estimates: Iterable[Estimate], instead: str) -> None:
    """Refuse a window where windows are not worked out yet."""
    if any(isinstance(part, WindowOf) for estimate in estimates for part in parts(estimate)):
        raise RefusedQuery("A window cannot stand here", next=instead)


def _unknown(function: Any) -> RefusedQuery:
    text = function.sql(dialect="duckdb")[:_LONGEST_SHOWN]
    is_aggregate = str(function.key) in AGGREGATES
    grouped = f"For one value of each group write {text} without OVER, and GROUP BY"
    return RefusedQuery(
        f"{shown(function)} over the rows of an answer is not supported",
        must=f"be {_SUPPORTED}",
        next=grouped if is_aggregate else _INSTEAD.get(str(function.key), ""),
    )


_INSTEAD = {
    "lastvalue": "For the value of the last row write FIRST_VALUE(x) OVER (ORDER BY ... DESC)",
    "ntile": "Write ROW_NUMBER() OVER (ORDER BY ...), and compare it with COUNT(*) OVER ()",
}


_LONGEST_SHOWN = 60


def _argument(function: Any, name: str, inner: Inner) -> Estimate | None:
    if name in _RANKS.values():
        require_plain(function)
        return None
    if function.args.get("default"):
        raise RefusedQuery(
            f"A default is not supported in {shown(function)}",
            next=f"Write COALESCE({shown(function)}(value) OVER (...), default); the default then"
            " also stands where there is such a row and its value is NULL",
        )
    require_plain(function, "this", "offset", "big_int")
    node = function.this
    if node is None or node.key == "star":
        if name != "count":
            raise RefusedQuery(f"{shown(function)}() is about nothing", next="Name an aggregate")
        return Constant(_INTEGER, Fraction(1))
    return inner(node)


def _of_answer(function: Any, name: str, inner: Inner) -> Inner:
    """Return how to resolve a part of a window; a column of a table is refused with a rewrite."""

    def resolve(node: Any) -> Estimate:
        try:
            return inner(node)
        except RefusedQuery as refusal:
            if has_aggregate(node):
                raise
            raise RefusedQuery(
                "A window in the outermost SELECT is about the rows of the answer, not of a table",
                must="be about aggregates and keys",
                got=refusal.what,
                next=_instead(function, name),
            ) from None

    return resolve


def _instead(function: Any, name: str) -> str:
    if name not in _TOTALS.values():
        return "Compare rows of a table in a sub-query, with the unit in PARTITION BY"
    text = function.sql(dialect="duckdb")[:_LONGEST_SHOWN]
    return (
        f"Write {text} without OVER, and GROUP BY; a share of all is"
        " COUNT(*) / SUM(COUNT(*)) OVER ()"
    )


def _type(function: Any, name: str, argument: Estimate | None) -> ColumnType:
    if argument is None or name == "count":
        return _INTEGER
    if name in ("sum", "avg"):
        if argument.type not in (_INTEGER, _REAL):
            raise RefusedQuery(
                f"{shown(function)} takes numbers", got=argument.type.value, next="Use COUNT"
            )
        return _REAL if name == "avg" else argument.type
    return argument.type


def _items(order: Any) -> list[Any]:
    if order is None:
        return []
    require_plain(order, "expressions")
    return list(order.expressions)


def _ordering(item: Any, inner: Inner) -> tuple[Estimate, bool]:
    if item.args.get("nulls_first"):
        raise RefusedQuery("NULLS FIRST is not supported in OVER", next="NULL always comes last")
    require_plain(item, "this", "desc")
    return inner(item.this), bool(item.args.get("desc"))


def _offset(function: Any) -> int:
    node = function.args.get("offset")
    return 1 if node is None else _whole(node)


def _whole(node: Any) -> int:
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


def _frame(spec: Any, name: str, *, has_order: bool) -> Rows | None:
    """Return how many rows before and after count, or None for the usual frame."""
    if spec is None or name not in (*_TOTALS.values(), "first_value"):
        return None
    require_plain(spec, "kind", "start", "start_side", "end", "end_side")
    before = _edge(spec, "start", "PRECEDING")
    after = 0 if spec.args.get("end") is None else _edge(spec, "end", "FOLLOWING")
    if (before, after) == (None, None):
        return None, None
    if str(spec.args.get("kind")).upper() == "ROWS" and has_order:
        return before, after
    if (before, after) == (None, 0):
        return None
    raise RefusedQuery(
        "This frame of a window is not supported",
        next="Write ORDER BY ... ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    )


def _edge(spec: Any, end: str, side: str) -> int | None:
    """Return how many rows away one end of a frame is, None if it has none."""
    edge, written = spec.args.get(end), str(spec.args.get(f"{end}_side") or "")
    if str(edge).upper() == "CURRENT ROW":
        return 0
    if written.upper() != side:
        raise RefusedQuery(
            "This frame of a window is not supported",
            must="begin before the current row or at it, and end at it or after it",
        )
    return None if str(edge).upper() == "UNBOUNDED" else _whole(edge)
