"""Units that several columns name together: declared, checked, asked about and replayed."""

import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.core.canonical import described
from discreet.core.errors import DeclarationError, RefusedQuery
from discreet.engines.duckdb.render import owner
from discreet.tables.catalog import PrivacyUnit
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.tighten import tighten
from tests.support.projects.clinic import make_plan, run_exact
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours

TOML = """
[id_spaces.people]
unit = "a patient of a site"
budget = { epsilon = 100000, delta = 1e-3 }
[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = ["Site", "person"]
rows_per_group = 1
groups_per_unit = 1
[tables.visits.columns]
site = { type = "text" }
person = { type = "text" }
number = { type = "integer" }
ward = { type = "text", keys = ["n", "s"] }
day = { type = "date", min = 2024-01-01, max = 2024-12-31 }
cost = { type = "integer", min = 0, max = 10 }
[tables.stays]
source = "stays.parquet"
id_space = "people"
unit = { column = ["clinic", "patient"] }
rows_per_group = 1
groups_per_unit = 1
[tables.stays.columns]
clinic = { type = "text" }
patient = { type = "text" }
nights = { type = "integer", min = 0, max = 10 }
"""
LONG = "x" * 200
VISITS = [
    ("a|b", "c", 1, "n", 1),
    ("a", "b|c", 2, "n", 2),
    ("a", "b|c", 2, "s", 3),
    ("ab", "c", 3, "n", 4),
    ("a", "bc", 4, "s", 5),
    ("", "abc", 5, "n", 6),
    ("abc", "", 6, "n", 7),
    (LONG, "c", 7, "n", 8),
    (LONG + "y", "c", 8, "n", 9),
    ("c", LONG, 9, "s", 1),
    ("a", None, 10, "n", 1),
    (None, "c", 11, "n", 1),
    (None, None, 12, "s", 1),
]
STAYS = [("a|b", "c", 3), ("a", "b|c", 4), ("a", "b", 5), (None, "c", 6), ("c", LONG, 7)]


def visits(rows=VISITS) -> pa.Table:
    schema = [("site", pa.string()), ("person", pa.string()), ("number", pa.int64())]
    schema += [("ward", pa.string()), ("day", pa.date32()), ("cost", pa.int64())]
    day = datetime.date(2024, 2, 1)
    full = [(*row[:4], day, row[4]) for row in rows]
    columns = [list(column) for column in zip(*full, strict=True)] or [[] for _ in schema]
    return pa.table(columns, schema=pa.schema(schema))


def stays(rows=STAYS) -> pa.Table:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.table(columns, names=["clinic", "patient", "nights"])


def write(folder: Path, toml: str = TOML) -> Path:
    pq.write_table(visits(), folder / "visits.parquet")
    pq.write_table(stays(), folder / "stays.parquet")
    (folder / "discreet.toml").write_text(toml)
    return folder


UNITS = len({row[:2] for row in VISITS if None not in row[:2]})

ASKED = {
    "SELECT COUNT(*) FROM visits": [UNITS],
    "SELECT COUNT(DISTINCT (site, person)) FROM visits": [UNITS],
    "SELECT COUNT(DISTINCT person, site) FROM visits": [UNITS],
    "SELECT COUNT(*) FROM (SELECT site, person FROM visits GROUP BY site, person) AS t": [UNITS],
    "SELECT COUNT(*) FROM (SELECT DISTINCT site, person FROM visits) AS t": [UNITS],
    "SELECT SUM(CLAMP(nights, 0, 10)) FROM visits JOIN stays"
    " ON site = clinic AND person = patient WHERE ward = 'n'": [3 + 4],
    "SELECT COUNT(*) FROM visits WHERE EXISTS"
    " (SELECT 1 FROM stays WHERE clinic = site AND patient = person)": [3],
}


@pytest.mark.parametrize(("sql", "expected"), ASKED.items())
def test_what_looks_alike_together_is_different_people(tmp_path, sql, expected):
    (found,) = run_exact(write(tmp_path), sql)
    assert found.tolist() == expected


def test_of_a_part_the_first_characters_are_seen_and_of_a_unit_all(tmp_path):
    rows = [("x" * 256 + end, "p", 1, "n", 1) for end in "ab"]
    folder = write(tmp_path)
    pq.write_table(visits(rows), folder / "visits.parquet")
    assert run_exact(folder, "SELECT COUNT(DISTINCT site) FROM visits")[0].tolist() == [1]
    units = "SELECT COUNT(DISTINCT (site, person)) FROM visits"
    assert run_exact(folder, units)[0].tolist() == [2]


