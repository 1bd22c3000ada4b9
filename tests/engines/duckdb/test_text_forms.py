"""Files of text in whatever signs, encoding and packing: one cell spoils nothing but itself."""

import gzip
import random
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.sources import csv_records, csv_source, text_files
from discreet.engines.duckdb.sources.csv_records import LineEnd, field_array, signs
from discreet.engines.duckdb.sources.examine import require_source
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.text_files import opened_text
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Column, ColumnType
from discreet.tables.source import Source, SourceFormat
from discreet.tables.text_form import (
    SEVERAL_BYTES,
    SINGLE_BYTE,
    UTF_16,
    Compression,
    TextForm,
    canonical_encoding,
)
from tests.engines.duckdb.test_csv_records import SIGNS, by_the_grammar

Rows = list[tuple[str | None, ...]]


def declared(path: Path, names: str = "ab", **form) -> PublicTable:
    return PublicTable(
        name="rows",
        source=Source(path=path, format=SourceFormat.CSV, text=TextForm(**form)),
        columns=tuple(Column(name=name, type=ColumnType.TEXT) for name in names),
    )


def read(table: PublicTable) -> Rows:
    names = [column.name for column in table.columns]
    opened = open_source(table, frozenset(names), "scan")
    (batches,) = opened.batches.values()
    found = batches.reader().read_all()
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def written(path: Path, data: bytes, names: str = "ab", **form) -> Rows:
    path.write_bytes(data)
    return read(declared(path, names, **form))


# ---- Signs.

SWAPS = [TextForm(delimiter=";", quote="'"), TextForm(delimiter="\t"), TextForm(quote="|")]


@pytest.mark.parametrize("form", SWAPS, ids=repr)
@pytest.mark.parametrize("end", LineEnd)
def test_other_signs_are_read_by_the_same_grammar(form, end):
    """All short pieces: with two signs exchanged, everything is the same with them exchanged."""
    pairs = {",": form.delimiter, form.delimiter: ",", '"': form.quote, form.quote: '"'}
    swap = {ord(a): ord(b) for a, b in pairs.items()}
    table = bytes(swap.get(byte, byte) for byte in range(256))
    alphabet = [*SIGNS, form.delimiter.encode(), form.quote.encode()]
    for size in range(4):
        for chosen in product(sorted(set(alphabet)), repeat=size):
            piece = b"".join(chosen)
            raw = np.frombuffer(piece, np.uint8)
            records, _ = csv_records.split(
                signs(raw, form), end, width=2, is_last=True, written=raw
            )
            found = list(zip(*(field_array(records, i).to_pylist() for i in range(2)), strict=True))
            expected = [
                tuple(cell and cell.translate(table) for cell in row)
                for row in by_the_grammar(piece.translate(table), end.value, 2)
            ]
            assert found == expected, piece


def test_without_a_quote_every_line_is_a_record(tmp_path):
    chosen = random.Random(7)
    for _ in range(50):
        lines = ["".join(chosen.choices('x"\t', k=5)) for _ in range(8)]
        fields = [line.split("\t") for line in lines]
        expected = [
            tuple((field or None) for field in [*some, ""][:2])
            for some in fields
            if len(some) <= 2 and some != [""]
        ]
        data = "\n".join(["a\tb", *lines, ""]).encode()
        assert written(tmp_path / "rows.tsv", data, delimiter="\t", quote="") == expected


def test_long_records_of_other_signs_are_skipped_alone(tmp_path):
    data = b"a;b\np;1\nq;'" + b"x;" * 60 + b"'\nr;2\n" + b"s" * 90 + b";'\nt\n't;3\n"
    with (
        mock.patch.object(csv_source, "BLOCK", 7),
        mock.patch.object(csv_source, "LONGEST_RECORD", 50),
        mock.patch.object(csv_records, "LONGEST_RECORD", 50),
    ):
        found = written(tmp_path / "rows.csv", data, delimiter=";", quote="'")
    assert found == [("p", "1"), ("r", "2")]


