"""Codes with labels, codes for what is missing, booleans in words, ranges as keys: end to end."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.core.canonical import described
from discreet.core.errors import DeclarationError, RefusedQuery
from discreet.curator.profile.stored_profile import profile_name
from discreet.tables.catalog import Limits, Period, PeriodLength, PrivacyUnit, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.relations.scan import Scan
from discreet.tables.source import Source, SourceFormat
from tests.support.projects.clinic import make_plan, run_exact
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours

TOML = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100000, delta = 1e-3 }}
[tables.visits]
source = "visits.{file}"
{more}
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
[tables.visits.columns]
person = {{ type = "text", missing = ["NA", 99] }}
sex = {{ type = "integer", labels = {{ 1 = "male", 2 = "female", -7 = "it's secret" }} }}
ward = {{ type = "text", labels = {{ a = "north", b = "north", "c d" = "south" }} }}
age = {{ type = "integer", min = 0, max = 110, missing = [99, "unknown"], keys = "range" }}
cost = {{ type = "real", min = 0, max = 10, step = 0.5, missing = [-1, 9.9] }}
day = {{ type = "date", min = 2024-01-01, max = 2024-01-31, missing = [1900-01-01] }}
urgent = {{ type = "boolean", true = ["Y", 1], false = ["N", 0] }}
"""
COLUMNS = ["person", "sex", "ward", "age", "cost", "day", "urgent"]
ROWS = [
    ("p1", "1", "a", "30", "2.5", "2024-01-02", "Y"),
    ("p2", "2", "b", "99", "-1", "1900-01-01", "N"),
    ("p3", "-7", "c d", "31", "9.9", "2024-01-03", "1"),
    ("p4", "3", "d", "unknown", "3", "NA", "0"),
    ("NA", "1", "a", "30", "1", "2024-01-02", "Y"),
    ("99", "1", "a", "30", "1", "2024-01-02", "Y"),
    ("p5", "", "", "", "nan", "", ""),
    ("p6", "1e0", "A", "-5", "-1.0", "9999999-01-01", "true"),
    ("p7", "9" * 30, "x" * 20_000, "111", "1e400", "\ufffd", "y"),
]


def write(folder: Path, file: str) -> Path:
    """Write the rows as texts, or as what a database makes of them."""
    path = folder / f"visits.{file}"
    columns = zip(*([cell or None for cell in row] for row in ROWS), strict=True)
    texts = pa.table(dict(zip(COLUMNS, columns, strict=True)))
    typed = ", ".join(
        [
            "person, TRY_CAST(sex AS INTEGER) AS sex, ward, TRY_CAST(age AS SMALLINT) AS age",
            "TRY_CAST(cost AS DOUBLE) AS cost, TRY_CAST(day AS DATE) AS day, urgent",
        ]
    )
    if file == "csv":
        lines = [",".join(f'"{cell}"' if cell else "" for cell in row) for row in ROWS]
        path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    elif file == "duckdb":
        with duckdb.connect(path) as database:
            database.register("texts", texts)
            database.execute(f"CREATE TABLE visits AS SELECT {typed} FROM texts")
    else:
        with duckdb.connect() as database:
            database.register("texts", texts)
            found = database.sql(f"SELECT {typed} FROM texts").to_arrow_table()
            pq.write_table(found if file == "parquet" else texts, path)
    more = 'source_table = "visits"' if file == "duckdb" else ""
    (folder / "discreet.toml").write_text(TOML.format(file=file, more=more))
    return folder


ASKED = {
    "SELECT sex, COUNT(*) FROM visits GROUP BY sex": [2, 1, 1],
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward": [2, 1],
    "SELECT COUNT(*) FROM visits WHERE sex = 'it''s secret'": [1],
    "SELECT COUNT(*) FROM visits WHERE age IS NULL": [3],
    "SELECT COUNT(*) FROM visits WHERE cost IS NULL": [4],
    "SELECT COUNT(*) FROM visits WHERE day IS NULL": [5],
    "SELECT urgent, COUNT(*) FROM visits GROUP BY urgent": [2, 2],
    "SELECT COUNT(*) FROM visits": [7],
}


@pytest.mark.parametrize("file", ["csv", "parquet", "duckdb"])
def test_codes_mean_the_same_in_every_kind_of_file(tmp_path, file):
    folder = write(tmp_path, file)
    for sql, expected in ASKED.items():
        (found,) = run_exact(folder, sql)
        assert (sql, found.tolist()) == (sql, expected)
    (ages,) = run_exact(folder, "SELECT age, COUNT(*) FROM visits GROUP BY age")
    assert len(ages) == 111
    assert ages.tolist()[30:32] == [1, 1]
    assert ages.sum() == 2


def test_labels_are_keys_and_are_shown(tmp_path):
    folder = write(tmp_path, "csv")
    with discreet.connect(folder, epsilon="900") as connection:
        release = connection.sql("SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex")
        assert [row[0] for row in release.rows] == ["male", "female", "it's secret"]
        assert [row[1] for row in release.rows] == [2, 1, 1]
        with pytest.raises(RefusedQuery, match="one type"):
            connection.explain("SELECT COUNT(*) FROM visits WHERE sex = 1")
        made_up = connection.rehearse("SELECT sex, urgent, COUNT(*) FROM visits GROUP BY 1, 2")
        assert made_up is not None
    catalog = read_catalog(folder)
    assert catalog.table("visits").column("sex").type is ColumnType.TEXT
    assert catalog.table("visits").column("ward").keys == ("north", "south")
    assert "codes" in described(catalog.table("visits").column("urgent"))