def test_declared_checked_and_asked_about(tmp_path):
    folder = write(tmp_path)
    with discreet.own(folder) as owner_view:
        owner_view.check()
        profile = owner_view.profile("visits", epsilon=900)
        assert profile.rows is not None
    with discreet.connect(folder, epsilon="900") as connection:
        release = connection.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
        assert sum(row[1] for row in release.rows) == UNITS
        assert "the same site and person" in str(connection.explain("SELECT COUNT(*) FROM visits"))
        assert connection.rehearse(
            "SELECT COUNT(DISTINCT (site, person)) AS n FROM visits", rows=50
        )
        by_site = connection.sql(
            "SELECT site, COUNT(*) AS n FROM visits GROUP BY site", delta="1e-9"
        )
        assert len(by_site.rows) <= len({row[0] for row in VISITS})


FIRST = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY cost)"
NAMED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = person)"
REFUSED = {
    f"SELECT COUNT(*) FROM (SELECT {FIRST} AS r FROM visits) AS t WHERE r = 1": "Add site",
    "SELECT COUNT(*) FROM visits JOIN stays ON site = clinic": "person = patient",
    "SELECT COUNT(*) FROM visits JOIN stays ON site = patient AND person = clinic": "site = clinic",
    "SELECT COUNT(*) FROM visits JOIN stays ON site || person = clinic || patient": "site = clinic",
    "SELECT site, person, COUNT(*) FROM visits GROUP BY site, person": "site and person name one",
    f"{NAMED} COUNT(*) FROM visits": "several name the unit",
}


@pytest.mark.parametrize(("sql", "words"), REFUSED.items())
def test_a_part_of_the_unit_is_not_the_unit(tmp_path, sql, words):
    with (
        discreet.connect(write(tmp_path), epsilon=900, delta="1e-6") as connection,
        pytest.raises(RefusedQuery, match=words),
    ):
        connection.explain(sql)


def test_one_row_for_each_unit_is_seen_by_its_whole_key(tmp_path):
    """The limits are then those of one row; a part of the key shows it too, for a unit has one."""
    catalog = read_catalog(
        write(tmp_path, TOML.replace("rows_per_group = 1", "rows_per_group = 9"))
    )
    inner = "SELECT site, person, MAX(cost) AS c FROM visits GROUP BY site, person"
    plan = make_plan(catalog, f"SELECT COUNT(*) FROM ({inner}) AS t")
    assert tighten(plan).limits.rows_per_group == 1
    assert tighten(make_plan(catalog, "SELECT COUNT(*) FROM visits")).limits.rows_per_group == 9


# ---- Replay: one unit is taken out, and nothing moves by more than is declared.

REPLAYED = [
    "SELECT COUNT(*), SUM(cost) FROM visits",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "SELECT COUNT(DISTINCT (site, person)) FROM visits",
    "SELECT COUNT(DISTINCT person) FROM visits",
    "SELECT COUNT(*) FROM visits JOIN stays ON site = clinic AND person = patient",
]


def replay(tmp_path: Path, sql: str) -> bool:
    """Take out each unit, from both tables; tell whether some moved as much as one may."""
    catalog = read_catalog(write(tmp_path))
    # Nobody has both parts; and one unit has very many rows, in two tables.
    rows = [*VISITS, *(("a", "b|c", 20 + i, "ns"[i % 2], i % 10) for i in range(9))]
    engine = MemoryEngine({"visits": visits(rows), "stays": stays()})
    plan = make_plan(catalog, sql, engine=engine)
    first, moved = reveal(engine, plan), []
    for unit in dict.fromkeys(row[:2] for row in rows):
        engine.tables["visits"] = visits([row for row in rows if row[:2] != unit])
        engine.tables["stays"] = stays([row for row in STAYS if row[:2] != unit])
        moved += check_neighbours(plan, first, reveal(engine, plan), is_nobody=None in unit)
    return any(part.is_attained() for part in moved)


@pytest.mark.parametrize("sql", REPLAYED)
def test_one_unit_moves_no_more_than_declared(tmp_path, sql):
    assert replay(tmp_path, sql)


def test_replay_catches_a_twin_that_drops_rows_of_others(tmp_path, monkeypatch):
    """The broken twin puts the parts into one text, so two people are one.

    The limit then lets one of them in, and which it is depends on the other: in a join each meets
    the other's rows.
    """
    honest = owner._unit_values

    def together(table, opened):
        texts = [f"coalesce({value}, '')" for value in honest(table, opened)]
        return [f"({' || '.join(texts)})" if i == 0 else "''" for i in range(len(texts))]

    monkeypatch.setattr(owner, "_unit_values", together)
    with pytest.raises(AssertionError, match="not within"):
        _ = [replay(tmp_path, sql) for sql in REPLAYED]


