"""What a query means: where no limit and no clamp binds, it counts what plain DuckDB counts."""

import pytest

from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import PublicKeys
from tests.support.house.narrow import of_kind
from tests.support.projects.clinic import exact_columns, make_plan
from tests.support.projects.meaning import plain_tables, write_meaning


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_meaning(tmp_path_factory.mktemp("meaning"))


@pytest.fixture(scope="module")
def plain(folder):
    """Plain DuckDB with the same tables."""
    connection = plain_tables(folder)
    yield connection
    connection.close()


COUNTED = [
    "visits",
    "visits AS v WHERE v.urgent AND v.age > 20 AND (v.clinic = 'a' OR v.note IS NULL)",
    "visits AS v JOIN clinics AS c ON v.clinic = c.clinic WHERE c.town = 'Barton'",
    "clinics AS c JOIN visits AS v USING (clinic) WHERE clinic <> 'a'",
    "clinics, visits WHERE clinics.clinic = visits.clinic AND age > 9",
    "visits CROSS JOIN clinics",
    "visits JOIN clinics ON age > 30",
    "visits AS v LEFT JOIN clinics AS c ON v.clinic = c.clinic AND c.town = 'Aston'",
    "visits AS v LEFT JOIN clinics AS c USING (clinic) WHERE c.town IS NULL",
    "visits AS v JOIN (districts AS d JOIN clinics AS c ON d.people > 600) ON c.clinic = v.clinic",
    "visits AS v JOIN patients AS p ON v.person = p.id JOIN districts USING (district)",
    "visits AS a JOIN visits AS b USING (person) WHERE a.day < b.day",
    "visits AS a, visits AS b WHERE b.person = a.person AND a.age < b.age",
    "patients LEFT JOIN visits ON id = person AND urgent",
    "patients LEFT JOIN visits ON id = person WHERE person IS NULL",
    (
        "trips AS a JOIN trips AS b ON a.person = b.person"
        " AND date_trunc('month', a.day) = date_trunc('month', b.day) AND a.km < b.km"
    ),
    "visits WHERE person IN (SELECT id FROM patients WHERE born > 1955)",
    "visits WHERE NOT person IN (SELECT id FROM patients WHERE born > 1955)",
    "visits WHERE clinic IN (SELECT clinic FROM clinics WHERE town = 'Barton')",
    "visits WHERE person IN (SELECT person FROM visits GROUP BY person HAVING COUNT(*) > 8)",
    "visits AS v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.person = v.person AND w.day > v.day)",
    "visits v WHERE NOT EXISTS (FROM visits w WHERE w.person = v.person AND w.day > v.day)",
    "visits v WHERE NOT EXISTS (SELECT 1 FROM clinics c WHERE c.clinic = v.clinic)",
    "visits SEMI JOIN patients ON person = id",
    "visits ANTI JOIN patients ON person = id",
    "(SELECT DISTINCT person, clinic FROM visits)",
    "(SELECT DISTINCT ON_THE AS x, person FROM (SELECT person, note AS on_the FROM visits))",
    "(SELECT person FROM visits UNION ALL SELECT id FROM patients)",
    "(SELECT person, clinic FROM visits UNION SELECT id, district FROM patients)",
    "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person) WHERE n > 6",
    "(SELECT person, clinic, SUM(age) s FROM visits GROUP BY ALL HAVING MAX(age) > 40)",
    (
        "(SELECT person, COUNT(DISTINCT clinic) AS n, COUNT(day) AS d FROM visits GROUP BY person)"
        " WHERE n = 3 AND d > 4"
    ),
    "(SELECT person, COUNT(*) FILTER (WHERE urgent) AS n FROM visits GROUP BY 1) WHERE n >= 4",
    "(SELECT person, AVG(age) AS a FROM visits GROUP BY person) WHERE a > 35",
    "(SELECT person, MIN(day) AS a FROM visits GROUP BY 1) WHERE a < DATE '2025-01-11'",
    (
        "(SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day, clinic) AS n FROM visits)"
        " WHERE n <= 2"
    ),
    "(SELECT *, RANK() OVER (PARTITION BY person ORDER BY day DESC) AS n FROM visits) WHERE n = 1",
    (
        "(SELECT *, DENSE_RANK() OVER (PARTITION BY person, clinic ORDER BY age) n FROM visits)"
        " WHERE n = 1"
    ),
    "(SELECT person, age, SUM(age) OVER (PARTITION BY person) AS s FROM visits) WHERE s > 300",
    (
        "(SELECT person, age, SUM(age) OVER (PARTITION BY person ORDER BY day) AS s FROM visits)"
        " WHERE s > 100"
    ),
    (
        "(SELECT person, COUNT(*) OVER (PARTITION BY person ORDER BY day RANGE BETWEEN UNBOUNDED"
        " PRECEDING AND UNBOUNDED FOLLOWING) AS n FROM visits) WHERE n > 7"
    ),
    (
        "(SELECT day, LAG(age) OVER (PARTITION BY person ORDER BY age) AS b, age FROM visits)"
        " WHERE age > b"
    ),
    (
        "(SELECT FIRST_VALUE(age) OVER (PARTITION BY person ORDER BY age DESC) AS b FROM visits)"
        " WHERE b > 70"
    ),
    "(SELECT person FROM visits QUALIFY COUNT(*) OVER (PARTITION BY person) > 8)",
    (
        "(SELECT person, clinic, ROW_NUMBER() OVER (PARTITION BY person ORDER BY COUNT(*), clinic)"
        " AS n FROM visits GROUP BY person, clinic) WHERE n = 1 AND clinic = 'b'"
    ),
    (
        "visits AS v JOIN (SELECT person, MAX(day) AS last FROM visits GROUP BY person) AS m"
        " ON v.person = m.person AND v.day = m.last"
    ),
    (
        "patients JOIN districts USING (district)"
        " JOIN (SELECT region, SUM(people) AS s FROM districts GROUP BY region) USING (region)"
        " WHERE s > 1000"
    ),
    (
        "(WITH v AS (SELECT * EXCLUDE (note) FROM visits), w(a, b) AS (SELECT person, age FROM v)"
        " SELECT a AS person, b + 1 AS c FROM w WHERE b > 3) WHERE c > 20"
    ),
]


