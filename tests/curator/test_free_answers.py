"""Free answers: no private file is there, and yet they are answered; nothing is recorded."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import dbapi
from discreet.cli.main import main
from discreet.core.errors import DiscreetError, NothingReleased, RefusedQuery
from discreet.core.loss import Pure
from discreet.curator.free_answer import MADE_UP, FreeExplanation
from discreet.releases.free_answer import FreeAnswer
from discreet.tables.column import ColumnType

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1 }

[tables.visits]
source = "nowhere.parquet"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
PREVIEWS

[tables.visits.columns]
person = { type = "integer" }
clinic = { type = "text", keys = ["north", "south", "east"] }
urgent = { type = "boolean" }
sex = { type = "text", labels = { 1 = "male", 2 = "female" } }
cost = { type = "real", min = 0, max = 10, step = 0.5 }
visited = { type = "date", min = 2025-01-01, max = 2025-03-31 }
note = { type = "text" }

[public_tables.clinics]
source = "clinics.csv"

[public_tables.clinics.columns]
clinic = { type = "text" }
region = { type = "text" }
beds = { type = "integer" }
area = { type = "real" }
"""

CLINICS = "clinic,region,beds,area\nnorth,hills,10,1.5\nsouth,coast,20,2.5\neast,coast,5,\n"


def project(folder: Path, previews: str = "") -> Path:
    """Write a project whose private file is not there: whoever opened it would fail."""
    folder.mkdir(exist_ok=True)
    said = f'previews = "{previews}"' if previews else ""
    text = DECLARATION.replace("PREVIEWS", said)
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    (folder / "clinics.csv").write_text(CLINICS, encoding="utf-8")
    return folder


@pytest.fixture
def connection(tmp_path):
    with discreet.connect(project(tmp_path)) as opened:
        yield opened


def test_the_private_file_is_missed_as_soon_as_a_row_is_needed(connection):
    with pytest.raises(DiscreetError):
        connection.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)


DAYS = [datetime.date(2025, month, 1) for month in (1, 2, 3)]
COLUMNS = ["person", "clinic", "urgent", "sex", "cost", "visited", "note"]

FREE: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {
    "SELECT 1": (["1"], [(1,)]),
    "SELECT 1 AS x, 'a' || 'b' AS y, 1 / 2.0 AS z": (["x", "y", "z"], [(1, "ab", 0.5)]),
    "SELECT DISTINCT clinic FROM visits ORDER BY clinic": (
        ["clinic"],
        [("east",), ("north",), ("south",)],
    ),
    "SELECT DISTINCT clinic AS c, urgent FROM visits WHERE clinic LIKE '%th' AND NOT urgent": (
        ["c", "urgent"],
        [("north", False), ("south", False)],
    ),
    'SELECT "V"."clinic" AS "The clinic" FROM "public"."visits" "V" GROUP BY 1 LIMIT 1': (
        ["The clinic"],
        [("north",)],
    ),
    "SELECT DISTINCT date_trunc('month', visited) AS month FROM visits": (
        ["month"],
        [(day,) for day in DAYS],
    ),
    "SELECT DISTINCT sex FROM (SELECT * FROM visits) AS t ORDER BY sex DESC": (
        ["sex"],
        [("male",), ("female",)],
    ),
    "SELECT DISTINCT region FROM visits JOIN clinics USING (clinic) WHERE clinic <> 'south'"
    " ORDER BY 1": (["region"], [("coast",), ("hills",)]),
    "SELECT * FROM clinics WHERE beds > 5 ORDER BY beds DESC": (
        ["clinic", "region", "beds", "area"],
        [("south", "coast", 20, 2.5), ("north", "hills", 10, 1.5)],
    ),
    "SELECT region, COUNT(*) AS n, SUM(beds) AS beds, AVG(area) AS area FROM main.clinics"
    " GROUP BY region ORDER BY 2 DESC LIMIT 1": (
        ["region", "n", "beds", "area"],
        [("coast", 2, 25, 2.5)],
    ),
    "WITH clinics AS (SELECT * FROM public.clinics WHERE beds > 5) SELECT COUNT(*) AS n,"
    " MAX(b.beds) AS most FROM clinics AS a JOIN clinics AS b ON a.beds < b.beds": (
        ["n", "most"],
        [(1, 20)],
    ),
    'WITH table_0 AS (SELECT 1 AS clinic), "Table_1" AS (SELECT 2 AS clinic) SELECT COUNT(*) AS n'
    " FROM clinics": (["n"], [(3,)]),
    "SELECT clinic AS c FROM visits GROUP BY clinic HAVING clinic > 'n' AND c <> 'south'": (
        ["c"],
        [("north",)],
    ),
    "SELECT * FROM visits LIMIT 0": (COLUMNS, []),
    "SELECT * FROM (SELECT * FROM visits WHERE urgent) AS q WHERE (0 = 1)": (COLUMNS, []),
    "SELECT clinic, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY 1 FETCH FIRST 0 ROWS ONLY": (
        ["clinic", "n", "m"],
        [],
    ),
    'SELECT * FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1) AS "Custom" LIMIT 0': (
        ["clinic", "n"],
        [],
    ),
}


