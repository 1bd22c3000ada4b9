"""Constants in DuckDB's SQL."""

import datetime

from discreet.core.errors import Unsupported
from discreet.core.numbers import exact
from discreet.engines.duckdb.render.values import SQL_TYPES, double, text
from discreet.tables.column import ColumnType
from discreet.tables.expression import Literal


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


_RENDERED = {
    ColumnType.INTEGER: lambda value: integer(int(value)),
    ColumnType.REAL: lambda value: double(float(exact(str(value)))),
    ColumnType.TEXT: text,
    ColumnType.BOOLEAN: lambda value: "TRUE" if value else "FALSE",
    ColumnType.DATE: date,
}
