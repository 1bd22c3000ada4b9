"""Text that does not fit its declared encoding or form, told to the owner, who alone may know.

An answer treats a cell that cannot be decoded as NULL, row by row. A whole file in another encoding
would so lose many rows from their groups without a word; here is the word.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from discreet.engines.duckdb.sources.csv_source import csv_arrays
from discreet.engines.duckdb.sources.json_source import has_other_lines, json_arrays
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.stored_columns import plainly
from discreet.engines.duckdb.sources.stored_values import whole_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column
from discreet.tables.source import SourceFormat
from discreet.tables.source_files import fitting_files
from discreet.tables.text_form import SINGLE_BYTE, UTF_8

LOOKED_AT = 1 << 26
"""How many bytes of the declared columns of a file are looked at."""

_READ = {SourceFormat.CSV: csv_arrays, SourceFormat.JSON_LINES: json_arrays}


def first_cells(table: Table | PublicTable, columns: Sequence[Column]) -> Iterator[Sequence[Any]]:
    """Yield some columns of a source as they are stored, batch by batch, texts as bytes.

    For the owner alone: rows are read, of files that are stored alike the first of them.
    """
    used = frozenset(column.name for column in columns)
    for part in open_source(table, used, "looked").parts:
        left = LOOKED_AT
        for arrays in part.begin():
            yield arrays
            left -= sum(array.nbytes for array in arrays)
            if left <= 0:
                break


def doubtful_texts(table: Table | PublicTable) -> tuple[str, ...]:
    """Return a sentence for each column whose text does not fit the declared encoding.

    Another one says if lines of a file of JSON lines are no objects. For the owner alone: rows are
    read. Neither a cell nor a number of them is told.
    """
    if table.source.format not in _READ:
        return ()
    return plainly(lambda: _sentences(table), table.source, table.name)


def _sentences(table: Table | PublicTable) -> tuple[str, ...]:
    stored = [c.name for c in table.columns if c.name not in table.source.partitions]
    encoding = table.source.text.encoding
    spoiled, foreign = set(), set()
    for file in fitting_files(table.source):
        spoiled |= set(_spoiled(table, file, stored))
        if encoding in SINGLE_BYTE:
            foreign |= set(_in_utf8(table, file, stored))
    return (
        *_about_lines(table),
        *(
            f"{table.name}.{name} has cells that are no text in {encoding}. They are NULL, and in "
            'no group. Declare what the file was written in, such as encoding = "cp1252".'
            for name in stored
            if name in spoiled
        ),
        *(
            f"{table.name}.{name} is declared as {encoding}, and all of it that is not ASCII reads "
            'as UTF-8. Declare encoding = "utf-8", unless it is what it is by chance.'
            for name in stored
            if name in foreign - spoiled
        ),
    )


def _about_lines(table: Table | PublicTable) -> Iterator[str]:
    source = table.source
    is_json = source.format is SourceFormat.JSON_LINES
    if is_json and any(has_other_lines(file, source.text) for file in fitting_files(source)):
        yield (
            f"The source of {table.name} has lines that are no JSON objects. They are dropped, as"
            " if they were not there. 'discreet to-parquet' names the first of them."
        )


def _batches(table: Table | PublicTable, file: Path, stored: list[str]) -> Iterator[dict[str, Any]]:
    left = LOOKED_AT
    for _, arrays in _READ[table.source.format](table, file, stored):
        yield dict(zip(stored, arrays, strict=True))
        left -= sum(array.nbytes for array in arrays)
        if left <= 0:
            return


def _spoiled(table: Table | PublicTable, file: Path, stored: list[str]) -> Iterator[str]:
    for batch in _batches(table, file, stored):
        for name, array in batch.items():
            if whole_texts(array).null_count > array.null_count:
                yield name


def _in_utf8(table: Table | PublicTable, file: Path, stored: list[str]) -> set[str]:
    """Return the columns in which there is more than ASCII, and all of it is UTF-8."""
    form = evolve(table.source.text, encoding=UTF_8)
    as_utf8 = evolve(table, source=evolve(table.source, text=form))
    foreign, spoiled = set(), set()
    for batch in _batches(as_utf8, file, stored):
        for name, array in batch.items():
            content = array.buffers()[2]
            if content is not None and (np.frombuffer(content, np.uint8) >= 0x80).any():
                foreign.add(name)
            if whole_texts(array).null_count > array.null_count:
                spoiled.add(name)
    return foreign - spoiled
