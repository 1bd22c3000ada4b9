"""Statements without rows, as tools write them around a query: columns, no rows, no price.

The private file is not there, so that whoever read a row would fail, and the connection has a
default price, so that whoever charged would be seen in the ledger.
"""

import datetime
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import discreet
from discreet import dbapi
from discreet.cli.main import main
from discreet.core.errors import DiscreetError, RefusedQuery
from discreet.curator.free_answer import FreeExplanation
from discreet.releases.free_answer import FreeAnswer
from discreet.sql.free.no_rows import has_no_rows
from discreet.sql.parse import parse
from tests.curator.test_free_answers import project

COUNTS = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
PAIR = [("clinic", "text"), ("n", "integer")]
RANKED = [*PAIR, ("r", "integer")]

PROBES: dict[str, list[tuple[str, str]]] = {
    f"SELECT * FROM ({COUNTS}) AS t LIMIT 0": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t WHERE 1 = 0": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t WHERE (0 = 1)": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t WHERE FALSE": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t WHERE NULL": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t WHERE 1 <> 1 AND n > 3": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t WHERE NOT TRUE OR 'a' = 'b'": PAIR,
    f"SELECT TOP 0 * FROM ({COUNTS}) AS t": PAIR,
    f"select top (0) * from ({COUNTS}) as t": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t FETCH FIRST 0 ROWS ONLY": PAIR,
    f"SELECT * FROM ({COUNTS}) AS t OFFSET 0 ROWS FETCH NEXT 0 ROWS ONLY": PAIR,
    f"SELECT * FROM ({COUNTS} ORDER BY n DESC LIMIT 10) AS t WHERE 1 = 0 LIMIT 100": PAIR,
    f"SELECT * FROM ({COUNTS} LIMIT 0) AS t": PAIR,
    f"SELECT * FROM (SELECT * FROM ({COUNTS}) AS u WHERE 1 = 0) AS t": PAIR,
    f"SELECT DISTINCT * FROM ({COUNTS}) AS t LIMIT 0": PAIR,
    f"WITH t AS ({COUNTS}) SELECT * FROM t WHERE 1 = 0": PAIR,
    f"WITH t AS ({COUNTS} HAVING 1 = 0) SELECT clinic, n FROM t": PAIR,
    f"SELECT * FROM (WITH t AS ({COUNTS}) SELECT * FROM t) AS q WHERE 1 = 0": PAIR,
    f"SELECT t.*, RANK() OVER (ORDER BY n DESC) AS r FROM ({COUNTS}) AS t WHERE 1 = 0": RANKED,
    f"SELECT *, SUM(n) OVER (ORDER BY clinic) AS r FROM ({COUNTS}) AS t LIMIT 0": RANKED,
    "SELECT clinic, COUNT(*) AS n FROM visits WHERE 1 = 0 GROUP BY clinic": PAIR,
    "SELECT * FROM (SELECT note, COUNT(*) AS n FROM visits GROUP BY note) AS t WHERE 1 = 0": [
        ("note", "text"),
        ("n", "integer"),
    ],
    "SELECT * FROM (SELECT person, AVG(cost) AS m FROM visits GROUP BY person) AS t LIMIT 0": [
        ("person", "integer"),
        ("m", "real"),
    ],
    "SELECT * FROM (SELECT DISTINCT clinic FROM visits) AS t WHERE 1 = 0": [("clinic", "text")],
    "SELECT clinic, visited FROM visits WHERE 1 = 2 AND cost > 3": [
        ("clinic", "text"),
        ("visited", "date"),
    ],
    "SELECT * FROM (SELECT clinic, visited FROM visits ORDER BY 1 LIMIT 9) AS t WHERE 0": [
        ("clinic", "text"),
        ("visited", "date"),
    ],
    f"SELECT * FROM ({COUNTS}) AS a JOIN (SELECT clinic, AVG(cost) AS m FROM visits GROUP BY"
    " clinic) AS b USING (clinic) LIMIT 0": [*PAIR, ("m", "real")],
}


