"""WHERE rules groups out: those are no groups of the answer, whatever stands above it."""

import datetime

import pytest

from discreet.roles.connection import connect
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
        ("clinic LIKE 'a%'", ["a"]),
        ("clinic NOT LIKE '%a' AND upper(clinic) <> 'C'", ["b", "d"]),
        ("clinic LIKE '_'", ["a", "b", "c", "d"]),
        ("CASE WHEN clinic = 'a' THEN 'x' ELSE clinic END IN ('x', 'd')", ["a", "d"]),
        ("(clinic = 'a' AND urgent) OR clinic = 'd'", ["a", "b", "c", "d"]),
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
    assert keys_of(clinic, "year(day) = 2019", "DATE_TRUNC('month', day)") == []
    last = "day >= DATE '2025-11-15'"
    assert keys_of(clinic, last, "year(day)") == [2025]
    assert keys_of(clinic, last, "DATE_TRUNC('quarter', day)") == [datetime.date(2025, 10, 1)]
    assert keys_of(clinic, "urgent", "urgent") == [True]
    written = "CAST(day AS VARCHAR) LIKE '2025-02%'"
    assert keys_of(clinic, written, "DATE_TRUNC('month', day)") == [datetime.date(2025, 2, 1)]
    assert keys_of(clinic, "dayofweek(day) IN (0, 6)", "dayofweek(day)") == [0, 6]


def test_keys_of_several_columns_and_functions_of_them(clinic):
    both = "clinic || CASE WHEN urgent THEN '!' ELSE '' END"
    assert keys_of(clinic, "clinic IN ('a', 'b') AND urgent", both) == ["a!", "b!"]
    upper = "coalesce(upper(clinic), 'none')"
    assert keys_of(clinic, "clinic IN ('c', 'd')", upper) == ["C", "D"]
    assert keys_of(clinic, f"{upper} > 'B' AND {upper} <> 'none'", upper) == ["C", "D"]
    assert keys_of(clinic, "clinic > 'b' AND clinic < 'd'", "coalesce(clinic, 'none')") == ["c"]
    assert keys_of(clinic, "clinic > 'b' OR clinic IS NULL", "coalesce(clinic, '-')") == [
        "c",
        "d",
        "-",
    ]


@pytest.mark.parametrize(
    ("where", "key", "count"),
    [
        ("year(day) = 2019", "month(day)", 12),
        ("day >= DATE '2025-11-15'", "month(day)", 12),
        ("clinic > 'b'", "upper(clinic)", 4),
        ("clinic < 'c' AND urgent", "clinic || CASE WHEN urgent THEN '!' ELSE '' END", 8),
    ],
)
def test_groups_that_undeclared_values_may_be_in_stay(clinic, where, key, count):
    """A day of 2026 is in January, and a clinic ``B`` in the group of ``b``."""
    assert len(keys_of(clinic, where, key)) == count


@pytest.mark.parametrize(
    "rows",
    [
        "(SELECT * FROM visits WHERE clinic LIKE 'a' OR clinic = 'b')",
        "(SELECT upper(clinic) AS u, * FROM visits) WHERE u IN ('A', 'B')",
        "(SELECT lower(clinic) AS clinic FROM visits WHERE clinic IN ('a', 'b', 'nowhere'))",
        "(SELECT clinic FROM (SELECT clinic FROM visits WHERE clinic <> 'c') WHERE clinic < 'd')",
    ],
)
def test_conditions_in_sub_queries_rule_out_too(clinic, rows):
    sql = f"SELECT clinic, COUNT(*) AS n FROM {rows} GROUP BY clinic"
    assert [row[0] for row in clinic.sql(sql).rows] == ["a", "b"]


MOMENTS = {
    ("hour(seen) BETWEEN 9 AND 11", "hour(seen)"): [9, 10, 11],
    ("seen >= '2025-01-02 22:30:00'", "hour(seen)"): [*range(24)],
    ("seen >= '2025-01-03 22:30:00'", "hour(seen)"): [*range(24)],
    ("seen >= '2025-01-03 22:30:00' AND seen < '2025-01-04'", "hour(seen)"): [*range(24)],
    ("seen >= '2025-01-03 20:30:00' AND seen < '2025-01-03 22:00:01'", "hour(seen)"): [20, 21, 22],
    ("seen > '2025-01-02 23:59:59' AND seen < '2025-01-03 00:00:01'", "day(seen)"): [2, 3],
    ("seen >= '2025-01-03'", "day(seen)"): [*range(1, 32)],
    ("seen >= '2025-01-03'", "CAST(seen AS DATE)"): [datetime.date(2025, 1, 3)],
    ("seen = '2025-01-03 10:00:00'", "day(seen)"): [*range(1, 32)],
    ("seen < '2025-01-01 10:00:00' OR seen > '2025-01-03'", "day(seen)"): [*range(1, 32)],
    ("day(seen) <> 2 AND hour(seen) = 1", "CAST(seen AS DATE)"): [
        datetime.date(2025, 1, 1),
        datetime.date(2025, 1, 3),
    ],
    ("minute(seen) = 3", "hour(seen)"): [*range(24)],
}


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timed")
    (folder / "discreet.toml").write_text(
        '[id_spaces.people]\nunit = "a person"\nbudget = { epsilon = 100000 }\n'
        '[tables.visits]\nsource = "visits.csv"\nid_space = "people"\nunit = "person"\n'
        "rows_per_unit = 1\n[tables.visits.columns]\n"
        'person = { type = "text" }\n'
        'seen = { type = "timestamp", min = 2025-01-01, max = 2025-01-03 }\n',
        encoding="utf-8",
    )
    (folder / "visits.csv").write_text("person,seen\np,2025-01-03 23:00:00\n", encoding="utf-8")
    with connect(folder, epsilon=1000) as connection:
        yield connection


@pytest.mark.parametrize(("where", "key"), MOMENTS)
def test_moments_are_ruled_out_by_day_or_hour(timed, where, key):
    assert keys_of(timed, where, key) == MOMENTS[where, key]


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
