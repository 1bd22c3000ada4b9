"""Long texts: how much of one counts, and that nobody is taken for another because of it."""

import hashlib

import pytest

from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.tables.column import LONGEST_TEXT
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.relations.scan import LONGEST_UNIT, SHORTEST_CUT, PublicScan, Scan
from tests.support.projects.clinic import make_plan, run_exact, visit, write_project

COUNT = "SELECT COUNT(*) FROM visits WHERE"


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("sign", ["x", "é", "\U0001f600"])
def test_the_first_characters_of_a_text_count(tmp_path, file_format, sign):
    notes = {"p": sign * 9_999 + "ab", "q": sign * 10_000, "r": sign * 50_000, "s": sign * 10}
    rows = [visit(person, note=note) for person, note in notes.items()]
    folder = write_project(tmp_path, rows, file_format=file_format)
    for condition, count in (
        (f"length(note) = {LONGEST_TEXT}", 3),
        ("note LIKE '%a'", 1),
        ("note LIKE '%b'", 0),
        (f"length(note) > {LONGEST_TEXT}", 0),
        ("length(note) = 10", 1),
    ):
        (found,) = run_exact(folder, f"{COUNT} {condition}")
        assert found.tolist() == [count]


def test_a_text_that_begins_like_a_key_is_no_key(tmp_path):
    keys = ["a", "b", "c", "d" * 100]
    values = {"p": "d" * 100, "q": "d" * 101, "r": "d" * 99, "s": "a" * 90}
    rows = [visit(person, value) for person, value in values.items()]
    folder = write_project(tmp_path, rows)
    declared = (folder / "discreet.toml").read_text(encoding="utf-8")
    declared = declared.replace('["a", "b", "c", "d"]', str(keys).replace("'", '"'))
    (folder / "discreet.toml").write_text(declared, encoding="utf-8")
    (counts,) = run_exact(folder, "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic")
    assert counts.tolist() == [0, 0, 0, 1]
    (found,) = run_exact(folder, f"{COUNT} length(clinic) = 101")
    assert found.tolist() == [1]


def test_how_many_characters_count_is_declared(tmp_path):
    folder = write_project(tmp_path, [visit("p")])
    (table,) = read_catalog(folder).tables
    lengths = dict(zip([c.name for c in table.columns], Scan.of(table).lengths(), strict=True))
    assert lengths["person"] == LONGEST_UNIT
    assert lengths["clinic"] == SHORTEST_CUT + 1
    assert lengths["note"] == LONGEST_TEXT
    assert lengths["age"] == lengths["day"] == 0


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_people_with_long_names_are_told_apart(tmp_path):
    long = "n" * 20_000
    people = [long + "1", long + "2", long + "1", digest(long + "1"), "n" * 64, "n" * 65, "é" * 40]
    rows = [visit(person, age=i) for i, person in enumerate(people)]
    folder = write_project(tmp_path, rows)
    (units,) = run_exact(folder, "SELECT COUNT(DISTINCT person) FROM visits")
    assert units.tolist() == [6]
    pairs = "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.person = b.person"
    (joined,) = run_exact(folder, f"{pairs} WHERE a.age >= 0 AND b.age >= 0")
    assert joined.tolist() == [2 + 5]  # two rows of each at most count, one group of all
    (named,) = run_exact(folder, f"{COUNT} person = '{'n' * 65}'")
    assert named.tolist() == [1]


def test_public_texts_are_as_long_as_they_are(tmp_path):
    folder = write_project(tmp_path, [visit("p", "a")])
    public = '\n[public_tables.towns]\nsource = "towns.csv"\n\n[public_tables.towns.columns]\n'
    columns = 'clinic = { type = "text" }\ntown = { type = "text" }\n'
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(public + columns)
    text = "clinic,town\na,Zürich\nb,\nc," + "y" * 20_000 + "\n"
    (folder / "towns.csv").write_text(text, encoding="utf-8")
    sql = "SELECT COUNT(*) FROM visits JOIN towns USING (clinic) WHERE length(town) < 10"
    plan = make_plan(read_catalog(folder), sql, engine=DuckDbEngine())
    (scan,) = (scan for scan in plan.scans() if isinstance(scan, PublicScan))
    assert dict(scan.longest) == {"clinic": 1, "town": LONGEST_TEXT}
    assert run_exact(folder, sql)[0].tolist() == [1]
