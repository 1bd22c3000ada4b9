"""Totals in DuckDB's SQL: over rows of one owner, and over the rows of all.

Nothing depends on the order in which rows are met: integers are summed exactly, reals on a grid,
and rows that tie are put in order by all of their fields.
"""

from collections.abc import Callable, Sequence
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.values import clamped, double
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.tables.column import ColumnType
from discreet.tables.lowered.plan import CappedTotal, ClampedTotal, RowTotal, Total, UnitTotal
from discreet.tables.lowered.rows import Windowed
from discreet.tables.plans.aggregate import Aggregate, CountDistinct, CountRows, QuantileValues
from discreet.tables.plans.sums import SumSquares, SumValues
from discreet.tables.relations.totals import InnerTotal, Ranked, Ranking
from discreet.tables.relations.totals import Total as InnerKind

Cells = Sequence[str]

# ---- Over the rows of all owners.


@singledispatch
def total(part: Total) -> str:
    """Return the SQL of a total over a group, in 64 bits."""
    raise Unsupported("DuckDB cannot run this total", got=type(part).__name__)


@total.register
def _(part: UnitTotal) -> str:
    return "count(*)" if part.where is None else f"count(*) FILTER (WHERE {part.where})"


@total.register
def _(part: CappedTotal) -> str:
    return f"sum(least({part.column}, {part.most}))::BIGINT"


@total.register
def _(part: ClampedTotal) -> str:
    inside = f"least(greatest({part.column}, ({part.lower})), ({part.upper}))"
    return _saturated(inside, f"{part.column} IS NOT NULL")


@total.register
def _(part: RowTotal) -> str:
    return _of_rows(part.aggregate, part.value or "", part.where or "TRUE")


@singledispatch
def _of_rows(aggregate: Aggregate, value: str, kept: str) -> str:
    """Return the SQL that adds up ``value`` over the ``kept`` rows of a group."""
    raise Unsupported("DuckDB cannot run this aggregate", got=type(aggregate).__name__)


@_of_rows.register
def _(_: CountRows, value: str, kept: str) -> str:
    return f"count(*) FILTER (WHERE {kept})"


@_of_rows.register
def _(_: CountDistinct, value: str, kept: str) -> str:
    return f"count(DISTINCT {value})"


@_of_rows.register
def _(aggregate: SumValues, value: str, kept: str) -> str:
    return _saturated(f"{value} - ({aggregate.centre})", kept)


@_of_rows.register
def _(aggregate: SumSquares, value: str, kept: str) -> str:
    distance = f"({value} - ({aggregate.centre}))"
    return _saturated(f"{distance} * {distance} - ({aggregate.offset})", kept)


@_of_rows.register
def _(_: QuantileValues, value: str, kept: str) -> str:
    return f"list({value} ORDER BY {value}) FILTER (WHERE {kept} AND {value} IS NOT NULL)"


def _saturated(value: str, kept: str) -> str:
    """Return the exact sum, held within what noise accepts: that moves no two sums apart."""
    whole = f"coalesce(sum({value}) FILTER (WHERE {kept}), 0)"
    return f"least(greatest({whole}, {-LARGEST_VALUE}), {LARGEST_VALUE})::BIGINT"


# ---- Over the rows of one owner.


def inner_total(inner: InnerTotal, cells: Cells, over: str = "") -> str:
    """Return an inner total; ``over`` makes it a window."""
    return _INNER[inner.total](inner, _value(inner, cells), over)


def _value(inner: InnerTotal, cells: Cells) -> str:
    """Return what is totalled: a real one under a sum is a whole number of steps."""
    if inner.value is None:
        return "*"
    value = expression(inner.value, cells)
    if inner.bounds is not None and inner.total in (InnerKind.SUM, InnerKind.AVERAGE):
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
    return f"({_in_steps(inner, value, over)} / {_parts(inner)})"


def _average(inner: InnerTotal, value: str, over: str) -> str:
    """Divide once: a quotient of whole numbers that floating point holds is the nearest one."""
    count = f"nullif(count({value}){over}, 0)"
    return f"({_in_steps(inner, value, over)} / ({count} * {_parts(inner)}))"


def _in_steps(inner: InnerTotal, value: str, over: str) -> str:
    """Return the exact sum, in the parts of one that a step is a number of."""
    return f"(sum({value}){over})::DOUBLE * {double(_quotient(inner)[0])}"


def _parts(inner: InnerTotal) -> str:
    return double(_quotient(inner)[1])


def _quotient(inner: InnerTotal) -> tuple[float, float]:
    """Return the step as a quotient, of whole numbers unless floating point does not hold them.

    So a sum that is a short decimal equals the decimal that a query writes: 3 steps of 1/10 are
    3 / 10, which is 0.3 in floating point, and 3 times 0.1 is not.
    """
    if inner.bounds is None:
        return 1.0, 1.0
    step = inner.bounds.step
    if max(step.numerator, step.denominator) > _LARGEST_EXACT:
        return float(step), 1.0
    return float(step.numerator), float(step.denominator)


_LARGEST_EXACT = 10**22
"""The largest power of ten that floating point holds exactly."""


def _least(_: InnerTotal, value: str, over: str) -> str:
    return f"min({value}){over}"


def _greatest(_: InnerTotal, value: str, over: str) -> str:
    return f"max({value}){over}"


_INNER: dict[InnerKind, Callable[[InnerTotal, str, str], str]] = {
    InnerKind.COUNT_ROWS: _count,
    InnerKind.COUNT: _count,
    InnerKind.COUNT_DISTINCT: _count_distinct,
    InnerKind.SUM: _sum,
    InnerKind.AVERAGE: _average,
    InnerKind.MINIMUM: _least,
    InnerKind.MAXIMUM: _greatest,
}


def window_value(node: Windowed, within: Sequence[str]) -> str:
    """Return the value of a window over the rows that are alike in ``within``."""
    order = [
        f"{expression(key.value, node.cells)} {'DESC' if key.descending else 'ASC'} NULLS LAST"
        for key in node.order
    ]
    over = _over(within, [*order, *node.ties])
    if isinstance(node.function, InnerTotal):
        return inner_total(node.function, node.cells, over)
    return f"{_ranked(node.function, node.cells)}{over}"


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
