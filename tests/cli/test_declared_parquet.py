"""A declared file becomes Parquet in its declared types, and questions get the same answers."""

import json
import tomllib
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources.declared_values import column_value
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.roles.connection import connect
from tests.support.projects.clinic import run_exact
from tests.support.projects.owner import owner_of
from tests.support.projects.source_writers import OF_TABLES, WRITERS, write

HEAD = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 10 }
"""
TABLE = """
[tables.visits]
source = "{source}"  # a comment
{more}
id_space = "people"
unit = "person"
rows_per_group = 3
groups_per_unit = 5

[tables.visits.columns]
person = {{ type = "{unit}" }}
{columns}
"""
COLUMNS = """
seen = { type = "timestamp", zone = "Europe/Berlin", min = 2024-01-01, max = 2024-12-31 }
at = { type = "time", keys = [10:00:00, 10:00:00.5] }
day = { type = "date", min = 2024-01-01, max = 2024-12-31 }
ok = { type = "boolean", true = ["Y", 1], false = ["N"] }
plain = { type = "boolean" }
sex = { type = "integer", labels = { 1 = "male", 2 = "female", "-1" = "it's \\"both\\"" } }
code = { type = "text", labels = { a = "first", "né" = "second" } }
score = { type = "integer", missing = [99, "NA"], min = 0, max = 10, keys = "range" }
cost = { type = "real", min = 0, max = 10, step = 0.25, missing = [-9] }
note = { type = "text", missing = ["none"], keys = ["x", "é\\t"] }
"""
NAMES = [
    *("person", "seen", "at", "day", "ok", "plain"),
    *("sex", "code", "score", "cost", "note", "undeclared"),
]
ROWS: list[list[str | None]] = [
    ["1", "2024-07-01T23:30:00Z", "10:00", "2024-07-01", "Y", "true",
     "1", "a", "7", "1.5", "x", "u"],
    ["01", "2024-07-01 23:30:00.1234567", "10:00:00.5", "2024-12-31", "N", "f",
     "2", "né", "99", "-9", "none", "v"],
    ["2", "2024-03-31T01:30:00+00:00", "10:00:00.5000009", "2024-02-30", "1", "no",
     "-1", "b", "NA", "1e400", "é\t", None],
    ["2.0", "yesterday", "25:00", " 2024-07-02 ", "maybe", "?",
     "3", None, "2.5", "nan", "y", "w"],
    ["x", None, None, None, None, None, None, None, None, None, None, None],
    [None, "2024-07-01", "10:00", "2024-07-01", "Y", "true", "1", "a", "8", "2", "x", "u"],
]  # fmt: skip
QUESTIONS = [
    "SELECT COUNT(*), COUNT(DISTINCT person), COUNT(note), COUNT(score), COUNT(ok) FROM visits",
    "SELECT date_trunc('day', seen), COUNT(*) FROM visits GROUP BY 1",
    "SELECT at, ok, plain, COUNT(*), SUM(extract(hour FROM seen)) FROM visits GROUP BY ALL",
    "SELECT date_trunc('month', day), COUNT(*), SUM(cost) FROM visits GROUP BY 1",
    "SELECT sex, code, note, COUNT(*), SUM(score) FROM visits GROUP BY sex, code, note",
    "SELECT score, COUNT(*) FROM visits WHERE cost > 1 OR sex = 'male' GROUP BY score",
]


def project(folder: Path, source: str, more: str = "", *, unit: str = "text") -> Path:
    text = HEAD + TABLE.format(source=source, more=more, columns=COLUMNS, unit=unit)
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    return folder


def write_lines(file: Path, rows: list[list[str | None]]) -> None:
    lines = [",".join(NAMES), *(",".join(field or "" for field in row) for row in rows), ""]
    file.write_text("\n".join(lines), encoding="utf-8")


def answers(folder: Path) -> list[list[list[int]]]:
    with connect(folder) as connection:
        owner_of(connection).check()
    with closing(DuckDbEngine()) as engine:
        found = [run_exact(folder, sql, engine=engine) for sql in QUESTIONS]
    return [[part.tolist() for part in parts] for parts in found]


def values(folder: Path) -> list[tuple[object, ...]]:
    """Return all that questions are answered from: each value of each declared column."""
    with connect(folder) as connection:
        owner_of(connection).check()
        (table,) = connection.catalog().tables
    opened = open_source(table, frozenset(column.name for column in table.columns), "rows")
    with duckdb.connect() as database:
        for name, batches in opened.batches.items():
            database.register(name, batches)
        cells = ", ".join(column_value(column, opened.cells) for column in table.columns)
        return database.execute(f"SELECT {cells} FROM {opened.relation}").fetchall()


def converted(folder: Path, file: str, capsys, *more: str) -> dict:
    options = ["--project", str(folder), "--json", *more]
    assert main(["to-parquet", str(folder / file), *options]) == 0
    told = json.loads(capsys.readouterr().out)
    (folder / "discreet.toml").write_text(HEAD + told["declaration"], encoding="utf-8")
    (folder / file).unlink()
    return told


ALIKE = ("parquet", "tsv", "csv.zst", "feather")
"""What is Parquet already, or read as another kind is."""


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind not in ALIKE])
def test_every_type_from_every_kind_of_file_has_the_same_values(tmp_path, capsys, kind):
    unit = "integer" if kind in ("csv.gz", "jsonl", "sqlite") else "text"
    columns = list(zip(*ROWS, strict=True))
    table = pa.table(
        {name: pa.array(c, pa.string()) for name, c in zip(NAMES, columns, strict=True)}
    )
    write(tmp_path / f"visits.{kind}", table)
    inside = 'source_table = "visits"' if kind in OF_TABLES else ""
    expected = values(project(tmp_path, f"visits.{kind}", inside, unit=unit))
    assert len({row[1] for row in expected}) == 5  # of these one is NULL
    told = converted(tmp_path, f"visits.{kind}", capsys)
    assert values(tmp_path) == expected
    assert told["unread"] == {
        **({} if unit == "text" else {"person": 1}),
        "seen": 1, "at": 1, "day": 1, "ok": 1, "plain": 1, "cost": 1,
    }  # fmt: skip
    assert told["without_unit"] == (1 if unit == "text" else 2)
    assert told["as_text"] == ["undeclared"]
    found = pq.read_schema(tmp_path / "visits.parquet")
    assert {
        "person": pa.large_string() if unit == "text" else pa.int64(),
        "seen": pa.timestamp("us"),
        "at": pa.time64("us"),
        "day": pa.date32(),
        "ok": pa.bool_(),
        "sex": pa.int64(),
        "code": pa.large_string(),
        "cost": pa.float64(),
        "undeclared": pa.large_string(),
    }.items() <= dict(zip(found.names, found.types, strict=True)).items()


def test_how_a_file_is_written_comes_from_the_declaration(tmp_path, capsys):
    lines = ["|".join(field or "" for field in row[:-1]) for row in ROWS]
    (tmp_path / "visits.txt").write_bytes("\n".join([*lines, ""]).encode("latin-1"))
    more = 'format = "csv"\ndelimiter = "|"\nquote = ""\nheader = false\nencoding = "latin-1"'
    expected = values(project(tmp_path, "visits.txt", more))
    told = converted(tmp_path, "visits.txt", capsys)
    assert values(tmp_path) == expected
    declared = tomllib.loads(told["declaration"])["tables"]["visits"]
    assert declared["source"] == "visits.parquet"
    assert not {"format", "delimiter", "quote", "header", "encoding"} & set(declared)
    assert declared["columns"]["ok"] == {"type": "boolean"}


def test_paths_become_names_and_texts_that_are_none_are_counted(tmp_path, capsys):
    rows = b'{"who": {"id": "p"}, "a": "\xff"}\n{"who": {"id": "q"}, "a": "x"}\n{"a": "y"}\n'
    (tmp_path / "visits.jsonl").write_bytes(rows)
    columns = 'note = { type = "text", from = "a" }'
    text = HEAD + TABLE.format(source="visits.jsonl", more="", columns=columns, unit="text")
    text = text.replace(
        'person = { type = "text"', 'person = { from = ["who", "id"], type = "text"'
    )
    (tmp_path / "discreet.toml").write_text(text)
    sql = "SELECT COUNT(*), COUNT(note) FROM visits"
    expected = [part.tolist() for part in run_exact(tmp_path, sql)]
    assert expected == [[2], [1]]
    told = converted(tmp_path, "visits.jsonl", capsys)
    assert [part.tolist() for part in run_exact(tmp_path, sql)] == expected
    assert (told["unread"], told["without_unit"]) == ({"note": 1}, 1)
    assert "from" not in told["declaration"]


@pytest.mark.parametrize("unit", ["text", "integer"])
def test_questions_get_the_same_answers(tmp_path, capsys, unit):
    write_lines(tmp_path / "visits.csv", ROWS)
    expected = answers(project(tmp_path, "visits.csv", unit=unit))
    assert all(sum(map(sum, parts)) > 0 for parts in expected)
    converted(tmp_path, "visits.csv", capsys)
    assert answers(tmp_path) == expected


def test_files_of_a_pattern_are_converted_one_by_one(tmp_path, capsys):
    for number, rows in enumerate((ROWS[:2], ROWS[2:])):
        write_lines(tmp_path / f"visits-{number}.csv", rows)
    expected = values(project(tmp_path, "visits-*.csv"))
    options = ["--project", str(tmp_path), "--json"]
    assert main(["to-parquet", str(tmp_path / "visits-0.csv"), *options]) == 0
    capsys.readouterr()
    told = converted(tmp_path, "visits-1.csv", capsys)
    assert tomllib.loads(told["declaration"])["tables"]["visits"]["source"] == "visits-*.parquet"
    assert values(tmp_path) == expected


def test_what_the_owner_is_told(tmp_path, capsys, monkeypatch):
    write_lines(tmp_path / "visits.csv", ROWS)
    project(tmp_path, "visits.csv")
    monkeypatch.chdir(tmp_path)
    assert main(["to-parquet", "visits.csv"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Wrote 6 rows to visits.parquet, in the types that visits is declared with." in told
    assert "- day: 1 cell without a date in it, NULL now" in told
    assert "- 1 row of nobody" in told
    assert "they are for you alone" in told
    assert "maybe" not in told
    assert "yesterday" not in told
    assert main(["to-parquet", "visits.csv", "text.parquet", "--as-text"]) == 0
    assert set(pq.read_schema("text.parquet").types) == {pa.string()}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--delimiter", ";"], "visits is declared, and how visits.csv is written"),
        (["--no-header"], "got --no-header"),
        (["--declared", "nobody"], "the source of 0 declared tables"),
        ([], "the source of 2 declared tables"),
        (["--declared", "again", "--project", "nowhere"], "no readable declaration"),
    ],
)
def test_what_does_not_go_with_a_declaration(tmp_path, capsys, monkeypatch, options, told):
    (tmp_path / "visits.csv").write_text(",".join(NAMES) + "\n")
    project(tmp_path, "visits.csv")
    monkeypatch.chdir(tmp_path)
    if not options or "nobody" in options:
        text = (tmp_path / "discreet.toml").read_text()
        again = text[text.index("[tables") :].replace("tables.visits", "tables.again")
        (tmp_path / "discreet.toml").write_text(text + again)
    assert main(["to-parquet", "visits.csv", *options]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "visits.parquet").exists()


def test_an_unfinished_declaration_is_told_with_the_way_out(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("person\np\n")
    Path("discreet.toml").write_text('[tables.visits]\nsource = "?"\nid_space = "?"\n')
    assert main(["to-parquet", "visits.csv"]) == 2
    assert "--as-text" in capsys.readouterr().err
    assert main(["to-parquet", "visits.csv", "--as-text"]) == 0
    Path("discreet.toml").unlink()
    assert main(["to-parquet", "visits.csv", "other.parquet"]) == 0


def test_a_public_table_is_converted_without_warnings(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("towns.csv").write_text("code,town\n1,Ulm\nx,Bonn\n")
    columns = 'columns = { code = { type = "integer" }, town = { type = "text" } }'
    Path("discreet.toml").write_text(f'[public_tables.towns]\nsource = "towns.csv"\n{columns}\n')
    assert main(["to-parquet", "towns.csv"]) == 0
    told = capsys.readouterr().out
    assert "- code: 1 cell without a whole number in it" in told
    assert "for you alone" not in told
    for what in (["."], ["towns.csv", "nowhere/towns.parquet"]):
        assert main(["to-parquet", *what]) == 2


def test_a_malformed_line_is_named_and_nothing_is_written(tmp_path, capsys):
    (tmp_path / "visits.csv").write_bytes(",".join(NAMES).encode() + b"\n\xff,1\n")
    project(tmp_path, "visits.csv")
    options = ["--project", str(tmp_path)]
    assert main(["to-parquet", str(tmp_path / "visits.csv"), *options]) == 2
    assert "Line 2 is malformed" in capsys.readouterr().err
    assert not (tmp_path / "visits.parquet").exists()
