"""Texts in batches: bytes that are no text are NULL, each row by itself and in few steps."""

import hashlib
import itertools

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.duckdb.sources import stored_values as module
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.stored_values import LONGEST_NAME, digests, whole_texts
from discreet.tables.catalog import Table
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import run_exact, visit, write_project
from tests.support.projects.dice import Dice

EDGES = (
    *(0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1),
    *(0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFE, 0xFF),
)
"""The bytes at which a rule of UTF-8 begins or ends."""

LEADS = (0x41, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF)
ODD = [
    b"\xed\xa0\x80",  # a surrogate
    b"\xed\x9f\xbf",
    b"\xc0\x80",  # an overlong zero
    b"\xf4\x8f\xbf\xbf",  # the last character
    b"\xf4\x90\x80\x80",  # one beyond
    b"\xe2\x82",  # the beginning of a character
    b"\xac",  # and its end
    b"\x00",
    b"\xef\xbb\xbf",
    b"",
]


def binary(values):
    return pa.array(values, pa.large_binary())


def decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def test_what_is_text_is_the_same_for_python_arrow_and_the_engine():
    values = [bytes(v) for n in (1, 2) for v in itertools.product(EDGES, repeat=n)]
    values += [bytes(v) for v in itertools.product(LEADS, EDGES, EDGES)]
    values += [bytes((*v, 0x80)) for v in itertools.product(LEADS, EDGES, EDGES)]
    values += [b"a" * k + odd + b"b" * k for odd in ODD for k in (1, 7, 8, 15, 16, 31, 33, 70)]
    expected = [decoded(value) for value in values]
    assert whole_texts(binary(values)).to_pylist() == expected
    stored = pa.table({"c": binary(values)})
    engine = duckdb.connect()
    rows = engine.sql("SELECT TRY(decode(c)) FROM stored").fetchall()
    assert [row[0] for row in rows] == expected
    texts = pa.table({"c": whole_texts(binary(values))})
    assert engine.sql("SELECT c FROM texts").fetchall() == [(value,) for value in expected]
    assert len(stored) == len(texts)


@pytest.mark.parametrize("number", range(10))
def test_a_row_is_read_by_itself(number, monkeypatch):
    """Whatever its neighbours hold, and wherever rows are looked at together."""
    dice = Dice(number, label="whole texts")
    monkeypatch.setattr(module, "ROWS", dice.pick((1, 7, 512)))
    monkeypatch.setattr(module, "BYTES", dice.pick((1, 50, 1 << 15)))
    monkeypatch.setattr(module, "FEW_ROWS", dice.pick((1, 5, 64)))
    usual = (b"abc", "né".encode(), None)
    share = dice.pick((0, 2, 50))
    values = [dice.pick(ODD if dice.chance(share) else usual) for _ in range(700)]
    stored = binary(values)
    for array, rows in ((stored, values), (stored.slice(13, 555), values[13:568])):
        found = whole_texts(array)
        found.validate(full=True)
        assert found.to_pylist() == [decoded(value) for value in rows]
    assert whole_texts(stored.slice(700)).to_pylist() == []


def test_a_character_that_two_rows_share_is_in_neither():
    assert whole_texts(binary([b"a\xc3", b"\xa9b", b"c"])).to_pylist() == [None, None, "c"]


def test_nothing_is_copied():
    stored = binary([b"a" * 1000] * 100)
    assert whole_texts(stored).buffers()[2].address == stored.buffers()[2].address
    spoiled = binary([*[b"a" * 1000] * 99, b"\xff"])
    assert whole_texts(spoiled).buffers()[2].address == spoiled.buffers()[2].address


def test_few_rows_are_looked_at_again_for_one_that_is_no_text(monkeypatch):
    """An engine that raises, or that tries again row by row, would look at 2,048 or at all."""
    seen, look = [], module._is_utf8

    def looked_at(value: bytes | None) -> bool:
        seen.append(value)
        return bool(look(value))

    monkeypatch.setattr(module, "_is_utf8", looked_at)
    whole_texts(binary([b"a"] * 100_000))
    assert seen == []
    whole_texts(binary([*[b"a"] * 70_000, b"\xff", *[b"a"] * 30_000]))
    assert 1 <= len(seen) <= module.FEW_ROWS


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_an_engine_gets_texts_that_need_no_look(tmp_path, file_format):
    folder = write_project(tmp_path, [visit("p")], file_format=file_format)
    (table,) = read_catalog(folder).tables
    assert isinstance(table, Table)
    opened = open_source(table, frozenset(c.name for c in table.columns), "source")
    for batches in opened.batches.values():
        assert not any(pa.types.is_large_binary(kind) for kind in batches.schema.types)
    assert "decode" not in opened.relation


# ---- Long identifiers.


def test_digests_are_those_of_the_engine():
    names = ["n" * LONGEST_NAME, "n" * (LONGEST_NAME + 1), "é" * 33, None, "", "y" * 100_000]
    array = pa.array(names, pa.large_string())
    table = pa.table({"c": array})
    sql = f'SELECT CASE WHEN strlen(c) > {LONGEST_NAME} THEN sha256(c) END FROM "table"'
    rows = duckdb.connect().sql(sql).fetchall()
    assert digests(array).to_pylist() == [row[0] for row in rows]
    assert digests(array.slice(2)).to_pylist() == [row[0] for row in rows[2:]]
    assert digests(array)[5].as_py() == hashlib.sha256(b"y" * 100_000).hexdigest()
    assert digests(array.slice(0, 1)).to_pylist() == [None]
    assert len(table) == len(names)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_number_is_no_longer_than_a_text(tmp_path, file_format):
    """Zeros before a number are read, but not without end."""
    folder = write_project(tmp_path, [visit("p")], file_format=file_format)
    table = pa.table(
        {
            "person": ["p", "q", "r"],
            "clinic": ["a"] * 3,
            "age": ["7", "0" * 9_999 + "7", "0" * 10_000 + "7"],
        }
    )
    path = folder / f"visits.{file_format}"
    if file_format == "csv":
        lines = zip(*table.to_pydict().values(), strict=True)
        text = "\n".join(",".join(line) for line in [tuple(table.column_names), *lines])
        path.write_text(text, encoding="utf-8")
    else:
        pq.write_table(table, path)
    (found,) = run_exact(folder, "SELECT COUNT(*) FROM visits WHERE age = 7")
    assert found.tolist() == [2]
