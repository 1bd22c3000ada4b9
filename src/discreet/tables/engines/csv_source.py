"""CSV files: all columns are text, nothing is guessed, and one thread reads from top to bottom."""

import csv

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Table
from discreet.tables.engines.duckdb_sql import text
from discreet.tables.engines.opened import Opened
from discreet.tables.source_columns import match_columns

_PATTERN = set("*?[]")


def csv_names(table: Table) -> list[str]:
    """Return the names in the header."""
    path = table.source.path
    if _PATTERN & set(str(path)):
        raise DeclarationError(
            f"The path of {table.name} would be read as a pattern",
            must="have none of * ? [ ] in it",
            got=path.name,
            next="Move the project, or use Parquet",
        )
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(csv.reader(lines))


def open_csv(table: Table) -> Opened:
    """Return the source with columns named by position; the header's names are only matched.

    One thread reads the file: a parallel reader cuts it at fixed places, and a quoted field that
    spans lines there would be read as rows of other units. No type or dialect is guessed, because a
    guess would depend on rows. A folder's name is never a column.
    """
    names = csv_names(table)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    relation = (
        f"read_csv({text(str(table.source.path))}, columns = {{{columns}}}, auto_detect = false, "
        "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', "
        "ignore_errors = true, null_padding = true, strict_mode = false, "
        "parallel = false, hive_partitioning = false)"
    )
    places = match_columns(table, names)
    return Opened(relation=relation, cells={name: f"c{place}" for name, place in places.items()})
