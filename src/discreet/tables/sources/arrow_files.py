"""Files of Arrow batches, whatever kind of file: matched by name, handed over by position."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.sources.arrow_types import plain_array, plain_cell, plain_type, require_total
from discreet.tables.sources.batches import Batches
from discreet.tables.sources.opened import Opened
from discreet.tables.sources.source_columns import match_columns
from discreet.tables.sources.source_files import source_files

BATCH_ROWS = 1 << 17


@frozen(kw_only=True)
class ArrowKind:
    """A kind of file that holds Arrow batches: how to read its schema, and some of its columns."""

    schema: Callable[[Path], Any]
    read: Callable[[Path, Sequence[int]], Iterator[Sequence[Any]]]
    """Yield the arrays at the given places of the schema, batch by batch."""


def require_arrow_files(table: Table | PublicTable, kind: ArrowKind) -> None:
    """Check names and types in every file; no row and no statistic is read."""
    _plain_types(table, [kind.schema(file) for file in source_files(table)])


def open_arrow_files(
    table: Table | PublicTable, used: frozenset[str], name: str, kind: ArrowKind
) -> Opened:
    """Return the source as batches of the used columns, one file after another.

    Files are named literally and a folder is never a column. Text comes as bytes and is decoded in
    the query, where bytes that are not UTF-8 become NULL.
    """
    arrow = optional.load("pyarrow")
    files = source_files(table)
    schemas = [kind.schema(file) for file in files]
    types = _plain_types(table, schemas)
    wanted = [column.name for column in table.columns if column.name in used]
    wanted = wanted or [table.columns[0].name]  # batches without columns would lose their length
    handed = {column: f"c{i}" for i, column in enumerate(wanted)}
    schema = arrow.schema([(cell, types[column]) for column, cell in handed.items()])

    def begin() -> Iterator[Any]:
        for file, stored in zip(files, schemas, strict=True):
            places = match_columns(table, stored.names)
            for arrays in kind.read(file, [places[column] for column in wanted]):
                plain = [plain_array(a, f.type) for a, f in zip(arrays, schema, strict=True)]
                yield arrow.RecordBatch.from_arrays(plain, schema=schema)

    cells = {column: plain_cell(cell, types[column]) for column, cell in handed.items()}
    return Opened(relation=name, cells=cells, batches=Batches(schema=schema, begin=begin))


def _plain_types(table: Table | PublicTable, schemas: Sequence[Any]) -> dict[str, Any]:
    """Return the type in which each declared column is handed over; files must agree on it."""
    types: dict[str, Any] = {}
    for schema in schemas:
        for name, place in match_columns(table, schema.names).items():
            stored = schema.field(place).type
            require_total(table, name, stored)
            if types.setdefault(name, plain_type(stored)) != plain_type(stored):
                raise DeclarationError(
                    f"Column '{name}' of {table.name} has two types in its files",
                    must="be stored as one type in all files of the pattern",
                    got=f"{types[name]} and {plain_type(stored)}",
                    next="Convert it when the files are written",
                )
    return types
