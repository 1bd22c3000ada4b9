"""Values in DuckDB's SQL: the clamp to a grid, constants and guards."""

import datetime
from collections.abc import Callable, Sequence

from discreet.core.errors import Unsupported
from discreet.core.numbers import exact
from discreet.engines.duckdb.sources.declared_values import SQL_TYPES, USUAL_TIMESTAMPS, text
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Literal


def double(value: float) -> str:
    """Return a floating-point literal (a bare decimal would be a DECIMAL, whose casts can fail).

    There is no minus zero: it equals zero and is written otherwise, so which of the two a minimum
    or a distinct meets first would show, and that depends on other owners' rows.

    Example:
        >>> double(-0.0)
        "'0.0'::DOUBLE"
    """
    return f"'{value + 0.0!r}'::DOUBLE"


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


# ---- Constants in DuckDB's SQL.


def literal(node: Literal) -> str:
    """Return a constant, with its type.

    Example:
        >>> literal(Literal(ColumnType.REAL, "1/2")), literal(Literal(ColumnType.TEXT, "it's"))
        ("'0.5'::DOUBLE", "'it''s'")
    """
    if node.value is None:
        return f"NULL::{SQL_TYPES[node.type]}"
    return _RENDERED[node.type](node.value)


def integer(value: int) -> str:
    """Return a 64-bit constant; quoted, because a bare minus is an operator of its own."""
    if not -(2**63) <= value < 2**63:
        raise Unsupported("DuckDB cannot hold this integer", must="fit in 64 bits")
    return f"'{value}'::BIGINT"


def date(value: datetime.date) -> str:
    """Return a date constant."""
    return f"'{value.isoformat()}'::DATE"


def timestamp(value: datetime.datetime) -> str:
    """Return a timestamp constant."""
    return f"'{value.isoformat(sep=' ')}'::TIMESTAMP"


def time(value: datetime.time) -> str:
    """Return a constant time of day."""
    return f"'{value.isoformat()}'::TIME"


_RENDERED = {
    ColumnType.INTEGER: lambda value: integer(int(value)),
    ColumnType.REAL: lambda value: double(float(exact(str(value)))),
    ColumnType.TEXT: text,
    ColumnType.BOOLEAN: lambda value: "TRUE" if value else "FALSE",
    ColumnType.DATE: date,
    ColumnType.TIMESTAMP: timestamp,
    ColumnType.TIME: time,
}

NOBODYS = {
    ColumnType.BOOLEAN: "FALSE",
    ColumnType.INTEGER: "0::BIGINT",
    ColumnType.REAL: "0::DOUBLE",
    ColumnType.TEXT: "''",
    ColumnType.DATE: "DATE '2000-01-01'",
    ColumnType.TIMESTAMP: "TIMESTAMP '2000-01-01 00:00:00'",
    ColumnType.TIME: "TIME '00:00:00'",
}
"""A value of each type that is not NULL: a row with a NULL in one of its keys is not held."""

# ---- Guards in DuckDB's SQL: a value if it is fit for what follows, else NULL.
#
# A guard mentions a value twice. Written out twice, nested expressions would double in size at
# every level. A list of one element and a lambda mention it once; the lambda's body never holds
# another expression of the query, so names cannot clash.

Render = Callable[[Call, Sequence[str]], str]
"""From a call and the SQL of its arguments to its SQL, closed: it binds to nothing around it."""


def let(value: str, body: str) -> str:
    """Return ``body``, in which ``v`` stands for ``value``.

    Example:
        >>> let("x + y", "CASE WHEN v > 0 THEN v END")
        'list_transform([x + y], lambda v: CASE WHEN v > 0 THEN v END)[1]'
    """
    return f"list_transform([{value}], lambda v: {body})[1]"


def let_pair(first: str, second: str, body: str) -> str:
    """Return ``body``, in which ``v.a`` and ``v.b`` stand for the two values."""
    return let(f"{{'a': {first}, 'b': {second}}}", body)


def only_if(value: str, condition: str) -> str:
    """Return the value if the condition on ``v`` holds, else NULL."""
    return let(value, f"CASE WHEN {condition} THEN v END")


def finite(value: str) -> str:
    """Return a real number without a sign on zero, NULL if it is infinite or not a number."""
    return let(value, f"CASE WHEN isfinite(v) THEN {unsigned_zero('v')} END")


def unsigned_zero(value: str) -> str:
    """Return a real number, with zero for minus zero: they are equal, but do not look alike."""
    return f"({value} + '0'::DOUBLE)"


def ordinary(value: str) -> str:
    """Return a date, NULL if it lies outside the years 1 to 9999."""
    return only_if(value, "v BETWEEN '0001-01-01'::DATE AND '9999-12-31'::DATE")


def usual_timestamp(value: str) -> str:
    """Return a timestamp, NULL if it lies outside the years 1 to 9999."""
    return only_if(value, f"v {USUAL_TIMESTAMPS}")


def within_a_day(value: str) -> str:
    """Return a time of day, NULL at 24:00."""
    return only_if(value, "v < '24:00:00'::TIME")


def whole(value: str) -> str:
    """Return 128-bit arithmetic as a 64-bit integer, NULL if it does not fit."""
    return f"TRY_CAST({value} AS BIGINT)"