def test_a_separator_is_no_way_out(tmp_path, monkeypatch):
    honest = owner._unit_values

    def separated(table, opened):
        first, second = honest(table, opened)
        return [f"({first} || '|' || {second})", "''"]

    sql = "SELECT COUNT(DISTINCT (site, person)) FROM visits"
    assert run_exact(write(tmp_path), sql)[0].tolist() == [UNITS]
    monkeypatch.setattr(owner, "_unit_values", separated)
    assert run_exact(tmp_path, sql)[0].tolist() == [UNITS - 1]


# ---- Declarations.

WRONG = {
    'unit = ["site", "Person", "SITE"]': "twice",
    "unit = []": "between 1 and 8",
    'unit = ["site", 1]': "must be text",
    'unit = ["site", "nobody"]': "names no declared column",
    'unit = ["site", "day"]': "another type",
    'unit = ["person", "number"]': "another kind",
    'unit = ["site", "person", "number"]': "another kind",
    'unit = "person"': "another kind",
}


@pytest.mark.parametrize(("unit", "words"), WRONG.items())
def test_what_makes_no_sense_is_refused(tmp_path, unit, words):
    toml = TOML.replace('unit = ["Site", "person"]', unit)
    with pytest.raises(DeclarationError, match=words):
        read_catalog(write(tmp_path, toml))


def test_another_order_of_the_same_columns_is_refused(tmp_path):
    toml = TOML.replace("clinic", "site").replace("patient", "person")
    swapped = toml.replace('["site", "person"]', '["person", "site"]')
    assert len(read_catalog(write(tmp_path, toml)).tables) == 2
    with pytest.raises(DeclarationError, match="another order"):
        read_catalog(write(tmp_path, swapped.replace("a person of", "a patient of")))


def test_parts_of_other_kinds_and_periods(tmp_path):
    """Whole numbers beside texts, and a patient of a site in a month."""
    toml = TOML.split("[tables.stays]", maxsplit=1)[0]
    mixed = toml.replace('["Site", "person"]', '["site", "number"]')
    (found,) = run_exact(write(tmp_path, mixed), "SELECT COUNT(*) FROM visits")
    assert found.tolist() == [len({(r[0], r[2]) for r in VISITS if r[0] is not None})]
    month = '{ column = ["site", "person"], period = "month", date = "day" }'
    months = toml.replace('["Site", "person"]', month)
    (found,) = run_exact(write(tmp_path, months), "SELECT COUNT(*) FROM visits")
    assert found.tolist() == [UNITS]
    named = "site, person, date_trunc('month', day)"
    inner = f"SELECT {named} AS m, MAX(cost) AS c FROM visits GROUP BY 1, 2, 3"
    (found,) = run_exact(tmp_path, f"SELECT COUNT(*) FROM ({inner}) AS t")
    assert found.tolist() == [UNITS]
    with pytest.raises(RefusedQuery, match="person"):
        run_exact(tmp_path, f"SELECT COUNT(*) FROM ({inner.replace(', 3', '')}) AS t")


def test_units_of_one_column_are_stored_as_before():
    one = described(PrivacyUnit(id_space="people", column="person"))
    assert one == {"is": "PrivacyUnit", "id_space": "people", "column": "person", "period": None}
    several = PrivacyUnit(id_space="people", column="site", others=("person",))
    assert described(several)["others"] == ["person"]


@pytest.mark.parametrize("kind", ["csv", "duckdb"])
def test_other_sources_read_the_same_units(tmp_path, kind):
    folder = write(tmp_path)
    toml = TOML.split("[tables.stays]", maxsplit=1)[0]
    rows = [row for row in VISITS if "" not in row[:2]]  # a CSV file has no empty text
    source = visits(rows)
    if kind == "csv":
        cells = [
            ["" if one is None else str(one) for one in row.values()] for row in source.to_pylist()
        ]
        lines = [",".join(row) for row in [source.column_names, *cells]]
        (folder / "visits.csv").write_text("\n".join(lines) + "\n")
        toml = toml.replace("visits.parquet", "visits.csv")
    else:
        with duckdb.connect(folder / "visits.duckdb") as database:
            database.register("rows", source)
            database.execute("CREATE TABLE visits AS SELECT * FROM rows")
        toml = toml.replace(
            'source = "visits.parquet"', 'source = "visits.duckdb"\nsource_table = "visits"'
        )
    (folder / "discreet.toml").write_text(toml)
    with discreet.own(folder) as opened:
        opened.check()
    (found,) = run_exact(folder, "SELECT COUNT(*) FROM visits")
    assert found.tolist() == [len({row[:2] for row in rows if None not in row[:2]})]
