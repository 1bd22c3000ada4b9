"""What is refused, why, and that the rewrite which the message suggests is accepted."""

from pathlib import Path

import pytest

from discreet.core.errors import (
    RefusedQuery,
    UndeclaredBound,
    UnknownColumn,
    UnknownTable,
)
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.clinic import make_plan

FOLDER = Path(__file__).parent / "plans"
N = "SELECT COUNT(*) FROM"


def plan_of(sql: str) -> BoundedPlan:
    return make_plan(read_catalog(FOLDER), sql)


REWRITTEN = [
    (
        f"{N} districts LEFT JOIN patients USING (district)",
        "preserved side",
        f"{N} patients LEFT JOIN districts USING (district)",
    ),
    (
        f"{N} patients RIGHT JOIN districts USING (district)",
        "preserved side",
        f"{N} patients LEFT JOIN districts USING (district)",
    ),
    (
        f"{N} patients FULL JOIN districts USING (district)",
        "FULL JOIN",
        f"{N} patients LEFT JOIN districts USING (district)",
    ),
    (
        f"{N} patients NATURAL JOIN districts",
        "NATURAL JOIN",
        f"{N} patients JOIN districts USING (district)",
    ),
    (
        f"{N} districts SEMI JOIN patients USING (district)",
        "private table first",
        f"{N} patients SEMI JOIN districts USING (district)",
    ),
    (
        f"{N} visits v JOIN patients p ON v.note = p.district",
        "person = id",
        f"{N} visits v JOIN patients p ON v.note = p.district AND v.person = p.id",
    ),
    (
        f"{N} visits v JOIN patients p ON v.person = p.id OR v.age > 3",
        "joined with AND",
        f"{N} visits v JOIN patients p ON v.person = p.id AND v.age > 3",
    ),
    (
        f"{N} visits v JOIN patients p ON lower(v.person) = lower(p.id)",
        "person = id",
        f"{N} visits v JOIN patients p ON v.person = p.id",
    ),
    (
        f"{N} visits, patients",
        "person = id",
        f"{N} visits, patients WHERE person = id",
    ),
    (
        f"{N} trips a JOIN trips b USING (person)",
        "date_trunc('month', day) = date_trunc('month', day)",
        (
            f"{N} trips a JOIN trips b ON a.person = b.person"
            " AND date_trunc('month', a.day) = date_trunc('month', b.day)"
        ),
    ),
    (
        f"{N} trips a JOIN trips b USING (person, day)",
        "date_trunc('month', day)",
        (
            f"{N} trips a JOIN trips b ON a.person = b.person AND a.day = b.day"
            " AND date_trunc('month', a.day) = date_trunc('month', b.day)"
        ),
    ),
    (
        f"{N} visits WHERE note IN (SELECT district FROM patients)",
        "EXISTS",
        f"{N} visits WHERE EXISTS (SELECT 1 FROM patients WHERE district = note AND id = person)",
    ),
    (
        f"{N} visits WHERE clinic NOT IN (SELECT town FROM clinics)",
        "NOT EXISTS",
        f"{N} visits v WHERE NOT EXISTS (SELECT 1 FROM clinics c WHERE c.town = v.clinic)",
    ),
    (
        f"{N} visits WHERE EXISTS (SELECT person FROM visits GROUP BY person)",
        "IN (SELECT",
        f"{N} visits WHERE person IN (SELECT person FROM visits GROUP BY person)",
    ),
    (
        f"{N} (SELECT DISTINCT clinic FROM visits)",
        "Add person",
        f"{N} (SELECT DISTINCT person, clinic FROM visits)",
    ),
    (
        f"{N} (SELECT DISTINCT upper(person) AS person, clinic FROM visits)",
        "no expression",
        f"{N} (SELECT DISTINCT person, clinic FROM visits)",
    ),
    (
        f"{N} (SELECT clinic FROM visits UNION SELECT district FROM patients)",
        "Add person",
        f"{N} (SELECT person, clinic FROM visits UNION SELECT id, district FROM patients)",
    ),
    (
        f"{N} (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic)",
        "asks for no aggregate",
        f"{N} (SELECT person, clinic, COUNT(*) AS n FROM visits GROUP BY person, clinic)",
    ),
    (
        f"{N} (SELECT COUNT(*) AS n FROM visits)",
        "asks for no aggregate",
        f"{N} (SELECT COUNT(*) AS n FROM visits GROUP BY person)",
    ),
    (
        f"{N} (SELECT person, SUM(weight) AS w FROM visits GROUP BY person)",
        "CLAMP(value, 0, 100)",
        f"{N} (SELECT person, SUM(CLAMP(weight, 0, 100)) AS w FROM visits GROUP BY person)",
    ),
    (
        "SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
        "CLAMP(n, 0, 100)",
        (
            "SELECT SUM(CLAMP(n, 0, 100)) FROM"
            " (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)"
        ),
    ),
    (
        f"{N} (SELECT *, ROW_NUMBER() OVER (ORDER BY day) AS n FROM visits) WHERE n = 1",
        "Add person",
        (
            f"{N} (SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM visits)"
            " WHERE n = 1"
        ),
    ),
    (
        f"{N} (SELECT * FROM visits ORDER BY day LIMIT 3)",
        "ROW_NUMBER() OVER (PARTITION BY",
        (
            f"{N} (SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS place"
            " FROM visits) WHERE place <= 3"
        ),
    ),
    (
        f"{N} (SELECT LAG(age, 1, 0) OVER (PARTITION BY person ORDER BY day) AS a FROM visits)",
        "COALESCE(LAG(value)",
        (
            f"{N} (SELECT COALESCE(LAG(age) OVER (PARTITION BY person ORDER BY day), 0) AS a"
            " FROM visits)"
        ),
    ),
    (
        f"{N} (SELECT RANK() OVER (PARTITION BY person) AS r FROM visits)",
        "ORDER BY",
        f"{N} (SELECT RANK() OVER (PARTITION BY person ORDER BY day) AS r FROM visits)",
    ),
    (
        (
            f"{N} (SELECT SUM(age) OVER (PARTITION BY person ORDER BY day ROWS BETWEEN 1 PRECEDING"
            " AND CURRENT ROW) AS s FROM visits)"
        ),
        "Leave the frame out",
        f"{N} (SELECT SUM(age) OVER (PARTITION BY person ORDER BY day) AS s FROM visits)",
    ),
    (
        "SELECT cost, COUNT(*) FROM visits GROUP BY cost",
        "width_bucket(value, 0, 100, 10)",
        "SELECT width_bucket(cost, 0, 100, 10) AS b, COUNT(*) FROM visits GROUP BY b",
    ),
    (
        "SELECT cost, COUNT(*) FROM visits GROUP BY cost",
        "CAST(value AS INTEGER)",
        "SELECT CAST(cost AS INTEGER) AS c, COUNT(*) FROM visits GROUP BY c",
    ),
    (
        "SELECT note, COUNT(*) FROM visits GROUP BY ROLLUP (note)",
        "one grouping at a time",
        "SELECT note, COUNT(*) FROM visits GROUP BY note",
    ),
    (
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = PUBLIC_GROUPS)"
            " note, COUNT(*) FROM visits GROUP BY note"
        ),
        "Leave group_selection_strategy out",
        "SELECT WITH DIFFERENTIAL_PRIVACY note, COUNT(*) FROM visits GROUP BY note",
    ),
    (
        "SELECT DISTINCT ON (clinic) clinic FROM visits",
        "GROUP BY the columns",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    ),
    (
        f"{N} visits JOIN visits USING (person)",
        "visits AS other",
        f"{N} visits JOIN visits AS other USING (person)",
    ),
    (
        f"{N} visits v JOIN clinics c ON v.clinic = c.clinic WHERE clinic = 'a'",
        "v.clinic or c.clinic",
        f"{N} visits v JOIN clinics c ON v.clinic = c.clinic WHERE v.clinic = 'a'",
    ),
    (
        f"{N} (SELECT person, age, age FROM visits)",
        "age AS other",
        f"{N} (SELECT person, age, age AS other FROM visits)",
    ),
    (
        f"{N} (SELECT person FROM visits INTERSECT SELECT id FROM patients)",
        "EXISTS",
        f"{N} visits WHERE EXISTS (SELECT 1 FROM patients WHERE id = person)",
    ),
    (
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic WITH ROLLUP",
        "GROUP BY ROLLUP (a, b)",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP (clinic)",
    ),
]


