"""How business tools and analysts write: forms that mean what others mean."""

import math
from pathlib import Path

import pytest

from discreet.core.errors import DiscreetError
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.sql.parse import parse
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import PublicKeys

CATALOG = read_catalog(Path(__file__).parent / "plans")


def question(sql: str) -> Question:
    return resolve(parse(sql), CATALOG, DuckDbEngine().public_rows)


ALIKE = {
    "a schema": (
        (
            'SELECT "main"."visits"."clinic" AS "clinic", COUNT(*) AS "n" FROM "main"."visits"'
            ' GROUP BY "main"."visits"."clinic"'
        ),
        "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic",
    ),
    "another schema, and a query of WITH with the table's name": (
        (
            "WITH visits AS (SELECT person, clinic FROM public.visits WHERE urgent)"
            " SELECT COUNT(*) AS n FROM visits"
        ),
        "SELECT COUNT(*) AS n FROM (SELECT person, clinic FROM visits WHERE urgent)",
    ),
    "rounded": (
        "SELECT ROUND(cost) AS bin, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT CAST(ROUND(cost) AS INTEGER) AS bin, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_form_of_tools_means_what_is_usual(name):
    written, usual = map(question, ALIKE[name])
    assert written == usual


RANGED = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1 }

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1

[tables.visits.columns]
person = { type = "text" }
change = { type = "integer", min = -25, max = 25, keys = "range" }
"""


@pytest.mark.parametrize(
    "written",
    [
        "FLOOR(change / 10.0) * 10.0",
        "FLOOR(change / 10) * 10",
        "FLOOR(CAST(change AS DOUBLE) / 10) * 10",
    ],
)
@pytest.mark.parametrize("least", [-25, 0])
def test_groups_of_ten_are_public_where_the_column_is(tmp_path, written, least):
    (tmp_path / "discreet.toml").write_text(RANGED.replace("-25", str(least)), encoding="utf-8")
    sql = f"SELECT {written} AS bin, COUNT(*) AS n FROM visits GROUP BY 1"
    keys = resolve(parse(sql), read_catalog(tmp_path), DuckDbEngine().public_rows).keys
    assert isinstance(keys, PublicKeys)
    wanted = {math.floor(change / 10) * 10 for change in range(least, 26)}
    assert {row[0] for row in keys.sets[0].rows} == wanted


REFUSED = {
    "SELECT COUNT(*) FROM secret.visits": "no such schema",
    "SELECT secret.visits.clinic, COUNT(*) FROM visits GROUP BY 1": "no such schema",
    "SELECT FLOOR(cost) + 0.5 AS bin, COUNT(*) FROM visits GROUP BY 1": "real number",
    "SELECT ROUND(cost, 1) AS bin, COUNT(*) FROM visits GROUP BY 1": "real number",
    "WITH t AS (SELECT person FROM visits) SELECT COUNT(*) FROM main.t": "t",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_only_looks_like_it_is_refused(sql):
    with pytest.raises(DiscreetError, match=REFUSED[sql]):
        question(sql)


@pytest.mark.parametrize(("written", "is_first"), [("NULLS FIRST", True), ("NULLS LAST", False)])
def test_rows_without_a_value_come_where_they_are_wanted(written, is_first):
    found = question(
        f"SELECT clinic, AVG(age) AS x FROM visits GROUP BY clinic ORDER BY x {written}"
    )
    assert [ordering.nulls_first for ordering in found.view.order] == [is_first]
