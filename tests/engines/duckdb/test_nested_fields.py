"""Fields inside columns of Parquet, Arrow and JSON lines, by their paths, and hostile ones."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources import nested_fields
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import make_plan, run_exact
from tests.support.projects.memory import reveal
from tests.support.projects.neighbours import check_neighbours

TOML = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100000 }}
[tables.visits]
source = "visits.{file}"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
[tables.visits.columns]
person = {{ type = "text", from = ["who", "id"] }}
city = {{ type = "text", from = ["who", "Address", "a.b \\"c\\""], keys = ["X", "Y"] }}
flat = {{ type = "text", from = "who.id", keys = ["flat"] }}
age = {{ type = "integer", from = ["who", "age"], min = 0, max = 100 }}
cost = {{ type = "real", from = ["bill", "cost"], min = 0, max = 10, step = 0.5 }}
"""
ADDRESS = pa.struct([('a.b "c"', pa.string()), ("tags", pa.list_(pa.string()))])
WHO = pa.struct([("id", pa.string()), ("age", pa.string()), ("address", ADDRESS)])
BILL = pa.struct([("cost", pa.float64()), ("Cost2", pa.decimal128(38, 2))])


def address(city: str | None) -> dict[str, object]:
    return {'a.b "c"': city, "tags": ["t"]}


ROWS: list[tuple[Any, Any]] = [
    ({"id": "p1", "age": "30", "address": address("X")}, {"cost": 1.0}),
    ({"id": "p2", "age": "x", "address": None}, None),
    ({"id": "p3", "age": None, "address": address(None)}, {"cost": float("nan")}),
    (None, {"cost": 9.0}),
    ({"id": None, "age": "5", "address": address("Y")}, {"cost": 9.0}),
    ({"id": "p4", "age": "200", "address": address("Y")}, {"cost": 2.5}),
]


def table(rows=ROWS) -> pa.Table:
    who, bill = zip(*rows, strict=True)
    columns = {
        "who": pa.array(who, WHO),
        "who.id": pa.array(["flat"] * len(rows)),
        "bill": pa.array(bill, BILL),
    }
    return pa.table(columns)


def write(folder: Path, file: str = "parquet", stored: pa.Table | None = None) -> Path:
    stored = table() if stored is None else stored
    path = folder / f"visits.{file}"
    if file == "parquet":
        pq.write_table(stored, path)
    elif file == "jsonl":
        lines = [json.dumps(row).replace("NaN", "null") for row in stored.to_pylist()]
        path.write_text("\n".join(lines))
    else:
        with ipc.new_file(path, stored.schema) as writer:
            writer.write_table(stored, max_chunksize=2)
    (folder / "discreet.toml").write_text(TOML.format(file=file))
    return folder


ASKED = {
    "SELECT COUNT(*) FROM visits": [4],
    "SELECT city, COUNT(*) FROM visits GROUP BY city": [1, 1],
    "SELECT flat, COUNT(*) FROM visits GROUP BY flat": [4],
    "SELECT COUNT(*) FROM visits WHERE age IS NULL": [2],
    "SELECT SUM(age) FROM visits": [30 + 100],
    "SELECT SUM(cost) FROM visits": [2 + 5],
}


@pytest.mark.parametrize("file", ["arrow", "parquet", "jsonl"])
def test_a_path_leads_to_its_cells(tmp_path, file):
    """A text with dots is a name; a list is a path, whatever signs are in its names."""
    if file == "parquet":
        # The reader would take "who.id" for both, so the field of the path is not read there.
        stored = table().rename_columns(["who", "who_id", "bill"])
        folder = write(tmp_path, file, stored)
        toml = (folder / "discreet.toml").read_text().replace('"who.id"', '"who_id"')
        (folder / "discreet.toml").write_text(toml)
    else:
        folder = write(tmp_path, file)
    with discreet.own(folder) as owner:
        owner.check()
    for sql, expected in ASKED.items():
        assert (sql, run_exact(folder, sql)[0].tolist()) == (sql, expected)
    with discreet.connect(folder, epsilon=900) as connection:
        release = connection.sql("SELECT city, COUNT(*) AS n FROM visits GROUP BY city")
        assert list(release.rows) == [("X", 1), ("Y", 1)]
        assert connection.rehearse("SELECT COUNT(*) AS n FROM visits", rows=20)


def test_two_fields_with_one_spelling_are_none_of_them(tmp_path):
    """In Parquet, who > id and a column "who.id" are spelled alike: neither is guessed."""
    folder = write(tmp_path)
    with discreet.own(folder) as owner, pytest.raises(DeclarationError, match="person"):
        owner.check()
    assert run_exact(folder, "SELECT COUNT(*) FROM visits")[0].tolist() == [0]


def test_one_person_moves_no_more_than_declared(tmp_path):
    """Replay through the reader of files: also what one row has inside moves nobody else."""
    folder = write(tmp_path, "arrow")
    catalog, engine = read_catalog(folder), DuckDbEngine(threads=1)
    rows = [*ROWS, *ROWS[:1] * 3]
    for sql in list(ASKED)[:2] + list(ASKED)[-1:]:
        plan = make_plan(catalog, sql)
        write(tmp_path, "arrow", table(rows))
        first, moved = reveal(engine, plan), []
        for gone in ("p1", "p2", "p3", "p4", None):
            left = [row for row in rows if (None if row[0] is None else row[0]["id"]) != gone]
            write(tmp_path, "arrow", table(left))
            moved += check_neighbours(plan, first, reveal(engine, plan), is_nobody=gone is None)
        assert any(part.is_attained() for part in moved) or "SUM" in sql
    engine.close()


