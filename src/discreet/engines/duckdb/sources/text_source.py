"""Sources whose cells are all texts: opened in one way, whatever kind of file they are in."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.engines.duckdb.sources.opened import Opened, Part, opened, wanted_columns
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source_files import fitting_files, folder_values

Reads = Callable[[Table | PublicTable, Path, Sequence[str]], Iterator[tuple[int, Sequence[Any]]]]
"""Yield the number of rows and the bytes of the named columns of one file, batch by batch."""


def open_texts(reads: Reads, table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the source as bytes of the used columns, one file after another.

    Each file is read by itself. The name of a folder is a column only where that is declared, and
    then its value is that of each row in it.
    """
    wanted = wanted_columns(table, used)
    types = (optional.load("pyarrow").large_binary(),) * len(wanted)

    def begin() -> Iterator[Sequence[Any]]:
        for file in fitting_files(table.source):
            folders = folder_values(table.source, file)
            stored = [column for column in wanted if column not in folders]
            for rows, arrays in reads(table, file, stored):
                found = dict(zip(stored, arrays, strict=True))
                yield [
                    repeated(folders[column], rows) if column in folders else found[column]
                    for column in wanted
                ]

    return opened(table, wanted, name, [Part(types=types, begin=begin)])


def repeated(value: bytes | None, rows: int) -> Any:
    """Return the same bytes, or NULL, for so many rows."""
    arrow = optional.load("pyarrow")
    return arrow.repeat(arrow.scalar(value, arrow.large_binary()), rows)
