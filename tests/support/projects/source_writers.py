"""Writers of every kind of file that a table can be read from."""

import csv
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq


def write_csv(path: Path, rows: pa.Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows.column_names)
        writer.writeheader()
        writer.writerows(rows.to_pylist())


def write_parquet(path: Path, rows: pa.Table) -> None:
    pq.write_table(rows, path)


def write_arrow_file(path: Path, rows: pa.Table, chunk: int = 3) -> None:
    with ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=chunk)


def write_arrow_stream(path: Path, rows: pa.Table, chunk: int = 3) -> None:
    with ipc.new_stream(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=chunk)


def write_duckdb(path: Path, rows: pa.Table, table: str = "visits") -> None:
    with duckdb.connect(path) as database:
        database.register("rows", rows)
        database.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")


WRITERS = {
    "csv": write_csv,
    "parquet": write_parquet,
    "arrow": write_arrow_file,
    "feather": write_arrow_stream,
    "duckdb": write_duckdb,
}


def write(path: Path, rows: pa.Table) -> Path:
    """Write rows into a file of the kind that its name says."""
    WRITERS[path.suffix[1:]](path, rows)
    return path
