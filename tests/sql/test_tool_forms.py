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
    "a database": (
        (
            'SELECT "plans"."main"."visits"."clinic" AS "clinic", COUNT(*) AS "n"'
            ' FROM "plans"."main"."visits" JOIN discreet.public.clinics AS c'
            ' ON "plans"."main"."visits"."clinic" = c.clinic GROUP BY 1'
        ),
        (
            "SELECT visits.clinic AS clinic, COUNT(*) AS n FROM visits"
            " JOIN clinics AS c ON visits.clinic = c.clinic GROUP BY 1"
        ),
    ),
    "a decimal of a real": (
        "SELECT AVG(CAST(cost AS DECIMAL(10, 1))) AS x FROM visits WHERE cost::NUMERIC > 1",
        "SELECT AVG(ROUND(cost, 1)) AS x FROM visits WHERE ROUND(cost, 3) > 1",
    ),
    "a decimal of a whole number, or of more places than a float has": (
        "SELECT AVG(CAST(age AS NUMERIC(10, 2))) AS x FROM visits WHERE cost::DECIMAL(38, 20) > 1",
        "SELECT AVG(age) AS x FROM visits WHERE cost > 1",
    ),
    "a decimal of an answer": (
        "SELECT CAST(AVG(cost) AS DECIMAL(10, 2)) AS x, COUNT(*)::NUMERIC AS n FROM visits",
        "SELECT ROUND(CAST(AVG(cost) AS DOUBLE), 2) AS x, COUNT(*) AS n FROM visits",
    ),
    "a text of some length": (
        "SELECT CAST(clinic AS CHARACTER VARYING(2)) AS c, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT clinic AS c, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    "any and all of one person, and how many": (
        (
            "SELECT COUNT(*) AS n FROM (SELECT person, BOOL_OR(urgent) AS a, BOOL_AND(age > 3)"
            " FILTER (WHERE urgent) AS b, COUNT_IF(urgent) AS c FROM visits GROUP BY person)"
            " WHERE a AND b AND c > 1"
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT person, MAX(urgent) AS a, MIN(age > 3)"
            " FILTER (WHERE urgent) AS b, COUNT(*) FILTER (WHERE urgent) AS c FROM visits"
            " GROUP BY person) WHERE a AND b AND c > 1"
        ),
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
    "SELECT COUNT(*) FROM other.main.visits": "no such database",
    "SELECT COUNT(*) FROM plans.secret.visits": "no such schema",
    "SELECT COUNT(*) FROM a.plans.main.visits": "no such database",
    "SELECT other.main.visits.clinic, COUNT(*) FROM visits GROUP BY 1": "no such database",
    "WITH plans AS (SELECT person FROM visits) SELECT COUNT(*) FROM plans.main.plans": "plans",
    (
        "SELECT COUNT(*) FROM (SELECT person, BOOL_OR(age) AS u FROM visits GROUP BY 1) WHERE u"
    ): "not a condition",
    "SELECT urgent, MODE(clinic) FROM visits GROUP BY ROLLUP (urgent)": "without HAVING",
    "SELECT MODE(clinic), MODE(urgent) FROM visits": "only aggregate",
    "SELECT MODE(clinic, urgent) FROM visits": "MODE",
    "SELECT urgent, MODE(clinic) FROM visits GROUP BY 1 ORDER BY COUNT(*)": "only aggregate",
    "SELECT MODE(COUNT(*)) FROM visits": "aggregate",
    "SELECT MODE(person) FROM visits": "Groups of one unit",
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
