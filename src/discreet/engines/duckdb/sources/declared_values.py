"""The cells of a source in DuckDB's SQL, as values of the declared types."""

from collections.abc import Mapping

from discreet.core.numbers import exact
from discreet.tables.column import Codes, Column, ColumnType, Key

SQL_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TIME: "TIME",
}


def text(value: str) -> str:
    """Return a text literal."""
    return "'" + value.replace("'", "''") + "'"


def column_value(column: Column, cells: Mapping[str, str], longest: int | None = None) -> str:
    """Return a declared column as its type, NULL where it does not read as one.

    NaN and days outside the years 1 to 9999 count as not reading as one. Minus zero becomes zero:
    the two compare as equal but do not look alike, so which is met first could matter. Of a text
    its ``longest`` first characters count, or all. Codes have their meaning.
    """
    most = longest if column.type is ColumnType.TEXT else None
    value = read_value(column.read_as, cells[column.name], most)
    return value if column.codes is None else _meaning(value, column, column.codes)


def read_value(kind: ColumnType, cell: str, longest: int | None = None) -> str:
    """Return a cell as a type, NULL where it does not read as one."""
    cast = f"TRY_CAST({cell} AS {SQL_TYPES[kind]})"
    if kind is ColumnType.REAL:
        return f"(nullif({cast}, 'nan'::DOUBLE) + 0::DOUBLE)"
    if kind is ColumnType.TEXT and longest is not None:
        return first_characters(cast, longest)
    guard = IN_RANGE.get(kind)
    return cast if guard is None else guard(cast)


def _meaning(value: str, column: Column, codes: Codes) -> str:
    """Return what a stored value means; of NULL it is NULL."""
    whens = " ".join(
        f"WHEN {_constant(code, codes.read_as)} THEN {_constant(meaning, column.type)}"
        for code, meaning in codes.meanings
    )
    otherwise = _constant(None, column.type) if codes.is_all else value
    return f"CASE {value} {whens} ELSE {otherwise} END"


def _constant(value: Key | None, kind: ColumnType) -> str:
    """Return a code or its meaning, with its type."""
    if value is None:
        return f"NULL::{SQL_TYPES[kind]}"
    written = repr(float(exact(str(value)))) if kind is ColumnType.REAL else str(value)
    return f"{text(written)}::{SQL_TYPES[kind]}"


def first_characters(value: str, longest: int) -> str:
    """Return the first characters of a text: nothing is done to one that has few bytes."""
    return f"CASE WHEN strlen({value}) <= {longest} THEN {value} ELSE left({value}, {longest}) END"


def plain_day(value: str) -> str:
    """Return a date, NULL unless it is in the years 1 to 9999 (infinity is a date too)."""
    return f"CASE WHEN {value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {value} END"


def plain_timestamp(value: str) -> str:
    """Return a timestamp, NULL unless it is in the years 1 to 9999."""
    return f"CASE WHEN {value} {USUAL_TIMESTAMPS} THEN {value} END"


def plain_time(value: str) -> str:
    """Return a time of day, NULL at 24:00, which is the next day's."""
    return f"CASE WHEN {value} < '24:00:00'::TIME THEN {value} END"


USUAL_TIMESTAMPS = (
    "BETWEEN '0001-01-01 00:00:00'::TIMESTAMP AND '9999-12-31 23:59:59.999999'::TIMESTAMP"
)
"""What is true of a timestamp in the years 1 to 9999."""

IN_RANGE = {
    ColumnType.DATE: plain_day,
    ColumnType.TIMESTAMP: plain_timestamp,
    ColumnType.TIME: plain_time,
}
"""Types of which an engine has values that others do not, and what is left of them."""
