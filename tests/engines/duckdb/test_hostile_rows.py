"""One hostile row in a file of any kind: everybody else's rows are the same ones.

This is the replay of sources: the table with somebody's row and without it differ in that row
alone, wherever it stands and whatever is in it.
"""

import datetime
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.json as pa_json
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources import json_source, xml_parts
from discreet.engines.duckdb.sources.examine import require_source
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.workbook import moment
from discreet.tables.catalog import Limits, PrivacyUnit, PublicTable, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.sources import usual_source
from tests.support.projects.source_writers import text_cell
from tests.support.projects.source_writers import workbook as made_workbook

Rows = list[tuple[object, ...]]


def declared(path: Path, *names: str, table: str = "visits") -> PublicTable:
    usual = usual_source(path)
    assert usual is not None
    return PublicTable(
        name="visits",
        source=evolve(usual, table=table if usual.format.has_tables else None),
        columns=tuple(Column(name=name, type=ColumnType.TEXT) for name in names or ("a", "b")),
    )


def read(table: Table | PublicTable) -> Rows:
    names = [column.name for column in table.columns]
    opened = open_source(table, frozenset(names), "scan")
    (batches,) = opened.batches.values()
    found = batches.reader().read_all()
    return list(zip(*(found.column(f"c{i}").to_pylist() for i in range(len(names))), strict=True))


def owned(path: Path, **more: str) -> Table:
    """Return a private table whose units are named by ``a``."""
    public = declared(path, **more)
    return Table(
        name=public.name,
        source=public.source,
        columns=public.columns,
        unit=PrivacyUnit(id_space="people", column="a"),
        limits=Limits(rows_per_group=1, groups_per_unit=1),
    )


PEOPLE = [("p", "1"), ("q", "2"), ("r", "3")]


def require_alone(found: Rows) -> None:
    more = Counter(found) - Counter(PEOPLE)
    assert Counter(PEOPLE) <= Counter(found)
    assert more.total() <= 1


# ---- JSON lines.

LINES = {
    "nothing": b"",
    "blank": b" \t\r",
    "broken": b'{"a": "x", "b": ',
    "two objects": b'{"a": "x"} {"a": "y"}',
    "a list": b'[{"a": "x"}]',
    "a number": b"7",
    "deep lists": b'{"a": "x", "b": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"b":' * 100_000 + b"1" + b"}" * 100_000,
    "long number": b'{"a": "x", "b": ' + b"9" * 100_000 + b"}",
    "no number": b'{"a": "x", "b": NaN}',
    "twice": b'{"a": "x", "a": "p", "b": 1}',
    "twice in another case": b'{"a": "x", "A": "p"}',
    "half of a pair": b'{"a": "\\ud800", "b": "1"}',
    "zero": b'{"a": "x\\u0000", "b": "\\u0000"}',
    "raw zero": b'{"a": "x\x00"}',
    "not UTF-8": b'{"a": "\xff", "b": "\xc3"}',
    "too long": b'{"a": "' + b"x" * (3 << 20) + b'"}',
    "other line ends": '{"a": "x"}\u2028{"a": "y"}\r{"a": "z"}'.encode(),
    "lists": b'{"a": ["p"], "b": {"a": "p"}}',
    "exponents": b'{"a": 1e999999999, "b": -1e-999999999}',
}


def json_file(path: Path, evil: bytes, place: int = 1) -> Path:
    lines = [json.dumps({"a": a, "b": b}).encode() for a, b in PEOPLE]
    path.write_bytes(b"\n".join([*lines[:place], evil, *lines[place:], b""]))
    return path


@pytest.mark.parametrize("name", LINES)
def test_a_line_of_json_spoils_itself_alone(tmp_path, name):
    for place in (0, 3):
        table = declared(json_file(tmp_path / "rows.jsonl", LINES[name], place))
        require_alone(read(table))


