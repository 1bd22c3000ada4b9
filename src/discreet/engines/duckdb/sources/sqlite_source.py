"""Tables of SQLite files: each cell has a type of its own there, and is handed over by itself."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import is_id
from discreet.engines.duckdb.sources.csv_records import LONGEST_RECORD
from discreet.engines.duckdb.sources.duckdb_source import no_such_table
from discreet.engines.duckdb.sources.opened import Opened, find_columns
from discreet.engines.duckdb.sources.text_cells import cell, id_cell
from discreet.engines.duckdb.sources.text_source import open_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source_files import stored_table

ROWS_AT_ONCE = 4096

COMPUTED = "EXPRESSION"
"""Stands for the type of a column that is computed; such a one is not read."""

_UNWRITTEN = ("-wal", "-journal")
"""Ends of files beside a database that hold what is not in it yet."""


def require_settled(file: Path) -> None:
    """Refuse a database that somebody is writing to: some of its rows are in another file yet.

    Only whether such a file is there is looked at, and that is not about any one person.
    """
    for ending in _UNWRITTEN:
        beside = Path(f"{file}{ending}")
        if beside.exists() and beside.stat().st_size:
            raise DeclarationError(
                "A SQLite file is being written to, or was not closed",
                must=f"have no {ending} file with content beside it",
                got=file.name,
                next="Close the program that writes to it, or open and close it once with sqlite3",
            )


def sqlite_tables(file: Path) -> dict[str, list[tuple[str, str]]]:
    """Return names and declared types of the columns of each table; no row is read.

    Views and virtual tables are left out; they are not read.
    """
    with _opened(file) as database:
        return {name: _columns(database, name) for name in _tables(database)}


def open_sqlite(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the table as bytes of the used columns.

    The file is opened so that nothing is written, not even a lock beside it, and no view, trigger
    or virtual table is run. A column that the table lacks, or that is computed, is NULL in all
    rows, and so is a cell that is longer than a record may be.
    """
    return open_texts(_arrays, table, used, name)


def _arrays(
    table: Table | PublicTable, file: Path, wanted: Sequence[str]
) -> Iterator[tuple[int, Sequence[Any]]]:
    arrow = optional.load("pyarrow")
    makers = [id_cell if is_id(table, column) else cell for column in wanted]
    with _opened(file) as database:
        sql = _select(table, database, wanted)
        with closing(database.execute(sql)) as rows:
            while batch := rows.fetchmany(ROWS_AT_ONCE):
                columns = zip(makers, zip(*batch, strict=True), strict=False)
                yield (
                    len(batch),
                    [
                        arrow.array([make(value) for value in column], arrow.large_binary())
                        for make, column in columns
                    ],
                )


def _select(table: Table | PublicTable, database: sqlite3.Connection, wanted: Sequence[str]) -> str:
    """Return what to ask of the file: plain columns, and a constant so that there is always one."""
    meant = stored_table(table.source)
    found = [name for name in _tables(database) if ("main", name.casefold()) == meant]
    if len(found) != 1:
        raise no_such_table(table)
    columns = _columns(database, found[0])
    places = find_columns(table, [column for column, _ in columns])
    cells = [_cell(None if (p := places[name]) is None else columns[p]) for name in wanted]
    return f"SELECT {', '.join([*cells, '0'])} FROM main.{_quoted(found[0])}"


def _cell(column: tuple[str, str] | None) -> str:
    if column is None or column[1] == COMPUTED:
        return "NULL"
    name = _quoted(column[0])
    is_long = f"typeof({name}) IN ('text', 'blob') AND length(CAST({name} AS BLOB))"
    return f"CASE WHEN {is_long} > {LONGEST_RECORD} THEN NULL ELSE {name} END"


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a file for reading alone. A generator may be gone on with by another thread."""
    require_settled(file)
    place = quote(os.fsencode(file.absolute()))
    uri = f"file:{place}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as database:
        database.text_factory = bytes  # whether it is text in UTF-8 is looked at cell by cell
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA query_only = ON")
        yield database


def _tables(database: sqlite3.Connection) -> list[str]:
    found = database.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
    ).fetchall()
    names = [name.decode("utf-8", "replace") for (name,) in found]
    return [name for name in names if not name.startswith("sqlite_")]


def _columns(database: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    """Return names and types; hidden columns of the kinds 2 and 3 are computed ones."""
    found = database.execute(
        "SELECT name, CASE WHEN hidden > 0 THEN ? ELSE type END FROM pragma_table_xinfo(?) "
        "ORDER BY cid",
        (COMPUTED, table),
    ).fetchall()
    return [tuple(part.decode("utf-8", "replace") for part in row) for row in found]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
