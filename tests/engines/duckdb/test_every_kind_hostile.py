"""Every kind of source, with the texts that one person could enter, and with damaged files.

What a kind of file alone can hold (bits without a value, forged lines, cells of sheets) has tests
of its own. Here is what all of them share: a text is one cell, whoever else is there.
"""

import datetime
import gzip
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

import discreet
from discreet.cli.main import main
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources import opened as opened_module
from discreet.engines.duckdb.sources.declared_values import column_value
from discreet.engines.duckdb.sources.doubtful_text import doubtful_texts
from discreet.engines.duckdb.sources.examine import examine
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.stored_values import whole_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.declarations.declaration import parse_catalog
from tests.support.projects.source_writers import OF_TABLES, WRITERS, write
from tests.support.statistics.soak import Soak

pytestmark = pytest.mark.filterwarnings("ignore:The ledger is in memory")

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 10 }}
[tables.visits]
source = "{source}"
{more}
id_space = "people"
unit = "person"
rows_per_unit = 1
[tables.visits.columns]
person = {{ type = "text" }}
age = {{ type = "integer" }}
seen = {{ type = "timestamp" }}
note = {{ type = "text"{path} }}
"""
Rows = list[tuple[Any, ...]]


def declared(folder: Path, source: str, more: str = "", path: str = "") -> Table:
    text = DECLARATION.format(source=source, more=more, path=path)
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    (table,) = parse_catalog(text, folder / "discreet.toml").tables
    return table


def read(table: Table | PublicTable) -> Rows:
    opened = open_source(table, frozenset(column.name for column in table.columns), "rows")
    with duckdb.connect() as database:
        for name, batches in opened.batches.items():
            database.register(name, batches)
        cells = ", ".join(column_value(column, opened.cells) for column in table.columns)
        return database.execute(f"SELECT {cells} FROM {opened.relation}").fetchall()


# ---- Texts that mean something to one kind of file or another.

EVIL = [
    'a"b', '"', '""', "'", "a,b;c\td|e", "line\nforged,1,2024-01-01 10:00,x\n", "a\rb", "a\r\nb",
    "\ufeff", "{", "}]", '{"person": "forged"}', "</t></is></c><c>", "]]>", "&amp;", "_x0041",
    "=HYPERLINK(1)", "NULL", "nan", "1e999", "9" * 400, "x" * 20_000, "é\u0301\U0001f600", " ",
    "0x1", "a=b/c", "..", "%2F", "__HIVE_DEFAULT_PARTITION", "$salt", "--", "'; DROP TABLE visits",
]  # fmt: skip
DAY = datetime.datetime(2024, 1, 1, 10)  # noqa: DTZ001 - a wall, of no zone
OTHERS = [(f"p{i}", i, DAY + datetime.timedelta(hours=i), f"note {i}") for i in range(6)]


def with_person(texts: list[str]) -> pa.Table:
    """Return rows of which one person, in the midst of the others, has the texts."""
    evil = [(text, None, None, text) for text in texts]
    rows = [*OTHERS[:3], *evil, *OTHERS[3:]]
    names = ("person", "age", "seen", "note")
    kinds = (pa.string(), pa.int64(), pa.timestamp("us"), pa.string())
    columns = zip(*rows, strict=True)
    found = zip(names, columns, kinds, strict=True)
    return pa.table({name: pa.array(column, kind) for name, column, kind in found})


def of_file(folder: Path, rows: pa.Table, kind: str) -> Table:
    write(folder / f"visits.{kind}", rows)
    inside = 'source_table = "visits"' if kind in OF_TABLES else ""
    return declared(folder, f"visits.{kind}", inside)


def of_folders(folder: Path, rows: pa.Table, _: str) -> Table:
    """Write a file for each row, in a folder whose name is its note."""
    for number in range(len(rows)):
        note = rows["note"][number].as_py()
        if len(note) > 40:
            continue
        inner = folder / "data" / f"note={quote(note, safe='')}"
        inner.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows.slice(number, 1).drop(["note"]), inner / f"{number}.parquet")
    return declared(folder, "data/*.parquet", 'partitions = ["note"]')


def of_unit(folder: Path, rows: pa.Table, unit: str) -> Table:
    """Write Parquet in which timestamps are stored in another unit."""
    place = rows.column_names.index("seen")
    other = rows["seen"].cast(pa.timestamp(unit))
    pq.write_table(rows.set_column(place, "seen", other), folder / "visits.parquet")
    return declared(folder, "visits.parquet")


def of_nested(folder: Path, rows: pa.Table, kind: str) -> Table:
    inner = pa.StructArray.from_arrays([rows["note"].combine_chunks()], ["note"])
    write(folder / f"visits.{kind}", rows.drop(["note"]).append_column("inner", inner))
    return declared(folder, f"visits.{kind}", path=', from = ["inner", "note"]')


def of_frame(folder: Path, rows: pa.Table, kind: str) -> Table:
    made = {"pandas": pa.Table.to_pandas, "polars": polars.from_arrow, "arrow": lambda one: one}
    texts, numbers = dict.fromkeys(("person", "note"), "text"), {"age": "integer"}
    owner = discreet.own(
        {"visits": made[kind](rows)},
        unit="person",
        id_space=f"{folder} {len(rows)}",
        budget={"epsilon": 1},
        rows_per_unit=1,
        columns={"visits": {**texts, **numbers, "seen": "timestamp"}},
    )
    (table,) = owner.catalog().tables
    return evolve(table, columns=tuple(map(table.column, rows.column_names)))


KINDS = {
    **{kind: (of_file, kind) for kind in WRITERS},
    "folders": (of_folders, ""),
    **{f"parquet in {unit}": (of_unit, unit) for unit in ("s", "ms", "us", "ns")},
    **{f"fields of {kind}": (of_nested, kind) for kind in ("parquet", "arrow", "jsonl")},
    **{f"a frame of {kind}": (of_frame, kind) for kind in ("pandas", "polars", "arrow")},
}


def made(folder: Path, kind: str, texts: list[str]) -> Rows:
    folder.mkdir()
    make, how = KINDS[kind]
    return read(make(folder, with_person(texts), how))


@pytest.mark.parametrize("kind", KINDS)
def test_what_one_person_enters_is_theirs_alone(tmp_path, kind):
    assert Counter(made(tmp_path / "without", kind, [])) == Counter(OTHERS)
    found = made(tmp_path / "with", kind, EVIL)
    theirs = [row for row in found if row not in OTHERS]
    assert Counter(found) - Counter(theirs) == Counter(OTHERS)
    expected = {text for text in EVIL if kind != "folders" or len(text) <= 40}
    # A line end in an XML text is a line feed, whatever it was.
    alike = (lambda text: text.replace("\r\n", "\n").replace("\r", "\n")) if kind == "xlsx" else str
    assert {alike(row[3]) for row in theirs} == set(map(alike, expected))
    assert len(theirs) == len(expected)
    assert all(row[1:3] == (None, None) for row in theirs)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_reader_that_mixes_rows_is_caught(tmp_path, kind, monkeypatch):
    def mixed(array: Any) -> Any:
        texts = whole_texts(array)
        return pa.array([*texts.to_pylist()[1:], None], texts.type)

    monkeypatch.setattr(opened_module, "whole_texts", mixed)
    with pytest.raises(AssertionError):
        test_what_one_person_enters_is_theirs_alone(tmp_path, kind)


# ---- Damaged files.


def damaged(whole: bytes, number: int) -> Iterator[bytes]:
    """Yield the file cut off, with bits turned, and with a part left out or written over."""
    for turn in range(number):
        place = (turn * 2_654_435_761 + 2_000) % len(whole)
        yield whole[:place]
        yield whole[:place] + bytes([whole[place] ^ (1 << turn % 8)]) + whole[place + 1 :]
        yield whole[:place] + whole[place + 4 :]
        yield whole[:place] + b"\xff" * 8 + whole[place + 8 :]


SECRET = "Confidential"


@pytest.mark.parametrize("kind", WRITERS)
def test_a_damaged_file_is_told_without_what_is_in_it(tmp_path, kind, capsys, soak: Soak):
    """An answer may fail then, behind the gate and alike for all; the owner is told plainly."""
    table = of_file(tmp_path, with_person([f"{SECRET} {i}" for i in range(20)]), kind)
    file = tmp_path / f"visits.{kind}"
    whole, read_by = file.read_bytes(), []
    for content in damaged(whole, soak.cases(1)):
        file.write_bytes(content)
        told = ""
        try:
            examine(table)
            told = " ".join(doubtful_texts(table))
        except DeclarationError as error:  # and no other
            told = f"{error} {error.__cause__}"
        assert SECRET not in told
        try:
            read_by.append(len(read(table)))
        except Exception:
            read_by.append(-1)  # the gate makes one message of all of them
    assert len(read_by) == 4 * soak.cases(1)
    for command in (["check"], ["to-parquet", str(file)]):
        assert main([*command, "--project", str(tmp_path)]) in (0, 2)
        said = "".join(capsys.readouterr())
        assert SECRET not in said
        assert "Traceback" not in said
        assert "[internal" not in said


def test_damage_in_the_midst_of_a_packed_file_is_told(tmp_path, capsys):
    """The header can be read; what comes after it cannot."""
    lines = [f"{hashlib.sha256(bytes([i % 256, i >> 8])).hexdigest()},{i}" for i in range(9000)]
    whole = bytearray(gzip.compress("\n".join(["person,age", *lines]).encode()))
    whole[len(whole) // 2] ^= 8
    file = tmp_path / "visits.csv.gz"
    file.write_bytes(whole)
    begun = ["init", str(file), "--look-at-types", "--project", str(tmp_path)]
    open_file = ["init", "--public", str(file), "--project", str(tmp_path)]
    for command in (begun, open_file, ["check", "--project", str(tmp_path)]):
        if command[0] == "check":
            declared(tmp_path, "visits.csv.gz")
            text = (tmp_path / "discreet.toml").read_text()
            (tmp_path / "discreet.toml").write_text(text[: text.index("seen =")])
        assert main(command) == 2
        assert "exists and is whole" in " ".join(capsys.readouterr().err.split())
