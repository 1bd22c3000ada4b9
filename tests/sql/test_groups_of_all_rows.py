"""Computed groups have the rows that DuckDB says, whatever values the rows have.

Declared keys and ranges are promises that data may break, and a row of a LEFT JOIN may have met
nothing: the groups that an answer has must hold what SQL would put there.
"""

import duckdb
import pandas as pd
import pytest

import discreet

VISITS = pd.DataFrame(
    {
        "p": range(60),
        "dist": [1, 2, 3] * 20,
        "k": ["a", "b", "zz", None, "A", "b"] * 10,
        "n": [-7, 3, 15, 25, -10, 0] * 10,
        "m": [-25, 20, 37, 54, 5, 99] * 10,
    }
)
DISTRICTS = pd.DataFrame({"d": [1, 2, 4], "name": ["one", None, "four"]})
COLUMNS = {
    "v": {
        "p": "integer",
        "dist": "integer",
        "k": {"type": "text", "keys": ["a", "b"]},
        "n": {"type": "integer", "min": 0, "max": 19},
        "m": {"type": "integer", "keys": [20, 37, 54], "min": 20, "max": 54},
    },
    "dd": {"d": "integer", "name": "text"},
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    owner = discreet.own(
        {"v": VISITS},
        unit="p",
        id_space="groups_of_all_rows",
        budget={"epsilon": 1e6},
        public={"dd": DISTRICTS},
        columns=COLUMNS,
        rows_per_unit=1,
        ledger=tmp_path_factory.mktemp("ledger") / "ledger.sqlite",
    )
    return owner.connect(epsilon=200)


@pytest.fixture(scope="module")
def plain():
    with duckdb.connect(":memory:") as connection:
        connection.register("v", VISITS)
        connection.register("dd", DISTRICTS)
        yield connection


def answers(connection, plain, sql: str) -> tuple[dict, dict]:
    """Return our counts by group, and DuckDB's without the groups that have a NULL."""
    ours = {row[:-1]: row[-1] for row in connection.sql(sql).rows}
    theirs = {row[:-1]: row[-1] for row in plain.execute(sql).fetchall()}
    return ours, {key: count for key, count in theirs.items() if None not in key}


LEFT = "v LEFT JOIN dd ON dist = d"


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("COALESCE(name, '?')", LEFT),
        ("CASE WHEN name IS NULL THEN 'none' ELSE name END", LEFT),
        ("name IS NULL", LEFT),
        ("COALESCE(d, -1)", LEFT),
        ("COALESCE(d, -1), COALESCE(name, '?')", LEFT),
        ("COALESCE(d, -1), name IS NULL", LEFT),
        ("d IS NULL", "dd RIGHT JOIN v ON dist = d"),
        ("COALESCE(name, '?')", "(SELECT p, name FROM v LEFT JOIN dd ON dist = d)"),
        ("COALESCE(nm, 'out')", "v LEFT JOIN (SELECT d, 'in' AS nm FROM dd) AS x ON dist = d"),
        ("COALESCE(d, -1)", "v LEFT JOIN (SELECT * FROM dd WHERE d > 9) AS x ON dist = d"),
        (
            "COALESCE(d, -1)",
            "v LEFT JOIN (SELECT p, d FROM v JOIN dd ON dist = d) AS x ON v.p = x.p",
        ),
    ],
)
def test_rows_that_met_nothing_have_their_group(connection, plain, key, rows):
    numbers = ", ".join(str(i + 1) for i in range(key.count("), ") + 1))
    sql = f"SELECT {key}, COUNT(*) AS c FROM {rows} GROUP BY {numbers}"
    ours, theirs = answers(connection, plain, sql)
    assert {group: count for group, count in ours.items() if count} == theirs


def test_each_grouping_set_has_the_groups_of_its_own_columns(connection, plain):
    sets = "GROUPING SETS ((name), (name IS NULL))"
    sql = f"SELECT name, name IS NULL AS nothing, COUNT(*) AS c FROM {LEFT} GROUP BY {sets}"
    assert set(connection.sql(sql).rows) == {
        ("one", None, 20),
        ("four", None, 0),
        (None, False, 20),
        (None, True, 40),
    }


@pytest.mark.parametrize(
    "key",
    [
        "FLOOR(n / 10.0) * 10.0",
        "FLOOR(n / 10.0)",
        "FLOOR((n + 3) / 7.0)",
        "FLOOR((n + 100) / 10.0)",
        "FLOOR(m / 10.0)",
        "n % 10",
    ],
)
def test_rows_outside_a_range_are_in_no_wrong_group(connection, plain, key):
    """Each group has DuckDB's rows, and a range that keeps its promise has no other groups."""
    ours, theirs = answers(connection, plain, f"SELECT {key}, COUNT(*) AS c FROM v GROUP BY 1")
    assert all(count == theirs.get(group, 0) for group, count in ours.items())
    rows = "UNNEST([20, 37, 54]) AS t(m)" if "m" in key else "range(20) AS t(n)"
    promised = {int(row[0]) for row in plain.execute(f"SELECT {key} FROM {rows}").fetchall()}
    assert {group for (group,) in ours} == promised


def test_what_is_said_of_a_range_is_true(connection):
    plain = connection.sql("SELECT n, COUNT(*) AS c FROM v GROUP BY n").notes()
    assert any("0 to 19: rows with another value, or none, are in no group" in s for s in plain)
    computed = connection.sql("SELECT n % 10 AS b, COUNT(*) AS c FROM v GROUP BY 1").notes()
    assert any("another value are counted where it falls into one of them" in s for s in computed)


OTHER = "CASE WHEN k = 'a' THEN 'A' ELSE 'other' END"
KEYS = (OTHER, "k = 'a'", "COALESCE(k, 'none')", "upper(k)", "left(k, 1)", "k IN ('a', 'zz')")
WHERE = (
    "k IN ('a', 'zz')",
    "k = 'zz'",
    "k <> 'a'",
    "k > 'b'",
    "k = 'A' OR k IS NULL",
    "NOT (k = 'b')",
    "k IS DISTINCT FROM 'a'",
    "k LIKE 'z%'",
    "upper(k) = 'A'",
)


@pytest.mark.parametrize("where", WHERE)
def test_a_where_that_lets_in_undeclared_values_keeps_their_groups(connection, plain, where):
    for key in KEYS:
        sql = f"SELECT {key}, COUNT(*) AS c FROM v"
        every, _ = answers(connection, plain, f"{sql} GROUP BY 1")
        ours, theirs = answers(connection, plain, f"{sql} WHERE {where} GROUP BY 1")
        assert ours.keys() >= theirs.keys() & every.keys(), key
        assert all(count == theirs.get(group, 0) for group, count in ours.items()), key


def test_groups_without_any_value_are_ruled_out(connection):
    sql = f"SELECT {OTHER} AS g, COUNT(*) AS c FROM v WHERE k IN ('b', 'zz') GROUP BY 1"
    assert connection.sql(sql).rows == (("other", 30),)
