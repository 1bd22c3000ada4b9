"""Text that does not fit its declared encoding, told to the owner, who alone may know of it.

An answer treats a cell that cannot be decoded as NULL, row by row. A whole file in another encoding
would so lose many rows from their groups without a word; here is the word.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from discreet.engines.duckdb.sources.csv_source import csv_arrays
from discreet.engines.duckdb.sources.json_source import json_arrays
from discreet.engines.duckdb.sources.stored_values import whole_texts
from discreet.tables.catalog import PublicTable, SourceFormat, Table
from discreet.tables.source_files import fitting_files
from discreet.tables.text_form import SINGLE_BYTE, UTF_8

LOOKED_AT = 1 << 26
"""How many bytes of the declared columns of a file are looked at."""

_READ = {SourceFormat.CSV: csv_arrays, SourceFormat.JSON_LINES: json_arrays}


def doubtful_texts(table: Table | PublicTable) -> tuple[str, ...]:
    """Return a sentence for each column whose text does not fit the declared encoding.

    For the owner alone: rows are read. Neither a cell nor a number of them is told.
    """
    if table.source.format not in _READ:
        return ()
    stored = [c.name for c in table.columns if c.name not in table.source.partitions]
    encoding = table.source.text.encoding
    spoiled, foreign = set(), set()
    for file in fitting_files(table.source):
        spoiled |= set(_spoiled(table, file, stored))
        if encoding in SINGLE_BYTE:
            foreign |= set(_in_utf8(table, file, stored))
    return (
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