@pytest.mark.parametrize(
    ("refused", "hint", "rewritten"), REWRITTEN, ids=[refused[:70] for refused, *_ in REWRITTEN]
)
def test_a_refusal_and_its_rewrite(refused, hint, rewritten):
    with pytest.raises((RefusedQuery, UndeclaredBound)) as caught:
        plan_of(refused)
    assert hint in str(caught.value)
    assert plan_of(rewritten).aggregates


REFUSED = [
    (f"{N} districts", RefusedQuery, "public"),
    (
        f"{N} districts WHERE district IN (SELECT district FROM patients)",
        RefusedQuery,
        "is private",
    ),
    (f"{N} (SELECT region, COUNT(*) AS n FROM districts GROUP BY 1)", RefusedQuery, "public"),
    (f"{N} visits v JOIN trips t ON v.person = t.person", RefusedQuery, "different units"),
    (f"{N} readings a JOIN readings b ON a.kind = b.kind", RefusedQuery, "unit is a row"),
    (f"{N} (SELECT DISTINCT kind FROM readings)", RefusedQuery, "unit of its own"),
    (f"{N} (SELECT kind, COUNT(*) AS n FROM readings GROUP BY kind)", RefusedQuery, "no aggregate"),
    (f"{N} (SELECT person FROM visits UNION ALL SELECT district FROM districts)", RefusedQuery, ""),
    (f"{N} (SELECT person FROM visits UNION ALL SELECT born FROM patients)", RefusedQuery, "types"),
    (
        f"{N} (SELECT person FROM visits UNION ALL BY NAME SELECT id FROM patients)",
        RefusedQuery,
        "",
    ),
    (f"{N} visits ASOF JOIN clinics ON age > 3", RefusedQuery, "ASOF"),
    (f"{N} visits POSITIONAL JOIN clinics", RefusedQuery, "POSITIONAL"),
    (f"{N} visits, LATERAL (SELECT 1)", RefusedQuery, "LATERAL"),
    (f"{N} (VALUES (1)) AS t(a)", RefusedQuery, "VALUES"),
    (f"{N} range(3)", RefusedQuery, "table function"),
    (f"{N} visits PIVOT (SUM(age) FOR clinic IN ('a'))", RefusedQuery, "PIVOT"),
    (f"{N} (SELECT * FROM visits TABLESAMPLE 10%)", RefusedQuery, "TABLESAMPLE"),
    (f"{N} (SELECT * REPLACE (age + 1 AS age) FROM visits)", RefusedQuery, "REPLACE"),
    (f"{N} (SELECT DISTINCT ON (person) person, age FROM visits)", RefusedQuery, "ROW_NUMBER"),
    (f"{N} (SELECT 1)", RefusedQuery, "FROM"),
    (f"{N} (SELECT person, MIN() AS m FROM visits GROUP BY 1)", RefusedQuery, "MIN()"),
    (f"{N} (SELECT person, COUNT() AS m FROM visits GROUP BY 1)", RefusedQuery, "COUNT(*)"),
    (f"{N} (SELECT *, COUNT(*) FROM visits GROUP BY person)", RefusedQuery, "*"),
    (f"{N} (SELECT person, MEDIAN(age) AS m FROM visits GROUP BY 1)", RefusedQuery, "MEDIAN"),
    (f"{N} (SELECT person, age FROM visits GROUP BY person)", RefusedQuery, "neither grouped"),
    (f"{N} (SELECT person, SUM(note) AS s FROM visits GROUP BY 1)", RefusedQuery, "text"),
    (f"{N} (SELECT person FROM visits GROUP BY ROLLUP (person))", RefusedQuery, "outermost"),
    (f"{N} (SELECT NTILE(3) OVER (PARTITION BY person) AS n FROM visits)", RefusedQuery, "RANK"),
    (
        f"{N} (SELECT LAG(age) OVER (PARTITION BY person ORDER BY day NULLS FIRST) a FROM visits)",
        RefusedQuery,
        "NULL always comes last",
    ),
    (f"{N} (SELECT RANK() OVER w AS r FROM visits)", RefusedQuery, "WINDOW"),
    (f"WITH RECURSIVE a AS (SELECT person FROM visits) {N} a", RefusedQuery, "RECURSIVE"),
    (f"WITH a AS (SELECT person FROM visits), A AS (SELECT 1) {N} a", RefusedQuery, "twice"),
    (f"WITH a AS (SELECT nobody FROM visits) {N} visits", UnknownColumn, "nobody"),
    (f"WITH a(x, y) AS (SELECT person FROM visits) {N} a", RefusedQuery, "more names"),
    (f"{N} a", UnknownTable, "No table 'a'"),
    (f"{N} (SELECT x.person FROM visits)", UnknownTable, "No table 'x'"),
    (f"{N} (SELECT x.* FROM visits)", UnknownTable, "No table 'x'"),
    (f"{N} (SELECT * EXCLUDE (nobody) FROM visits)", UnknownColumn, "nobody"),
    (f"{N} visits WHERE EXISTS (SELECT 1 FROM patients WHERE id = who)", UnknownColumn, "who"),
    (f"{N} visits WHERE (person, clinic) IN (SELECT id FROM patients)", RefusedQuery, "numbers of"),
    (f"{N} visits WHERE age > (SELECT MAX(born) FROM patients)", RefusedQuery, ""),
    (f"{N} visits WHERE urgent OR person IN (SELECT id FROM patients)", RefusedQuery, ""),
    (f"{N} visits WHERE COUNT(*) > 3", RefusedQuery, ""),
    (f"{N} visits WHERE ROW_NUMBER() OVER (PARTITION BY person) = 1", RefusedQuery, ""),
    (f"{N} visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person) = 1", RefusedQuery, "sub-query"),
    ("SELECT clinic, COUNT(*) FROM visits GROUP BY DISTINCT clinic", RefusedQuery, "DISTINCT"),
    (
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (clinic))",
        RefusedQuery,
        "twice",
    ),
    (
        "SELECT COUNT(*) FROM visits GROUP BY CUBE (clinic, urgent, day, age, note, cost, weight)",
        RefusedQuery,
        "too many grouping sets",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = id) COUNT(*) FROM visits",
        RefusedQuery,
        "be person",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 0) COUNT(*) FROM visits",
        RefusedQuery,
        "option 'max_rows_contributed' is out of range",
    ),
]


