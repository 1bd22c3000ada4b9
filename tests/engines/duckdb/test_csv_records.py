"""How a CSV file falls into records: one grammar, and no row decides about another."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.engines.duckdb.sources import csv_records, csv_source
from discreet.engines.duckdb.sources.csv_records import LineEnd, field_array
from discreet.engines.duckdb.sources.csv_source import csv_header, open_csv
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Column, ColumnType
from discreet.tables.source import Source, SourceFormat

Row = tuple[bytes | None, ...]


def cut(data: bytes, end: bytes) -> list[bytes]:
    """Cut a file into records, one sign at a time: slow, and plain to see."""
    records, record, is_open, may_open, i = [], b"", False, True, 0
    while i < len(data):
        if not is_open and data.startswith(end, i):
            records.append(record)
            record, may_open, i = b"", True, i + len(end)
            continue
        sign, i = data[i : i + 1], i + 1
        if sign == b'"' and (is_open or may_open):
            is_open = not is_open
            may_open = not is_open  # the next one, if there are two in a row
        else:
            may_open = sign == b","
        record += sign
    return records if data.endswith(end) and not record else [*records, record]


def fields_of(record: bytes) -> list[bytes] | None:
    """Return the fields of a record, or ``None`` if it is spoiled."""
    fields, rest = [], record
    while True:
        if rest.startswith(b'"'):
            inner, rest = b"", rest[1:]
            while True:
                part, mark, rest = rest.partition(b'"')
                if not mark:
                    return None  # it is never closed
                inner += part
                if not rest.startswith(b'"'):
                    break
                inner, rest = inner + b'"', rest[1:]
            if rest and not rest.startswith(b","):
                return None  # something is behind it
            fields.append(inner)
            comma, rest = rest[:1], rest[1:]
        else:
            field, comma, rest = rest.partition(b",")
            if b"\r" in field or b"\n" in field:
                return None
            fields.append(field)
        if not comma:
            return fields


def by_the_grammar(data: bytes, end: bytes, width: int, longest: int = 1 << 21) -> list[Row]:
    """Return the rows of a file, without its header."""
    rows: list[Row] = []
    records = cut(data, end)
    for number, record in enumerate(records):
        is_last = number == len(records) - 1 and not data.endswith(end)
        if end == b"\n" or is_last:
            record = record.removesuffix(b"\r")
        fields = fields_of(record)
        if record and fields is not None and len(fields) <= width and len(record) <= longest:
            padded = [*fields, *[b""] * (width - len(fields))]
            rows.append(tuple(field or None for field in padded))
    return rows


def declared(path: Path, names: str = "abc") -> PublicTable:
    return PublicTable(
        name="rows",
        source=Source(path=path, format=SourceFormat.CSV),
        columns=tuple(Column(name=name, type=ColumnType.TEXT) for name in names),
    )


def read(path: Path, names: str = "abc") -> list[Row]:
    opened = open_csv(declared(path, names), frozenset(names), "scan")
    (batches,) = opened.batches.values()
    table = batches.reader().read_all()
    columns = ([text and text.encode() for text in column.to_pylist()] for column in table.columns)
    return list(zip(*columns, strict=True))


ENDS = [end.value for end in LineEnd]
SIGNS = [b"x", b",", b'"', b"\r", b"\n"]


@pytest.mark.parametrize("end", ENDS)
def test_all_short_files_are_read_by_the_grammar(tmp_path, end):
    path = tmp_path / "rows.csv"
    pieces = [b"".join(signs) for size in range(6) for signs in product(SIGNS, repeat=size)]
    for piece in pieces:
        split, used = csv_records.split(
            np.frombuffer(piece, np.uint8), LineEnd(end), width=2, is_last=True
        )
        assert used == len(piece)
        arrays = [field_array(split, i).to_pylist() for i in range(2)]
        assert list(zip(*arrays, strict=True)) == by_the_grammar(piece, end, 2), piece
    for piece in pieces[::97]:
        path.write_bytes(b"a,b" + end + piece)
        header = csv_header(path)
        assert header.names == ("a", "b")
        assert header.line_end.value == end


PIECES = st.lists(
    st.sampled_from([*SIGNS, b"x,y", b'"', b'""', b'","', b"\r\n", b'"\n"', "é".encode(), b"\0"]),
    max_size=40,
).map(b"".join)


@contextmanager
def sizes(*, block: int, longest: int) -> Iterator[None]:
    with (
        mock.patch.object(csv_source, "BLOCK", block),
        mock.patch.object(csv_source, "LONGEST_RECORD", longest),
        mock.patch.object(csv_records, "LONGEST_RECORD", longest),
    ):
        yield


@given(data=PIECES, end=st.sampled_from(ENDS), block=st.integers(1, 9), longest=st.integers(5, 30))
def test_neither_blocks_nor_long_records_change_what_is_read(
    tmp_path_factory, data, end, block, longest
):
    """Blocks of a few bytes cut everything that there is, at every place."""
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    path.write_bytes(b"a,b,c" + end + data)
    with sizes(block=block, longest=longest):
        assert read(path) == by_the_grammar(data, end, 3, longest)


@given(evil=PIECES, end=st.sampled_from(ENDS), place=st.integers(0, 3))
def test_one_record_is_one_record_whatever_it_holds(tmp_path_factory, evil, end, place):
    """Whatever is written for one person between two line ends, everybody else's rows stay."""
    path = tmp_path_factory.getbasetemp() / "people.csv"
    people = [b"p,1,x", b'q,2,"a\r\nb,""c"""', b"r,3,z"]
    is_whole = cut(evil + end + b"q", end) == [evil, b"q"]  # it is closed, and ends nowhere else
    assume(is_whole)
    rows = {}
    for name, lines in (("with", [*people[:place], evil, *people[place:]]), ("without", people)):
        path.write_bytes(end.join([b"a,b,c", *lines, b""]))
        rows[name] = Counter(read(path))
    assert rows["without"] <= rows["with"]
    assert rows["with"].total() <= rows["without"].total() + 1


