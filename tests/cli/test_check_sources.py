"""What the owner's check says of sources: every file's names and types, and no file's name."""

import os
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.cli.main import main
from discreet.engines.duckdb.engine import DuckDbEngine
from tests.support.projects.clinic import run_exact
from tests.support.projects.source_writers import write

TABLE = """
[tables.{name}]
source = "{source}"
id_space = "{space}"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
[tables.{name}.columns]
person = {{ type = "{declared}" }}
"""
SPACE = """
[id_spaces.{name}]
unit = "a person"
budget = {{ epsilon = 1 }}
"""


def declare(
    folder: Path, sources: dict[str, str], declared: str = "text", spaces: tuple[str, ...] = ()
) -> Path:
    """Declare a table for each source, all of one id space unless ``spaces`` says otherwise."""
    parts = [SPACE.format(name=name) for name in dict.fromkeys(spaces or ("people",))]
    for i, (name, source) in enumerate(sources.items()):
        space = spaces[i] if spaces else "people"
        parts.append(TABLE.format(name=name, source=source, space=space, declared=declared))
    (folder / "discreet.toml").write_text("".join(parts))
    return folder


@pytest.fixture
def check(capsys):
    def run(folder: Path, code: int = 0) -> str:
        assert main(["check", "--project", str(folder)]) == code
        captured = capsys.readouterr()
        return " ".join((captured.out if code == 0 else captured.err).split())

    return run


def people(array: pa.Array) -> pa.Table:
    return pa.table({"person": array})


INTEGERS, TEXT = pa.array([5, 6]), pa.array(["5", "6"])
FLOATS, HALVES = pa.array([5.0, None, 7.0]), pa.array([5.5])
DECIMALS = pa.array([Decimal("5.00"), Decimal("6.50")], pa.decimal128(9, 2))


# ---- One person, one identifier.


def distance(folder: Path, sql: str, removed: dict[str, pa.Table]) -> int:
    """Return by how much a count moves if some tables are replaced."""
    engine = DuckDbEngine()
    counts = []
    for replace in (False, True):
        for name, table in removed.items() if replace else ():
            write(folder / name, table)
        (counted,) = run_exact(folder, sql, engine=engine)
        counts.append(int(counted[0]))
    return abs(counts[0] - counts[1])


@pytest.mark.parametrize("declared", ["text", "integer"])
@pytest.mark.parametrize(
    ("stored", "without"),
    [
        (pa.array([5.0, 6.0]), pa.array([6.0])),
        (pa.array([5.0, 6.0], pa.float32()), pa.array([6.0], pa.float32())),
        (DECIMALS, DECIMALS.slice(1)),
    ],
)
def test_whoever_is_5_and_5_0_is_one_person(tmp_path, declared, stored, without):
    """In both tables the person has a row, of which one counts: as two people they would be two."""
    folder = declare(tmp_path, {"a": "a.parquet", "b": "b.parquet"}, declared)
    write(folder / "a.parquet", people(INTEGERS))
    write(folder / "b.parquet", people(stored))
    sql = "SELECT COUNT(*) FROM (SELECT person FROM a UNION ALL SELECT person FROM b)"
    removed = {"a.parquet": people(INTEGERS.slice(1)), "b.parquet": people(without)}
    assert distance(folder, sql, removed) == 1


@pytest.mark.parametrize("declared", ["text", "integer"])
def test_a_number_with_a_part_is_nobody(tmp_path, declared):
    folder = declare(tmp_path, {"a": "a.parquet"}, declared)
    write(folder / "a.parquet", people(pa.array([5.5, 6.0, float("nan"), 2.0**60])))
    assert distance(folder, "SELECT COUNT(*) FROM a", {"a.parquet": people(HALVES)}) == 1


REFUSED = [
    ("text", FLOATS, INTEGERS, "names units and is stored as double"),
    ("text", FLOATS, FLOATS, "Declare it as integer"),
    ("text", DECIMALS, DECIMALS, "names units and is stored as decimal128(9, 2)"),
    ("text", INTEGERS, TEXT, "in a as integers and in b as text"),
    ("text", pa.array([True]), TEXT, "stored in two ways"),
    ("integer", pa.array([True]), INTEGERS, "in a as booleans and in b as integers"),
]
ALLOWED = [
    ("text", INTEGERS, pa.array([5], pa.int8())),
    ("text", TEXT, pa.array(["5"]).dictionary_encode()),
    ("text", TEXT, pa.nulls(2)),
    ("integer", INTEGERS, FLOATS),
    ("integer", INTEGERS, TEXT),
    ("integer", DECIMALS, pa.nulls(2)),
]


