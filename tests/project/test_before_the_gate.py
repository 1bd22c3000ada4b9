"""Before a charge nothing depends on what private files hold; behind it each file is by itself."""

import csv
import datetime
import shutil
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest

from discreet.core.errors import AnswerFailed, BudgetExhausted, DeclarationError
from discreet.core.loss import Pure
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources import (
    arrow_source,
    csv_source,
    duckdb_source,
    excel_source,
    json_source,
    sqlite_source,
)
from discreet.project import passage as passage_module
from discreet.roles.connection import connect
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import run_exact
from tests.support.projects.owner import owner_of
from tests.support.projects.source_writers import OF_TABLES, WRITERS, write

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 10, delta = 1e-6 }}
[tables.visits]
source = "{source}"
{more}
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 2
[tables.visits.columns]
person = {{ type = "text" }}
age = {{ type = "integer", min = 0, max = 100 }}
cost = {{ type = "real", min = 0, max = 10, step = 0.5 }}
day = {{ type = "date" }}
clinic = {{ type = "text", keys = ["a", "b"] }}
"""
DAY = datetime.date(2025, 3, 1)
PEOPLE = pa.table(
    {
        "person": ["p", "p", "q"],
        "age": [30, 40, 50],
        "cost": [1.5, 2.5, 3.0],
        "day": [DAY, DAY, None],
        "clinic": ["a", "b", "b"],
    }
)
KINDS = list(WRITERS)
BY_CLINIC = (
    "SELECT clinic, COUNT(*) AS n, SUM(age) AS ages, SUM(cost) AS costs FROM visits GROUP BY clinic"
)


def project(folder: Path, kind: str, source: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    more = 'source_table = "visits"' if kind in OF_TABLES else ""
    text = DECLARATION.format(source=source or f"visits.{kind}", more=more)
    (folder / "discreet.toml").write_text(text)
    return folder


# ---- One file.


def shown_before(folder: Path) -> list[str]:
    """Return all that is shown of a question without a charge, but for made-up numbers."""
    with connect(folder, epsilon=1) as connection:
        explained = str(connection.explain(BY_CLINIC))
        rehearsed = connection.rehearse(BY_CLINIC, rows=5)
        with pytest.raises(BudgetExhausted) as refused:
            connection.sql(BY_CLINIC, epsilon=11)
        budget = [str(status) for status in connection.budget()]
    return [explained, str(rehearsed.columns), str(rehearsed.cost), str(refused.value), *budget]


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_shows_nothing_before_and_fails_behind(tmp_path, kind):
    good, bad = (project(tmp_path / name, kind) for name in ("good", "bad"))
    write(good / f"visits.{kind}", PEOPLE)
    damaged = bad / f"visits.{kind}"
    damaged.write_bytes(b"\x00\xff\x13 not what it says")
    assert shown_before(good) == shown_before(bad)
    with connect(bad, epsilon=1) as connection:
        if kind in ("csv", "tsv", "jsonl"):  # there is no damage to text: it has no such columns
            assert len(connection.sql(BY_CLINIC).rows) == 2
            return
        with pytest.raises(AnswerFailed) as failed:
            connection.sql(BY_CLINIC)
        assert kind not in str(failed.value)
        assert owner_of(connection).ledger().spent("people") != Pure(0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_file_is_told_and_costs_nothing(tmp_path, kind):
    folder = project(tmp_path, kind)
    with connect(folder, epsilon=1) as connection:
        before = owner_of(connection).ledger().spent("people")
        for place in ("nothing", "a folder"):
            if place == "a folder":
                (folder / f"visits.{kind}").mkdir()
            with pytest.raises(DeclarationError, match=r"cannot be read.*exists"):
                connection.sql(BY_CLINIC)
        assert owner_of(connection).ledger().spent("people") == before


class ReachedTheGate(Exception):
    """Nothing behind the gate is done."""


OPENERS = [
    (duckdb_source, "_opened"),
    (arrow_source, "_opened"),
    (csv_source, "csv_header"),
    (duckdb_source, "attached"),
    (json_source, "opened_text"),
    (sqlite_source, "_opened"),
    (excel_source, "read_workbook"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_pattern", [False, True])
def test_no_private_file_is_opened_before_the_gate(tmp_path, kind, is_pattern):
    if kind in OF_TABLES and is_pattern:
        return
    folder = project(tmp_path, kind, f"visit*.{kind}" if is_pattern else None)
    write(folder / f"visits.{kind}", PEOPLE)
    patches = [
        mock.patch.object(place, name, side_effect=AssertionError("opened"))
        for place, name in OPENERS
    ] + [mock.patch.object(passage_module, "pass_gate", side_effect=ReachedTheGate)]
    for patch in patches:
        patch.start()
    try:
        with connect(folder, epsilon=1) as connection:
            connection.explain(BY_CLINIC)
            with pytest.raises(ReachedTheGate):
                connection.sql(BY_CLINIC)
            if kind == "parquet" and is_pattern:
                with pytest.raises(ReachedTheGate):
                    connection.batch(["SELECT COUNT(*) FROM visits"], epsilon=1, delta="1e-7")
            with pytest.raises((AssertionError, DeclarationError)):  # the owner does look
                owner_of(
                    connection
                ).check()  # the owner's does look: this is what a look would be caught by
    finally:
        mock.patch.stopall()


# ---- One file for each person.


def without(*names: str) -> pa.Table:
    return PEOPLE.drop_columns(list(names))


def stored(name: str, array: pa.Array) -> pa.Table:
    return PEOPLE.set_column(PEOPLE.column_names.index(name), name, array)


NESTED = pa.array([{"a": 1}] * 3)
FILES = {
    "null ages": stored("age", pa.nulls(3)),
    "all null": pa.table({name: pa.nulls(3) for name in PEOPLE.column_names}),
    "float ages": stored("age", pa.array([30.0, 40.0, None])),
    "text ages": stored("age", pa.array(["30", "x", None])),
    "decimal ages": stored("age", pa.array([Decimal("1.5")] * 3, pa.decimal128(9, 2))),
    "integer people": stored("person", pa.array([1, 1, 2])),
    "null people": stored("person", pa.nulls(3)),
    "no ages": without("age"),
    "no people": without("person"),
    "only ages": PEOPLE.select(["age"]),
    "other columns": PEOPLE.rename_columns(["u", "v", "w", "x", "y"]),
    "ages twice": PEOPLE.append_column("AGE", pa.array([1, 2, 3])),
    "people twice": PEOPLE.append_column("Person", pa.array(["x", "y", "z"])),
    "no rows": PEOPLE.slice(0, 0),
    "turned": PEOPLE.select(PEOPLE.column_names[::-1]),
    "categories": stored("clinic", PEOPLE["clinic"].combine_chunks().dictionary_encode()),
}
NESTED_FILES = {
    "nested ages": stored("age", NESTED),
    "nested people": stored("person", NESTED),
    "lists": stored("cost", pa.array([[1.0], [], None])),
}


def exact(folder: Path, engine: DuckDbEngine) -> list[list[int]]:
    return [[int(n) for n in column] for column in run_exact(folder, BY_CLINIC, engine=engine)]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow", "feather"])
def test_one_persons_file_never_decides_about_others(tmp_path, kind):
    """With any file at all, the numbers are those without it and those of it alone, added up."""
    both, alone = (project(tmp_path / name, kind, f"of/*.{kind}") for name in ("both", "alone"))
    for folder in (both, alone):
        (folder / "of").mkdir()
    rows = PEOPLE.set_column(0, "person", pa.array(["r", "s", "t"]))
    engine = DuckDbEngine()
    assert exact(both, engine) == [[0, 0], [0, 0], [0, 0]]
    for number in range(3):
        write(both / "of" / f"{number}.{kind}", rows.slice(number, 1))
    others = exact(both, engine)
    assert others == [[1, 2], [30, 90], [3, 11]]
    files = FILES | (NESTED_FILES if kind != "csv" else {})
    seen = set()
    for name, table in files.items():
        if kind == "csv":
            write_plain(both / "of" / "x.csv", table)
        else:
            write(both / "of" / f"x.{kind}", table)
        shutil.copy(both / "of" / f"x.{kind}", alone / "of" / f"x.{kind}")
        of_one = exact(alone, engine)
        added = [
            [a + b for a, b in zip(x, y, strict=True)] for x, y in zip(others, of_one, strict=True)
        ]
        assert exact(both, engine) == added, name
        assert max(of_one[0]) <= 3
        seen.add(str(of_one))
    assert len(seen) > 5
    with connect(both, epsilon="0.1") as connection:
        assert len(connection.sql(BY_CLINIC).rows) == 2


def write_plain(path: Path, table: pa.Table) -> None:
    """Write a CSV file whose names may be the same."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("text", ["", "\n", "person;age\np;1\n", '"', "\r", "\ufeffperson\nx\n"])
