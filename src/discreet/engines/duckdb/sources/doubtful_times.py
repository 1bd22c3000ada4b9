"""Timestamps and times that do not read as declared, told to the owner, who alone may know.

An answer treats what is no timestamp as NULL, row by row, and where no zone is declared it takes a
text for what is written in it, whatever offset stands behind. A whole column that is written in
another way would so lose its rows, or be hours off, without a word; here is the word.
"""

from collections.abc import Iterator
from typing import Any

from attrs import mutable

from discreet.core import optional
from discreet.engines.duckdb.sources.doubtful_text import first_cells
from discreet.engines.duckdb.sources.stored_columns import plainly
from discreet.engines.duckdb.sources.stored_times import clock_array
from discreet.engines.duckdb.sources.stored_values import whole_texts
from discreet.engines.duckdb.sources.value_kinds import ZONED
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column, ColumnType

_FORMS = {
    ColumnType.TIMESTAMP: "a timestamp: a text must look like 2025-01-31 10:00:00, alone or with Z,"
    " UTC or an offset such as +02:00 behind it, and a number is none",
    ColumnType.TIME: "a time of day: a text must look like 10:00:00, and a number is none",
}


@mutable
class _WrittenTimes:
    """What is known of a column so far."""

    has_others: bool = False
    """Some cell is neither empty, nor missing, nor what is declared."""
    has_zoned: bool = False
    has_bare: bool = False
    """Some text has a zone behind it, or none."""


def doubtful_times(table: Table | PublicTable) -> tuple[str, ...]:
    """Return sentences for columns of timestamps and times that read otherwise than is written.

    For the owner alone: rows are read. Neither a cell nor a number of them is told.
    """
    columns = [column for column in table.columns if column.read_as in _FORMS]
    if not columns:
        return ()
    looked = plainly(lambda: _looked(table, columns), table.source, table.name)
    return tuple(
        f"{table.name}.{column.name} {said}"
        for column, found in zip(columns, looked, strict=True)
        for said in _sentences(column, found)
    )


def _looked(table: Table | PublicTable, columns: list[Column]) -> list[_WrittenTimes]:
    looked = [_WrittenTimes() for _ in columns]
    for arrays in first_cells(table, columns):
        for column, found, array in zip(columns, looked, arrays, strict=True):
            _look(column, found, array)
    return looked


def _look(column: Column, found: _WrittenTimes, array: Any) -> None:
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    is_text = arrow.types.is_large_binary(array.type)
    cells = compute.drop_null(whole_texts(array) if is_text else array)
    if is_text:
        missing = arrow.array(column.missing_texts, arrow.large_string())
        is_blank = compute.match_substring_regex(cells, r"^\s*$")
        is_code = compute.is_in(cells, value_set=missing)
        cells = compute.filter(cells, compute.invert(compute.or_(is_blank, is_code)))
    times = clock_array(column, cells)
    found.has_others |= bool(times.null_count)
    if is_text and column.type is ColumnType.TIMESTAMP:
        is_zoned = compute.match_substring_regex(cells.filter(times.is_valid()), ZONED)
        found.has_zoned |= bool(compute.any(is_zoned).as_py())
        found.has_bare |= compute.all(is_zoned).as_py() is False


def _sentences(column: Column, found: _WrittenTimes) -> Iterator[str]:
    if found.has_others:
        yield (
            f"has cells that are not {_FORMS[column.read_as]}. They are NULL, and in no group."
            " Write them otherwise, or declare codes for no value as missing."
        )
    if found.has_zoned and column.zone is None:
        yield (
            "has texts with a zone behind them (Z, UTC or an offset), and no zone is declared. What"
            " is written in front counts, in whatever zone. Declare the one whose days are meant,"
            ' such as zone = "Europe/Berlin".'
        )
    if found.has_zoned and found.has_bare and column.zone is not None:
        yield (
            "has texts with a zone behind them and texts without one. Those without are taken for"
            f" what clocks of {column.zone} show."
        )