@given(evil=st.binary(max_size=30), block=st.integers(1, 9), place=st.integers(0, 3))
def test_any_bytes_of_a_line_spoil_it_alone(tmp_path_factory, evil, block, place):
    path = json_file(tmp_path_factory.getbasetemp() / "rows.jsonl", evil.replace(b"\n", b""), place)
    with mock.patch.object(json_source, "BLOCK", block):
        require_alone(read(declared(path)))


def test_a_reader_of_whole_files_would_be_caught(tmp_path):
    """The broken twin: one line makes it fail, and so tells that somebody is there."""
    path = json_file(tmp_path / "rows.jsonl", LINES["broken"])
    require_alone(read(declared(path)))
    with pytest.raises(pa.ArrowInvalid):
        pa_json.read_json(path)


def test_json_values_are_texts_of_what_is_written(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"a": 1.50, "b": true}\n'
        b'{"B": "", "A": 12345678901234567890123}\n{"a": null}\n'
    )
    found = [("1.50", "true"), ("12345678901234567890123", ""), (None, None)]
    assert read(declared(path)) == found
    require_source(declared(path))
    with pytest.raises(DeclarationError, match="lacks a declared column"):
        require_source(declared(path, "a", "z"))


# ---- SQLite.

CELLS = [
    ("'x'", "x"),
    ("x'ff'", None),
    ("CAST(x'c3' AS TEXT)", None),
    ("9223372036854775807", "9223372036854775807"),
    ("0.1", "0.1"),
    ("2.0", "2"),
    ("9e999", "inf"),
    ("CAST(x'00' AS TEXT)", "\0"),
    ("zeroblob(3000000)", None),
    ("NULL", None),
    ("''", ""),
]


def database(path: Path, *statements: str) -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as writer, writer:
        for statement in statements:
            writer.execute(statement)
    return path


@pytest.mark.parametrize("kind", ["INTEGER", "TEXT", "REAL", "BLOB", "ANYTHING"])
def test_a_cell_of_sqlite_spoils_itself_alone(tmp_path, kind):
    for written, expected in CELLS:
        rows = [f"('{a}', {b})" for a, b in [*PEOPLE, ("x", written)]]
        path = database(
            tmp_path / "clinic.sqlite",
            f"CREATE TABLE visits (a TEXT, b {kind})",
            f"INSERT INTO visits VALUES {', '.join(rows)}",
        )
        found = read(declared(path))
        require_alone(found)
        if kind == "BLOB":
            assert found[-1] == ("x", expected)


def test_units_of_sqlite_are_whole_numbers(tmp_path):
    path = database(
        tmp_path / "clinic.sqlite",
        "CREATE TABLE visits (a, b)",
        "INSERT INTO visits VALUES (5, 1), (5.0, 1), ('5', 1), (5.5, 1), (9007199254740993.0, 1)",
    )
    assert [a for a, _ in read(owned(path))] == ["5", "5", "5", None, None]


def test_only_plain_tables_of_sqlite_are_read_and_nothing_is_written(tmp_path):
    path = database(
        tmp_path / "clinic.sqlite",
        'CREATE TABLE "Vi""sits" (a, b, c GENERATED ALWAYS AS (abs(b)))',
        'INSERT INTO "Vi""sits" VALUES (\'p\', -1)',
        'CREATE VIEW seen AS SELECT * FROM "Vi""sits"',
    )
    before = path.read_bytes()
    assert read(declared(path, "a", "c", table='vi"sits')) == [("p", None)]
    with pytest.raises(DeclarationError, match="an expression"):
        require_source(declared(path, "c", table='vi"sits'))
    for name in ("seen", "sqlite_master", "nowhere", 'main.vi"sits'):
        with pytest.raises(DeclarationError, match="no such table"):
            require_source(declared(path, table=name))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.sqlite"]


