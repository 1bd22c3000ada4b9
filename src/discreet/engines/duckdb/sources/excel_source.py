"""Sheets of Excel workbooks: the first row has the names, and every cell is handed over as text."""

import codecs
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.engines.duckdb.sources.arrow_source import is_id
from discreet.engines.duckdb.sources.duckdb_source import no_such_table
from discreet.engines.duckdb.sources.opened import Opened, find_columns
from discreet.engines.duckdb.sources.text_cells import cell, id_cell
from discreet.engines.duckdb.sources.text_source import open_texts
from discreet.engines.duckdb.sources.workbook import Row, Workbook, read_workbook, sheet_rows
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source_files import stored_table

# In which names inside an archive may be written: loaded here, and not behind a charge.
codecs.lookup("cp437")


def excel_sheets(file: Path) -> dict[str, tuple[str, ...]]:
    """Return the names in the first row of each sheet; a sheet without rows has none."""
    with zipfile.ZipFile(file) as archive:
        book = read_workbook(archive)
        return {sheet: _names(_first(archive, book, sheet)) for sheet in book.sheets}


def open_excel(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return a sheet as bytes of the used columns.

    Rows in which nothing is are none. A cell that is an error, or of an unknown kind, is NULL.
    """
    return open_texts(_arrays, table, used, name)


def _arrays(
    table: Table | PublicTable, file: Path, wanted: Sequence[str]
) -> Iterator[tuple[int, Sequence[Any]]]:
    arrow = optional.load("pyarrow")
    makers = [id_cell if is_id(table, column) else cell for column in wanted]
    places: list[int | None] | None = None
    with zipfile.ZipFile(file) as archive:
        book = read_workbook(archive)
        for rows in sheet_rows(archive, book, _sheet(table, book)):
            if places is None:
                found = find_columns(table, _names(rows.pop(0)))
                places = [found[column] for column in wanted]
            columns = [
                [None if place is None else make(row.get(place)) for row in rows]
                for place, make in zip(places, makers, strict=True)
            ]
            yield len(rows), [arrow.array(values, arrow.large_binary()) for values in columns]


def _sheet(table: Table | PublicTable, book: Workbook) -> str:
    meant = stored_table(table.source)
    found = [name for name in book.sheets if ("main", name.casefold()) == meant]
    if len(found) != 1:
        raise no_such_table(table)
    return found[0]


def _first(archive: zipfile.ZipFile, book: Workbook, sheet: str) -> Row:
    return next(sheet_rows(archive, book, sheet), [{}])[0]


def _names(row: Row) -> tuple[str, ...]:
    """Return the names of all columns up to the last one that has a name."""
    texts = {place: (cell(value) or b"").decode("utf-8", "replace") for place, value in row.items()}
    return tuple(texts.get(place, "") for place in range(max(texts, default=-1) + 1))
