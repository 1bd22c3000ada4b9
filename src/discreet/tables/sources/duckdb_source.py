"""DuckDB files: opened read-only beside the engine, and read as batches in which text is bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.engines.duckdb_sql.values import text
from discreet.tables.sources.arrow_files import BATCH_ROWS
from discreet.tables.sources.arrow_types import plain_array, plain_cell, plain_type
from discreet.tables.sources.batches import Batches
from discreet.tables.sources.opened import Opened
from discreet.tables.sources.source_columns import match_columns
from discreet.tables.sources.source_files import stored_table

_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "arrow_large_buffer_size": True,
}
_AS_IS = frozenset(
    {
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("FLOAT", "DOUBLE", "BOOLEAN", "DATE", "DECIMAL", "BLOB"),
        *("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
    }
)
"""Types of which every value can be handed over."""

_AS_TEXT = frozenset({"VARCHAR", "HUGEINT", "UHUGEINT", "UUID", "ENUM"})
"""Types of which every value has a text; it is handed over as bytes."""


def require_duckdb(table: Table | PublicTable) -> None:
    """Check the table inside the file, its columns and their types; no row is read."""
    with attached(table.source.path) as database:
        _stored_cells(table, database)


def stored_tables(file: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the tables of a database file, each with the names and types of its columns.

    Views and computed columns are left out; they are not read.
    """
    with attached(file) as database:
        columns = database.execute(
            "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() "
            "JOIN duckdb_tables() USING (database_name, schema_name, table_name) "
            "WHERE database_name = 'source' AND NOT is_generated "
            "ORDER BY schema_name, table_name, column_index"
        ).fetchall()
    found: dict[str, list[tuple[str, str]]] = {}
    for schema, table, column, kind in columns:
        name = table if schema == "main" else f"{schema}.{table}"
        found.setdefault(name, []).append((column, kind))
    return found


def is_readable(kind: str) -> bool:
    """Tell whether every value of a stored type can be handed over."""
    return not kind.endswith("]") and kind.partition("(")[0] in _AS_IS | _AS_TEXT


def open_duckdb(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the table as batches of the used columns.

    The file is read by a connection of its own, which can write nothing, loads no extension and
    runs no view: so what was put into the file cannot reach the engine or another table.
    """
    with attached(table.source.path) as database:
        place, stored = _stored_cells(table, database)
        wanted = [column.name for column in table.columns if column.name in used]
        wanted = wanted or [table.columns[0].name]
        cells = ", ".join(f"{stored[column]} AS c{i}" for i, column in enumerate(wanted))
        query = f"SELECT {cells} FROM {place}"
        kinds = database.sql(f"{query} LIMIT 0").to_arrow_table().schema.types
    arrow = optional.load("pyarrow")
    schema = arrow.schema([(f"c{i}", plain_type(kind)) for i, kind in enumerate(kinds)])

    def begin() -> Iterator[Any]:
        with attached(table.source.path) as database:
            for batch in database.sql(query).to_arrow_reader(BATCH_ROWS):
                pairs = zip(batch.columns, schema.types, strict=True)
                plain = [plain_array(array, kind) for array, kind in pairs]
                yield arrow.RecordBatch.from_arrays(plain, schema=schema)

    handed = {c: plain_cell(f"c{i}", schema.field(i).type) for i, c in enumerate(wanted)}
    return Opened(relation=name, cells=handed, batches=Batches(schema=schema, begin=begin))


@contextmanager
def attached(file: Path) -> Iterator[Any]:
    """Yield a connection to which the file is attached, for reading only, as ``source``."""
    if "?" in str(file):
        raise DeclarationError(
            "The path of a database file would be read as one with settings",
            must="have no ? in it",
            got=file.name,
            next="Move the project, or export the table to Parquet",
        )
    with optional.load("duckdb").connect(":memory:", config=_SETTINGS) as database:
        database.execute("SET enable_progress_bar = false")
        database.execute(f"ATTACH {text(str(file))} AS source (TYPE duckdb, READ_ONLY)")
        yield database


def _stored_cells(table: Table | PublicTable, database: Any) -> tuple[str, dict[str, str]]:
    """Return the stored table's full name, and what to write for each declared column."""
    schema, name = _find(table, database)
    columns = database.execute(
        "SELECT column_name, data_type, is_generated FROM duckdb_columns() "
        "WHERE database_name = 'source' AND schema_name = $schema AND table_name = $name "
        "ORDER BY column_index",
        {"schema": schema, "name": name},
    ).fetchall()
    places = match_columns(table, [column for column, _, _ in columns])
    cells = {declared: _cell(table, declared, *columns[i]) for declared, i in places.items()}
    return f"source.{_quoted(schema)}.{_quoted(name)}", cells


def _find(table: Table | PublicTable, database: Any) -> tuple[str, str]:
    """Return schema and name of the one stored table that is meant; a view is none."""
    meant = stored_table(table.source.table or "")
    stored = database.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source'"
    ).fetchall()
    found = [pair for pair in stored if (pair[0].casefold(), pair[1].casefold()) == meant]
    if len(found) != 1:
        raise DeclarationError(
            f"The source of {table.name} has no such table",
            must="name one table of the database file with source_table (a view is not read)",
            got=table.source.table or "nothing",
        )
    schema, name = found[0]
    return schema, name


def _cell(table: Table | PublicTable, name: str, stored: str, kind: str, generated: bool) -> str:
    if generated or not is_readable(kind):
        raise DeclarationError(
            f"Column '{name}' of {table.name} is stored as "
            + ("an expression" if generated else kind),
            must="be stored as a number, text, boolean, date or timestamp in micro- or nanoseconds",
            next="Store it in a table with such a column",
        )
    is_text = kind.partition("(")[0] in _AS_TEXT
    return f"encode(CAST({_quoted(stored)} AS VARCHAR))" if is_text else _quoted(stored)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