@pytest.mark.parametrize(("sql", "error", "hint"), REFUSED, ids=[sql[:70] for sql, *_ in REFUSED])
def test_refused_with_a_reason(sql, error, hint):
    with pytest.raises(error) as caught:
        plan_of(sql)
    assert hint in str(caught.value)


def test_names_that_grow_are_stopped_before_they_are_huge():
    step = "t{} AS (SELECT a.person FROM t{} a JOIN t{} b USING (person))"
    steps = ["t0 AS (SELECT person FROM visits)", *(step.format(i + 1, i, i) for i in range(40))]
    with pytest.raises(RefusedQuery, match="too many tables"):
        plan_of(f"WITH {', '.join(steps)} SELECT COUNT(*) FROM t40")


def test_a_threshold_can_be_asked_for_where_keys_are_public():
    asked = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = {}) {}"
    query = "clinic, COUNT(*) FROM visits GROUP BY clinic"
    private = plan_of(asked.format("LAPLACE_THRESHOLD", query))
    assert private.keys == PrivateKeys(fields=(0,), allowed=(("a", "b", "c"),))
    public = plan_of(asked.format("PUBLIC_GROUPS", query))
    assert isinstance(public.keys, PublicKeys)
    everybody = plan_of(asked.format("LAPLACE_THRESHOLD", "COUNT(*) FROM visits"))
    assert isinstance(everybody.keys, PublicKeys)
    assert everybody.keys.size() == 1


def test_the_widest_limits_of_the_tables_hold_or_those_of_the_query():
    joined = "FROM districts JOIN patients USING (district) JOIN visits ON person = id"
    turned = "FROM visits JOIN patients ON person = id"
    for tables in (joined, turned):
        assert plan_of(f"SELECT COUNT(*) {tables}").limits.rows_per_group == 2
    looked_at = "FROM patients WHERE EXISTS (SELECT 1 FROM visits WHERE person = id)"
    assert plan_of(f"SELECT COUNT(*) {looked_at}").limits.rows_per_group == 1
    given = plan_of(
        f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 7) COUNT(*) {joined}"
    )
    assert (given.limits.rows_per_group, given.limits.groups_per_unit) == (2, 7)
