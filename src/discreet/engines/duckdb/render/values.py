"""Values in DuckDB's SQL: literals, declared columns, and the clamp to a grid."""

from collections.abc import Mapping

from discreet.tables.column import Bounds, Column, ColumnType

SQL_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
}


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


def text(value: str) -> str:
    """Return a text literal."""
    return "'" + value.replace("'", "''") + "'"


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