@pytest.mark.parametrize("sql", FREE, ids=[sql[:60] for sql in FREE])
def test_what_is_free(connection, sql):
    before = connection.history(), connection.budget()
    answer = connection.sql(sql)
    assert isinstance(answer, FreeAnswer)
    columns, rows = FREE[sql]
    assert list(answer.columns) == columns
    assert sorted(answer.rows) == sorted(rows) if "ORDER" not in sql else list(answer.rows) == rows
    explained = connection.explain(sql)
    assert isinstance(explained, FreeExplanation)
    assert [name for name, _ in explained.outputs] == columns
    assert answer.why in str(explained)
    assert (connection.history(), connection.budget()) == before


REFUSED = {
    "SELECT CURRENT_DATE": "DATE '2024-01-31'",
    "SELECT * FROM clinics, read_csv('/etc/passwd')": "table function",
    "SELECT * FROM clinics WHERE clinic IN (SELECT filename FROM glob('*'))": "",
    "SELECT current_setting('memory_limit') AS x": "CURRENT_SETTING",
    "SELECT * FROM information_schema.tables": "schema",
    "SELECT repeat('x', 1000000000) AS x": "REPEAT",
    "SELECT list(clinic) AS x FROM clinics": "not supported",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n FROM t) SELECT n FROM t": "RECURSIVE",
    "SELECT clinic FROM other.clinics": "schema",
    "SELECT DATE '20000-01-01' AS d": "'d' has a day that no answer can show",
    "SELECT CAST('infinity' AS TIMESTAMP) AS d": "from year 1 to 9999",
    "SELECT nothing FROM clinics": "nothing",
    "SELECT clinic, clinic FROM clinics": "clinic",
    "SELECT * FROM visits LIMIT 10": "LIMIT 0 shows the columns",
    "SELECT person, note FROM visits WHERE person = 7 LIMIT 1": "previews",
    "SELECT * FROM visits": "single rows",
    "SELECT DISTINCT person FROM visits": "",
    "SELECT DISTINCT clinic FROM visits WHERE person = 7": "",
    "SELECT DISTINCT clinic FROM visits WHERE note = 'x'": "",
    "SELECT DISTINCT clinic FROM (SELECT * FROM visits LIMIT 5) AS t": "",
    "SELECT DISTINCT clinic, COUNT(*) OVER () AS n FROM visits": "",
    "SELECT nothing FROM visits LIMIT 0": "nothing",
    "SELECT clinic FROM visits GROUP BY clinic HAVING nothing > 1 LIMIT 0": "No column 'nothing'",
    "SELECT LISTAGG(note) AS n FROM visits LIMIT 0": "GROUP BY the column",
}


@pytest.mark.parametrize("sql", REFUSED, ids=[sql[:60] for sql in REFUSED])
def test_what_is_not_free_is_refused_before_anything_is_read(connection, sql):
    before = connection.history()
    with pytest.raises(DiscreetError) as caught:
        connection.sql(sql)
    assert REFUSED[sql].lower() in str(caught.value).lower()
    assert connection.history() == before


def test_the_types_of_columns_are_the_declared_ones(connection):
    explained = connection.explain("SELECT * FROM visits LIMIT 0")
    kinds = dict(explained.outputs)
    assert kinds["cost"] is ColumnType.REAL
    assert kinds["visited"] is ColumnType.DATE
    assert kinds["sex"] is ColumnType.TEXT


def test_previews_can_be_empty(tmp_path):
    with discreet.connect(project(tmp_path, "nothing")) as opened:
        answer = opened.sql("SELECT * FROM visits LIMIT 100")
        assert (list(answer.columns), answer.rows) == (COLUMNS, ())
        assert "says nothing" in answer.notes()[1]
        with pytest.raises(RefusedQuery):
            opened.sql("SELECT * FROM visits")
        with pytest.raises(RefusedQuery):  # there is no order in which it could be cut
            opened.sql("SELECT * FROM (SELECT * FROM visits LIMIT 9) AS t")


def test_previews_can_be_made_up_and_say_so(tmp_path):
    with discreet.connect(project(tmp_path, "rehearsed")) as opened:
        answer = opened.sql("SELECT * FROM visits WHERE clinic = 'east' ORDER BY cost LIMIT 20")
        assert list(answer.columns) == [*COLUMNS, MADE_UP]
        assert len(answer.rows) == 20
        found = answer.to_dicts()
        assert {row[MADE_UP] for row in found} == {"this row is made up"}
        assert all(row["person"] < 0 and row["clinic"] == "east" for row in found)
        assert {row["sex"] for row in found} <= {"male", "female", None}
        assert "no rows of the table" in str(answer)
        named = opened.sql('SELECT "clinic" AS "made_up", 1 AS n FROM "visits" LIMIT 1')
        assert list(named.columns) == ["made_up", "n", "made_up_2"]
        assert [entry.kind.value for entry in opened.history()] == ["budget"]