def test_the_grammar_of_an_engine_would_be_caught(tmp_path):
    """A reader that ends records at any line end makes one row into many people's."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b,c\nann,1,x0\rx1\rx2\nbob,2,y\n")
    options = "columns = {'a': 'VARCHAR', 'b': 'VARCHAR', 'c': 'VARCHAR'}, auto_detect = false"
    loose = "ignore_errors = true, null_padding = true, strict_mode = false, new_line = '\\n'"
    sql = f"SELECT * FROM read_csv('{path}', header = true, {options}, {loose})"
    assert len(duckdb.execute(sql).fetchall()) == 4
    assert read(path) == [(b"bob", b"2", b"y")]


# ---- Headers.

HEADERS = [
    (b"a,b,c\n", ("a", "b", "c"), LineEnd.FEED),
    (b"a,b,c\r\n", ("a", "b", "c"), LineEnd.BOTH),
    (b"a,b,c\r", ("a", "b", "c"), LineEnd.FEED),
    (b"a,b,c\rp,1,x\rq,2,y\r", (), LineEnd.FEED),
    (b"\xef\xbb\xbfa,b\r\n", ("a", "b"), LineEnd.BOTH),
    (b'"a","b\n""c"""\r\n', ("a", 'b\n"c"'), LineEnd.BOTH),
    (b"a,,\xff\n", ("a", "", "\ufffd"), LineEnd.FEED),
    (b"a,b", ("a", "b"), LineEnd.FEED),
    (b"", (), LineEnd.FEED),
    (b"\n", (), LineEnd.FEED),
    (b'"a"b,c\n', (), LineEnd.FEED),
    (b'"a,b\n', (), LineEnd.FEED),
]


@pytest.mark.parametrize(("text", "names", "line_end"), HEADERS)
def test_headers(tmp_path, text, names, line_end):
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    header = csv_header(path)
    assert (header.names, header.line_end) == (names, line_end)
    assert header.rows_at == len(text)


def test_a_header_without_an_end_is_not_read_to_the_end(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a," * 1000)
    with sizes(block=64, longest=100):
        assert csv_header(path).names == ()
        assert read(path, "ab") == []


def test_a_wide_header_is_read_whole(tmp_path):
    path = tmp_path / "rows.csv"
    names = [f"column{i}" for i in range(3000)]
    path.write_text(",".join(names) + "\r\n" + ",".join(["1"] * 3000) + "\r\n", newline="")
    assert csv_header(path).names == tuple(names)
    assert csv_header(path).rows_at == len(",".join(names)) + 2 > csv_source.SHORT_LINE