@pytest.mark.parametrize("data", [b"p,1\nq,2\n", b"p,1\r\nq,2\r\n", b"\xef\xbb\xbfp,1\nq,2"])
def test_without_a_header_the_declared_columns_are_the_fields(tmp_path, data):
    path = tmp_path / "rows.csv"
    assert written(path, data, has_header=False) == [("p", "1"), ("q", "2")]
    require_source(declared(path, has_header=False))
    assert written(path, b"", has_header=False) == []


@pytest.mark.parametrize(
    "form",
    [
        {"delimiter": ""},
        {"delimiter": ",,"},
        {"delimiter": "x"},
        {"delimiter": "\n"},
        {"delimiter": "é"},
        {"quote": ","},
        {"quote": "1"},
        {"encoding": "rot13"},
        {"encoding": "utf-7"},
        {"encoding": "cp037"},
        {"encoding": "no such thing"},
        {"encoding": "shift_jis", "delimiter": "|"},
    ],
    ids=repr,
)
def test_what_could_be_read_in_two_ways_is_refused(form):
    with pytest.raises(InvalidArgument):
        TextForm(**form)


# ---- Encodings.

ALL = sorted({"utf-8"} | UTF_16 | SINGLE_BYTE | SEVERAL_BYTES)


@pytest.mark.parametrize("encoding", sorted(SINGLE_BYTE | SEVERAL_BYTES))
def test_encodings_have_the_signs_of_ascii(encoding):
    assert canonical_encoding(encoding) == encoding
    assert bytes(range(128)).decode(encoding) == "".join(map(chr, range(128)))


@pytest.mark.parametrize("encoding", sorted(SEVERAL_BYTES))
def test_no_sign_of_several_bytes_has_one_that_ends_a_field(encoding):
    """Whatever byte is before it, a separator or a line end is itself, or nothing is a text."""
    for lead, sign in product(range(0x80, 0x100), b"\t\r\n\"',;"):
        pair = bytes([lead, sign])
        try:
            found = pair.decode(encoding)
        except UnicodeDecodeError:
            continue
        assert found.endswith(chr(sign)), pair


CUT_SMALL = ("utf-16", "utf-16-be", "cp1252", "gb18030")


@pytest.mark.parametrize(
    ("encoding", "block"), [*((one, 1 << 20) for one in ALL), *((one, 5) for one in CUT_SMALL)]
)
def test_every_encoding_is_read(tmp_path, encoding, block):
    signs = [chr(code) for code in [*range(0x20, 0x180), 0x416, 0x3B1, 0x3042, 0x4E2D, 0xAC00]]
    letters = [sign for sign in signs if sign not in ',"' and _fits(sign, encoding)]
    text = "a,b\r\n" + "".join(f'{sign}x,"{sign}"\r\n' for sign in letters)
    with mock.patch.object(csv_source, "BLOCK", block):
        found = written(tmp_path / "rows.csv", text.encode(encoding), encoding=encoding)
    assert found == [(f"{sign}x", sign) for sign in letters]
    assert len(letters) > 90


def _fits(sign: str, encoding: str) -> bool:
    try:
        return sign.encode(encoding).decode(encoding) == sign
    except UnicodeError:
        return False


BAD = {
    "utf-8": b"\xff",
    "ascii": b"\xe9",
    "cp1252": b"\x81",
    "iso8859-6": b"\xa1",
    "shift_jis": b"\x81",  # the first byte of two
    "gb18030": b"\x81",
    "euc_kr": b"\xa1",
    "utf-16-le": b"\x00\xd8",  # half of a pair
    "utf-16-be": b"\xdc\x00",
}