def test_a_twin_that_forgets_the_whole_being_null_is_caught(tmp_path, monkeypatch):
    """Under a NULL the parts are still stored, and they are of nobody."""
    hidden = pa.StructArray.from_arrays(
        [pa.array(["p9"]), pa.array(["1"]), pa.array([None], ADDRESS)],
        fields=list(WHO),
        mask=pa.array([True]),
    )
    bill = pa.array([None], BILL)
    stored = pa.table({"who": hidden, "who.id": ["flat"], "bill": bill})
    folder = write(tmp_path, "arrow", stored)
    assert run_exact(folder, "SELECT COUNT(*) FROM visits")[0].tolist() == [0]

    def forgetful(array, names):
        for name in names:
            array = array.field(name)
        return array

    monkeypatch.setattr("discreet.engines.duckdb.sources.arrow_source.inner_array", forgetful)
    assert run_exact(folder, "SELECT COUNT(*) FROM visits")[0].tolist() == [1]


WRONG = {
    'from = ["who", "address", "tags"]': "row for each of its values",
    'from = ["who", "address"]': "each with its path",
    'from = ["who", "address", "tags", "element"]': "lacks a declared column",
    'from = ["who", "nothing"]': "lacks a declared column.*city, from who > nothing",
    'from = "who.age"': "lacks a declared column",
    'from = ["bill", "a", "b", "c", "d", "e", "f", "g", "h"]': "1 to 8 names",
    "from = []": "1 to 8 names",
    'from = ["who", 1]': "1 to 8 names",
    "from = 1": "wrong type",
    'from = ["who", "a\\u0000b"]': "NUL",
}


@pytest.mark.parametrize(("path", "words"), WRONG.items())
def test_what_leads_nowhere_is_refused(tmp_path, path, words):
    folder = write(tmp_path, "arrow")
    old = 'from = ["who", "Address", "a.b \\"c\\""]'
    text = (folder / "discreet.toml").read_text()
    assert old in text
    (folder / "discreet.toml").write_text(text.replace(old, path))

    def checked():
        with discreet.own(folder) as owner:
            owner.check()

    with pytest.raises(DeclarationError, match=words):
        checked()


def test_other_files_have_no_paths(tmp_path):
    (tmp_path / "discreet.toml").write_text(TOML.format(file="csv"))
    with pytest.raises(DeclarationError, match="for columns of Parquet"):
        read_catalog(tmp_path)


def test_names_that_are_there_twice_lead_nowhere():
    twice = pa.struct([("a", pa.int8()), ("A", pa.int8()), ("b", pa.int8())])
    schema = pa.schema([("s", twice), ("t", twice), ("T", twice)])
    assert [path for path, _ in nested_fields.inner_fields(schema)] == [("s", "b")]


def test_another_path_is_another_question(tmp_path):
    folder = write(tmp_path, "arrow")
    sql = "SELECT COUNT(*) AS n FROM visits"
    with discreet.connect(folder, epsilon=900) as connection:
        assert not connection.sql(sql).is_stored
        assert connection.sql(sql).is_stored
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(text.replace('["who", "id"]', '["who", "age"]'))
    with discreet.connect(folder, epsilon=900) as connection:
        assert not connection.sql(sql).is_stored


def test_text_that_is_none_spoils_its_own_row_alone(tmp_path):
    bad = pa.array([b"p1", b"\xff\xfe", b"p3"], pa.binary())
    who = pa.StructArray.from_arrays([bad], names=["id"])
    for file in ("arrow", "parquet"):
        folder = write(tmp_path, file, pa.table({"who": who}))
        lines = (folder / "discreet.toml").read_text().splitlines()
        kept = [line for line in lines if not line.startswith(("city", "flat", "age", "cost"))]
        (folder / "discreet.toml").write_text("\n".join(kept))
        assert run_exact(folder, "SELECT COUNT(*) FROM visits")[0].tolist() == [2]


HOSTILE = [
    '{"who": {"id": "p1"}, "who": {"id": "p2"}}',
    '{"who": {"id": "p1", "ID": "p2"}}',
    '{"who": [{"id": "p1"}]}',
    '{"who": "id"}',
    '{"who.id": "p1"}',
    '{"\\u0000who\\u0000id": "p1"}',
    '{"who": ' * 3000 + "1" + "}" * 3000,
    '{"who": {"id": {"id": "p1"}}}',
    '{"who": {"id": "p1"}, "WHO": null, "who": {"id": "p1"}}',
    '{"who": {"id": "p1"}',
]


def test_hostile_lines_are_nobodys_and_spoil_no_other(tmp_path):
    folder = write(tmp_path, "jsonl")
    path = folder / "visits.jsonl"
    path.write_text("\n".join([*HOSTILE, path.read_text(), *HOSTILE]))
    for sql, expected in ASKED.items():
        assert (sql, run_exact(folder, sql)[0].tolist()) == (sql, expected)
