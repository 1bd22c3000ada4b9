"""CSV files: all columns are text, nothing is guessed, and one thread reads from top to bottom."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from attrs import frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.csv_records import (
    LONGEST_RECORD,
    LineEnd,
    field_array,
    first_fields,
    first_line,
    split,
    unfinished,
)
from discreet.engines.duckdb.sources.opened import (
    Opened,
    Part,
    find_columns,
    opened,
    wanted_columns,
)
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source_files import fitting_files

BLOCK = 1 << 20
"""How many bytes are read at once. Where a block ends does not show in what is read."""

SHORT_LINE = 1 << 14
"""How many bytes of a file are read at first to find its header."""

_MARK = b"\xef\xbb\xbf"
"""What some programs write before the header of a file in UTF-8."""


@frozen(kw_only=True)
class Header:
    """The first line of a file: the names in it, what ends it, and where the rows begin."""

    names: tuple[str, ...]
    line_end: LineEnd
    rows_at: int
    is_spoiled: bool = False
    """There is a line, but what names are in it is not certain, so there are none."""


def csv_header(file: Path) -> Header:
    """Return the header; no line after it is looked at. A file without one has no names."""
    mark, line, line_end = _first_line(file)
    records, _ = split(line, line_end, width=sys.maxsize, is_last=True)
    names: tuple[str, ...] = ()
    if len(records.starts):
        fields = first_fields(records).to_pylist()
        names = tuple((name or b"").decode("utf-8", "replace") for name in fields)
    return Header(
        names=names,
        line_end=line_end,
        rows_at=mark + len(line),
        is_spoiled=not names and bool(line.tobytes().strip(LineEnd.BOTH.value)),
    )


def _first_line(file: Path) -> tuple[int, Any, LineEnd]:
    """Return how long the mark before the first line is, the line, and what ends it.

    Mostly a little of the file is enough. A line that is too long is cut off.
    """
    for size in (SHORT_LINE, LONGEST_RECORD + len(LineEnd.BOTH.value) + 1):
        with file.open("rb") as opened_file:
            start = opened_file.read(len(_MARK) + size)
        mark = len(_MARK) if start.startswith(_MARK) else 0
        line, line_end = first_line(np.frombuffer(start, np.uint8)[mark:])
        if mark + len(line) < len(start):
            break
    return mark, line, line_end


def csv_names(file: Path) -> tuple[str, ...]:
    """Return the names in the header, for the owner: it must be certain, and have commas."""
    header = csv_header(file)
    if not header.rows_at:
        raise ValueError("The file is empty")
    if header.is_spoiled:
        raise DeclarationError(
            "The first line of a CSV file cannot be read",
            must="have names with commas between them, and end in a line feed",
            next="Export the file again, or as Parquet",
        )
    require_commas(header.names)
    return header.names


def require_commas(names: Sequence[str]) -> None:
    """Refuse a header of one name in which another separator stands: it would be one column."""
    if len(names) == 1 and any(sign in names[0] for sign in ";\t"):
        raise DeclarationError(
            "The columns of a CSV file are not separated by commas",
            must="have commas between the columns, not semicolons or tabs",
            next="Export the file again with commas, or as Parquet",
        )


def open_csv(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the source as bytes of the used columns, one file after another.

    We read it ourselves, by one grammar (:mod:`~discreet.engines.duckdb.sources.csv_records`). A
    reader that guesses, cuts a file into pieces for several threads or ends records at any line end
    would let one row decide how others are read. A folder's name is never a column. A column that a
    file's header lacks is NULL in all of its rows.
    """
    wanted = wanted_columns(table, used)
    files = []
    for file in fitting_files(table.source):
        header = csv_header(file)
        found = find_columns(table, header.names)
        files.append((file, header, [found[column] for column in wanted]))
    types = (optional.load("pyarrow").large_binary(),) * len(wanted)
    return opened(table, wanted, name, [Part(types=types, begin=partial(_arrays, files))])


def _arrays(
    files: Sequence[tuple[Path, Header, Sequence[int | None]]],
) -> Iterator[Sequence[Any]]:
    arrow = optional.load("pyarrow")
    for file, header, places in files:
        with file.open("rb") as opened_file:
            opened_file.seek(header.rows_at)
            for records in _records(opened_file, header):
                rows = len(records.starts)
                yield [
                    arrow.nulls(rows, arrow.large_binary())
                    if place is None
                    else field_array(records, place)
                    for place in places
                ]


def _records(file: BinaryIO, header: Header) -> Iterator[Any]:
    """Yield the records block by block; what has not ended in one is put before the next."""
    rest, skip = b"", 0
    while True:
        block = file.read(BLOCK)
        piece = np.frombuffer(rest + block, np.uint8)
        records, used = split(
            piece, header.line_end, width=len(header.names), is_last=not block, skip=skip
        )
        yield records
        if not block:
            return
        skip = 0 if used else skip
        rest = piece[used:].tobytes()
        if len(rest) > LONGEST_RECORD + len(LineEnd.BOTH.value):
            rest, skip = unfinished(piece[used:], header.line_end), 1