@pytest.fixture
def folder(tmp_path):
    return project(tmp_path / "clinic")


def test_columns_and_no_rows_for_nothing(folder):
    with discreet.connect(folder, epsilon=1) as opened:
        before = opened.history(), opened.budget()
        for sql, columns in PROBES.items():
            answer, explained = opened.sql(sql), opened.explain(sql)
            assert isinstance(answer, FreeAnswer), sql
            assert [(name, kind.value) for name, kind in explained.outputs] == columns, sql
            assert (list(answer.columns), answer.rows) == ([name for name, _ in columns], ()), sql
        assert (opened.history(), opened.budget()) == before


def test_plain_sql_has_the_same_columns_and_no_rows_either():
    database = duckdb.connect()
    database.execute(
        "CREATE TABLE visits AS SELECT 1 AS person, 'north' AS clinic, 1.5 AS cost, DATE"
        " '2025-01-01' AS visited, 'x' AS note"
    )
    for sql, columns in PROBES.items():
        text = sql.replace("TOP 0", "").replace("top (0)", "")
        found = database.sql(text if text == sql else f"{text} LIMIT 0")
        assert (found.columns, found.fetchall()) == ([name for name, _ in columns], []), sql


WITH_A_ROW = (
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = 0",
    f"SELECT SUM(n) AS n FROM ({COUNTS}) AS t WHERE 1 = 0",
    f"SELECT COUNT(*) AS n FROM ({COUNTS} LIMIT 0) AS t",
    "SELECT clinic, COUNT(*) AS n FROM visits WHERE 1 = 0 GROUP BY ROLLUP (clinic)",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = 0 GROUP BY ()",
    f"SELECT * FROM ({COUNTS}) AS t WHERE 1 = 0 OR n > 3",
    f"SELECT * FROM ({COUNTS}) AS t WHERE NOT NULL IS NULL OR TRUE",
    f"SELECT * FROM ({COUNTS}) AS t WHERE 1 = 1",
    f"SELECT * FROM ({COUNTS}) AS t WHERE '1' = 1 OR n = 1",
    f"SELECT * FROM ({COUNTS}) AS t LIMIT 1",
)


@pytest.mark.parametrize("sql", WITH_A_ROW)
def test_what_may_have_a_row_is_no_such_statement(folder, sql):
    assert not has_no_rows(parse(sql).select)
    with discreet.connect(folder) as opened, pytest.raises(DiscreetError):
        opened.sql(sql)  # no price was given, or it is refused


TOPS = {
    "SELECT TOP 3 clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n DESC": "SELECT"
    " clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n DESC LIMIT 3",
    "SELECT DISTINCT TOP (2) clinic FROM visits": "SELECT DISTINCT clinic FROM visits LIMIT 2",
    "SELECT TOP 2 * FROM clinics": "SELECT * FROM clinics LIMIT 2",
    "SELECT TOP 2 * FROM visits": "SELECT * FROM visits LIMIT 2",
}


@pytest.mark.parametrize(("top", "limit"), TOPS.items())
def test_top_is_another_word_for_limit(tmp_path, top, limit):
    assert parse(top).select.sql() == parse(limit).select.sql()
    with discreet.connect(project(tmp_path / "clinic", "rehearsed"), epsilon=1) as opened:
        found, wanted = opened.explain(top), opened.explain(limit)
        assert str(found) == str(wanted)
        if isinstance(found, FreeExplanation):
            assert len(opened.sql(top).rows) == 2


