"""CSV files: all columns are text, nothing is guessed, and one thread reads from top to bottom."""

import csv
from collections.abc import Sequence
from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.engines.duckdb_sql.values import text
from discreet.tables.sources.opened import Opened
from discreet.tables.sources.source_columns import match_columns
from discreet.tables.sources.source_files import source_files

_SPECIAL = frozenset("*?[]")
"""What the engine would read as a pattern."""


def csv_names(file: Path) -> tuple[str, ...]:
    """Return the names in the header; no line after it is looked at."""
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        names = tuple(next(csv.reader(lines)))
    require_commas(names, file.name)
    return names


def require_commas(names: Sequence[str], file: str) -> None:
    """Refuse a header of one name in which another separator stands: it would be one column."""
    if len(names) == 1 and any(sign in names[0] for sign in ";\t"):
        raise DeclarationError(
            f"The columns of {file} are not separated by commas",
            must="have commas between the columns, not semicolons or tabs",
            next="Export the file again with commas, or as Parquet",
        )


def require_csv(table: Table | PublicTable) -> None:
    """Check the names in every file's header."""
    for file in _files(table):
        match_columns(table, csv_names(file))


def open_csv(table: Table | PublicTable, used: frozenset[str]) -> Opened:
    """Return the source with columns named by position; the headers' names are only matched.

    One thread reads each file: a parallel reader cuts it at fixed places, and a quoted field that
    spans lines there would be read as rows of other units. No type or dialect is guessed, because a
    guess would depend on rows. A folder's name is never a column. Files with the same header are
    read together; their columns are put in the order of the declaration.
    """
    by_header: dict[tuple[str, ...], list[Path]] = {}
    for file in _files(table):
        by_header.setdefault(csv_names(file), []).append(file)
    wanted = [column.name for column in table.columns if column.name in used]
    wanted = wanted or [table.columns[0].name]
    selects = []
    for names, files in by_header.items():
        places = match_columns(table, names)
        cells = ", ".join(f"c{places[name]} AS d{i}" for i, name in enumerate(wanted))
        selects.append(f"SELECT {cells} FROM {_read(files, len(names))}")
    relation = f"({' UNION ALL '.join(selects)})"
    return Opened(relation=relation, cells={name: f"d{i}" for i, name in enumerate(wanted)})


def _read(files: Sequence[Path], width: int) -> str:
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    paths = ", ".join(text(str(file)) for file in files)
    return (
        f"read_csv([{paths}], columns = {{{columns}}}, auto_detect = false, "
        "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', "
        "ignore_errors = true, null_padding = true, strict_mode = false, "
        "parallel = false, hive_partitioning = false)"
    )


def _files(table: Table | PublicTable) -> tuple[Path, ...]:
    """Return the files, after refusing paths that the engine would read as a pattern."""
    files = source_files(table)
    if any(_SPECIAL & set(str(file)) for file in files):
        raise DeclarationError(
            f"A path of {table.name} would be read as a pattern",
            must="have none of * ? [ ] in it",
            got=table.source.path.name,
            next="Move the project or rename the file, or use Parquet",
        )
    return files