@pytest.mark.parametrize(("declared", "first", "second", "words"), REFUSED)
def test_identifiers_in_two_forms_are_refused(tmp_path, check, declared, first, second, words):
    folder = declare(tmp_path, {"a": "a.parquet", "b": "b.arrow"}, declared)
    write(folder / "a.parquet", people(first))
    write(folder / "b.arrow", people(second))
    assert words in check(folder, code=2)


@pytest.mark.parametrize(("declared", "first", "second"), ALLOWED)
def test_identifiers_in_one_form_are_not(tmp_path, check, declared, first, second):
    folder = declare(tmp_path, {"a": "a.parquet", "b": "b.arrow"}, declared)
    write(folder / "a.parquet", people(first))
    write(folder / "b.arrow", people(second))
    assert "All is well" in check(folder)


def test_files_of_a_pattern_are_compared_too(tmp_path, check):
    folder = declare(tmp_path, {"a": "kim-*.parquet"})
    write(folder / "kim-1.parquet", people(INTEGERS))
    write(folder / "kim-2.parquet", people(TEXT))
    told = check(folder, code=2)
    assert "stored in two ways" in told
    assert "kim-1" not in told
    csv = declare(tmp_path, {"a": "kim-1.parquet", "b": "b.csv"})
    write(csv / "b.csv", people(TEXT))
    assert "in a as integers and in b as text" in check(csv, code=2)


# ---- Every file is looked at, and none is named.

BROKEN = [
    (pa.table({"other": [1]}), "lacks a declared column"),
    (pa.table({"person": ["x"], "PERSON": ["y"]}), "has a column twice"),
    (pa.table({"person": pa.array([[1]])}), "is stored as list"),
    (b"not what it says", "cannot be read"),
    (b"", "cannot be read"),
]


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize(("content", "words"), BROKEN)
def test_a_file_that_does_not_fit_is_refused(tmp_path, check, kind, content, words):
    folder = declare(tmp_path, {"a": f"of-*.{kind}"})
    write(folder / f"of-1.{kind}", people(TEXT))
    if isinstance(content, bytes):
        (folder / f"of-kim.{kind}").write_bytes(content)
    else:
        write(folder / f"of-kim.{kind}", content)
    if kind == "csv" and content == b"not what it says":
        words = "lacks a declared column"
    if kind == "csv" and words == "is stored as list":
        return  # all is text
    told = check(folder, code=2)
    assert words in told
    assert "kim" not in told


def test_types_that_differ_are_cautioned_of(tmp_path, check):
    folder = declare(tmp_path, {"a": "of-*.parquet"}, "integer")
    write(folder / "of-1.parquet", people(INTEGERS))
    assert "Worth knowing" not in check(folder)
    write(folder / "of-kim.parquet", people(pa.nulls(1)))
    told = check(folder)
    assert "a.person is NULL where some of its files store no type for it" in told
    write(folder / "of-lou.parquet", people(FLOATS))
    told = check(folder)
    assert "a.person is stored as double and int64 in different files" in told
    assert "names units and is stored with a fraction" in told
    assert "kim" not in told
    assert "lou" not in told


# ---- One file in two id spaces.


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("source", ["again.csv", "aga*.csv"])
def test_a_file_in_two_id_spaces_is_seen_through_links(tmp_path, check, link, source):
    folder = declare(tmp_path, {"a": "a.csv", "b": source}, spaces=("here", "there"))
    write(folder / "a.csv", people(TEXT))
    write(folder / "again.csv", people(TEXT))
    assert "a and b read the same file" not in check(folder)
    (folder / "again.csv").unlink()
    link(folder / "a.csv", folder / "again.csv")
    assert "a and b read the same file but belong to different id spaces" in check(folder)
    one = declare(tmp_path, {"a": "a.csv", "b": source}, spaces=("here", "here"))
    assert "read the same file" not in check(one)
