"""What analysts write, and means what plain DuckDB says where no limit and no clamp binds."""

from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import exact_columns, make_plan
from tests.support.projects.meaning import plain_tables, rows_without_noise, write_meaning


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_meaning(tmp_path_factory.mktemp("gaps"))


@pytest.fixture(scope="module")
def plain(folder):
    connection = plain_tables(folder)
    yield connection
    connection.close()


COUNTED = [
    # The right side of a RIGHT JOIN is preserved.
    "districts RIGHT JOIN patients USING (district)",
    "districts RIGHT OUTER JOIN patients USING (district) WHERE region IS NULL",
    "districts AS d RIGHT JOIN patients AS p ON d.district = p.district AND d.people > 600",
    "visits RIGHT JOIN patients ON person = id",
    "visits RIGHT JOIN patients ON person = id WHERE person IS NULL",
    "clinics RIGHT JOIN visits USING (clinic) WHERE clinic IS NULL AND town IS NULL",
    "clinics AS c RIGHT JOIN visits AS v USING (clinic) WHERE v.clinic = clinic AND c.clinic = 'c'",
    (
        "(SELECT * FROM clinics WHERE town = 'Barton') c RIGHT JOIN visits USING (clinic)"
        " WHERE clinic = 'a' AND c.clinic IS NULL"
    ),
    "clinics RIGHT JOIN visits USING (clinic) JOIN patients ON person = id WHERE clinic = 'a'",
    (
        "districts a RIGHT JOIN districts b ON a.people < b.people"
        " JOIN patients p ON p.district = b.district"
    ),
    # A column of USING has the value of the preserved side, wherever it is used next.
    "(clinics c RIGHT JOIN visits v USING (clinic)) JOIN clinics d USING (clinic)",
    "clinics c RIGHT JOIN visits v USING (clinic) LEFT JOIN clinics d USING (clinic)",
    # Aliases of the same SELECT, in WHERE and in later columns.
    "(SELECT person, age * 2 AS twice, twice + 1 AS more FROM visits WHERE more > 60)",
    "(SELECT person, age AS cost, cost + 0 AS c FROM visits WHERE c < 5)",
    "(SELECT person, age > 30 AS old, COUNT(*) AS n FROM visits WHERE old GROUP BY ALL)",
    "(SELECT *, age + 1 AS a, a * 2 AS b FROM visits) WHERE b > 60",
    (
        "(SELECT person, age AS id FROM visits"
        " WHERE person IN (SELECT id FROM patients WHERE born > 1955))"
    ),
    "(SELECT person, MAX(age) AS a, a - MIN(age) AS w FROM visits GROUP BY person) WHERE w > 9",
    "(SELECT age a, RANK() OVER (PARTITION BY person ORDER BY a) r FROM visits QUALIFY r = 1)",
    # Values of sub-queries over public tables.
    "patients JOIN districts USING (district) WHERE people > (SELECT AVG(people) FROM districts)",
    "patients WHERE district = (SELECT MIN(district) FROM districts WHERE region = 'north')",
    "patients WHERE born - 1000 > (SELECT MIN(people) - MAX(people) FROM districts)",
    (
        "visits JOIN clinics ON visits.clinic = clinics.clinic"
        " AND town < (SELECT MAX(town) FROM clinics)"
    ),
    (
        "(WITH big AS (SELECT MAX(people) AS most FROM districts) SELECT id FROM patients"
        " JOIN districts USING (district) WHERE people = (SELECT most FROM big))"
    ),
    (
        "patients WHERE district IN"
        " (SELECT district FROM districts WHERE people < (SELECT MAX(people) FROM districts))"
    ),
    "visits v WHERE age > (SELECT COUNT(*) FROM clinics WHERE town = 'nowhere')",
    "visits WHERE age > 10 AND (SELECT town FROM clinics WHERE clinic = 'nowhere') IS NULL",
]


@pytest.mark.parametrize("source", COUNTED, ids=[source[:60] for source in COUNTED])
def test_rows_are_counted_as_sql_says(folder, plain, source):
    sql = f"SELECT COUNT(*) AS n FROM {source}"
    plan = make_plan(read_catalog(folder), sql)
    (column,) = exact_columns(DuckDbEngine(), plan)
    ((expected,),) = plain.execute(sql).fetchall()
    assert column.tolist() == [expected]
    assert expected > 0


def test_columns_of_a_right_join_stand_in_the_order_of_sql(folder, plain):
    star = "SELECT * FROM clinics AS c RIGHT JOIN visits AS v USING (clinic)"
    names = [name for name, *_ in plain.execute(star).description]
    columns = ", ".join(f"c{i}" for i, _ in enumerate(names))
    for name in ("clinic", "town", "person", "age"):
        place = f"c{names.index(name)}"
        source = f"({star}) AS t({columns}) WHERE {place} IS NOT NULL"
        sql = f"SELECT COUNT(DISTINCT {place}) AS n FROM {source}"
        (column,) = exact_columns(DuckDbEngine(), make_plan(read_catalog(folder), sql))
        ((expected,),) = plain.execute(sql).fetchall()
        assert column.tolist() == [expected]


