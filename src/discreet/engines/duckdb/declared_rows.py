"""All rows of a source in their declared types, for an owner who wants them in another file.

No question does this, and none of it is charged: whoever may run it can read the file as it is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, field

from discreet.core import optional
from discreet.engines.duckdb.databases import Databases
from discreet.engines.duckdb.sources.declared_values import column_value, read_value
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.opened import Opened
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column, ColumnType

ROWS_AT_ONCE = 100_000


@define
class DeclaredRows:
    """The rows of a table as batches, and what was found in those that were taken so far."""

    table: Table | PublicTable
    schema: Any
    batches: Iterator[Any]
    _stored: dict[str, int]
    _known: dict[str, int] = field(init=False)
    without_unit: int = field(init=False, default=0)
    """In how many rows it is missing whose they are."""

    def __attrs_post_init__(self) -> None:
        """Begin with nothing."""
        self._known = dict.fromkeys(self._stored, 0)

    def take(self) -> Iterator[Any]:
        """Yield tables of rows, each once, and count what is in them."""
        arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
        width = len(self.schema)
        owners = [] if isinstance(self.table, PublicTable) else self.table.unit.key_columns()
        for batch in self.batches:
            values, missing = batch.columns[:width], batch.columns[width:]
            for name, value, marks in zip(self._known, values, missing, strict=True):
                known = len(value) - value.null_count + (compute.sum(marks).as_py() or 0)
                self._known[name] += known
            rows = arrow.RecordBatch.from_arrays(values, schema=self.schema)
            table = arrow.Table.from_batches([rows])
            if owners:
                with_owner = table.select(list(owners)).drop_null()
                self.without_unit += len(table) - len(with_owner)
            yield table

    def unread(self) -> dict[str, int]:
        """Return of how many cells something is stored that reads as nothing, where there are any.

        What is declared to stand for a missing value is none of them.
        """
        found = {name: stored - self._known[name] for name, stored in self._stored.items()}
        return {name: number for name, number in found.items() if number > 0}


@contextmanager
def declared_rows(table: Table | PublicTable) -> Iterator[DeclaredRows]:
    """Yield the rows of a source as a question reads them; reading goes on while the block runs.

    Guarantee:
        Each value is the one that a question finds there, whatever kind of file it comes from: the
        cells are opened by :func:`open_source` and read by :func:`column_value`, as those of a
        question are. Only labels are not put in place of codes, so that the declaration of them
        stays true. Written to a file that keeps these types, and declared there in the same way,
        every value is read as itself.
    """
    names = [column.name for column in table.columns]
    opened = open_source(table, frozenset(names), "rows")
    columns = [table.column(name) for name in opened.cells]
    values = [_written(column, opened) for column in columns]
    marks = [_is_missing(column, opened) for column in columns]
    databases = Databases()
    try:
        with databases.lent() as cursor:
            for name, batches in opened.batches.items():
                cursor.register(name, batches)
            asked = ", ".join([*values, *marks])
            found = cursor.sql(f"SELECT {asked} FROM {opened.relation}")
            reader = found.to_arrow_reader(ROWS_AT_ONCE)
            kinds = zip(opened.cells, reader.schema.types, strict=False)
            schema = optional.load("pyarrow").schema(list(kinds))
            yield DeclaredRows(table, schema, reader, _stored(columns, opened))
    finally:
        databases.close()


def _written(column: Column, opened: Opened) -> str:
    """Return what is written of a column: its value, or of labelled ones the code."""
    codes = column.codes
    if codes is not None and codes.is_all and column.type is ColumnType.TEXT:
        return read_value(codes.read_as, opened.cells[column.name])
    return column_value(column, opened.cells)


def _is_missing(column: Column, opened: Opened) -> str:
    """Return whether a cell has a code that is declared to stand for no value."""
    if column.codes is None or column.codes.is_all:
        return "FALSE"
    read = read_value(column.read_as, opened.cells[column.name])
    return f"({read} IS NOT NULL AND {column_value(column, opened.cells)} IS NULL)"


def _stored(columns: Sequence[Column], opened: Opened) -> dict[str, int]:
    """Return in how many cells of each column anything is stored, but for words for nothing."""
    found = {column.name: 0 for column in columns}
    for part in opened.parts:
        for arrays in part.begin():
            for column, array in zip(columns, arrays, strict=True):
                found[column.name] += len(array) - array.null_count - _words(column, array)
    return found


def _words(column: Column, array: Any) -> int:
    """Return how many cells have a text that is declared to stand for no value."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    if not column.missing_texts or not arrow.types.is_large_binary(array.type):
        return 0
    words = arrow.array([text.encode() for text in column.missing_texts], array.type)
    return int(compute.sum(compute.is_in(array, words)).as_py() or 0)
