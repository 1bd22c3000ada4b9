"""DuckDB and Parquet files, read as batches in which text is bytes."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import (
    BATCH_ROWS,
    ArrowColumn,
    ArrowKind,
    handed_array,
    handed_id_type,
    handed_type,
    is_id,
)
from discreet.engines.duckdb.sources.declared_values import text
from discreet.engines.duckdb.sources.nested_fields import field_paths, inner_array, inner_fields
from discreet.engines.duckdb.sources.opened import (
    Opened,
    Part,
    find_columns,
    opened,
    wanted_columns,
)
from discreet.engines.duckdb.sources.progress import show_no_progress
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import path_name
from discreet.tables.source_files import stored_table

_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "arrow_large_buffer_size": True,
}
_AS_IS = frozenset(
    {
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("FLOAT", "DOUBLE", "BOOLEAN", "DATE", "DECIMAL", "BLOB", "TIME", "TIME_NS"),
        *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"),
        *("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"),
    }
)
"""Types of which every value can be handed over."""

_AS_TEXT = frozenset({"VARCHAR", "HUGEINT", "UHUGEINT", "UUID", "ENUM"})
"""Types of which every value has a text; it is handed over as bytes."""


def stored_tables(file: Path) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return names and types of the columns of each table of a file, by its schema and name.

    Views are left out; they are not read. The type of a computed column is ``EXPRESSION``.
    """
    with attached(file) as database:
        columns = database.execute(
            "SELECT schema_name, table_name, column_name, "
            "CASE WHEN is_generated THEN 'EXPRESSION' ELSE data_type END FROM duckdb_columns() "
            "JOIN duckdb_tables() USING (database_name, schema_name, table_name) "
            "WHERE database_name = 'source' ORDER BY schema_name, table_name, column_index"
        ).fetchall()
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for schema, table, column, kind in columns:
        found.setdefault((schema, table), []).append((column, kind))
    return found


def is_readable(kind: str) -> bool:
    """Tell whether every value of a stored type can be handed over."""
    return not kind.endswith("]") and kind.partition("(")[0] in _AS_IS | _AS_TEXT


