"""WHERE rules groups out: those are no groups of the answer, whatever stands above it."""

import datetime

import pytest

from discreet.curator.connection import connect
from tests.support.projects.clinic import visit, write_project

DAY = datetime.date(2025, 1, 1)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    rows = [
        visit(f"p{i}", "abc"[i % 3], urgent=i % 2 == 0, day=DAY + datetime.timedelta(days=i))
        for i in range(300)
    ]
    folder = write_project(tmp_path_factory.mktemp("clinic"), rows, epsilon="1000000")
    text = (folder / "discreet.toml").read_text()
    least = "least_price = { epsilon = 0.001 }\nbudget"
    dates = 'day = { type = "date", min = 2025-01-01, max = 2025-12-31 }'
    text = text.replace("budget", least, 1).replace('day = { type = "date" }', dates)
    (folder / "discreet.toml").write_text(text)
    with connect(folder, epsilon=1000) as connection:
        yield connection


def keys_of(clinic, where: str, key: str = "clinic") -> list:
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM visits WHERE {where} GROUP BY 1"
    return [row[0] for row in clinic.sql(sql).rows]


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("clinic IN ('a', 'b')", ["a", "b"]),
        ("clinic <> 'c' AND urgent", ["a", "b", "d"]),
        ("clinic > 'a' AND clinic <= 'c'", ["b", "c"]),
        ("NOT (clinic = 'a' OR clinic = 'b')", ["c", "d"]),
        ("clinic = 'a' OR cost > 1", ["a", "b", "c", "d"]),
        ("clinic = 'a' OR age > 1 AND clinic = 'b'", ["a", "b", "c", "d"]),
        ("clinic IS NOT NULL", ["a", "b", "c", "d"]),
        ("clinic IS NULL", []),
        ("clinic = 'nowhere'", []),
        ("clinic LIKE 'a%'", ["a", "b", "c", "d"]),
        ("clinic NOT IN ('a', NULL)", []),
        ("clinic = NULL", []),
    ],
)
def test_keys_that_the_text_rules_out_are_left_out(clinic, where, left):
    assert keys_of(clinic, where) == left


def test_parts_of_days_follow_the_days(clinic):
    since = "day >= DATE '2025-03-15' AND day < DATE '2025-06-01'"
    months = [datetime.date(2025, month, 1) for month in (3, 4, 5)]
    assert keys_of(clinic, since, "DATE_TRUNC('month', day)") == months
    assert keys_of(clinic, since, "strftime(day, '%Y-%m')") == ["2025-03", "2025-04", "2025-05"]
    assert keys_of(clinic, since, "month(day)") == [3, 4, 5]
    assert keys_of(clinic, "month(day) IN (2, 3)", "month(day)") == [2, 3]
    assert keys_of(clinic, "year(day) = 2019", "month(day)") == []
    assert keys_of(clinic, "urgent", "urgent") == [True]


def test_what_stands_above_sees_the_groups_that_are_left(clinic):
    groups = "SELECT clinic, COUNT(*) AS n FROM visits WHERE clinic IN ('a', 'b') GROUP BY clinic"
    above = "SELECT AVG(n) AS m, MIN(n) AS l, COUNT(*) AS c FROM g"
    (row,) = clinic.sql(f"WITH g AS ({groups}) {above}").rows
    assert row == (100, 100, 2)
    (least,) = clinic.sql(f"{groups} ORDER BY n, clinic LIMIT 1").rows
    assert least[0] == "a"


def test_totals_of_groups_stay(clinic):
    sql = "SELECT clinic, COUNT(*) AS n FROM visits WHERE clinic < 'c' GROUP BY ROLLUP (clinic)"
    assert clinic.sql(sql).rows == (("a", 100), ("b", 100), (None, 200))


def test_it_is_the_same_question_as_before(clinic):
    """Only what is shown is narrowed: the plan, its price and what is stored are as they were."""
    wide = "SELECT clinic, COUNT(*) AS n FROM visits WHERE clinic IN ('a', 'b') GROUP BY clinic"
    release = clinic.sql(wide)
    assert [row[0] for row in release.body.keys.rows] == ["a", "b", "c", "d"]


def test_it_is_explained(clinic):
    sql = "SELECT clinic, COUNT(*) AS n FROM visits WHERE {} GROUP BY clinic"
    assert "WHERE rules some of them out" in str(clinic.explain(sql.format("clinic < 'b'")))
    assert "rules some" not in str(clinic.explain(sql.format("age < 50")))
