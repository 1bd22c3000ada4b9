"""Rehearsals: made-up rows that match the declarations, the real life of a query, no trace left."""

import datetime
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.core.errors import BudgetExhausted, InvalidArgument, MissingLoss, RefusedQuery
from discreet.core.loss import Approximate
from discreet.project.fabricate import fabricate
from discreet.roles.connection import connect
from discreet.tables.catalog import Limits, Period, PeriodLength, PrivacyUnit, Table
from discreet.tables.column import Bounds, Column, ColumnType, DateRange
from discreet.tables.source import Source, SourceFormat
from tests.support.house.narrow import epsilon_of
from tests.support.projects.owner import owner_of

ROWS = 4_000
COLUMNS = (
    Column(name="person", type=ColumnType.TEXT),
    Column(name="clinic", type=ColumnType.TEXT, keys=("a", "b", "c")),
    Column(name="urgent", type=ColumnType.BOOLEAN, nullable=False),
    Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=-5, upper=5), nullable=False),
    Column(name="cost", type=ColumnType.REAL, bounds=Bounds(lower=0, upper=1, step="0.25")),
    Column(
        name="day",
        type=ColumnType.DATE,
        dates=DateRange(first=datetime.date(2024, 2, 28), last=datetime.date(2024, 3, 1)),
    ),
    Column(name="seen", type=ColumnType.DATE),
    Column(name="level", type=ColumnType.INTEGER, keys=(3, 7), nullable=False),
    Column(name="note", type=ColumnType.TEXT),
    Column(name="weight", type=ColumnType.REAL),
    Column(name="number", type=ColumnType.INTEGER),
)


def declared(**unit) -> Table:
    return Table(
        name="visits",
        source=Source(path=Path("nowhere.parquet"), format=SourceFormat.PARQUET),
        unit=PrivacyUnit(id_space="people", **({"column": "person"} | unit)),
        columns=COLUMNS,
        limits=Limits(rows_per_group=1, groups_per_unit=1),
    )


@pytest.fixture
def made_up(rng):
    return fabricate(declared(), rows=ROWS, pools={}, rng=rng)


def test_made_up_values_are_what_is_declared(made_up):
    assert made_up.num_rows == ROWS
    assert made_up.column_names == [column.name for column in COLUMNS]
    found = {name: set(made_up[name].to_pylist()) for name in made_up.column_names}
    assert found["clinic"] == {"a", "b", "c", None}
    assert found["urgent"] == {True, False}
    assert found["age"] == set(range(-5, 6))
    assert found["cost"] == {0.0, 0.25, 0.5, 0.75, 1.0, None}
    assert found["day"] == {datetime.date(2024, 2, 28 + i) for i in range(2)} | {
        datetime.date(2024, 3, 1),
        None,
    }
    assert found["level"] == {3, 7}
    assert made_up.schema.types[-1] == pa.int64()


def test_one_value_in_twenty_is_missing_where_one_may_be(made_up):
    for column in COLUMNS:
        missing = made_up[column.name].null_count
        if column.nullable and column.name != "person":
            # 4,000 values: more than 7 standard deviations from 200 has a chance below 1e-11.
            assert 100 < missing < 300
        else:
            assert missing == 0


def test_a_unit_has_several_rows(made_up):
    rows = Counter(Counter(made_up["person"].to_pylist()).values())
    assert max(rows) > 3
    assert len(set(made_up["person"].to_pylist())) > ROWS / 8


def test_units_of_all_tables_have_the_same_names(made_up, rng):
    other = fabricate(declared(), rows=ROWS, pools={}, rng=rng)
    assert set(other["person"].to_pylist()) & set(made_up["person"].to_pylist())


def test_a_unit_with_a_period_always_has_its_date(rng):
    period = Period(length=PeriodLength.DAY, column="day")
    made = fabricate(declared(period=period), rows=ROWS, pools={}, rng=rng)
    assert made["day"].null_count == 0


def test_rows_that_are_units_need_no_name(rng):
    made = fabricate(declared(column=None), rows=100, pools={}, rng=rng)
    assert made.num_rows == 100


def test_a_column_that_a_public_table_has_too_gets_its_values(rng):
    pools = {"note": ("north", "south"), "clinic": ("never",)}
    made = fabricate(declared(), rows=200, pools=pools, rng=rng)
    assert set(made["note"].to_pylist()) == {"north", "south", None}
    assert "never" not in made["clinic"].to_pylist()


