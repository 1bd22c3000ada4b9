"""What a file stores, by names and types alone: enough to begin a declaration with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError, MissingDependency
from discreet.tables.catalog import SourceFormat
from discreet.tables.column import ColumnType
from discreet.tables.sources.arrow_source import ARROW
from discreet.tables.sources.arrow_types import is_total, value_type
from discreet.tables.sources.csv_source import csv_names
from discreet.tables.sources.duckdb_source import is_readable, stored_tables
from discreet.tables.sources.parquet_source import PARQUET


@frozen(kw_only=True)
class StoredColumn:
    """A column of a file: its name, how it is stored, and the declared type that fits, if any."""

    name: str
    stored: str
    type: ColumnType | None


def stored_columns(file: Path, kind: SourceFormat) -> dict[str | None, tuple[StoredColumn, ...]]:
    """Return the columns of a file, or of each table of a database file, by the table's name.

    Guarantee:
        No row is read: of a CSV file the header, of other files the schema. No statistic is looked
        at. What a library says about a file that it cannot read is not repeated.
    """
    try:
        return _READERS[kind](file)
    except (DeclarationError, MissingDependency):
        raise
    except Exception:
        raise DeclarationError(
            "A file cannot be read", must=f"be a {kind.value} file that exists", got=file.name
        ) from None


Found = dict[str | None, tuple[StoredColumn, ...]]


def _csv(file: Path) -> Found:
    names = csv_names(file)
    return {None: tuple(StoredColumn(name=n, stored="text", type=ColumnType.TEXT) for n in names)}


def _arrow(schema: Any) -> Found:
    return {
        None: tuple(
            StoredColumn(name=field.name, stored=str(field.type), type=_arrow_type(field.type))
            for field in schema
        )
    }


def _arrow_type(kind: Any) -> ColumnType | None:
    types = optional.load("pyarrow").types
    value = value_type(kind)
    if not is_total(kind):
        return None
    declared = {
        types.is_integer: ColumnType.INTEGER,
        types.is_floating: ColumnType.REAL,
        types.is_decimal: ColumnType.REAL,
        types.is_boolean: ColumnType.BOOLEAN,
        types.is_temporal: ColumnType.DATE,
    }
    return next((kind for fits, kind in declared.items() if fits(value)), ColumnType.TEXT)


def _duckdb(file: Path) -> Found:
    return {
        table: tuple(
            StoredColumn(name=name, stored=kind.lower(), type=_duckdb_type(kind))
            for name, kind in columns
        )
        for table, columns in stored_tables(file).items()
    }


def _duckdb_type(kind: str) -> ColumnType | None:
    base = kind.partition("(")[0]
    if not is_readable(kind):
        return None
    if base.endswith(("INT", "INTEGER")):
        return ColumnType.INTEGER
    return _DUCKDB_TYPES.get(base.partition(" ")[0].partition("_")[0], ColumnType.TEXT)


_DUCKDB_TYPES = {
    "FLOAT": ColumnType.REAL,
    "DOUBLE": ColumnType.REAL,
    "DECIMAL": ColumnType.REAL,
    "BOOLEAN": ColumnType.BOOLEAN,
    "DATE": ColumnType.DATE,
    "TIMESTAMP": ColumnType.DATE,
}

_READERS: dict[SourceFormat, Callable[[Path], Found]] = {
    SourceFormat.CSV: _csv,
    SourceFormat.PARQUET: lambda file: _arrow(PARQUET.schema(file)),
    SourceFormat.ARROW: lambda file: _arrow(ARROW.schema(file)),
    SourceFormat.DUCKDB: _duckdb,
}
