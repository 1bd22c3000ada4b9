"""What a file stores, by names and types alone: enough to begin or to check a declaration."""

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError, MissingDependency
from discreet.engines.duckdb.sources.arrow_source import ARROW, ArrowColumn, handed_type, value_type
from discreet.engines.duckdb.sources.csv_source import csv_names, file_header
from discreet.engines.duckdb.sources.duckdb_source import PARQUET, is_readable, stored_tables
from discreet.engines.duckdb.sources.excel_source import excel_sheets
from discreet.engines.duckdb.sources.frame_source import copied_columns
from discreet.engines.duckdb.sources.json_source import json_names
from discreet.engines.duckdb.sources.sqlite_source import COMPUTED, sqlite_tables
from discreet.tables.column import INSIDE, ColumnType
from discreet.tables.source import Source, SourceFormat
from discreet.tables.text_form import Compression

T = TypeVar("T")


class StoredKind(Enum):
    """How values are stored, as far as it matters for how they look as text."""

    TEXT = "text"
    INTEGER = "integers"
    FLOAT = "floating-point numbers"
    DECIMAL = "decimals"
    BOOLEAN = "booleans"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    INSTANT = "timestamps with a time zone"
    TIME = "times of day"
    EMPTY = "nothing but NULL"
    OTHER = "something that is not read"


DECLARED = {
    StoredKind.TEXT: ColumnType.TEXT,
    StoredKind.INTEGER: ColumnType.INTEGER,
    StoredKind.FLOAT: ColumnType.REAL,
    StoredKind.DECIMAL: ColumnType.REAL,
    StoredKind.BOOLEAN: ColumnType.BOOLEAN,
    StoredKind.DATE: ColumnType.DATE,
    StoredKind.TIMESTAMP: ColumnType.TIMESTAMP,
    StoredKind.INSTANT: ColumnType.TIMESTAMP,
    StoredKind.TIME: ColumnType.TIME,
}


@frozen(kw_only=True)
class StoredColumn:
    """A column of a file: its name, and how it is stored, in the file's words and in ours."""

    name: str
    stored: str
    kind: StoredKind

    @property
    def declared_type(self) -> ColumnType | None:
        """The declared type that fits, if any."""
        return DECLARED.get(self.kind)


Found = dict[tuple[str, str] | None, tuple[StoredColumn, ...]]


def stored_columns(file: Path, source: Source, name: str, *, with_inner: bool = False) -> Found:
    """Return the columns of a file, or of each table of a database file, by its schema and name.

    Fields inside columns are among them if they are asked for, under the names of their paths.

    ``file`` is one of those that ``source`` means, which is what ``name`` is read from.

    Guarantee:
        No row is read: of a CSV file the header, of other files the schema. Only JSON lines and
        sheets have no other place for names than their first rows. No statistic is looked at. What
        a library says about a file that it cannot read is not repeated, nor is the name of a file
        that a pattern found.
    """
    found = plainly(lambda: _READERS[source.format](file, source), source, name)
    if with_inner:
        return found
    return {
        place: tuple(column for column in columns if not column.name.startswith(INSIDE))
        for place, columns in found.items()
    }


def require_text(file: Path, source: Source, name: str) -> None:
    """Check that a file of text is there and can be unpacked at its beginning."""
    plainly(lambda: file_header(file, source.text, ()), source, name)


def plainly(look: Callable[[], T], source: Source, name: str) -> T:
    """Look into a source for its owner; ``name`` is what it is the source of.

    What a library says of a file that it cannot read is not repeated.
    """
    try:
        return look()
    except (DeclarationError, MissingDependency):
        raise
    except Exception:
        packed = source.text.compression
        kind = source.format.value if packed is Compression.NONE else f"{packed.value}-packed"
        raise DeclarationError(
            f"The source of {name} cannot be read",
            must=f"be a {kind} file that exists and is whole",
            got=source.path.name,
            next=_MEANT_OTHERWISE.get(source.path.suffix.lower(), ""),
        ) from None


_MEANT_OTHERWISE = {".db": 'If it is a file of SQLite, add format = "sqlite"'}


def written(name: str) -> StoredColumn:
    """Return a column of which every cell is text."""
    return StoredColumn(name=name, stored="text", kind=StoredKind.TEXT)


def _csv(file: Path, source: Source) -> Found:
    return {None: tuple(map(written, csv_names(file, source.text)))}


def _json_lines(file: Path, source: Source) -> Found:
    return {None: tuple(map(written, json_names(file, source.text)))}


def _excel(file: Path, _: Source) -> Found:
    sheets = excel_sheets(file)
    return {("main", sheet): tuple(map(written, names)) for sheet, names in sheets.items()}