def test_other_tops_are_refused_with_what_to_write(folder):
    with discreet.connect(folder, epsilon=1) as opened:
        for sql in (
            "SELECT TOP 10 PERCENT clinic, COUNT(*) FROM visits GROUP BY clinic",
            "SELECT TOP 10 WITH TIES clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n",
            f"SELECT SUM(n) FROM ({COUNTS.replace('SELECT', 'SELECT TOP 10')}) AS t",
        ):
            with pytest.raises(RefusedQuery, match="LIMIT 10"):
                opened.sql(sql)
        with pytest.raises(RefusedQuery, match="TOP and LIMIT"):
            opened.sql("SELECT TOP 10 clinic, COUNT(*) FROM visits GROUP BY clinic LIMIT 5")
        with pytest.raises(DiscreetError, match="line 2"):  # where it is in the text
            opened.sql("SELECT TOP 0 *\nFROM visits WHERE )")


def test_through_dbapi_sqlalchemy_and_the_command_line(folder, capsys):
    with dbapi.connect(folder, epsilon=1) as opened:
        cursor: Any = opened.cursor()
        for sql, columns in PROBES.items():
            cursor.execute(sql)
            assert [column[0] for column in cursor.description] == [name for name, _ in columns]
            assert cursor.fetchall() == []
        cursor.execute(f"SELECT * FROM ({COUNTS}) AS t WHERE 1 = ? LIMIT ?", [2, 5])
        assert [column[:2] for column in cursor.description] == [
            ("clinic", "VARCHAR"),
            ("n", "BIGINT"),
        ]
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pandas = pytest.importorskip("pandas")
    engine = sqlalchemy.create_engine(f"discreet:///{folder}?epsilon=1")
    visits = sqlalchemy.Table("visits", sqlalchemy.MetaData(), autoload_with=engine)
    counts = sqlalchemy.select(visits.c.clinic, sqlalchemy.func.count().label("n"))
    below = counts.group_by(visits.c.clinic).subquery()
    for probe in (
        sqlalchemy.select(below).limit(0),
        sqlalchemy.select(below).where(sqlalchemy.false()),
        sqlalchemy.select(below).where(sqlalchemy.literal_column("1") == 0),
    ):
        assert pandas.read_sql(probe, engine).columns.tolist() == ["clinic", "n"]
    asked = f"SELECT * FROM ({COUNTS}) AS t WHERE 1 = 0"
    said = ["--project", str(folder), "--epsilon", "1"]
    assert main(["query", asked, *said, "--format", "csv"]) == 0
    assert capsys.readouterr().out == '"clinic","n","n_low","n_high"\n'
    with discreet.connect(folder) as after:
        assert [entry.kind.value for entry in after.history()] == ["budget"]


def test_a_probe_has_the_columns_of_intervals_that_the_answer_has(tmp_path):
    folder = project(tmp_path / "clinic")
    rows = {"person": [1], "clinic": ["north"], "cost": [1.0]}
    kinds = {"urgent": True, "sex": "1", "visited": datetime.date(2025, 1, 1), "note": "x"}
    table = pyarrow.table({**rows, **{name: [value] for name, value in kinds.items()}})
    pyarrow.parquet.write_table(table, folder / "nowhere.parquet")
    sql = "SELECT clinic, COUNT(*) AS n, SUM(cost) AS n_low, 2 AS two FROM visits GROUP BY clinic"
    for intervals in (True, False):
        with dbapi.connect(folder, epsilon=0.5, intervals=intervals) as opened:
            probe: Any = opened.cursor()
            probe.execute(f"{sql} LIMIT 0")
            answer: Any = opened.cursor()
            answer.execute(sql)
        assert [column[:2] for column in probe.description] == [
            column[:2] for column in answer.description
        ]
        names = [column[0] for column in probe.description]
        assert ("n_high" in names) is intervals
    with discreet.connect(folder, epsilon=0.5) as opened_again:
        empty, paid = opened_again.sql(f"{sql} LIMIT 0"), opened_again.sql(sql)
        assert empty.to_arrow().schema.names == paid.to_arrow().schema.names
        assert empty.columns == paid.columns
