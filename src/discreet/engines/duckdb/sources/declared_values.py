"""The cells of a source in DuckDB's SQL, as values of the declared types."""

from collections.abc import Mapping

from discreet.tables.column import Column, ColumnType

SQL_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
}


def text(value: str) -> str:
    """Return a text literal."""
    return "'" + value.replace("'", "''") + "'"


def column_value(column: Column, cells: Mapping[str, str], longest: int | None = None) -> str:
    """Return a declared column as its type, NULL where it does not read as one.

    NaN and days outside the years 1 to 9999 count as not reading as one. Minus zero becomes zero:
    the two compare as equal but do not look alike, so which is met first could matter. Of a text
    its ``longest`` first characters count, or all.
    """
    cast = f"TRY_CAST({cells[column.name]} AS {SQL_TYPES[column.type]})"
    if column.type is ColumnType.REAL:
        return f"(nullif({cast}, 'nan'::DOUBLE) + 0::DOUBLE)"
    if column.type is ColumnType.TEXT and longest is not None:
        return first_characters(cast, longest)
    return plain_day(cast) if column.type is ColumnType.DATE else cast


def first_characters(value: str, longest: int) -> str:
    """Return the first characters of a text: nothing is done to one that has few bytes."""
    return f"CASE WHEN strlen({value}) <= {longest} THEN {value} ELSE left({value}, {longest}) END"


def plain_day(value: str) -> str:
    """Return a date, NULL unless it is in the years 1 to 9999 (infinity is a date too)."""
    return f"CASE WHEN {value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {value} END"
