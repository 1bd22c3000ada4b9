"""Sources and units from declaration to exact numbers: every kind of file gives the same ones."""

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.core.errors import BudgetExhausted, DeclarationError
from discreet.core.loss import Pure
from discreet.roles.connection import connect
from tests.support.projects.clinic import run_exact
from tests.support.projects.owner import owner_of
from tests.support.projects.source_writers import OF_TABLES, WRITERS, write

DAY = datetime.date(2025, 3, 1)
ROWS = pa.table(
    {
        "person": ["p", "p", "p", "q", None],
        "age": [10, 20, 30, 40, 50],
        "day": [DAY, DAY, DAY + datetime.timedelta(1), DAY, DAY],
        "district": [1, 1, 2, 2, 1],
    }
)
DISTRICTS = pa.table({"district": [1, 2, 3], "region": ["north", "south", "east"]})
DECLARATION = """
[id_spaces.people]
unit = "a unit"
budget = {{ epsilon = 1 }}
[tables.visits]
source = "{source}"
{more}
id_space = "people"
unit = {unit}
rows_per_group = {rows}
groups_per_unit = 3
[tables.visits.columns]
person = {{ type = "text" }}
age = {{ type = "integer", min = 0, max = 100 }}
day = {{ type = "date", min = 2025-01-01, max = 2025-12-31 }}
district = {{ type = "integer" }}
[public_tables.districts]
source = "{public}"
{public_more}
[public_tables.districts.columns]
district = {{ type = "integer" }}
region = {{ type = "text" }}
"""
KINDS = list(WRITERS)


def project(folder: Path, kind: str, *, unit: str = '"person"', rows: int = 9) -> Path:
    public = f"districts.{kind}"
    write(folder / f"visits.{kind}", ROWS)
    write(folder / public, DISTRICTS)
    table = 'source_table = "visits"' if kind in OF_TABLES else ""
    declare(folder, f"visits.{kind}", public, unit=unit, rows=rows, table=table)
    return folder


def declare(folder: Path, source: str, public: str, *, unit: str, rows: int, table: str) -> None:
    text = DECLARATION.format(
        source=source, public=public, unit=unit, rows=rows, more=table, public_more=table
    )
    (folder / "discreet.toml").write_text(text, encoding="utf-8")


def ask(folder: Path, sql: str) -> list[int]:
    """Return the exact numbers of the one aggregate of a question, in the order of the keys."""
    with connect(folder) as connection:
        owner_of(connection).check()
    (column,) = run_exact(folder, sql)
    return [int(number) for number in column]


BY_REGION = "SELECT region, COUNT(*) FROM visits JOIN districts USING (district) GROUP BY region"
QUESTIONS = [
    ("SELECT COUNT(*) FROM visits", [4]),
    ("SELECT SUM(age) FROM visits WHERE day = DATE '2025-03-01'", [70]),
    ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person", [10]),
    (BY_REGION, [0, 2, 2]),
]


@pytest.mark.parametrize(("sql", "expected"), QUESTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_answers(tmp_path, kind, sql, expected):
    assert ask(project(tmp_path, kind), sql) == expected


@pytest.mark.parametrize("kind", ["csv.zst", "jsonl", "parquet", "arrow"])
def test_a_pattern_is_one_table(tmp_path, kind):
    for number in range(len(ROWS)):
        write(tmp_path / f"visits-{number}.{kind}", ROWS.slice(number, 1))
    write(tmp_path / "districts.csv", DISTRICTS)
    declare(tmp_path, f"visits-*.{kind}", "districts.csv", unit='"person"', rows=9, table="")
    for sql, expected in QUESTIONS:
        assert ask(tmp_path, sql) == expected


UNITS = [
    ('"person"', 1, 2),  # p and q
    ('{ column = "person", period = "day", date = "day" }', 1, 3),  # p on two days, and q
    ('{ column = "person", period = "month", date = "day" }', 1, 2),
    ("{ each_row = true }", 1, 5),
]


@pytest.mark.parametrize(("unit", "rows", "count"), UNITS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_unit_decides_what_counts(tmp_path, kind, unit, rows, count):
    folder = project(tmp_path, kind, unit=unit, rows=rows)
    assert ask(folder, "SELECT COUNT(*) AS n FROM visits") == [count]


def test_moving_and_renaming_a_table_opens_no_new_budget(tmp_path):
    folder = project(tmp_path, "csv")
    sql = "SELECT COUNT(*) AS n FROM visits"
    with connect(folder, epsilon="0.9") as connection:
        connection.sql(sql)
    text = (folder / "discreet.toml").read_text().replace("tables.visits", "tables.seen")
    (folder / "moved").mkdir()
    (folder / "visits.csv").rename(folder / "moved" / "again.csv")
    (folder / "discreet.toml").write_text(text.replace("visits.csv", "moved/again.csv"))
    with connect(folder, epsilon="0.9") as connection:
        with pytest.raises(BudgetExhausted):
            connection.sql(sql.replace("visits", "seen"))
        assert owner_of(connection).ledger().remaining("people") == Pure("1/10")


def test_a_file_that_goes_missing_costs_nothing(tmp_path):
    folder = project(tmp_path, "duckdb")
    (folder / "visits.duckdb").unlink()
    with connect(folder, epsilon=1) as connection:
        with pytest.raises(DeclarationError, match="cannot be read"):
            connection.sql("SELECT COUNT(*) AS n FROM visits")
        assert owner_of(connection).ledger().spent("people") == Pure(0)