SHOWN = [
    "SELECT clinic, COUNT(*) AS n, n / SUM(n) OVER () AS share FROM {} GROUP BY clinic",
    "SELECT clinic, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM {} GROUP BY clinic",
    "SELECT clinic, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM {} GROUP BY clinic",
    "SELECT month(day) AS m, DENSE_RANK() OVER (ORDER BY COUNT(*)) AS r FROM {} GROUP BY m",
    "SELECT clinic, ROW_NUMBER() OVER (ORDER BY SUM(age), clinic) AS r FROM {} GROUP BY clinic",
    (
        "SELECT month(day) AS m, COUNT(*) AS n, n - LAG(n) OVER (ORDER BY m) AS change,"
        " LEAD(n, 2) OVER (ORDER BY m DESC) AS later FROM {} GROUP BY m"
    ),
    "SELECT month(day) AS m, SUM(COUNT(*)) OVER (ORDER BY month(day)) AS s FROM {} GROUP BY m",
    (
        "SELECT month(day) AS m, AVG(COUNT(*)) OVER (ORDER BY month(day) ROWS BETWEEN 1 PRECEDING"
        " AND CURRENT ROW) AS smooth FROM {} GROUP BY m"
    ),
    (
        "SELECT month(day) AS m, MAX(COUNT(*)) OVER (ORDER BY month(day) ROWS BETWEEN 1 PRECEDING"
        " AND 1 FOLLOWING) AS most, MIN(COUNT(*)) OVER () AS least FROM {} GROUP BY m"
    ),
    (
        "SELECT clinic, urgent, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY clinic) AS share,"
        " FIRST_VALUE(urgent) OVER (PARTITION BY clinic ORDER BY COUNT(*), urgent) AS f"
        " FROM {} GROUP BY clinic, urgent"
    ),
    "SELECT clinic, COUNT(*) OVER () AS groups FROM {} GROUP BY clinic HAVING COUNT(*) > 9",
    "SELECT clinic, COUNT(*) AS n FROM {} GROUP BY clinic QUALIFY RANK() OVER (ORDER BY n) <= 2",
    (
        "SELECT clinic, SUM(COUNT(*)) OVER (ORDER BY urgent) AS s, urgent FROM {}"
        " GROUP BY clinic, urgent"
    ),
    "SELECT urgent, COUNT(*) / (SELECT SUM(people) FROM districts) AS rate FROM {} GROUP BY urgent",
    "SELECT age >= 40 AS old, COUNT(*) FILTER (WHERE urgent AND old) AS n FROM {} GROUP BY old",
    "SELECT age >= 40 AS old, COUNT(*) AS n FROM {} WHERE old GROUP BY old HAVING n > 0",
    "SELECT clinic, COUNT(*) AS n, n * 2 AS m FROM {} GROUP BY ALL",
]
FULL = "(SELECT * FROM visits WHERE clinic IS NOT NULL AND day IS NOT NULL AND month(day) < 13)"


@pytest.mark.parametrize("sql", SHOWN, ids=[sql[:70] for sql in SHOWN])
def test_what_is_shown_is_what_sql_says(folder, plain, sql):
    asked = sql.format(FULL)
    if "HAVING" not in asked and "QUALIFY" not in asked:
        asked += " HAVING COUNT(*) > 0"  # empty groups appear in our answers
    ours = {_plain(row) for row in rows_without_noise(folder, asked)}
    theirs = {_plain(row) for row in plain.execute(asked).fetchall()}
    assert theirs
    assert ours == theirs


def _plain(row):
    return tuple(
        round(float(value), 9) if isinstance(value, Fraction | float | int | Decimal) else value
        for value in row
    )


def test_windows_come_after_having_and_before_limit(folder):
    sql = (
        "SELECT clinic, COUNT(*) AS n, RANK() OVER (ORDER BY n DESC) AS place, SUM(n) OVER () AS s"
        " FROM visits GROUP BY clinic HAVING clinic <> 'b' ORDER BY place DESC LIMIT 1"
    )
    ((clinic, n, place, total),) = rows_without_noise(folder, sql)
    counts = dict(rows_without_noise(folder, "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"))
    assert counts[clinic] == n == min(counts["a"], counts["c"])
    assert (place, total) == (2, counts["a"] + counts["c"])


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT clinic, MEDIAN(age) OVER () AS x FROM visits GROUP BY clinic", "without OVER"),
        ("SELECT clinic, SUM(age) OVER () AS x FROM visits GROUP BY clinic", "not of a table"),
        ("SELECT clinic, RANK() OVER () AS x FROM visits GROUP BY clinic", "ORDER BY"),
        (
            "SELECT clinic, RANK() OVER (ORDER BY COUNT(*)) r FROM visits GROUP BY 1 HAVING r < 2",
            "QUALIFY",
        ),
        (
            "SELECT clinic c, RANK() OVER (ORDER BY c) r, SUM(r) OVER () s FROM visits GROUP BY 1",
            "output of its own",
        ),
        (
            "SELECT age a, SUM(1 + a) OVER (ORDER BY a ROWS 5000 PRECEDING) FROM visits GROUP BY a",
            "1,000",
        ),
        (
            "SELECT age a, SUM(1 + a) OVER (ORDER BY a RANGE 1 PRECEDING) s FROM visits GROUP BY a",
            "ROWS BETWEEN",
        ),
        ("SELECT COUNT(*) FROM visits QUALIFY COUNT(*) + 1", "not a condition"),
        ("SELECT clinic, COUNT(*) FROM visits GROUP BY 1 QUALIFY age > 3", "neither grouped"),
        ("SELECT clinic, COUNT(*) FROM visits GROUP BY 1 WINDOW w AS ()", "OVER (...)"),
    ],
)
def test_windows_that_are_refused_say_why(folder, sql, words):
    with pytest.raises(RefusedQuery) as caught:
        rows_without_noise(folder, sql)
    assert words in str(caught.value)