def _sqlite(file: Path, _: Source) -> Found:
    return {
        ("main", table): tuple(
            StoredColumn(name=name, stored=_shown(kind), kind=_sqlite_kind(kind))
            for name, kind in columns
        )
        for table, columns in sqlite_tables(file).items()
    }


def _sqlite_kind(kind: str) -> StoredKind:
    """Return what a declared type of SQLite means mostly; a cell of any column can hold any value.

    The parts of names are those by which SQLite itself tells types apart, and those of dates.
    """
    if kind == COMPUTED:
        return StoredKind.OTHER
    found = (meant for part, meant in _SQLITE_KINDS.items() if part in kind.upper())
    return next(found, StoredKind.TEXT)


_SQLITE_KINDS = {
    "INT": StoredKind.INTEGER,
    "CHAR": StoredKind.TEXT,
    "CLOB": StoredKind.TEXT,
    "TEXT": StoredKind.TEXT,
    "REAL": StoredKind.FLOAT,
    "FLOA": StoredKind.FLOAT,
    "DOUB": StoredKind.FLOAT,
    "DEC": StoredKind.FLOAT,
    "NUM": StoredKind.FLOAT,
    "BOOL": StoredKind.BOOLEAN,
    "DATETIME": StoredKind.TIMESTAMP,
    "TIMESTAMP": StoredKind.TIMESTAMP,
    "DATE": StoredKind.DATE,
    "TIME": StoredKind.TIME,
}


def _arrow(columns: Sequence[ArrowColumn]) -> Found:
    return {
        None: tuple(
            StoredColumn(
                name=column.name,
                stored=column.stored or str(column.type),
                kind=arrow_kind(column),
            )
            for column in columns
        )
    }


def _frame(_: Path, source: Source) -> Found:
    assert source.frame is not None
    return _arrow(copied_columns(source.frame))


def arrow_kind(column: ArrowColumn) -> StoredKind:
    """Return how the values of a column of Arrow are stored."""
    types = optional.load("pyarrow").types
    value = value_type(column.type)
    if not column.is_readable or handed_type(column.type) is None:
        return StoredKind.OTHER
    kinds = {
        types.is_null: StoredKind.EMPTY,
        types.is_integer: StoredKind.INTEGER,
        types.is_floating: StoredKind.FLOAT,
        types.is_decimal: StoredKind.DECIMAL,
        types.is_boolean: StoredKind.BOOLEAN,
        types.is_date: StoredKind.DATE,
        types.is_time: StoredKind.TIME,
    }
    if types.is_timestamp(value):
        return StoredKind.TIMESTAMP if value.tz is None else StoredKind.INSTANT
    return next((kind for fits, kind in kinds.items() if fits(value)), StoredKind.TEXT)


def _duckdb(file: Path, _: Source) -> Found:
    return {
        table: tuple(
            StoredColumn(name=name, stored=_shown(kind), kind=_duckdb_kind(kind))
            for name, kind in columns
        )
        for table, columns in stored_tables(file).items()
    }


def _shown(kind: str) -> str:
    return "an expression" if kind == "EXPRESSION" else kind.lower()


def _duckdb_kind(kind: str) -> StoredKind:
    base = kind.partition("(")[0]
    if base == '"NULL"':
        return StoredKind.EMPTY
    if not is_readable(kind):
        return StoredKind.OTHER
    if base.endswith(("INT", "INTEGER")):
        return StoredKind.INTEGER
    if base.startswith(("TIMESTAMP WITH", "TIMESTAMPTZ")):
        return StoredKind.INSTANT
    return _DUCKDB_KINDS.get(base.partition(" ")[0].partition("_")[0], StoredKind.TEXT)


_DUCKDB_KINDS = {
    "FLOAT": StoredKind.FLOAT,
    "DOUBLE": StoredKind.FLOAT,
    "DECIMAL": StoredKind.DECIMAL,
    "BOOLEAN": StoredKind.BOOLEAN,
    "DATE": StoredKind.DATE,
    "TIMESTAMP": StoredKind.TIMESTAMP,
    "TIME": StoredKind.TIME,
}

_READERS: dict[SourceFormat, Callable[[Path, Source], Found]] = {
    SourceFormat.CSV: _csv,
    SourceFormat.PARQUET: lambda file, _: _arrow(PARQUET.columns(file)),
    SourceFormat.ARROW: lambda file, _: _arrow(ARROW.columns(file)),
    SourceFormat.DUCKDB: _duckdb,
    SourceFormat.JSON_LINES: _json_lines,
    SourceFormat.EXCEL: _excel,
    SourceFormat.SQLITE: _sqlite,
    SourceFormat.FRAME: _frame,
}
