"""The embedded engine: DuckDB reads the file where it is and returns integers."""

import csv
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Source, SourceFormat, Table
from discreet.tables.column import ColumnType
from discreet.tables.engines.duckdb_sql import query, text
from discreet.tables.exact_aggregates import ExactAggregates
from discreet.tables.keyset import KeySet
from discreet.tables.plan import BoundedPlan

_SETTINGS = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


class DuckDbEngine:
    """Runs bounded plans with an in-memory DuckDB over CSV and Parquet files.

    One connection serves the engine's life (connecting is slow); each plan gets its own cursor, so
    threads do not meet.
    """

    def __init__(self) -> None:
        duckdb = optional.load("duckdb")
        self._connection = duckdb.connect(":memory:", config=_SETTINGS)
        self._connection.execute("SET enable_progress_bar = false")

    def require_source(self, table: Table) -> None:
        """Check that the file is there and has the declared columns; look at names only."""
        names = {name.lower() for name in _column_names(table)}
        missing = [column.name for column in table.columns if column.name.lower() not in names]
        if missing:
            raise DeclarationError(
                f"The source of {table.name} lacks a declared column", got=", ".join(missing)
            )

    def execute(self, plan: BoundedPlan, salt: bytes) -> ExactAggregates:
        """Run the plan and return one array for each aggregate, in the order of the keys."""
        cursor = self._connection.cursor()
        try:
            if plan.keys.columns:
                cursor.register("keys", _keys_relation(plan.keys))
            sql = query(plan, _relation(plan.table))
            found = cursor.execute(sql, {"salt": salt.hex()}).fetchnumpy()
        finally:
            cursor.close()
        group, *totals = (np.asarray(column) for column in found.values())
        columns = []
        for total in totals:
            column = np.zeros(len(plan.keys.rows), dtype=np.int64)
            column[group] = total
            columns.append(column)
        return ExactAggregates(tuple(columns))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _column_names(table: Table) -> list[str]:
    try:
        if table.source.format is SourceFormat.CSV:
            return _csv_header(table.source)
        parquet = optional.load("pyarrow.parquet")
        return list(parquet.read_schema(table.source.path).names)
    except Exception:
        raise DeclarationError(
            f"The source of {table.name} cannot be read",
            must=f"be a {table.source.format.value} file that exists",
            got=table.source.path.name,
        ) from None


def _csv_header(source: Source) -> list[str]:
    with source.path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(csv.reader(lines))


def _relation(table: Table) -> str:
    path = text(str(table.source.path))
    if table.source.format is SourceFormat.PARQUET:
        return f"read_parquet({path})"
    # All columns are text and no dialect or type is guessed, because a guess would depend on rows.
    columns = ", ".join(f"{text(name)}: 'VARCHAR'" for name in _csv_header(table.source))
    return (
        f"read_csv({path}, columns = {{{columns}}}, auto_detect = false, header = true, "
        "delim = ',', quote = '\"', escape = '\"', nullstr = '', "
        "ignore_errors = true, null_padding = true, strict_mode = false)"
    )


_ARROW_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "int64",
    ColumnType.BOOLEAN: "bool_",
    ColumnType.DATE: "date32",
}


def _keys_relation(keys: KeySet) -> Any:
    arrow = optional.load("pyarrow")
    data = {
        f"k{i}": arrow.array([row[i] for row in keys.rows], getattr(arrow, _ARROW_TYPES[c.type])())
        for i, c in enumerate(keys.columns)
    }
    return arrow.table(data | {"g": arrow.array(range(len(keys.rows)), arrow.int64())})