def test_a_csv_file_without_a_usable_header_is_nobodys(tmp_path, text):
    folder = project(tmp_path, "csv", "of/*.csv")
    (folder / "of").mkdir()
    write(folder / "of" / "0.csv", PEOPLE)
    before = exact(folder, DuckDbEngine())
    (folder / "of" / "x.csv").write_bytes(text.encode())
    assert exact(folder, DuckDbEngine()) == before


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "feather"])
def test_a_pattern_that_fits_no_file_is_an_empty_table(tmp_path, kind):
    folder = project(tmp_path, kind, f"nowhere/*.{kind}")
    with connect(folder, epsilon=1) as connection:
        assert len(connection.sql(BY_CLINIC).rows) == 2
        with pytest.raises(DeclarationError, match="fits no file"):
            owner_of(connection).check()
    assert exact(folder, DuckDbEngine())[0] == [0, 0]
    (folder / "nowhere").mkdir()
    write(folder / "nowhere" / f"*.{kind}", PEOPLE)  # a file of this name is a file like others
    assert exact(folder, DuckDbEngine())[0] == [1, 2]


def test_a_column_that_a_database_lacks_is_null(tmp_path):
    folder = project(tmp_path, "duckdb")
    write(folder / "visits.duckdb", without("age"))
    assert exact(folder, DuckDbEngine()) == [[1, 2], [0, 0], [3, 11]]
    with connect(folder) as connection, pytest.raises(DeclarationError, match="lacks"):
        owner_of(connection).check()
    assert read_catalog(folder).table("visits").source.path.exists()