@pytest.mark.parametrize("source", COUNTED, ids=[source[:60] for source in COUNTED])
def test_rows_are_counted_as_sql_says(folder, plain, source):
    sql = f"SELECT COUNT(*) AS n FROM {source}"
    plan = make_plan(read_catalog(folder), sql)
    (column,) = exact_columns(DuckDbEngine(), plan)
    ((expected,),) = plain.execute(sql).fetchall()
    assert column.tolist() == [expected]
    assert expected > 0


TWO_TOWNS = (
    "(SELECT person, town AS t FROM visits JOIN clinics USING (clinic)) AS x"
    " JOIN (SELECT person, town AS t FROM visits JOIN clinics USING (clinic)) AS y USING (person)"
)
FIRST = "(SELECT FIRST_VALUE(clinic) OVER (PARTITION BY person ORDER BY clinic) AS f FROM visits)"
GROUPED = [
    (["clinic"], "visits"),
    (["urgent", "clinic"], "visits WHERE age > 20"),
    (["month(day)"], "visits"),
    (["region"], "patients JOIN districts USING (district)"),
    (["d.region", "p.district"], "patients p JOIN districts d ON p.district = d.district"),
    (["upper(town)"], "visits JOIN clinics USING (clinic)"),
    (["c.town"], "visits v LEFT JOIN clinics c ON v.clinic = c.clinic AND v.urgent"),
    (["town", "visits.clinic"], "clinics JOIN visits ON clinics.clinic = visits.clinic"),
    (["x.t", "y.t"], TWO_TOWNS),
    (["f"], FIRST),
]
SETS = [
    ("ROLLUP (clinic, urgent)", [["clinic", "urgent"], ["clinic"], []], "visits"),
    (
        "CUBE (town, clinic)",
        [["town", "clinic"], ["town"], ["clinic"], []],
        "visits JOIN clinics USING (clinic)",
    ),
    (
        "GROUPING SETS ((clinic), (urgent), ()), month(day)",
        [["clinic", "month(day)"], ["month(day)", "urgent"], ["month(day)"]],
        "visits",
    ),
]
CASES = [(", ".join(keys), [keys], source) for keys, source in GROUPED] + SETS


@pytest.mark.parametrize(("group", "sets", "source"), CASES, ids=[group for group, *_ in CASES])
def test_groups_are_those_of_sql(folder, plain, group, sets, source):
    plan = make_plan(read_catalog(folder), f"SELECT COUNT(*) AS n FROM {source} GROUP BY {group}")
    (column,) = exact_columns(DuckDbEngine(), plan)
    counts = iter(column.tolist())
    for key_set, keys in zip(of_kind(PublicKeys, plan.keys).sets, sets, strict=True):
        found = {row: next(counts) for row in key_set.rows}
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        rows = plain.execute(
            f"SELECT {', '.join([*keys, 'COUNT(*)'])} FROM {source}{by}"
        ).fetchall()
        assert rows
        expected = {row[:-1]: row[-1] for row in rows if None not in row}
        assert {row: count for row, count in found.items() if count} == expected
    assert next(counts, None) is None
