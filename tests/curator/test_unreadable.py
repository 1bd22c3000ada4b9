"""Text that could not be read: units are counted, each in one cell, and answers say how many."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.curator.profile.profile import profile_plans
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.unreadable import UnreadableUnits
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.tables.catalog import Limits
from discreet.tables.column import LONGEST_TEXT
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.relations.relation import Projection
from discreet.tables.relations.totals import InnerAggregate
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.dice import Dice
from tests.support.projects.memory import reveal
from tests.support.projects.neighbours import check_neighbours

READABLE = ("", "2", "2.5", " 3 ", "1e3", "-0", "inf")
UNREADABLE = ("n/a", "2,5", "nan", "12 €", "-", "2.5.1", "null")


def rows_of(cells):
    return [visit(f"p{i}", cost=cell) for i, cell in enumerate(cells)]


def profiled(folder, *columns, **options):
    with own(folder) as owner:
        return owner.profile("visits", epsilon=500, keys=[], unreadable=columns, **options)


def csv_project(folder, rows, **options):
    return write_project(folder, rows, file_format="csv", epsilon="1000", **options)


# ---- Which cells count.


def test_a_unit_counts_if_a_cell_of_it_is_there_and_does_not_read(tmp_path):
    rows = rows_of([*READABLE, *UNREADABLE])
    # One who has both is counted once, as is one who has several that do not read.
    rows += [visit("both", cost=cell) for cell in ("1", "?")]
    rows += [visit("many", cost="?") for _ in range(50)]
    found = profiled(csv_project(tmp_path, rows), "cost", "day", "age", "urgent")
    cost = found.unreadable["cost"]
    assert (cost.units, cost.without) == (len(UNREADABLE) + 2, len(READABLE))
    for column in ("day", "age", "urgent"):
        assert found.unreadable[column].units == 0
    assert found.histograms == 5
    assert "16 people have something in cost that could not be read" in str(found)
    assert found.to_json()["unreadable"]["cost"]["units"] == cost.units


@pytest.mark.parametrize(
    ("column", "cells", "expected"),
    [
        ("age", ("41", "41.0", "x", "99999999999999999999"), 2),
        ("day", ("2024-02-29", "2024-02-30", "infinity", "gestern", ""), 3),
        ("urgent", ("true", "0", "maybe"), 1),
    ],
)
def test_each_type_has_its_own_way_to_read(tmp_path, column, cells, expected):
    rows = [visit(f"p{i}") | {column: cell} for i, cell in enumerate(cells)]
    found = profiled(csv_project(tmp_path, rows), column)
    assert found.unreadable[column].units == expected


def test_a_text_that_is_declared_as_missing_was_read(tmp_path):
    folder = csv_project(tmp_path, rows_of(["n/a", "it's", "-", "99", "3"]))
    declaration = folder / "discreet.toml"
    written = declaration.read_text(encoding="utf-8")
    said = """cost = { type = "real", missing = ["n/a", "it's", 99],"""
    declaration.write_text(written.replace('cost = { type = "real",', said), encoding="utf-8")
    found = profiled(folder, "cost").unreadable["cost"]
    assert (found.units, found.without) == (1, 4)


def test_what_is_no_text_at_all_could_not_be_read_either(tmp_path):
    folder = csv_project(tmp_path, rows_of(["1", "2", "3"]))
    file = folder / "visits.csv"
    head, first, *rest = file.read_bytes().splitlines(keepends=True)
    long = rest[0].replace(b",2,", b"," + b"1" * (LONGEST_TEXT + 1) + b",")
    file.write_bytes(head + first.replace(b",1,1,", b",1,\xff,") + long + rest[1])
    found = profiled(folder, "cost").unreadable["cost"]
    assert (found.units, found.without) == (2, 1)


TEXTS = pa.schema([("person", pa.string()), ("cost", pa.string())])


@pytest.mark.parametrize("kind", ["dictionary", "arrow", "duckdb"])
def test_text_in_other_files_counts_as_well(tmp_path, kind):
    folder = write_project(tmp_path, [], epsilon="1000")
    people = [f"p{i}" for i in range(4)]
    table = pa.table({"person": people, "cost": ["1", "x", None, ""]}, TEXTS)
    declaration = folder / "discreet.toml"
    written = declaration.read_text(encoding="utf-8")
    if kind == "dictionary":
        table = table.set_column(1, "cost", table["cost"].dictionary_encode())
        pq.write_table(table, folder / "visits.parquet")
    elif kind == "arrow":
        declaration.write_text(written.replace("visits.parquet", "visits.arrow"), encoding="utf-8")
        with pa.ipc.new_file(str(folder / "visits.arrow"), TEXTS) as writer:
            writer.write_table(table)
    else:
        source = '"visits.duckdb"\nsource_table = "visits"'
        declaration.write_text(written.replace('"visits.parquet"', source), encoding="utf-8")
        with duckdb.connect(str(folder / "visits.duckdb")) as database:
            database.register("given", table)
            database.execute("CREATE TABLE visits AS SELECT * FROM given")
    found = profiled(folder, "cost", "age").unreadable
    assert (found["cost"].units, found["cost"].without) == (2, 2)
    assert found["age"].units == 0  # a column that is not there has nothing in it


# ---- Privacy: one unit moves one cell by one.


def plan_of(folder):
    with own(folder) as owner:
        (table,) = owner.catalog().tables
        plan = profile_plans(table, [], [], ["cost"])[-1]
        return plan, reveal(owner._project.engine, plan), reveal(owner._project.engine, twin(plan))


def twin(plan):
    """Return the broken twin: rows are counted, each in the cell of its own."""
    assert isinstance(plan.relation, Projection)
    by_unit = plan.relation.source
    assert isinstance(by_unit, InnerAggregate)
    (total,) = by_unit.totals
    assert total.value is not None
    relation = evolve(plan.relation, source=by_unit.source, values=(total.value,))
    return evolve(plan, relation=relation, aggregates=(CountRows(),), limits=MANY)


MANY = Limits(rows_per_group=1000, groups_per_unit=1000)


@pytest.mark.parametrize("number", range(2))
def test_one_unit_moves_one_cell_by_one(tmp_path, number):
    dice = Dice(number, label="unreadable")
    cells = [[dice.pick(READABLE + UNREADABLE) for _ in range(dice.between(1, 6))] for _ in "abcde"]
    rows = [visit(f"p{i}", cost=cell) for i, mine in enumerate(cells) for cell in mine]
    gone = f"p{dice.below(5)}"
    neighbour = [row for row in rows if row["person"] != gone]
    plan, exact, _ = plan_of(csv_project(tmp_path / "with", rows))
    _, without, _ = plan_of(csv_project(tmp_path / "without", neighbour))
    (moved,) = check_neighbours(plan, exact, without)
    assert moved.is_attained()


def test_a_count_of_cells_moves_more_than_is_paid_for(tmp_path):
    rows = [visit("cleo", cost="?") for _ in range(30)] + [visit("dan", cost="1")]
    plan, exact, of_rows = plan_of(csv_project(tmp_path / "with", rows))
    _, without, of_fewer = plan_of(csv_project(tmp_path / "without", rows[30:]))
    (moved,) = check_neighbours(plan, exact, without)
    assert moved.is_attained()
    with pytest.raises(AssertionError, match="not within"):
        check_neighbours(plan, of_rows, of_fewer)


# ---- What answers say.

SAID = "about 20 of 100 people have something in cost that could not be read (20 to 20), which"


def test_answers_that_read_the_column_say_how_many(tmp_path):
    folder = csv_project(tmp_path, rows_of(["n/a"] * 20 + ["3"] * 80))
    declaration = folder / "discreet.toml"
    written = declaration.read_text(encoding="utf-8")
    with_delta = written.replace("epsilon = 1000", "epsilon = 1000, delta = 1e-5")
    declaration.write_text(with_delta, encoding="utf-8")
    profiled(folder, "cost")
    with connect(folder) as visits:
        summed = visits.sql("SELECT SUM(cost) AS s FROM visits", epsilon=1)
        filtered = visits.sql("SELECT COUNT(*) AS n FROM visits WHERE cost > 1", epsilon=1)
        counted = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        (both,) = visits.batch(["SELECT AVG(cost) AS a FROM visits"], epsilon=1, delta="1e-6")
    for release in (summed, filtered, both):
        assert SAID in " ".join(release.notes())
        assert SAID in str(release)
        assert any(SAID in note for note in release.to_json()["notes"])
    assert "could not be read" not in str(counted)


def test_what_hardly_matters_is_not_said():
    few = UnreadableUnits(column="x", without=10_000, units=3, noise=DiscreteLaplace(scale=2))
    assert not few.matters()
    assert evolve(few, units=30).matters()  # there surely are some
    assert evolve(few, noise=DiscreteLaplace(scale=50)).matters()  # they may be one in a hundred
    nobody = evolve(few, without=-5, units=-3)
    assert nobody.bounds() == (0, 3)
    assert str(nobody).startswith("about 0 of 0 units")


# ---- What is asked for, and what is stored.


def test_a_stored_profile_without_it_is_read_and_not_enough(tmp_path):
    folder = csv_project(tmp_path, rows_of(["x", "1"]))
    before = profiled(folder)
    assert before.unreadable == {}
    with pytest.raises(InvalidArgument, match="does not say what of cost could not be read"):
        profiled(folder, "cost")
    assert profiled(folder, "cost", fresh=True).unreadable["cost"].units == 1
    with connect(folder) as visits:
        stored = visits.profile("visits")
    assert stored is not None
    assert stored.unreadable["cost"].units == 1


@pytest.mark.parametrize("column", ["note", "person"])
def test_a_column_that_reads_in_any_case_is_refused(tmp_path, column):
    with pytest.raises(InvalidArgument):
        profiled(csv_project(tmp_path, rows_of(["1"])), column)
