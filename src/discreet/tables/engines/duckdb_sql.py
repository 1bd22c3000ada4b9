"""The bounded plan in DuckDB's SQL.

Nothing here can raise on any data: casts are TRY_CAST, arithmetic is on clamped values, and NULL
and NaN have a place. Every operator below the last GROUP BY is owner-local: it looks at one row, or
at the rows of one unit (each window is partitioned by the unit).
"""

import datetime
from collections.abc import Mapping
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.core.numbers import exact
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.tables.aggregate import Aggregate, CountRows, SumColumn
from discreet.tables.column import Bounds, Column, ColumnType
from discreet.tables.expression import (
    And,
    ColumnValue,
    Compare,
    Expression,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.tables.plan import BoundedPlan

Cells = Mapping[str, str]
"""What to write for each declared column."""

SQL_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
}


def query(plan: BoundedPlan, relation: str, cells: Cells) -> str:
    """Return the SQL that computes the plan over ``relation``, with ``$salt`` as its parameter.

    ``cells`` says what to write for a declared column, because a source's own names never reach the
    engine: they could repeat, or mean another column in another case.

    Guarantee:
        A unit keeps its first ``groups_per_unit`` groups in the order of a keyed hash, and in each
        the first ``rows_per_group`` rows in the order of a keyed hash of their content. The group
        number breaks ties between groups; rows that tie in all their content are alike, and
        ``lag`` counts positions, so a tie never admits one too many. No other unit's rows matter.
    """
    values = [f"v{i}" for i in range(len(plan.aggregates))]
    keys = [f"k{i}" for i in range(len(plan.keys.columns))]
    unit = column_value(plan.table.column(plan.table.unit.column), cells)
    inputs = [
        *(f"{column_value(c, cells)} AS {k}" for c, k in zip(plan.keys.columns, keys, strict=True)),
        *(
            f"{steps(a, cells)} AS {value}"
            for a, value in zip(plan.aggregates, values, strict=True)
        ),
    ]
    where = f" AND ({expression(plan.where, cells)})" if plan.where is not None else ""
    join = f" JOIN keys USING ({', '.join(keys)})" if keys else ", (SELECT 0 AS g)"
    content = ", ".join(values)
    limits = plan.limits
    totals = ", ".join(total(a, v) for a, v in zip(plan.aggregates, values, strict=True))
    return f"""
WITH owned AS (SELECT {unit} AS u, {", ".join(inputs)} FROM {relation}
               WHERE {unit} IS NOT NULL{where}),
keyed AS (SELECT u, g, {content} FROM owned{join}),
hashed AS (SELECT *, hash(hash(u, g, $salt)) AS hg, hash(hash(u, g, {content}, $salt)) AS hr
           FROM keyed),
ranked AS (SELECT g, {content},
                  dense_rank() OVER (PARTITION BY u ORDER BY hg, g) AS group_rank,
                  lag(g, {limits.rows_per_group})
                    OVER (PARTITION BY u ORDER BY hg, g, hr, {content}) AS earlier
           FROM hashed)
SELECT g, {totals} FROM ranked
WHERE group_rank <= {limits.groups_per_unit} AND earlier IS DISTINCT FROM g GROUP BY g"""


def column_value(column: Column, cells: Cells) -> str:
    """Return the column as its declared type, NULL where it does not read as one."""
    cast = f"TRY_CAST({cells[column.name]} AS {SQL_TYPES[column.type]})"
    return f"nullif({cast}, 'nan'::DOUBLE)" if column.type is ColumnType.REAL else cast


def text(value: str) -> str:
    """Return a text literal."""
    return "'" + value.replace("'", "''") + "'"


@singledispatch
def steps(aggregate: Aggregate, cells: Cells) -> str:
    """Return what one row adds, as a whole number of steps."""
    raise Unsupported("DuckDB cannot run this aggregate", got=type(aggregate).__name__)


@steps.register
def _(_: CountRows, cells: Cells) -> str:
    return "1::BIGINT"


@steps.register
def _(aggregate: SumColumn, cells: Cells) -> str:
    value = column_value(aggregate.column, cells)
    return clamped(value, aggregate.bounds, aggregate.column.type)


def clamped(value: str, bounds: Bounds, kind: ColumnType) -> str:
    """Return ``value`` on the grid: clamp, divide, round half up, cast, clamp again in integers.

    The last clamp is the one that the sensitivity rests on. The first keeps the cast in range.
    ``greatest`` and ``least`` skip NULL, so NULL is kept apart.
    """
    ends = f"{bounds.lower_steps}), {bounds.upper_steps})"
    if kind is ColumnType.INTEGER and bounds.step == 1:
        return f"CASE WHEN {value} IS NOT NULL THEN least(greatest({value}, {ends} END"
    lower, upper, step = (double(float(x)) for x in (bounds.lower, bounds.upper, bounds.step))
    near = f"least(greatest({value}::DOUBLE, {lower}), {upper})"
    rounded = f"TRY_CAST(floor({near} / {step} + {double(0.5)}) AS BIGINT)"
    return f"CASE WHEN {value} IS NOT NULL THEN least(greatest({rounded}, {ends} END"


def double(value: float) -> str:
    """Return a floating-point literal (a bare decimal would be a DECIMAL, whose casts can fail)."""
    return f"'{value!r}'::DOUBLE"


@singledispatch
def total(aggregate: Aggregate, value: str) -> str:
    """Return the SQL that adds up ``value`` over a group, as a 64-bit integer."""
    raise Unsupported("DuckDB cannot run this aggregate", got=type(aggregate).__name__)


@total.register
def _(_: CountRows, value: str) -> str:
    return f"count({value})"


@total.register
def _(_: SumColumn, value: str) -> str:
    return f"least(greatest(coalesce(sum({value}), 0), {-LARGEST_VALUE}), {LARGEST_VALUE})::BIGINT"


@singledispatch
def expression(node: Expression, cells: Cells) -> str:
    """Return a row-wise expression in SQL."""
    raise Unsupported("DuckDB cannot run this expression", got=type(node).__name__)


@expression.register
def _(node: ColumnValue, cells: Cells) -> str:
    return column_value(node.column, cells)


@expression.register
def _(node: Literal, cells: Cells) -> str:
    if node.type is ColumnType.REAL:
        return double(float(exact(str(node.value))))
    if isinstance(node.value, bool):
        return str(node.value).upper()
    if isinstance(node.value, int):
        return f"{node.value}::BIGINT"
    if isinstance(node.value, datetime.date):
        return f"DATE {text(node.value.isoformat())}"
    return text(node.value)


@expression.register
def _(node: Compare, cells: Cells) -> str:
    return (
        f"({expression(node.left, cells)} {node.comparison.value} {expression(node.right, cells)})"
    )


@expression.register
def _(node: IsNull, cells: Cells) -> str:
    return f"({expression(node.value, cells)} IS NULL)"


@expression.register
def _(node: Not, cells: Cells) -> str:
    return f"(NOT {expression(node.condition, cells)})"


@expression.register
def _(node: And, cells: Cells) -> str:
    return f"({expression(node.left, cells)} AND {expression(node.right, cells)})"


@expression.register
def _(node: Or, cells: Cells) -> str:
    return f"({expression(node.left, cells)} OR {expression(node.right, cells)})"
