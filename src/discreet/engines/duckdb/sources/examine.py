"""Examine sources, for their owner: what each file stores, and what would read as NULL or worse.

An analyst's question looks at none of this before it is charged. There, a file that does not fit
its declaration has NULL where it does not fit, so that nobody's file decides about others'.
"""

from collections.abc import Mapping
from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.duckdb_source import no_such_table
from discreet.engines.duckdb.sources.source_columns import match_columns
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, StoredKind, stored_columns
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source_files import source_files, stored_table

Examined = tuple[Mapping[str, StoredColumn], ...]
"""For each file, how it stores each declared column."""


def examine(table: Table | PublicTable) -> Examined:
    """Return how the files of a table store its columns, by names and types; no row is read.

    Refused are files that are not there or cannot be read, that lack a column or have it twice, and
    types of which some values cannot be handed over.
    """
    found = []
    for file in source_files(table.source, table.name):
        columns = _columns(table, file)
        places = match_columns(table, [column.name for column in columns])
        found.append({name: columns[place] for name, place in places.items()})
        for name, column in found[-1].items():
            if column.kind is StoredKind.OTHER:
                raise _not_read(table, name, column)
    return tuple(found)


def require_source(table: Table | PublicTable) -> None:
    """Check that the source is there and has the declared columns; look at names and types.

    The files of a public table must also agree on the types; those of a private one are read each
    by itself.
    """
    files = examine(table)
    if not isinstance(table, PublicTable):
        return
    for name in files[0]:
        types = sorted({file[name].stored for file in files})
        if len(types) > 1:
            raise DeclarationError(
                f"Column '{name}' of {table.name} has two types in its files",
                must="be stored as one type in all files of the pattern",
                got=" and ".join(types[:2]),
                next="Convert it when the files are written",
            )


def _columns(table: Table | PublicTable, file: Path) -> tuple[StoredColumn, ...]:
    found = stored_columns(file, table.source, table.name)
    if table.source.table is None or None in found:
        return found[None]
    meant = stored_table(table.source.table)
    for place, columns in found.items():
        if place is not None and (place[0].casefold(), place[1].casefold()) == meant:
            return columns
    raise no_such_table(table)


def _not_read(table: Table | PublicTable, name: str, column: StoredColumn) -> DeclarationError:
    return DeclarationError(
        f"Column '{name}' of {table.name} is stored as {column.stored}",
        must="be stored as a number, text, boolean, date or timestamp",
        next="Convert it when the file is written; until then it reads as NULL",
    )
