"""Aggregates in DuckDB's SQL: what one row adds, and how it is added up."""

from collections.abc import Sequence
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.values import clamped
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.tables.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    QuantileValues,
    SumSquares,
    SumValues,
)

Cells = Sequence[str]


def looked_at(aggregate: Aggregate, cells: Cells) -> str | None:
    """Return the value of one row that is added, or None if its being there is all that counts."""
    value = getattr(aggregate, "value", None)
    return None if value is None else expression(value, cells)


@singledispatch
def measured(aggregate: Aggregate, value: str) -> str:
    """Return what one row adds, from its ``value``: the clamp stands here, below the aggregate."""
    raise Unsupported("DuckDB cannot run this aggregate", got=type(aggregate).__name__)


@measured.register
def _(_: CountDistinct, value: str) -> str:
    return value


@measured.register(SumValues)
@measured.register(SumSquares)
@measured.register(QuantileValues)
def _(aggregate: SumValues | SumSquares | QuantileValues, value: str) -> str:
    return clamped(value, aggregate.bounds, aggregate.value.type)


@singledispatch
def total(aggregate: Aggregate, value: str, *, kept: str) -> str:
    """Return the SQL that adds up ``value`` over the ``kept`` rows of a group, in 64 bits."""
    raise Unsupported("DuckDB cannot run this aggregate", got=type(aggregate).__name__)


@total.register
def _(_: CountRows, value: str, *, kept: str) -> str:
    return f"count(*) FILTER (WHERE {kept})"


@total.register
def _(aggregate: SumValues, value: str, *, kept: str) -> str:
    return _saturated(f"{value} - ({aggregate.centre})", kept)


@total.register
def _(aggregate: SumSquares, value: str, *, kept: str) -> str:
    distance = f"({value} - ({aggregate.centre}))"
    return _saturated(f"{distance} * {distance} - ({aggregate.offset})", kept)


@total.register
def _(_: QuantileValues, value: str, *, kept: str) -> str:
    return f"list({value} ORDER BY {value}) FILTER (WHERE {kept} AND {value} IS NOT NULL)"


def _saturated(value: str, kept: str) -> str:
    """Return the exact sum, held within what noise accepts: that moves no two sums apart."""
    whole = f"coalesce(sum({value}) FILTER (WHERE {kept}), 0)"
    return f"least(greatest({whole}, {-LARGEST_VALUE}), {LARGEST_VALUE})::BIGINT"