# ---- From end to end.

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 3, delta = 1e-6 }

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 3

[tables.visits.columns]
person = { type = "integer" }
clinic = { type = "text", keys = ["a", "b", "c"] }
district = { type = "text" }
age = { type = "integer", min = 0, max = 100 }
"""
PUBLIC = """
[public_tables.districts]
source = "districts.parquet"

[public_tables.districts.columns]
district = { type = "text" }
region = { type = "text" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "discreet.toml").write_text(DECLARATION)
    rows = [{"person": i, "clinic": "a", "district": "x", "age": 1} for i in range(10)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "visits.parquet")
    return tmp_path


SQL = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


def test_a_rehearsal_reads_spends_and_records_nothing(folder):
    with connect(folder, epsilon=1) as connection:
        entries = connection.history()
        (folder / "visits.parquet").unlink()
        rehearsal = connection.rehearse(SQL, rows=9_000)
        assert connection.history() == entries
        assert epsilon_of(connection.budget()[0].spent) == 0
    counts = {row["clinic"]: row["n"] for row in rehearsal.to_dicts()}
    assert list(counts) == ["a", "b", "c"]
    # 3,000 rows each, of which at most two of a person count; the truth has 10 rows in all.
    assert all(1_000 < count < 3_500 for count in counts.values())
    assert epsilon_of(rehearsal.cost) == 1


def test_a_rehearsal_is_labelled_wherever_it_is_shown(folder):
    with connect(folder, epsilon=1) as connection:
        rehearsal = connection.rehearse(SQL)
    data = json.loads(json.dumps(rehearsal.to_json()))
    assert data["rehearsal"] is True
    assert "receipt" not in data
    for shown in (str(rehearsal), data["note"], rehearsal._repr_html_()):
        assert "made-up rows" in shown
        assert "1,000" in shown


def test_a_rehearsal_leaves_no_files(folder, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with connect(folder, epsilon=1) as connection:
        connection.rehearse(SQL)
    assert list(scratch.iterdir()) == []


def test_private_keys_and_quantiles_can_be_rehearsed(folder):
    with connect(folder, epsilon=2, delta="1e-7") as connection:
        districts = connection.rehearse(
            "SELECT district, COUNT(*) AS n, MEDIAN(age) AS age FROM visits GROUP BY district",
            rows=20_000,
        )
    assert 0 < len(districts.rows) <= 13
    assert all(0 <= age <= 100 for _, _, age in districts.rows)


def test_joins_with_public_tables_find_partners(folder):
    (folder / "discreet.toml").write_text(DECLARATION + PUBLIC)
    public = [{"district": f"d{i}", "region": "north" if i % 2 else "south"} for i in range(6)]
    pq.write_table(pa.Table.from_pylist(public), folder / "districts.parquet")
    with connect(folder, epsilon=1) as connection:
        joined = connection.rehearse(
            "SELECT region, COUNT(*) AS n FROM visits JOIN districts USING (district)"
            " GROUP BY region",
            rows=8_000,
        )
    counts = {row["region"]: row["n"] for row in joined.to_dicts()}
    assert set(counts) == {"north", "south"}
    assert all(count > 1_000 for count in counts.values())


def test_rehearsals_refuse_what_answers_refuse(folder):
    with connect(folder) as connection:
        with pytest.raises(MissingLoss):
            connection.rehearse(SQL)
        with pytest.raises(RefusedQuery):
            connection.rehearse("SELECT age FROM visits", epsilon=1)
        with pytest.raises(BudgetExhausted):
            connection.rehearse(SQL, epsilon=4)
        wrong: list[Any] = [0, 10**7, "many"]
        for rows in wrong:
            with pytest.raises(InvalidArgument):
                connection.rehearse(SQL, epsilon=1, rows=rows)


def test_what_is_left_has_no_part_in_a_rehearsal(folder):
    with connect(folder, epsilon=3) as connection:
        connection.sql(SQL)
        assert epsilon_of(connection.budget()[0].remaining) == 0
        assert epsilon_of(connection.rehearse(SQL).cost) == 3


def test_the_command(folder, capsys):
    assert main(["rehearse", SQL, "--epsilon", "1", "--rows", "500", "--project", str(folder)]) == 0
    assert "500 made-up rows" in capsys.readouterr().out
    assert main(["rehearse", SQL, "--json", "--within", "50", "--project", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["rehearsal"] is True
    with connect(folder) as connection:
        assert owner_of(connection).ledger().spent("people") == Approximate(0, 0)
