"""Parquet files: read as Arrow batches, with text as bytes, so that no value can raise."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.engines.duckdb.sources.arrow_files import BATCH_ROWS, ArrowColumn, ArrowKind


def _opened(file: Path) -> Any:
    """Open a file so that its text is not looked at: the reader raises if a dictionary's is bad."""
    plain = optional.load("pyarrow").large_binary()
    return optional.load("pyarrow.parquet").ParquetFile(file, binary_type=plain)


def _columns(file: Path) -> tuple[ArrowColumn, ...]:
    """Return names and types; the footer's statistics are not looked at."""
    with _opened(file) as opened:
        schema, physical = opened.schema_arrow, opened.schema
    widths: dict[str, float] = {}
    for column in map(physical.column, range(len(physical))):
        widths[column.path] = max(_width(column), widths.get(column.path, 0))
    return tuple(
        ArrowColumn(
            name=field.name,
            type=field.type,
            is_readable=not _is_doubtful(field.type, widths.get(field.name, 0)),
        )
        for field in schema
    )


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
        names = [opened.schema_arrow.names[place] for place in places]
        for batch in opened.iter_batches(batch_size=BATCH_ROWS, columns=names):
            yield batch.num_rows, [batch.column(name) for name in names]


PARQUET = ArrowKind(columns=_columns, read=_read)