def test_a_database_that_is_written_to_is_refused(tmp_path):
    path = database(tmp_path / "it's #1 %20.sqlite", "CREATE TABLE visits (a, b)")
    require_source(declared(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO visits VALUES ('p', '1')")
        with pytest.raises(DeclarationError, match="being written to"):
            require_source(declared(path))
    assert read(declared(path)) == [("p", "1")]


# ---- Excel.

VALUES = {
    "a text": (text_cell("x"), "x"),
    "escaped": (text_cell("_x0041_\u00e9"), "A\u00e9"),
    "half of a pair": (text_cell("_xD800_"), None),
    "shared": ('<c t="s"><v>0</v></c>', "both"),
    "shared by nobody": ('<c t="s"><v>99999</v></c>', None),
    "shared by no number": ('<c t="s"><v>-1</v></c>', None),
    "a number": ("<c><v>0.10000000000000001</v></c>", "0.1"),
    "a whole one": ("<c><v>5</v></c>", "5"),
    "no number": ("<c><v>abc</v></c>", None),
    "infinite": ("<c><v>1e400</v></c>", "inf"),
    "a boolean": ('<c t="b"><v>1</v></c>', "true"),
    "no boolean": ('<c t="b"><v>7</v></c>', None),
    "an error": ('<c t="e"><v>#N/A</v></c>', None),
    "of an unknown kind": ('<c t="q"><v>1</v></c>', None),
    "of no style": ('<c s="9999999999"><v>1</v></c>', "1"),
    "a date": ('<c s="1"><v>45000</v></c>', "2023-03-15"),
    "a moment": ('<c s="1"><v>45000.1</v></c>', "2023-03-15T02:24:00"),
    "a time": ('<c s="3"><v>0.25</v></c>', "06:00:00"),
    "no date": ('<c s="1"><v>-5</v></c>', None),
    "far away": ('<c s="1"><v>1e300</v></c>', None),
    "no number of a date": ('<c s="1"><v>nan</v></c>', None),
    "a duration": ('<c s="2"><v>1.5</v></c>', "129600"),
    "a formula": ('<c t="str"><f>1+1</f><v>two</v></c>', "two"),
    "too long": (text_cell("x" * 200_000), None),
    "a sign that XML lacks": ('<c t="str"><v>p\x0b</v></c>', None),
    "a reference to one": ('<c t="str"><v>p&#1;</v></c>', None),
    "an unknown entity": ('<c t="str"><v>p&nbsp;</v></c>', None),
    "a known one": ('<c t="str"><v>p&amp;&#233;</v></c>', "p&é"),
    "half of a pair in bytes": ('<c t="str"><v>p\ud800</v></c>', None),
    "in a far column": ('<c r="XFD2"><v>1</v></c>', None),
    "nowhere": ('<c r="?"><v>1</v></c>', "1"),
    "spoken": ('<c t="inlineStr"><is><t>x</t><rPh><t>y</t></rPh><r><t>z</t></r></is></c>', "xz"),
}


def excel_file(path: Path, evil: str, **more) -> Path:
    people = [[text_cell(a), f"<c><v>{b}</v></c>"] for a, b in PEOPLE]
    rows = [[text_cell("a"), text_cell("b")], *people[:1], [text_cell("x"), evil], *people[1:]]
    path.write_bytes(made_workbook(rows, texts=["<r><t>bo</t></r><r><t>th</t></r>"], **more))
    return path


@pytest.mark.parametrize("name", VALUES)
def test_a_cell_of_a_sheet_spoils_itself_alone(tmp_path, name):
    evil, expected = VALUES[name]
    found = read(declared(excel_file(tmp_path / "clinic.xlsx", evil)))
    require_alone(found)
    assert found[1] == ("x", expected)


def test_references_at_the_edges_of_blocks(tmp_path):
    cells = [f'<c t="str"><v>{"x" * size}&amp;&#1;</v></c>' for size in range(30)]
    rows = [[text_cell("a"), text_cell("b")]]
    rows += [[text_cell(f"{i}"), cell] for i, cell in enumerate(cells)]
    path = tmp_path / "clinic.xlsx"
    path.write_bytes(made_workbook([*rows, [text_cell("y"), text_cell("a&b")]]))
    for block in (1, 7, 64):
        with mock.patch.object(xml_parts, "_BLOCK", block):
            found = read(declared(path))
        assert found == [*((f"{i}", None) for i in range(30)), ("y", "a&b")]


def test_days_are_those_of_a_calendar():
    """Each day from 1900 on, by counting one after another; one of them never was."""
    day = datetime.date(1900, 1, 1)
    for number in range(1, 60_000):
        found = moment(number, is_1904=False)
        if number == 60:
            assert found is None
            continue
        assert found.date() == day
        day += datetime.timedelta(1)
    assert moment(0, is_1904=True).date() == datetime.date(1904, 1, 1)
    assert moment(2_958_465, is_1904=False).date() == datetime.date(9999, 12, 31)
    for beyond in (2_958_465.9999999999, 2_958_466, -0.1, float("nan"), float("inf")):
        assert moment(beyond, is_1904=False) is None or beyond < 2_958_466
    assert moment(2_957_003, is_1904=True).date() == datetime.date(9999, 12, 31)
    assert moment(2_957_004, is_1904=True) is None


FROM_1904 = {
    "the first day": ('<c s="1"><v>0</v></c>', "1904-01-01"),
    "a time": ('<c s="3"><v>0.25</v></c>', "06:00:00"),
    "midnight": ('<c s="3"><v>0</v></c>', "00:00:00"),
    "a moment that is shown as a time": ('<c s="3"><v>1.25</v></c>', "1904-01-02T06:00:00"),
    "a day that 1900 lacks": ('<c s="1"><v>60</v></c>', "1904-03-01"),
    "after the year 9999": ('<c s="1"><v>2957004</v></c>', None),
    "the last of the other calendar": ('<c s="1"><v>2958465</v></c>', None),
}


@pytest.mark.parametrize("name", FROM_1904)
def test_a_cell_of_a_workbook_that_counts_from_1904(tmp_path, name):
    evil, expected = FROM_1904[name]
    found = read(declared(excel_file(tmp_path / "clinic.xlsx", evil, is_1904=True)))
    require_alone(found)
    assert found[1] == ("x", expected)


def test_a_sheet_is_found_by_its_name_and_has_its_own_calendar(tmp_path):
    path = excel_file(
        tmp_path / "clinic.xlsx", '<c s="1"><v>0</v></c>', sheet="Visits 2.0", is_1904=True
    )
    assert read(declared(path, table="visits 2.0"))[1] == ("x", "1904-01-01")
    with pytest.raises(DeclarationError, match="no such table"):
        require_source(declared(path))
    with pytest.raises(DeclarationError, match="lacks a declared column"):
        require_source(declared(path, "a", "z", table="visits 2.0"))


@pytest.mark.parametrize("size", [xml_parts.LARGEST_PART, 10])
def test_a_workbook_that_is_no_workbook_is_refused(tmp_path, size):
    path = excel_file(tmp_path / "clinic.xlsx", "<c/>")
    with mock.patch.object(xml_parts, "LARGEST_PART", size):
        if size == 10:
            with pytest.raises(DeclarationError, match="cannot be read"):
                require_source(declared(path))
            return
        require_source(declared(path))
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'
    content = made_workbook([[f"{bomb}<c/>"]])
    path.write_bytes(content)
    with pytest.raises(DeclarationError, match="cannot be read"):
        require_source(declared(path))


def test_units_of_a_sheet_are_whole_numbers(tmp_path):
    cells = ["<c><v>5</v></c>", "<c><v>5.0</v></c>", text_cell("5"), "<c><v>5.5</v></c>"]
    rows = [[text_cell("a"), text_cell("b")], *([cell, text_cell("1")] for cell in cells)]
    path = tmp_path / "clinic.xlsx"
    path.write_bytes(made_workbook(rows))
    assert [a for a, _ in read(owned(path))] == ["5", "5", "5", None]
