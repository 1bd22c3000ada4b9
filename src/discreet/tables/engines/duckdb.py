"""The embedded engine: DuckDB reads the file where it is and returns integers."""

import shutil
import tempfile
import weakref
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.tables.catalog import SourceFormat, Table
from discreet.tables.column import ColumnType
from discreet.tables.engines.csv_source import csv_names, open_csv
from discreet.tables.engines.duckdb_sql import query
from discreet.tables.engines.opened import Opened
from discreet.tables.engines.parquet_source import open_parquet, parquet_names
from discreet.tables.exact_aggregates import ExactAggregates
from discreet.tables.keyset import KeySet
from discreet.tables.plan import BoundedPlan
from discreet.tables.source_columns import match_columns


class DuckDbEngine:
    """Runs bounded plans with an in-memory DuckDB over CSV and Parquet files.

    One connection serves the engine's life (connecting is slow); each plan gets its own cursor, so
    threads do not meet. What does not fit in memory goes to a folder that only this user can read,
    and that is removed when the engine is closed.
    """

    def __init__(self) -> None:
        scratch = tempfile.mkdtemp(prefix="discreet-")
        self._cleanup = weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        settings = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": scratch,
        }
        self._connection = optional.load("duckdb").connect(":memory:", config=settings)
        self._connection.execute("SET enable_progress_bar = false")

    def require_source(self, table: Table) -> None:
        """Check that the file is there and has the declared columns; look at names and types."""
        match_columns(table, _names(table))

    def execute(self, plan: BoundedPlan, salt: bytes) -> ExactAggregates:
        """Run the plan and return one array for each aggregate, in the order of the keys."""
        opened = _open(plan)
        cursor = self._connection.cursor()
        try:
            if opened.batches is not None:
                cursor.register(opened.relation, opened.batches)
            if plan.keys.columns:
                cursor.register("keys", _keys_relation(plan.keys))
            sql = query(plan, opened.relation, opened.cells)
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
        """Close the connection and remove what it left on disk."""
        self._connection.close()
        self._cleanup()


def _names(table: Table) -> list[str]:
    read = {SourceFormat.CSV: csv_names, SourceFormat.PARQUET: parquet_names}
    try:
        return read[table.source.format](table)
    except DeclarationError:
        raise
    except Exception:
        raise DeclarationError(
            f"The source of {table.name} cannot be read",
            must=f"be a {table.source.format.value} file that exists",
            got=table.source.path.name,
        ) from None


def _open(plan: BoundedPlan) -> Opened:
    if plan.table.source.format is SourceFormat.CSV:
        return open_csv(plan.table)
    return open_parquet(plan.table, plan.used_columns())


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