@pytest.mark.parametrize("encoding", BAD)
@pytest.mark.parametrize("place", range(4))
def test_a_cell_that_cannot_be_decoded_is_null_alone(tmp_path, encoding, place):
    cells = [["p", "1"], ["q", "2"]]
    expected: Rows = [("p", "1"), ("q", "2")]
    row, column = divmod(place, 2)
    comma, end = (sign.encode(encoding.removesuffix("-sig")) for sign in ",\n")
    raw = [[cell.encode(encoding) for cell in some] for some in cells]
    raw[row][column] += BAD[encoding]
    lines = [comma.join(some) for some in [["a".encode(encoding), "b".encode(encoding)], *raw]]
    spoiled = tuple(None if i == column else cell for i, cell in enumerate(expected[row]))
    expected[row] = spoiled
    data = end.join([*lines, b""])
    assert written(tmp_path / "rows.csv", data, encoding=encoding) == expected


def test_decoding_before_cutting_would_be_caught():
    """The broken twin: half a sign at the end of a cell takes the separator along."""
    data = b"a|b\np\x81|1\nq|2\n"
    assert [line.count("|") for line in data.decode("shift_jis").splitlines()] == [1, 0, 1]
    with pytest.raises(InvalidArgument, match="can look like this one"):
        TextForm(delimiter="|", encoding="shift_jis")


def test_a_mark_says_which_byte_is_first(tmp_path):
    for mark, encoding in (
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"", "utf-16-le"),
    ):
        data = mark + "a,b\nñ,1\n".encode(encoding)
        assert written(tmp_path / "rows.csv", data, encoding="utf-16") == [("ñ", "1")]
    half = "a,b\nñ,1".encode("utf-16-le") + b"\x00\xd8"  # half of a pair at the end
    assert written(tmp_path / "rows.csv", half, encoding="utf-16-le") == [("ñ", None)]
    odd = "a,b\nñ,1\n".encode("utf-16-le") + b"\0"  # half a sign at the end
    assert written(tmp_path / "rows.csv", odd, encoding="utf-16-le") == [("ñ", "1")]


# ---- Packing.

PACKED = [Compression.GZIP, Compression.ZSTD]


def packed(data: bytes, packing: Compression) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, packing.value) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("packing", PACKED)
def test_packed_files_of_several_parts_are_read_whole(tmp_path, packing):
    data = packed(b"a,b\np,1\nq,", packing) + packed(b"2\nr,3\n", packing)
    expected = [("p", "1"), ("q", "2"), ("r", "3")]
    assert written(tmp_path / "rows.csv", data, compression=packing) == expected
    assert gzip.decompress(packed(b"x", Compression.GZIP)) == b"x"


@pytest.mark.parametrize("packing", PACKED)
def test_a_damaged_packed_file_fails_instead_of_losing_rows(tmp_path, packing):
    lines = b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000))
    data = packed(b"a,b\n" + lines, packing)
    with pytest.raises(Exception, match=r".") as caught:
        written(tmp_path / "rows.csv", data[: len(data) // 2], compression=packing)
    assert not isinstance(caught.value, AssertionError)


@pytest.mark.parametrize("packing", PACKED)
def test_a_bomb_takes_no_more_memory_than_a_block(tmp_path, packing):
    data = packed(b"a,b\np,1\n" + b"x" * (1 << 24) + b"\nq,2\n", packing)
    assert len(data) < 1 << 17
    largest = []

    def noted(stream, size, own=text_files._Packed.read):
        found = own(stream, size)
        largest.append(len(found))
        return found

    with mock.patch.object(text_files._Packed, "read", noted):
        found = written(tmp_path / "rows.csv", data, compression=packing)
    assert found == [("p", "1"), ("q", "2")]
    assert max(largest) <= csv_records.LONGEST_RECORD + 8


def test_blocks_do_not_show(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n😀,ñ\n".encode("utf-16"))
    with opened_text(path, TextForm(encoding="utf-16")) as stream:
        parts = list(iter(lambda: stream.read(3), b""))
    assert b"".join(parts).decode("utf-8-sig") == "a,b\n😀,ñ\n"
    assert evolve(TextForm(), encoding="UTF8").encoding == "utf-8"
