"""Clamps and buckets in DuckDB's SQL."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.core.numbers import exact
from discreet.engines.duckdb.render.let import Render, let, unsigned_zero
from discreet.engines.duckdb.render.literal import integer
from discreet.engines.duckdb.render.values import double
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal


def _number(argument: Expression) -> Fraction:
    assert isinstance(argument, Literal)
    return exact(str(argument.value))


def _width_bucket(node: Call, arguments: Sequence[str]) -> str:
    """Return how many of the n + 1 edges are at or below the number: no rounding error can occur.

    Edge k is low + k (high - low) / n. For integers it is rounded up, which is exact; for real
    numbers to the nearest float, as the decimals were that somebody wrote: so 0.3 is in the bucket
    that begins at 0.3.
    """
    low, high, buckets = (_number(argument) for argument in node.arguments[1:])
    edges = [low + k * (high - low) / buckets for k in range(int(buckets) + 1)]
    if node.arguments[0].type is ColumnType.INTEGER:
        marks = [integer(math.ceil(edge)) for edge in edges]
    else:
        marks = [double(float(edge)) for edge in edges]
    return let(arguments[0], f"CASE WHEN isfinite(v::DOUBLE) THEN {_count(marks, 0)} END")


def _count(marks: Sequence[str], passed: int) -> str:
    """Return how many of the rising marks are at or below ``v``, by halving."""
    if not marks:
        return f"{passed}::BIGINT"
    middle = len(marks) // 2
    below, above = _count(marks[:middle], passed), _count(marks[middle + 1 :], passed + middle + 1)
    return f"CASE WHEN v < {marks[middle]} THEN {below} ELSE {above} END"


def _clamp(node: Call, arguments: Sequence[str]) -> str:
    """Return the number in the range, on the grid if there is a step; NULL stays NULL."""
    lower, upper = arguments[1:3]
    inside = f"least(greatest(v, {lower}), {upper})"
    body = f"CASE WHEN v IS NOT NULL THEN {inside} END"
    if len(arguments) == 3:
        return let(arguments[0], body)
    step = arguments[3]
    near = f"floor({let(arguments[0], body)}::DOUBLE / {step}::DOUBLE + '0.5'::DOUBLE)"
    on_grid = let(f"{near} * {step}::DOUBLE", body)
    return (
        f"TRY_CAST({on_grid} AS BIGINT)"
        if node.type is ColumnType.INTEGER
        else unsigned_zero(on_grid)
    )


RANGE_FUNCTIONS: Mapping[str, Render] = {"width_bucket": _width_bucket, "clamp": _clamp}