def open_duckdb(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the table as batches of the used columns.

    The file is read by a connection of its own, which can write nothing, loads no extension and
    runs no view: so what was put into the file cannot reach the engine or another table. A column
    that the table lacks, or of which some value could not be read, is NULL in all rows.
    """
    wanted = wanted_columns(table, used)
    with attached(table.source.path) as database:
        place, stored = _stored_cells(table, database)
        cells = ", ".join(f"{stored[column]} AS c{i}" for i, column in enumerate(wanted))
        query = f"SELECT {cells} FROM {place}"
        kinds = database.sql(f"{query} LIMIT 0").to_arrow_table().schema.types
    types = tuple(
        handed_id_type(kind) if is_id(table, column) else handed_type(kind)
        for kind, column in zip(kinds, wanted, strict=True)
    )

    def begin() -> Iterator[Any]:
        with attached(table.source.path) as database:
            for batch in database.sql(query).to_arrow_reader(BATCH_ROWS):
                pairs = zip(batch.columns, types, strict=True)
                yield [handed_array(array, kind) for array, kind in pairs]

    return opened(table, wanted, name, [Part(types=types, begin=begin)])


def require_path(file: Path) -> None:
    """Refuse a path that would be read as one with settings; the file is not looked at."""
    if "?" in str(file):
        raise DeclarationError(
            "The path of a database file would be read as one with settings",
            must="have no ? in it",
            got=file.name,
            next="Move the project, or export the table to Parquet",
        )


@contextmanager
def attached(file: Path) -> Iterator[Any]:
    """Yield a connection to which the file is attached, for reading only, as ``source``."""
    require_path(file)
    with optional.load("duckdb").connect(":memory:", config=_SETTINGS) as database:
        show_no_progress(database)
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
    places = find_columns(table, [column for column, _, _ in columns])
    cells = {
        declared: "NULL::BOOLEAN" if place is None else _cell(*columns[place])
        for declared, place in places.items()
    }
    return f"source.{_quoted(schema)}.{_quoted(name)}", cells


def _find(table: Table | PublicTable, database: Any) -> tuple[str, str]:
    """Return schema and name of the one stored table that is meant; a view is none."""
    meant = stored_table(table.source)
    stored = database.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source'"
    ).fetchall()
    found = [pair for pair in stored if (pair[0].casefold(), pair[1].casefold()) == meant]
    if len(found) != 1:
        raise no_such_table(table)
    schema, name = found[0]
    return schema, name


def no_such_table(table: Table | PublicTable) -> DeclarationError:
    """Return the error for a database file without the declared table."""
    return DeclarationError(
        f"The source of {table.name} has no such table",
        must="name one table or sheet of the file with source_table (a view is not read)",
        got=table.source.table or "nothing",
    )


def _cell(stored: str, kind: str, generated: bool) -> str:
    if generated or not is_readable(kind):
        return "NULL::BOOLEAN"
    is_text = kind.partition("(")[0] in _AS_TEXT
    return f"encode(CAST({_quoted(stored)} AS VARCHAR))" if is_text else _quoted(stored)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ---- Parquet files: read as Arrow batches, with text as bytes, so that no value can raise.


def _opened(file: Path) -> Any:
    """Open a file so that its text is not looked at: the reader raises if a dictionary's is bad."""
    plain = optional.load("pyarrow").large_binary()
    return optional.load("pyarrow.parquet").ParquetFile(file, binary_type=plain)


def _columns(file: Path) -> tuple[ArrowColumn, ...]:
    """Return names and types; the footer's statistics are not looked at."""
    with _opened(file) as opened:
        schema, physical = opened.schema_arrow, opened.schema
    widths: dict[str, float] = {}
    stored = [physical.column(i) for i in range(len(physical))]
    for column in stored:
        widths[column.path] = max(_width(column), widths.get(column.path, 0))
    columns = [
        ArrowColumn(
            name=field.name,
            type=field.type,
            is_readable=not _is_doubtful(field.type, widths.get(field.name, 0)),
        )
        for field in schema
    ]
    return *columns, *_inner_columns(schema, [column.path for column in stored], widths)


def _inner_columns(
    schema: Any, stored: Sequence[str], widths: Mapping[str, float]
) -> Iterator[ArrowColumn]:
    """Yield the fields inside columns; one is read only if no other has its path, as written.

    The reader takes names that are joined with dots, and would read another field with it.
    """
    times = Counter(stored)
    for path, kind in inner_fields(schema):
        joined = ".".join(path)
        is_doubtful = times[joined] != 1 or _is_doubtful(kind, widths.get(joined, 0))
        yield ArrowColumn(name=path_name(path), type=kind, is_readable=not is_doubtful)


def _width(column: Any) -> float:
    """Return how many bytes a value can take in the file."""
    fixed = {"INT32": 4, "INT64": 8, "FIXED_LEN_BYTE_ARRAY": column.length}
    return float(fixed.get(column.physical_type, math.inf))


def _is_doubtful(kind: Any, width: float) -> bool:
    """Tell whether a decimal can be stored in more bytes than the reader takes: it raises on one.

    That is so where each value has a length of its own.
    """
    return bool(optional.load("pyarrow").types.is_decimal(kind)) and width > kind.bit_width / 8


def _read(file: Path, places: Sequence[int]) -> Iterator[tuple[int, Sequence[Any]]]:
    with _opened(file) as opened:
        names = opened.schema_arrow.names
        paths = [(names[i], inner) for i, inner in field_paths(opened.schema_arrow, places)]
        wanted = [".".join((name, *inner)) for name, inner in paths]
        for batch in opened.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
            yield batch.num_rows, [inner_array(batch.column(name), inner) for name, inner in paths]


PARQUET = ArrowKind(columns=_columns, read=_read)
