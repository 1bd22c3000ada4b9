"""Files of Arrow batches, whatever kind of file: matched by name, each read by itself."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.engines.duckdb.sources.arrow_types import handed_array, handed_id_type, handed_type
from discreet.engines.duckdb.sources.opened import Opened, Part, opened
from discreet.engines.duckdb.sources.source_columns import find_columns, wanted_columns
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source_files import fitting_files

BATCH_ROWS = 1 << 17


@frozen(kw_only=True)
class ArrowColumn:
    """A column of a file: its name, its type, and whether every value of it can be read."""

    name: str
    type: Any
    is_readable: bool = True


@frozen(kw_only=True)
class ArrowKind:
    """A kind of file that holds Arrow batches: how to read its columns' types, and some columns."""

    columns: Callable[[Path], tuple[ArrowColumn, ...]]
    read: Callable[[Path, Sequence[int]], Iterator[tuple[int, Sequence[Any]]]]
    """Yield the number of rows and the arrays at the given places, batch by batch."""


def open_arrow_files(
    kind: ArrowKind, table: Table | PublicTable, used: frozenset[str], name: str
) -> Opened:
    """Return the source as batches of the used columns, one file after another.

    Files are named literally and a folder is never a column. Files that are handed over in the same
    types are one part. A column that a file lacks, or of which some value could not be read, is
    NULL in all of the file's rows.
    """
    wanted = wanted_columns(table, used)
    parts: dict[tuple[Any, ...], list[tuple[Path, tuple[int | None, ...]]]] = {}
    for file in fitting_files(table.source):
        columns = kind.columns(file)
        found = find_columns(table, [column.name for column in columns])
        places = [found[column] for column in wanted]
        choices = [
            None if place is None else _type(columns[place], is_id=is_id(table, column))
            for place, column in zip(places, wanted, strict=True)
        ]
        kept = (None if t is None else p for p, t in zip(places, choices, strict=True))
        types = tuple(nothing() if choice is None else choice for choice in choices)
        parts.setdefault(types, []).append((file, tuple(kept)))
    return opened(
        table,
        wanted,
        name,
        [Part(types=t, begin=partial(_arrays, kind, files, t)) for t, files in parts.items()],
    )


def is_id(table: Table | PublicTable, column: str) -> bool:
    """Tell whether a column says whose row it is."""
    return isinstance(table, Table) and table.unit.column == column


def nothing() -> Any:
    """Return the type in which a column without any value is handed over."""
    return handed_type(optional.load("pyarrow").null())


def _type(column: ArrowColumn, *, is_id: bool) -> Any:
    if not column.is_readable:
        return None
    return handed_id_type(column.type) if is_id else handed_type(column.type)


def _arrays(
    kind: ArrowKind,
    files: Sequence[tuple[Path, tuple[int | None, ...]]],
    types: tuple[Any, ...],
) -> Iterator[Sequence[Any]]:
    arrow = optional.load("pyarrow")
    for file, places in files:
        present = [place for place in places if place is not None]
        for rows, arrays in kind.read(file, present):
            of_place = dict(zip(present, arrays, strict=True))
            yield [
                arrow.nulls(rows, handed)
                if place is None
                else handed_array(of_place[place], handed)
                for place, handed in zip(places, types, strict=True)
            ]
