"""An owner of aircraft reads of aircraft: in refusals, explanations, answers and profiles."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli.main import main
from discreet.core.errors import DiscreetError, RefusedQuery
from discreet.core.unit_words import A_UNIT, BARE_UNIT, ONE_UNIT, UNITS
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.naming_units import units_of

DECLARATION = """
[id_spaces.fleet]
unit = "an aircraft"
budget = { epsilon = 100, delta = 1e-3 }
[tables.flights]
source = "flights.parquet"
id_space = "fleet"
unit = "tail"
rows_per_group = 2
groups_per_unit = 3
[tables.flights.columns]
tail = { type = "text" }
origin = { type = "text", keys = ["JFK", "LGA"] }
goal = { type = "text" }
units = { type = "integer", min = 0, max = 10 }
"""
OTHERS = """
[id_spaces.staff]
unit = "one employee"
budget = { epsilon = 1 }
[tables.shifts]
source = "flights.parquet"
id_space = "staff"
unit = "tail"
rows_per_group = 1
groups_per_unit = 1
[tables.shifts.columns]
tail = { type = "text" }
"""

REFUSED = [
    ("SELECT tail FROM flights", "single aircraft are never shown"),
    ("SELECT tail, COUNT(*) FROM flights GROUP BY tail", "Groups of one aircraft"),
    ("SELECT goal, COUNT(*) FROM flights GROUP BY goal", "which only one aircraft is in"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT goal FROM flights) AS t", "rows of different aircraft"),
    ("SELECT COUNT(*) FROM (SELECT * FROM flights LIMIT 3) AS t", "a few of each aircraft"),
    ("SELECT SUM(DISTINCT units) FROM flights", "depend on other aircraft"),
    ("SELECT COUNT(*) FROM flights AS a JOIN flights AS b ON a.goal = b.goal", "pair rows of diff"),
    ("SELECT nonsense FROM flights", "Columns: tail, origin, goal, units"),
]
OTHER_WORDS = re.compile(r"\b(?:people|persons?|one unit|a unit)\b|[\ue000-\uf8ff]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "discreet.toml").write_text(DECLARATION)
    columns = {"tail": ["N1", "N2", "N3"], "origin": ["JFK"] * 3, "goal": ["x"] * 3}
    pq.write_table(pa.table({**columns, "units": [1, 2, 3]}), tmp_path / "flights.parquet")
    return tmp_path


@pytest.mark.parametrize(("sql", "said"), REFUSED)
def test_a_refusal_names_units_as_their_owner_does(folder, sql, said, capsys):
    with discreet.connect(folder, epsilon=1) as connection:
        for ask in (connection.sql, connection.explain, connection.rehearse):
            with pytest.raises(DiscreetError) as caught:
                ask(sql)
            assert said in str(caught.value)
            assert not OTHER_WORDS.search(str(caught.value.to_json()))
        with pytest.raises(DiscreetError) as caught:
            connection.batch([sql], epsilon=1, delta=0)
        assert not OTHER_WORDS.search(str(caught.value))
    assert main(["query", sql, "--epsilon", "1", "--project", str(folder)]) in (2, 3)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT origin, SUM(units), MAX(units), COUNT(DISTINCT goal) FROM flights GROUP BY 1",
        "SELECT goal, COUNT(DISTINCT tail) AS n FROM flights GROUP BY goal",
        "SELECT SUM(CLAMP_TOTAL(f.units, 0, 5)) FROM flights JOIN flights AS f USING (tail)",
    ],
)
def test_what_is_answered_names_units_as_their_owner_does(folder, sql):
    with discreet.connect(folder, epsilon=1, delta="1e-6") as connection:
        release = connection.sql(sql)
        texts = [connection.explain(sql), release, connection.explain(sql, limits="auto")]
        pages = [one._repr_html_() for one in texts]
        told = "\n".join(map(str, [*texts, *pages, *release.notes()]))
    assert "aircraft" in told
    assert not OTHER_WORDS.search(told)
    assert ("units" in told) is ("units" in sql)


def test_a_text_about_two_kinds_of_units_is_about_units(folder):
    (folder / "discreet.toml").write_text(DECLARATION + OTHERS)
    catalog = read_catalog(folder)
    assert units_of(catalog, "SELECT 1 FROM Flights").plural == "aircraft"
    assert units_of(catalog, "SELECT FROM shifts (").plural == "employees"
    for text in ("FROM shifts, flights", "", "\x00"):
        assert units_of(catalog, text).plural == "units"


def test_an_error_that_passed_no_door_is_about_units():
    error = RefusedQuery(f"{ONE_UNIT}, {A_UNIT}, {UNITS}", next=f"each {BARE_UNIT}")
    assert str(error) == "one unit, a unit, units. each unit."
    error.name_units(lambda text: text.replace(UNITS, "cats"))
    assert error.what.endswith("cats")
    assert error.args == (error.what,)
