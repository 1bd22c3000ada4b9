"""Polars asks through DB-API and through SQLAlchemy, and gets the types that answers have."""

import datetime
from pathlib import Path

import polars
import pytest
import sqlalchemy

import discreet
from discreet import dbapi
from tests.support.projects.clinic import visit, write_project

TIMED = """
[tables.calls]
source = "calls.csv"
id_space = "people"
unit = "person"
rows_per_unit = 1
[tables.calls.columns]
person = { type = "text" }
day = { type = "date", min = 2024-01-01, max = 2024-01-02 }
seen = { type = "timestamp", min = 2024-01-01, max = 2024-01-02 }
at = { type = "time", keys = [10:00:00, 11:00:00] }
"""
DAY = datetime.date(2024, 1, 1)
MIDNIGHT = datetime.datetime(2024, 1, 1)  # noqa: DTZ001 - a wall, of no zone
QUESTIONS = {
    "SELECT clinic, urgent, COUNT(*) AS n, AVG(age) AS x FROM visits GROUP BY ALL": (
        {"clinic": polars.String, "urgent": polars.Boolean, "n": polars.Int64, "x": polars.Float64},
        ("a", False),
    ),
    "SELECT day, date_trunc('day', seen) AS seen, at, COUNT(*) AS n FROM calls GROUP BY ALL": (
        {
            "day": polars.Date,
            "seen": polars.Datetime("us"),
            "at": polars.Time,
            "n": polars.Int64,
        },
        (DAY, MIDNIGHT, datetime.time(10)),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("polars") / "clinic"
    write_project(folder, [visit(f"p{i}", "abcd"[i % 4], urgent=True) for i in range(80)])
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(TIMED)
    lines = ["p1,2024-01-01,2024-01-01 10:00,10:00", "p2,2024-01-02,2024-01-02 10:00,11:00"]
    (folder / "calls.csv").write_text("\n".join(["person,day,seen,at", *lines, ""]))
    return folder


@pytest.mark.parametrize("question", QUESTIONS, ids=["visits", "calls"])
def test_polars_reads_answers_with_their_types(folder, question):
    schema, first = QUESTIONS[question]
    with dbapi.connect(str(folder), epsilon=1) as connection:
        by_cursor = polars.read_database(question, connection)
    engine = sqlalchemy.create_engine(f"discreet:///{folder}?epsilon=1")
    by_engine = polars.read_database(question, engine)
    engine.dispose()
    with discreet.connect(folder, epsilon=1) as connection:
        own = connection.sql(question).to_polars(errors=False)
    for frame in (by_cursor, by_engine, own):
        assert dict(frame.schema) == schema
        assert frame.rows()[0][: len(first)] == first
        assert frame.equals(own)