@pytest.mark.parametrize("sql", ASKED)
def test_one_person_moves_no_more_than_declared(tmp_path, sql):
    """Whoever is taken out, whatever codes they have; rows of nobody move nothing."""
    catalog = read_catalog(write(tmp_path, "csv"))
    columns = zip(*([cell or None for cell in row] for row in ROWS), strict=True)
    stored = pa.table(dict(zip(COLUMNS, columns, strict=True)))
    engine = MemoryEngine({"visits": stored})
    plan = make_plan(catalog, sql, engine=engine)
    first = reveal(engine, plan)
    for place, row in enumerate(ROWS):
        others = [i for i in range(len(ROWS)) if i != place]
        engine.tables = {"visits": stored.take(others)}
        is_nobody = row[0] in ("NA", "99")
        check_neighbours(plan, first, reveal(engine, plan), is_nobody=is_nobody)


REFUSED = {
    'sex = { type = "integer", labels = { one = "male" } }': "no code",
    'sex = { type = "integer", labels = { 1 = "a", 01 = "b" } }': "twice",
    'sex = { type = "integer", labels = { 1 = 2 } }': "wrong type",
    'sex = { type = "integer", labels = {} }': "empty",
    'sex = { type = "integer", labels = { 1 = "a" }, keys = [1] }': "not a setting",
    'sex = { type = "real", labels = { 1 = "a" } }': "not a setting",
    'sex = { type = "boolean", true = ["Y"] }': "missing",
    'sex = { type = "boolean", true = ["Y"], false = [] }': "empty",
    'sex = { type = "boolean", true = ["Y"], false = ["Y"] }': "twice",
    'sex = { type = "boolean", true = [1.5], false = ["Y"] }': "wrong type",
    'sex = { type = "integer", missing = [1.5] }': "wrong type",
    'sex = { type = "integer", missing = [9223372036854775808] }': "too large",
    'sex = { type = "date", missing = [99] }': "wrong type",
    f'sex = {{ type = "text", missing = ["{"x" * 65}"] }}': "too long",
    'sex = { type = "integer", keys = "range" }': "no range",
    'sex = { type = "integer", keys = "all", min = 0, max = 9 }': "list",
    'sex = { type = "integer", keys = "range", min = 0, max = 99999 }': "at most 10,000",
    'sex = { type = "integer", keys = "range", min = 0, max = 1, step = 0.5 }': "step",
    'sex = { type = "text", keys = "range" }': "list",
}


@pytest.mark.parametrize(("line", "reason"), REFUSED.items())
def test_what_makes_no_sense_is_refused(tmp_path, line, reason):
    text = (write(tmp_path, "csv") / "discreet.toml").read_text()
    old = next(found for found in text.splitlines() if found.startswith("sex"))
    (tmp_path / "discreet.toml").write_text(text.replace(old, line))
    with pytest.raises(DeclarationError, match=reason):
        read_catalog(tmp_path)


def test_labels_name_no_unit(tmp_path):
    text = (write(tmp_path, "csv") / "discreet.toml").read_text()
    (tmp_path / "discreet.toml").write_text(text.replace('unit = "person"', 'unit = "ward"'))
    with pytest.raises(DeclarationError, match="labels"):
        read_catalog(tmp_path)


# ---- Who owns a row is in the name of every question.


def test_other_codes_of_the_unit_make_another_question(tmp_path):
    file = write(tmp_path, "csv") / "discreet.toml"
    with_codes = file.read_text()
    plain = with_codes.replace(', missing = ["NA", 99] }', " }")
    sql = "SELECT COUNT(*) AS n FROM visits"
    names = set()
    for text in (plain, with_codes, with_codes.replace('"NA", 99', '"NA"')):
        file.write_text(text)
        names.add(profile_name(private_table_of(tmp_path)))
        with discreet.connect(tmp_path) as connection:
            assert not connection.sql(sql, epsilon=10).is_stored
            assert connection.sql(sql, epsilon=10).is_stored
    assert len(names) == 3


def private_table_of(folder: Path) -> Table:
    (table,) = read_catalog(folder).tables
    return table


def test_another_zone_of_the_period_makes_another_question():
    unit = PrivacyUnit(
        id_space="people",
        column="person",
        period=Period(length=PeriodLength.DAY, column="Seen", has_times=True),
    )
    person = Column(name="person", type=ColumnType.TEXT)

    def name(zone: str | None) -> object:
        seen = Column(name="seen", type=ColumnType.TIMESTAMP, zone=zone)
        table = Table(
            name="visits",
            source=Source(path=Path("/visits.csv"), format=SourceFormat.CSV),
            unit=unit,
            columns=(person, seen),
            limits=Limits(rows_per_group=1, groups_per_unit=1),
        )
        return described(Scan(table=table, columns=()))

    assert name("Europe/Berlin") != name("UTC") != name(None)
    # As it was before there were codes and zones.
    assert name(None) == {
        "is": "Scan",
        "table": {"is": "Table", "name": "visits", "unit": described(unit)},
        "columns": [],
    }
