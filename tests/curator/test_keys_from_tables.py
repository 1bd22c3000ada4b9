"""Keys from a column of a public table: declared, checked, asked about, and hostile twins."""

import os
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.core.errors import DeclarationError, RefusedQuery
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.relations import read_keys
from tests.support.projects.clinic import make_plan, run_exact
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours

TOML = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100000 }
[tables.flights]
source = "flights.csv"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 2
[tables.flights.columns]
person = { type = "text" }
origin = { type = "text", keys = { table = "Airports", column = "FAA" } }
gate = { type = "integer", keys = { table = "airports", column = "gates" } }
[public_tables.airports]
source = "airports.csv"
[public_tables.airports.columns]
faa = { type = "text" }
gates = { type = "integer" }
"""
AIRPORTS = 'faa,gates\nJFK,3\nEWR,1\n,7\nJFK,\n"o\'h ""x""",3\n'
FLIGHTS = "person,origin,gate\na,JFK,1\na,EWR,3\nb,JFK,9\nc,ZZZ,1\nd,,\n,JFK,1\n"
GROUPED = "SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin"


def write(folder: Path, *, airports: str = AIRPORTS, toml: str = TOML) -> Path:
    (folder / "airports.csv").write_text(airports)
    (folder / "flights.csv").write_text(FLIGHTS)
    (folder / "discreet.toml").write_text(toml)
    return folder


def test_values_of_the_public_column_are_the_groups_once_and_without_null(tmp_path):
    folder = write(tmp_path)
    with discreet.own(folder) as owner:
        owner.check()
    with discreet.connect(folder, epsilon="900") as connection:
        release = connection.sql(GROUPED)
        assert list(release.rows) == [("EWR", 1), ("JFK", 2), ('o\'h "x"', 0)]
        assert connection.sql(GROUPED).is_stored
        both = connection.sql("SELECT gate, COUNT(*) AS n FROM flights GROUP BY ROLLUP(gate)")
        assert [row[0] for row in both.rows] == [1, 3, 7, None]
        assert connection.rehearse(GROUPED, rows=20).release.rows


def test_another_public_file_is_another_question(tmp_path):
    folder = write(tmp_path)
    with discreet.connect(folder, epsilon="900") as connection:
        assert not connection.sql(GROUPED).is_stored
        write(folder, airports="faa,gates\nEWR,1\nJFK,3\n'o,2\n")
        changed = connection.sql(GROUPED)
        assert not changed.is_stored
        assert [row[0] for row in changed.rows] == ["'o", "EWR", "JFK"]
        write(folder, airports=AIRPORTS + "JFK,1\n")
        assert connection.sql(GROUPED).is_stored  # the same values, however often


def test_listed_keys_with_the_same_content_are_the_same_question(tmp_path):
    folder = write(tmp_path)
    with discreet.connect(folder, epsilon="900") as connection:
        connection.sql(GROUPED)
    listed = r"""keys = ["EWR", "JFK", "o'h \"x\""]"""
    write(folder, toml=TOML.replace('keys = { table = "Airports", column = "FAA" }', listed))
    with discreet.connect(folder, epsilon="900") as connection:
        assert connection.sql(GROUPED).is_stored


def test_what_is_not_grouped_by_the_column_keeps_its_name(tmp_path):
    folder = write(tmp_path)
    with discreet.connect(folder, epsilon="900") as connection:
        connection.sql("SELECT COUNT(*) AS n FROM flights")
        write(folder, airports="faa,gates\nEWR,1\n")
        assert connection.sql("SELECT COUNT(*) AS n FROM flights").is_stored


# ---- Hostile twins.


def test_a_private_file_gives_no_keys(tmp_path):
    """Neither by its name, nor by a link that is put there later: its values would be public."""
    named = TOML.replace('"Airports", column = "FAA"', '"flights", column = "origin"')
    with pytest.raises(DeclarationError, match=r"no public table"):
        read_catalog(write(tmp_path, toml=named))
    folder = write(tmp_path, toml=TOML.replace("faa =", "origin =").replace('"FAA"', '"origin"'))
    with discreet.connect(folder, epsilon="900") as connection:
        (folder / "airports.csv").unlink()
        os.link(folder / "flights.csv", folder / "airports.csv")
        with pytest.raises(DeclarationError, match="file of a private one"):
            connection.explain(GROUPED)
        assert connection.budget()[0].spent.epsilon == 0
    with pytest.raises(DeclarationError, match="file of a private one"):
        discreet.connect(folder)