def test_no_aggregate_is_made_of_made_up_rows(tmp_path):
    with discreet.connect(project(tmp_path, "rehearsed")) as opened:
        for sql in (
            "SELECT n FROM (SELECT COUNT(*) AS n FROM visits) AS t LIMIT 5",
            "SELECT clinic, COUNT(*) OVER () AS n FROM visits LIMIT 5",
            "SELECT DISTINCT note FROM visits LIMIT 5",
        ):
            with pytest.raises(DiscreetError):
                opened.sql(sql)


def test_an_unknown_choice_of_previews_is_refused(tmp_path):
    with pytest.raises(DiscreetError, match="refused, nothing, rehearsed"):
        discreet.connect(project(tmp_path, "real"))


def test_it_has_the_forms_of_a_release(connection):
    answer = connection.sql("SELECT clinic, area FROM clinics ORDER BY clinic")
    assert answer.cost == Pure(0)
    assert answer.to_arrow().to_pydict() == {
        "clinic": ["east", "north", "south"],
        "area": [None, 1.5, 2.5],
    }
    assert answer.to_pandas().attrs["discreet"]["free"] == answer.why
    data = json.loads(json.dumps(answer.to_json()))
    assert (data["receipt"], data["free"], data["rows"][1]) == (None, answer.why, ["north", 1.5])
    assert "north</td>" in answer._repr_html_()
    assert (len(answer), answer["clinic"]) == (3, ("east", "north", "south"))
    assert "Free: it reads public tables alone" in str(answer)
    for name in ("receipt", "intervals", "card", "left_out"):
        with pytest.raises(NothingReleased, match=name):
            getattr(answer, name)


def test_what_is_infinite_is_null_wherever_it_stands(tmp_path):
    folder = project(tmp_path)
    rows = "north,hills,1,inf\nsouth,coast,2,-inf\neast,coast,3,nan\nwest,coast,4,2.5\n"
    (folder / "clinics.csv").write_text(f"clinic,region,beds,area\n{rows}", encoding="utf-8")
    with discreet.connect(folder) as opened:
        shown = opened.sql("SELECT area, area > 1 AS is_large FROM clinics ORDER BY beds")
        assert shown.rows == ((None, None), (None, None), (None, None), (2.5, True))
        assert opened.sql("SELECT SUM(area) AS n, COUNT(area) AS m FROM clinics").rows == (
            (2.5, 1),
        )


def test_through_dbapi_and_sqlalchemy(tmp_path):
    folder = project(tmp_path)
    with dbapi.connect(folder) as opened:
        cursor: Any = opened.cursor()
        cursor.execute("SELECT DISTINCT clinic FROM visits WHERE clinic > ?", ["east"])
        assert (cursor.fetchall(), cursor.messages[0][1].args[0][:5]) == (
            [("north",), ("south",)],
            "Free:",
        )
        cursor.execute("SELECT * FROM visits LIMIT 0")
        assert [column[:2] for column in cursor.description][4] == ("cost", "DOUBLE")
        assert (cursor.rowcount, cursor.fetchall()) == (0, [])
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pandas = pytest.importorskip("pandas")
    engine = sqlalchemy.create_engine(f"discreet:///{folder}")
    table = sqlalchemy.Table("visits", sqlalchemy.MetaData(), autoload_with=engine)
    keys = sqlalchemy.select(table.c.clinic).distinct()
    assert pandas.read_sql(keys, engine).clinic.tolist() == ["north", "south", "east"]
    with engine.connect() as opened_engine:
        assert opened_engine.scalar(sqlalchemy.select(1)) == 1


@pytest.mark.parametrize("form", ["table", "json", "csv", "parquet"])
def test_on_the_command_line(tmp_path, form, capsys):
    folder = project(tmp_path / "clinic")
    target = tmp_path / f"answer.{form}"
    sql = "SELECT clinic, beds FROM clinics ORDER BY beds"
    asked = ["query", sql, "--project", str(folder), "--format", form, "-o", str(target)]
    assert main(asked) == 0
    assert "free" in capsys.readouterr().out
    assert target.stat().st_size
    assert main(["explain", sql, "--project", str(folder)]) == 0
    assert "Costs  nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM clinics WHERE clinic IN (SELECT clinic FROM visits)", "visits is private"),
        ("SELECT * FROM clinics WHERE EXISTS (SELECT 1 FROM visits)", "visits is private"),
        ("SELECT COUNT(*) FROM clinics WHERE EXISTS (SELECT 1 FROM visits)", "visits is private"),
        ("SELECT EXISTS (SELECT 1 FROM visits)", "visits is private"),
        ("SELECT version()", "that reads no table"),
        ("SELECT md5(region) FROM clinics", "about public rows"),
    ],
)
def test_what_is_refused_is_told_as_it_is(connection, sql, said):
    with pytest.raises(RefusedQuery) as told:
        connection.sql(sql, epsilon=1)
    assert said in str(told.value)
    assert "nothing to protect" not in str(told.value)
