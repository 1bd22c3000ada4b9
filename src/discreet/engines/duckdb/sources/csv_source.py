"""CSV files: all columns are text, nothing is guessed, and one thread reads from top to bottom."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.csv_records import (
    COMMA,
    LONGEST_RECORD,
    QUOTE,
    Bytes,
    LineEnd,
    Records,
    field_array,
    first_fields,
    first_line,
    signs,
    split,
    unfinished,
)
from discreet.engines.duckdb.sources.opened import Opened, find_columns
from discreet.engines.duckdb.sources.text_encodings import in_utf8
from discreet.engines.duckdb.sources.text_files import Readable, opened_text
from discreet.engines.duckdb.sources.text_source import open_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.text_form import USUAL, UTF_8, UTF_16, TextForm

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


def csv_header(file: Path, form: TextForm = USUAL) -> Header:
    """Return the header; no line after it is looked at. A file without one has no names."""
    mark, written, line_end = _first_line(file, form)
    line = signs(written, form)
    records, _ = split(line, line_end, width=sys.maxsize, is_last=True, written=written)
    names: tuple[str, ...] = ()
    if len(records.starts):
        fields = in_utf8(first_fields(records), form.encoding).to_pylist()
        names = tuple((name or b"").decode("utf-8", "replace") for name in fields)
    return Header(
        names=names,
        line_end=line_end,
        rows_at=mark + len(line),
        is_spoiled=not names and bool(written.tobytes().strip(LineEnd.BOTH.value)),
    )


def _first_line(file: Path, form: TextForm) -> tuple[int, Bytes, LineEnd]:
    """Return how long the mark before the first line is, the line, and what ends it.

    Mostly a little of the file is enough. A line that is too long is cut off.
    """
    for size in (SHORT_LINE, LONGEST_RECORD + len(LineEnd.BOTH.value) + 1):
        start = _start(file, form, len(_MARK) + size)
        mark = _mark(start, form)
        written = np.frombuffer(start, np.uint8)[mark:]
        line, line_end = first_line(signs(written, form))
        if mark + len(line) < len(start):
            break
    return mark, written[: len(line)], line_end


def _start(file: Path, form: TextForm, size: int) -> bytes:
    with opened_text(file, form) as stream:
        return _exactly(stream, size)


def _exactly(stream: Readable, size: int) -> bytes:
    """Return so many bytes, or all there are."""
    found = b""
    while len(found) < size and (more := stream.read(size - len(found))):
        found += more
    return found


def _mark(start: bytes, form: TextForm) -> int:
    is_unicode = form.encoding == UTF_8 or form.encoding in UTF_16
    return len(_MARK) if is_unicode and start.startswith(_MARK) else 0


def file_header(file: Path, form: TextForm, declared: Sequence[str]) -> Header:
    """Return the header of a file, or one with the ``declared`` names if it has none.

    Without a header, lines end in a line feed, whatever the first one ends in: nobody's row decides
    about that. A return before the feed belongs to it.
    """
    if form.has_header:
        return csv_header(file, form)
    mark = _mark(_start(file, form, len(_MARK)), form)
    return Header(names=tuple(declared), line_end=LineEnd.FEED, rows_at=mark)


def likely_separator(file: Path, form: TextForm) -> str:
    """Return the sign that divides the first line into most names, for an owner who begins.

    Only that line is looked at, and the owner sees what is written down.
    """
    names: dict[str, int] = {
        sign: len(csv_header(file, evolve(form, delimiter=sign)).names)
        for sign in (form.delimiter, *_SEPARATORS)
        if sign != form.quote
    }
    most = max(names.values())
    return next(sign for sign, number in names.items() if number == most)


_SEPARATORS = ";\t|,"


def csv_names(file: Path, form: TextForm = USUAL) -> tuple[str, ...]:
    """Return the names in the header, for the owner: it must be certain, and have separators."""
    header = csv_header(file, form)
    if not header.rows_at:
        raise ValueError("The file is empty")
    if any("\0" in name for name in header.names):
        raise DeclarationError(
            "The first line of a CSV file has zero bytes between its signs",
            must=f"be written in {form.encoding}, as declared",
            next='Declare encoding = "utf-16", or export the file again',
        )
    if header.is_spoiled:
        raise DeclarationError(
            "The first line of a CSV file cannot be read",
            must="have names with a separator between them, and end in a line feed",
            next='If it is in UTF-16, declare encoding = "utf-16"; else export it again, or as'
            " Parquet",
        )
    require_separators(header.names, form)
    return header.names


def require_separators(names: Sequence[str], form: TextForm = USUAL) -> None:
    """Refuse a header of one name in which another separator stands: it would be one column."""
    others = [sign for sign in _SEPARATORS if sign != form.delimiter]
    found = [sign for sign in others if len(names) == 1 and sign in names[0]]
    if found:
        shown = {"\t": "\\t"}.get(found[0], found[0])
        raise DeclarationError(
            "The columns of a CSV file are not separated by what is declared",
            must=f"have {_NAMES.get(form.delimiter, form.delimiter)} between the columns",
            next=f'Declare delimiter = "{shown}" for the table, or export the file again',
        )


_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}


def open_csv(table: Table | PublicTable, used: frozenset[str], name: str) -> Opened:
    """Return the source as bytes of the used columns, one file after another.

    We read it ourselves, by one grammar (:mod:`~discreet.engines.duckdb.sources.csv_records`). A
    reader that guesses, cuts a file into pieces for several threads or ends records at any line end
    would let one row decide how others are read. A column that a file's header lacks is NULL in all
    of its rows.
    """
    return open_texts(csv_arrays, table, used, name)


def csv_arrays(
    table: Table | PublicTable, file: Path, wanted: Sequence[str]
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the number of rows and the bytes of the wanted columns of a file, batch by batch."""
    arrow = optional.load("pyarrow")
    form, folders = table.source.text, table.source.partitions
    stored = [column.name for column in table.columns if column.name not in folders]
    header = file_header(file, form, stored)
    found = find_columns(table, header.names)
    with opened_text(file, form) as stream:
        _exactly(stream, header.rows_at)
        for records in _records(stream, header, form):
            rows = len(records.starts)
            yield (
                rows,
                [
                    arrow.nulls(rows, arrow.large_binary())
                    if place is None
                    else in_utf8(field_array(records, place), form.encoding)
                    for place in (found[column] for column in wanted)
                ],
            )


def _records(stream: Readable, header: Header, form: TextForm) -> Iterator[Records]:
    """Yield the records block by block; what has not ended in one is put before the next."""
    rest, skip = b"", 0
    while True:
        block = stream.read(BLOCK)
        if not (rest or block):
            return
        written = np.frombuffer(rest + block, np.uint8)
        piece = signs(written, form)
        records, used = split(
            piece,
            header.line_end,
            width=len(header.names),
            is_last=not block,
            skip=skip,
            written=written,
        )
        yield records
        if not block:
            return
        skip = 0 if used else skip
        rest = written[used:].tobytes()
        if len(rest) > LONGEST_RECORD + len(LineEnd.BOTH.value):
            rest, skip = _written(unfinished(piece[used:], header.line_end), form), 1


def _written(beginning: bytes, form: TextForm) -> bytes:
    """Return the short beginning of a record in the declared signs."""
    declared = {COMMA: ord(form.delimiter), QUOTE: ord(form.quote or '"')}
    return bytes(declared.get(sign, sign) for sign in beginning)
