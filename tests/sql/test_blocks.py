"""An answer in a WITH or a sub-query, and what stands above it: the same question as one SELECT."""

from pathlib import Path

import pytest

from discreet.core.errors import QueryError, RefusedQuery, UnknownColumn
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.sql.parse import parse
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.tables.declarations.declaration import read_catalog

CATALOG = read_catalog(Path(__file__).parent / "plans")

BY_CLINIC = "SELECT clinic, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY clinic"


def question(sql: str) -> Question:
    return resolve(parse(sql), CATALOG, DuckDbEngine().public_rows)


ALIKE = {
    "all of it": (
        f"WITH t AS ({BY_CLINIC}) SELECT * FROM t",
        f"{BY_CLINIC}",
    ),
    "a choice": (
        f"SELECT t.n, t.clinic FROM ({BY_CLINIC}) AS t WHERE n > 10 ORDER BY n DESC LIMIT 3",
        """
          SELECT COUNT(*) AS n, clinic FROM visits GROUP BY clinic HAVING COUNT(*) > 10
          ORDER BY n DESC LIMIT 3
        """,
    ),
    "arithmetic": (
        f"WITH t AS ({BY_CLINIC}) SELECT clinic, n * 2 + 1 AS more FROM t",
        "SELECT clinic, COUNT(*) * 2 + 1 AS more FROM visits GROUP BY clinic",
    ),
    "a share of all": (
        """
          WITH t AS (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1) SELECT clinic,
          n / SUM(n) OVER () AS share FROM t
        """,
        "SELECT clinic, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY clinic",
    ),
    "a share by a sub-query": (
        """
          WITH t AS (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic) SELECT
          clinic, n / (SELECT SUM(x.n) FROM t AS x) AS share FROM t WHERE n > 5
        """,
        """
          SELECT clinic, COUNT(*) / (SUM(COUNT(*)) OVER ()) AS share FROM visits GROUP
          BY clinic QUALIFY COUNT(*) > 5
        """,
    ),
    "a rank and a filter on it": (
        """
          SELECT clinic, n FROM (SELECT clinic, COUNT(*) AS n, RANK() OVER (ORDER BY
          COUNT(*) DESC) AS place FROM visits GROUP BY ALL) WHERE place <= 2
        """,
        """
          SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic QUALIFY RANK() OVER
          (ORDER BY COUNT(*) DESC) <= 2
        """,
    ),
    "three steps": (
        """
          WITH a AS (SELECT clinic AS place, COUNT(*) AS n FROM visits WHERE age > 20
          GROUP BY place), b AS (SELECT place, n, RANK() OVER (ORDER BY n) AS r FROM a),
          c AS (SELECT place AS p, n FROM b WHERE r < 3) SELECT p, n FROM c ORDER BY 2
          DESC
        """,
        """
          SELECT clinic AS p, COUNT(*) AS n FROM visits WHERE age > 20 GROUP BY clinic
          QUALIFY RANK() OVER (ORDER BY COUNT(*)) < 3 ORDER BY n DESC
        """,
    ),
    "names of columns": (
        """
          WITH t (c, m) AS (SELECT clinic, COUNT(*) FROM visits GROUP BY clinic) SELECT
          d, m FROM t AS u (d, m)
        """,
        "SELECT clinic AS d, COUNT(*) AS m FROM visits GROUP BY clinic",
    ),
    "a total of the answer": (
        """
          SELECT MAX(n) AS largest, AVG(n) AS usual FROM (SELECT clinic, COUNT(*) AS n
          FROM visits GROUP BY clinic)
        """,
        """
          SELECT MAX(COUNT(*)) OVER () AS largest, AVG(COUNT(*)) OVER () AS usual FROM
          visits GROUP BY clinic LIMIT 1
        """,
    ),
    "a block below keeps its owner": (
        """
          WITH each AS (SELECT person, clinic, SUM(age) AS total FROM visits GROUP BY
          person, clinic), t AS (SELECT clinic, COUNT(*) AS n FROM each GROUP BY clinic)
          SELECT clinic, n FROM t
        """,
        """
          WITH each AS (SELECT person, clinic, SUM(age) AS total FROM visits GROUP BY
          person, clinic) SELECT clinic, COUNT(*) AS n FROM each GROUP BY clinic
        """,
    ),
    "two answers side by side": (
        """
          WITH old AS (SELECT clinic, COUNT(*) AS n FROM visits WHERE age >= 60 AND
          urgent GROUP BY clinic), young AS (SELECT clinic, COUNT(*) AS n FROM visits
          WHERE age < 60 AND urgent GROUP BY clinic) SELECT old.clinic, old.n - young.n
          AS more FROM old JOIN young USING (clinic) ORDER BY more
        """,
        """
          SELECT clinic, COUNT(*) FILTER (WHERE age >= 60) - COUNT(*) FILTER (WHERE age
          < 60) AS more FROM visits WHERE urgent GROUP BY clinic ORDER BY more
        """,
    ),
    "joined with ON": (
        """
          SELECT a.clinic, b.n FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY
          clinic) AS a JOIN (SELECT clinic, COUNT(*) AS n FROM visits WHERE age > 3
          GROUP BY clinic) AS b ON a.clinic = b.clinic
        """,
        "SELECT clinic, COUNT(*) FILTER (WHERE age > 3) AS n FROM visits GROUP BY clinic",
    ),
    "the best ones of an answer, in other columns": (
        """
          SELECT clinic FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic
          ORDER BY n DESC LIMIT 1)
        """,
        "SELECT clinic FROM visits GROUP BY clinic ORDER BY COUNT(*) DESC LIMIT 1",
    ),
    "a condition on a key": (
        f"WITH t AS ({BY_CLINIC}) SELECT clinic, mean FROM t WHERE clinic <> 'a'",
        "SELECT clinic, AVG(age) AS mean FROM visits GROUP BY clinic HAVING clinic <> 'a'",
    ),
    "grouping sets": (
        """
          SELECT clinic, n FROM (SELECT clinic, urgent, COUNT(*) AS n FROM visits GROUP
          BY ROLLUP (1, 2))
        """,
        "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY ROLLUP (clinic, urgent)",
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_block_and_what_stands_above_it_are_one_question(name):
    nested, flat = map(question, ALIKE[name])
    assert nested == flat


def test_a_total_of_an_answer_is_called_as_it_is_written():
    found = question(
        "SELECT MAX(n), COUNT(*) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1)"
    )
    assert found.view.columns == ("max_n", "count")


REFUSED = {
    "grouped again": (
        f"SELECT n, COUNT(*) FROM ({BY_CLINIC}) GROUP BY n",
        RefusedQuery,
        "GROUP BY stands above an answer",
    ),
    "another table's column": (
        f"WITH t AS ({BY_CLINIC}) SELECT age FROM t",
        UnknownColumn,
        "No column 'age' in the answer",
    ),
    "a column of no answer, under a name of SELECT": (
        f"WITH t AS ({BY_CLINIC}) SELECT t.age AS age FROM t",
        UnknownColumn,
        "No column 'age' in the answer",
    ),
    "rows beside an answer": (
        f"SELECT v.age FROM visits AS v JOIN ({BY_CLINIC}) AS t USING (clinic)",
        RefusedQuery,
        "would put rows of different units together",
    ),
    "other groups": (
        f"""
          SELECT a.n FROM ({BY_CLINIC}) AS a JOIN (SELECT urgent AS clinic, COUNT(*) AS
          n FROM visits GROUP BY urgent) AS b USING (clinic)
        """,
        RefusedQuery,
        "different rows or groups",
    ),
    "not on the keys": (
        f"SELECT a.n FROM ({BY_CLINIC}) AS a JOIN ({BY_CLINIC}) AS b ON a.n = b.n",
        RefusedQuery,
        "otherwise than on all of their keys",
    ),
    "an outer join": (
        f"SELECT a.n FROM ({BY_CLINIC}) AS a LEFT JOIN ({BY_CLINIC}) AS b USING (clinic)",
        RefusedQuery,
        "otherwise than on all of their keys",
    ),
    "two names": (
        f"SELECT n FROM ({BY_CLINIC}) AS a JOIN ({BY_CLINIC}) AS b USING (clinic)",
        RefusedQuery,
        "in several tables",
    ),
    "above LIMIT": (
        """
          SELECT clinic, n FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY
          clinic ORDER BY n LIMIT 2) WHERE n > 3
        """,
        RefusedQuery,
        "LIMIT stands below",
    ),
    "between two windows": (
        """
          SELECT RANK() OVER (ORDER BY n) AS r FROM (SELECT clinic, COUNT(*) AS n,
          SUM(COUNT(*)) OVER () AS total FROM visits GROUP BY clinic) WHERE n > total /
          2
        """,
        RefusedQuery,
        "between two windows",
    ),
    "private groups side by side": (
        """
          SELECT a.n FROM (SELECT note, COUNT(*) AS n FROM visits GROUP BY note) AS a JOIN (SELECT
          note, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY note) AS b USING (note)
        """,
        RefusedQuery,
        "private groups cannot be joined",
    ),
    "a person's rows as an answer": (
        "SELECT person, n FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
        QueryError,
        "",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_one_select_is_refused(name):
    sql, error, what = REFUSED[name]
    with pytest.raises(error) as refusal:
        question(sql)
    assert what in str(refusal.value)
