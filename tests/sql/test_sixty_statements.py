"""Statements as business tools and analysts write them, end to end, against plain DuckDB.

Truth must lie in the total interval of every value. Intervals are those of 1 - 1e-10, and there are
fewer than 2,000 values, so that all tests together raise a false alarm with less than 2e-7.
"""

import datetime
import math
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.core.errors import DiscreetError
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.release import Release
from discreet.roles.connection import Connection

FOLDER = Path(__file__).parent
STATEMENTS = tomllib.loads((FOLDER / "sixty_statements.toml").read_text("utf-8"))["statement"]
SURE = 1 - Fraction(1, 10**10)
NEAR = 1e-6
WIDE = 25
"""No interval of a count is wider: so one that is wrong by that much would be found."""

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100000, delta = 0.001 }

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "person"
rows_per_unit = 4
most_rows_per_unit = 4

[tables.visits.columns]
person = { type = "text" }
clinic = { type = "text", keys = ["north", "south", "east", "west"] }
urgent = { type = "boolean" }
age = { type = "integer", min = 0, max = 99, keys = "range" }
waited = { type = "integer", min = 0, max = 60 }
cost = { type = "real", min = 0, max = 100, step = 0.5 }
visited = { type = "date", min = 2024-01-01, max = 2025-12-31 }
note = { type = "text" }

[public_tables.clinics]
source = "clinics.csv"

[public_tables.clinics.columns]
clinic = { type = "text" }
region = { type = "text" }
beds = { type = "integer" }
"""

VISITS = """
SELECT 'p' || (i // 4) AS person, ['north', 'south', 'east', 'west'][die(i, 4) + 1] AS clinic,
       i % 7 = 0 AS urgent, die(i * 3, 90) AS age, die(i * 5, 61) AS waited,
       die(i * 7, 201) / 2.0 AS cost, DATE '2024-01-01' + die(i * 11, 731)::INTEGER AS visited,
       'note ' || i % 3 AS note
FROM range(1600) AS rows(i)"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("sixty")
    (made / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    text = "clinic,region,beds\nnorth,hills,10\nsouth,coast,20\neast,coast,5\nwest,hills,8\n"
    (made / "clinics.csv").write_text(text, encoding="utf-8")
    with duckdb.connect(":memory:") as database:
        database.execute("CREATE MACRO die(row, faces) AS (hash(row) % faces)::BIGINT")
        database.execute(f"COPY ({VISITS}) TO '{made}/visits.parquet' (FORMAT parquet)")
    return made


@pytest.fixture(scope="module")
def connection(folder):
    with discreet.connect(folder, epsilon=50, delta="1e-6") as opened:
        yield opened


@pytest.fixture(scope="module")
def plain(folder):
    """Plain DuckDB over the raw files: it knows nothing of privacy."""
    with duckdb.connect(":memory:") as database:
        database.execute("CREATE SCHEMA public")
        database.execute("CREATE MACRO clamp(x, a, b) AS least(greatest(x, a), b)")
        database.execute("CREATE MACRO to_date(text, form) AS CAST(text AS DATE)")
        database.execute("CREATE MACRO to_char(day, form) AS strftime(day, '%Y-%m')")
        for schema in ("main", "public"):
            for name in ("visits.parquet", "clinics.csv"):
                view = f"{schema}.{Path(name).stem}"
                database.execute(f"CREATE VIEW {view} AS FROM '{folder / name}'")
        yield database


def of_kind(kind: str) -> list[Any]:
    found = [one for one in STATEMENTS if one["expect"] == kind]
    return [pytest.param(one, id=one["tool"]) for one in found]


def test_there_are_sixty_and_each_has_a_name_of_its_own():
    assert len(STATEMENTS) >= 60
    assert len({one["tool"] for one in STATEMENTS}) == len(STATEMENTS)
    assert {one["expect"] for one in STATEMENTS} == {"answered", "free", "refused"}


@pytest.mark.parametrize("statement", of_kind("refused"))
def test_refused_with_the_way_out_and_for_nothing(connection: Connection, statement):
    before = connection.history()
    with pytest.raises(DiscreetError) as caught:
        connection.sql(statement["sql"])
    assert statement["says"] in str(caught.value)
    assert connection.history() == before


@pytest.mark.parametrize("statement", of_kind("free"))
def test_free(connection: Connection, plain, statement):
    before = connection.history()
    answer = connection.sql(statement["sql"])
    assert isinstance(answer, FreeAnswer)
    assert list(answer.columns) == statement["columns"]
    assert connection.history() == before
    rows = plain.sql(statement["sql"]).fetchall()
    assert sorted(map(_keys, answer.rows)) == sorted(map(_keys, rows))


@pytest.mark.parametrize("statement", of_kind("answered"))
def test_answered_with_the_truth_in_its_intervals(connection: Connection, plain, statement):
    release = connection.sql(statement["sql"])
    assert isinstance(release, Release)
    assert list(release.columns) == statement["columns"]
    assert release.rows
    if statement.get("truth") == "none":
        return
    noisy = [output.name for output in release.view.outputs if output.is_noisy()]
    keys = [place for place, name in enumerate(release.columns) if name not in noisy]
    truth = {
        tuple(_plain(row[place]) for place in keys): row
        for row in plain.sql(statement["sql"]).fetchall()
    }
    found = [tuple(_plain(row[place]) for place in keys) for row in release.rows]
    assert set(truth) <= set(found)
    for name in noisy:
        place, ends = release.columns.index(name), release.totals(name, SURE)
        for key, (low, high) in zip(found, ends, strict=True):
            if key in truth and truth[key][place] is not None:
                assert _at_least(truth[key][place], low), (name, key)
                assert _at_least(high, truth[key][place]), (name, key)
            if "count" in name.lower():
                assert high - low <= WIDE


def _at_least(larger: Any, smaller: Any) -> bool:
    """Tell whether a value is at least another; an end that nobody knows is no claim."""
    if larger is None or smaller is None:
        return True
    first, second = _plain(larger), _plain(smaller)
    if isinstance(first, datetime.date):
        return first >= second
    return bool(first >= second or math.isclose(first, second, abs_tol=NEAR))


def _plain(value: Any) -> Any:
    return value.date() if isinstance(value, datetime.datetime) else value


def _keys(row: Any) -> tuple[str, ...]:
    return tuple(str(_plain(value)) for value in row)
