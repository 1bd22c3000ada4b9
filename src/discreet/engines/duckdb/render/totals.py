"""Inner totals and windows in DuckDB's SQL: values over the rows of one owner.

Nothing depends on the order in which rows are met: integers are summed exactly, reals on a grid,
and rows that tie are put in order by all of their fields.
"""

from collections.abc import Callable, Sequence

from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.values import clamped, double
from discreet.tables.column import ColumnType
from discreet.tables.relations.inner_aggregate import InnerTotal, Total
from discreet.tables.relations.window import Ranked, Ranking, Window

Cells = Sequence[str]


def total(inner: InnerTotal, cells: Cells, over: str = "") -> str:
    """Return an inner total; ``over`` makes it a window."""
    return _TOTALS[inner.total](inner, _value(inner, cells), over)


def _value(inner: InnerTotal, cells: Cells) -> str:
    """Return what is totalled: a real one under a sum is a whole number of steps."""
    if inner.value is None:
        return "*"
    value = expression(inner.value, cells)
    if inner.bounds is not None and inner.total in (Total.SUM, Total.AVERAGE):
        return clamped(value, inner.bounds, inner.value.type)
    return value


def _count(_: InnerTotal, value: str, over: str) -> str:
    return f"count({value}){over}"


def _count_distinct(_: InnerTotal, value: str, over: str) -> str:
    return f"count(DISTINCT {value}){over}"


def _sum(inner: InnerTotal, value: str, over: str) -> str:
    assert inner.value is not None
    if inner.value.type is ColumnType.INTEGER:
        step = 1 if inner.bounds is None else int(inner.bounds.step)
        return f"TRY_CAST(sum({value}){over} * {step}::BIGINT AS BIGINT)"
    return f"(sum({value}){over})::DOUBLE * {_step(inner)}"


def _average(inner: InnerTotal, value: str, over: str) -> str:
    whole = f"(sum({value}){over})::DOUBLE * {_step(inner)}"
    return f"({whole} / nullif(count({value}){over}, 0))"


def _step(inner: InnerTotal) -> str:
    return double(1.0 if inner.bounds is None else float(inner.bounds.step))


def _least(_: InnerTotal, value: str, over: str) -> str:
    return f"min({value}){over}"


def _greatest(_: InnerTotal, value: str, over: str) -> str:
    return f"max({value}){over}"


_TOTALS: dict[Total, Callable[[InnerTotal, str, str], str]] = {
    Total.COUNT_ROWS: _count,
    Total.COUNT: _count,
    Total.COUNT_DISTINCT: _count_distinct,
    Total.SUM: _sum,
    Total.AVERAGE: _average,
    Total.MINIMUM: _least,
    Total.MAXIMUM: _greatest,
}


def window_value(node: Window, cells: Cells, *, within: Sequence[str]) -> str:
    """Return the value of a window, partitioned by the owner's columns ``within`` and more."""
    partition = [*within, *(expression(value, cells) for value in node.partition)]
    order = [
        f"{expression(key.value, cells)} {'DESC' if key.descending else 'ASC'} NULLS LAST"
        for key in node.order
    ]
    if isinstance(node.function, InnerTotal):
        return total(node.function, cells, _over(partition, order))
    by_place = node.function.ranking not in (Ranking.RANK, Ranking.DENSE_RANK)
    over = _over(partition, [*order, *cells] if by_place else order)
    return f"{_ranked(node.function, cells)}{over}"


def _over(partition: Sequence[str], order: Sequence[str]) -> str:
    by = f"PARTITION BY {', '.join(partition)}" if partition else ""
    ordered = f" ORDER BY {', '.join(order)}" if order else ""
    return f" OVER ({by}{ordered})"


def _ranked(function: Ranked, cells: Cells) -> str:
    if function.value is None:
        return f"{function.ranking.value}()"
    value = expression(function.value, cells)
    if function.ranking is Ranking.FIRST_VALUE:
        return f"first_value({value})"
    return f"{function.ranking.value}({value}, {function.offset})"
