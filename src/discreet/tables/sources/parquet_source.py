"""Parquet files: read as Arrow batches, with text as bytes, so that no value can raise."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.core import optional
from discreet.tables.sources.arrow_files import BATCH_ROWS, ArrowKind


def _schema(file: Path) -> Any:
    """Return names and types; the footer's statistics are not looked at."""
    return optional.load("pyarrow.parquet").read_schema(file)


def _read(file: Path, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    with optional.load("pyarrow.parquet").ParquetFile(file) as opened:
        names = [opened.schema_arrow.names[place] for place in places]
        for batch in opened.iter_batches(batch_size=BATCH_ROWS, columns=names):
            yield [batch.column(name) for name in names]


PARQUET = ArrowKind(schema=_schema, read=_read)