@pytest.mark.parametrize("airports", ["faa,gates\n", "faa,gates\n,\n", "gates\n1\n"])
def test_no_keys_at_all_is_refused_and_never_private_keys(tmp_path, airports):
    folder = write(tmp_path, airports=airports)
    with (
        discreet.connect(folder, epsilon="900") as connection,
        pytest.raises(DeclarationError, match=r"too few|lacks"),
    ):
        connection.explain(GROUPED)
    with discreet.own(folder) as owner, pytest.raises(DeclarationError, match=r"too few|lacks"):
        owner.check()


def test_too_many_keys_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(read_keys, "MOST_FROM_TABLE", 2)
    folder = write(tmp_path)
    with (
        discreet.connect(folder, epsilon="900") as connection,
        pytest.raises(DeclarationError, match="between 1 and 2"),
    ):
        connection.explain(GROUPED)


REFUSED = {
    'keys = { table = "airports", column = "gates" } # text': "of another type",
    'keys = { table = "airports", column = "iata" }': "names no column",
    'keys = { table = "airports" }': "is missing",
    'keys = { table = "airports", column = "faa", order = 1 }': "not a setting",
    'keys = { table = "nowhere", column = "faa" }': "no public table",
    'keys = { table = "airports", column = "?" }': "not answered yet",
    'keys = { table = ["airports"], column = "faa" }': "wrong type",
}


@pytest.mark.parametrize(("keys", "reason"), REFUSED.items())
def test_what_makes_no_sense_is_refused(tmp_path, keys, reason):
    old = 'origin = { type = "text", keys = { table = "Airports", column = "FAA" } }'
    new = f'origin = {{ type = "text", {keys.split(" #")[0]} }}'
    with pytest.raises(DeclarationError, match=reason):
        read_catalog(write(tmp_path, toml=TOML.replace(old, new)))
    public = TOML.replace('faa = { type = "text" }', f"faa{new.removeprefix('origin')}")
    with pytest.raises(DeclarationError, match=r"public|missing|setting|answered|wrong"):
        read_catalog(write(tmp_path, toml=public))


def test_reals_have_no_keys_from_a_table(tmp_path):
    toml = TOML.replace('gate = { type = "integer"', 'gate = { type = "real"')
    with pytest.raises(DeclarationError, match="not a setting"):
        read_catalog(write(tmp_path, toml=toml))


def test_one_person_moves_no_more_than_declared(tmp_path):
    """Replay: whoever is taken out. A twin that takes keys from the private rows is caught."""
    catalog = read_catalog(write(tmp_path))
    rows = [("a", "JFK"), ("a", "EWR"), ("a", "LGA"), ("b", "JFK"), ("c", "ZZZ"), (None, "JFK")]
    people, origins = zip(*rows, strict=True)
    flights = pa.table({"person": people, "origin": origins, "gate": [1] * len(rows)})
    airports = pa.table({"faa": ["JFK", "EWR", "LGA", None], "gates": [1, 2, 3, 4]})
    engine = MemoryEngine({"flights": flights, "airports": airports})
    plan = make_plan(catalog, GROUPED, engine=engine)
    first, moved = reveal(engine, plan), []
    for person in ("a", "b", "c", None):
        kept = [i for i, (owner, _) in enumerate(rows) if owner != person]
        engine.tables["flights"] = flights.take(kept)
        assert make_plan(catalog, GROUPED, engine=engine).keys == plan.keys
        moved += check_neighbours(plan, first, reveal(engine, plan), is_nobody=person is None)
    assert any(part.is_attained() for part in moved)
    # The broken twin: the public table is made of the private rows.
    engine.tables["airports"] = pa.table({"faa": flights.take([3, 4])["origin"], "gates": [1, 2]})
    assert make_plan(catalog, GROUPED, engine=engine).keys != plan.keys


def test_a_value_without_a_key_is_in_no_group(tmp_path):
    (counts,) = run_exact(write(tmp_path), GROUPED)
    assert counts.tolist() == [1, 2, 0]


def test_a_missing_public_file_is_refused_before_anything_is_charged(tmp_path):
    folder = write(tmp_path)
    with discreet.connect(folder, epsilon="900") as connection:
        (folder / "airports.csv").unlink()
        with pytest.raises((DeclarationError, RefusedQuery)):
            connection.sql(GROUPED)
        assert connection.budget()[0].spent.epsilon == 0
