"""What analysts write first: it is understood, or refused with a rewrite that is understood."""

import datetime
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.cli.main import main
from discreet.core.errors import BadSyntax, DiscreetError, RefusedQuery, UndeclaredBound
from discreet.curator.answer import bound
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.roles.connection import connect
from discreet.sql.parse import parse
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.aggregate import QuantileValues
from tests.support.house.narrow import of_kind
from tests.support.projects.clinic import visit, write_project

FOLDER = Path(__file__).parent / "plans"


def question_of(sql: str) -> Question:
    return resolve(parse(sql), read_catalog(FOLDER), DuckDbEngine().public_rows)


BOUNDS = "contribution_bounds_per_row"


@pytest.mark.parametrize(
    ("named", "clamped"),
    [
        (f"SUM(age, {BOUNDS} => (0, 50))", "SUM(CLAMP(age, 0, 50))"),
        (f"AVG(age + 1, {BOUNDS.upper()}=>(-1,2*(3+4)))", "AVG(CLAMP(age + 1, -1, 2*(3+4)))"),
        (f"VAR_POP(cost, {BOUNDS} => (0, 2.5))", "VAR_POP(CLAMP(cost, 0, 2.5))"),
        (
            f"PERCENTILE_CONT(age, 0.9, {BOUNDS} => (0, 50))",
            "PERCENTILE_CONT(CLAMP(age, 0, 50), 0.9)",
        ),
        (
            f"SUM(CASE WHEN note = ', ) =>' THEN age ELSE 0 END, {BOUNDS} => ((1), (9)))",
            "SUM(CLAMP(CASE WHEN note = ', ) =>' THEN age ELSE 0 END, (1), (9)))",
        ),
        (
            f"SUM(age -- a comment, with ) in it\n , {BOUNDS} => (0, 9)) FILTER (WHERE urgent)",
            "SUM(CLAMP(age, 0, 9)) FILTER (WHERE urgent)",
        ),
    ],
)
def test_named_bounds_are_a_clamp(named, clamped):
    texts = [f"SELECT 'é' AS e, {item} AS x FROM visits" for item in (named, clamped)]
    first, second = (parse(text).select.sql("duckdb", comments=False) for text in texts)
    assert first == second


def test_named_bounds_reach_the_plan():
    asked = f"SUM(age, {BOUNDS} => (10, 50))"
    (found,) = question_of(f"SELECT {asked} AS s FROM visits").aggregates
    (expected,) = question_of("SELECT SUM(CLAMP(age, 10, 50)) AS s FROM visits").aggregates
    assert found == expected


@pytest.mark.parametrize(
    ("item", "error", "words"),
    [
        ("COUNT(*, contribution_bounds_per_group => (0, 5))", RefusedQuery, "rows_contributed = 5"),
        ("AVG(age, contribution_bounds_per_group => (0, 5))", RefusedQuery, "SUM(CLAMP(total, 0,"),
        ("SUM(DISTINCT age, contribution_bounds_per_group => (0, 5))", RefusedQuery, "DISTINCT"),
        ("SUM(CLAMP_TOTAL(age, 0))", RefusedQuery, "a value and the range"),
        ("SUM(CLAMP_TOTAL(age, 0, 5.5))", RefusedQuery, "off the grid"),
        ("SUM(CLAMP_TOTAL(age, age, 5))", RefusedQuery, "not a constant"),
        ("SUM(CLAMP_TOTAL(clinic, 0, 5))", RefusedQuery, "not a number"),
        ("AVG(CLAMP_TOTAL(age, 0, 5))", RefusedQuery, "not on the list"),
        (f"COUNT(age, {BOUNDS} => (0, 5))", RefusedQuery, "max_rows_contributed"),
        (f"SUM(DISTINCT age, {BOUNDS} => (0, 5))", RefusedQuery, "DISTINCT"),
        ("SUM(age, other => (0, 5))", RefusedQuery, BOUNDS),
        ("SUM(age, other => 5, b => 6)", BadSyntax, "last"),
        (f"SUM(age, {BOUNDS} => (0, 5), {BOUNDS} => (0, 5))", BadSyntax, "last"),
        (f"SUM({BOUNDS} => (0, 5))", BadSyntax, "follow the name"),
        (f"SUM(, {BOUNDS} => (0, 5))", BadSyntax, "follow the name"),
        (f"SUM(age, {BOUNDS} => 5)", BadSyntax, "(lower, upper)"),
        (f"SUM(age, {BOUNDS} => (5))", BadSyntax, "(lower, upper)"),
        (f"SUM(age, {BOUNDS} => (0, ))", BadSyntax, "(lower, upper)"),
        (f"SUM(age, {BOUNDS} => (0, 5) + 1)", BadSyntax, "(lower, upper)"),
        (f"SUM(age, {BOUNDS} => (0, x => (1, 2)))", DiscreetError, ""),
        (f"SUM(age, {BOUNDS} => (0, 5)", BadSyntax, ""),
        (f"{BOUNDS} => (0, 5)", BadSyntax, "outside of a function"),
        (f"SUM(age, {BOUNDS} => (9, 5))", RefusedQuery, "empty"),
        (f"SUM(age, {BOUNDS} => (0, age))", RefusedQuery, "constant"),
    ],
)
def test_named_bounds_that_are_refused(item, error, words):
    with pytest.raises(error) as caught:
        question_of(f"SELECT {item} AS x FROM visits")
    assert words in str(caught.value)


def test_brackets_in_texts_do_not_hide_the_privacy_clause():
    sql = (
        "WITH t AS (SELECT '(' AS a, * FROM visits) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"
        " (epsilon = 0.5) COUNT(*) FROM t WHERE a = ')'"
    )
    assert parse(sql).options.epsilon == Fraction(1, 2)


def test_a_median_of_dates_is_chosen_among_days_and_shown_as_a_date():
    question = question_of("SELECT MEDIAN(day) AS m, MAX(day) - MIN(day) AS w FROM visits")
    shares = [of_kind(QuantileValues, part) for part in question.aggregates]
    assert sorted(100 * part.quantile for part in shares) == [1, 50, 99]
    assert {part.bounds for part in shares} == {Bounds(lower=0, upper=364)}
    kinds = [output.estimate.type for output in question.view.outputs]
    assert kinds == [ColumnType.DATE, ColumnType.INTEGER]


DAYS = "2025-02-01", "2025-03-05", "2025-03-07", "2025-03-09", "2025-12-24"


def _with_days(folder: Path) -> Path:
    rows = [
        visit(f"p{i}", day=datetime.date.fromisoformat(DAYS[i % len(DAYS)])) for i in range(500)
    ]
    project = write_project(folder, [*rows, visit("nobody")], epsilon="1000000")
    file = project / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    ranged = 'day = { type = "date", min = 2025-01-01, max = 2025-12-31 }'
    file.write_text(text.replace('day = { type = "date" }', ranged), encoding="utf-8")
    return project


def test_dates_are_answered_as_dates(tmp_path):
    with connect(_with_days(tmp_path), epsilon="5000") as connection:
        release = connection.sql(
            "SELECT MEDIAN(day) AS m, QUANTILE(day, 0.3) AS q, m + 7 AS later, m - q AS days,"
            " MEDIAN(date_trunc('month', day)) AS month FROM visits HAVING m > DATE '2025-03-01'"
        )
    middle, low = datetime.date(2025, 3, 7), datetime.date(2025, 3, 5)
    later, month = datetime.date(2025, 3, 14), datetime.date(2025, 3, 1)
    assert release.rows == ((middle, low, later, 2, month),)
    assert release.to_json()["rows"][0][0] == "2025-03-07"
    assert "2025-03-07" in str(release)
    assert release.to_arrow().column("m").to_pylist() == [middle]
    ((first, last),) = release.to_json()["intervals"]["m"]
    assert first <= "2025-03-07" <= last


def test_days_outside_of_the_range_are_moved_into_it(tmp_path):
    project = _with_days(tmp_path)
    text = (project / "discreet.toml").read_text(encoding="utf-8")
    narrow = text.replace("max = 2025-12-31", "max = 2025-02-02")
    (project / "discreet.toml").write_text(narrow, encoding="utf-8")
    with connect(project, epsilon="500") as connection:
        release = connection.sql("SELECT QUANTILE(day, 0.9) AS m FROM visits")
    assert release.rows == ((datetime.date(2025, 2, 2),),)


REWRITTEN = [
    (
        "SELECT AVG(day) FROM visits",
        "AVG(day - DATE '2025-01-01')",
        "SELECT AVG(day - DATE '2025-01-01') FROM visits",
    ),
    (
        "SELECT MEDIAN(CAST(note AS DATE)) FROM visits",
        "DATE '2025-01-01' + MEDIAN(CLAMP(CAST(note AS DATE) - DATE '2025-01-01', 0, 364))",
        (
            "SELECT DATE '2025-01-01'"
            " + MEDIAN(CLAMP(CAST(note AS DATE) - DATE '2025-01-01', 0, 364)) AS m FROM visits"
        ),
    ),
    (
        "SELECT COUNT(*, contribution_bounds_per_group => (0, 5)) FROM visits",
        "SUM(CLAMP(total, 0, 5)) FROM (SELECT unit, key, COUNT(*) AS total",
        (
            "SELECT clinic, SUM(CLAMP(total, 0, 5)) FROM (SELECT person, clinic, COUNT(*) AS total"
            " FROM visits GROUP BY person, clinic) GROUP BY clinic"
        ),
    ),
    (
        "SELECT COUNT(*) FROM patients FULL JOIN visits ON id = person",
        "UNION ALL (SELECT ... FROM b ANTI JOIN a ON ...)",
        (
            "SELECT COUNT(*) FROM ((SELECT id FROM patients LEFT JOIN visits ON id = person)"
            " UNION ALL (SELECT person FROM visits ANTI JOIN patients ON id = person))"
        ),
    ),
    (
        "SELECT COUNT(*) FROM visits RIGHT SEMI JOIN patients ON id = person",
        "b SEMI JOIN a",
        "SELECT COUNT(*) FROM patients SEMI JOIN visits ON id = person",
    ),
    (
        "SELECT COUNT(*) FROM visits RIGHT JOIN clinics USING (clinic)",
        "FROM visits LEFT JOIN clinics",
        "SELECT COUNT(*) FROM visits LEFT JOIN clinics USING (clinic)",
    ),
    (
        "SELECT upper(clinic), COUNT(*) FROM visits GROUP BY clinic",
        "GROUP BY upper(clinic)",
        "SELECT upper(clinic), COUNT(*) FROM visits GROUP BY upper(clinic)",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
        "write it here as a number",
        "SELECT COUNT(*) FROM visits WHERE cost > 3.5",
    ),
    (
        (
            "SELECT COUNT(*) FROM patients p"
            " WHERE 600 < (SELECT people FROM districts d WHERE d.district = p.district)"
        ),
        "JOIN",
        (
            "SELECT COUNT(*) FROM patients p JOIN districts d ON d.district = p.district"
            " WHERE 600 < people"
        ),
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE clinic = (SELECT clinic FROM clinics)",
        "x IN (SELECT ...)",
        "SELECT COUNT(*) FROM visits WHERE clinic IN (SELECT clinic FROM clinics)",
    ),
    (
        "SELECT * FROM visits LIMIT 10",
        "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
        "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
    ),
    (
        "SELECT FROM visits",
        "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
        "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
    ),
    ("SELECT 1", "SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits"),
    (
        "SELECT 1 AS one FROM visits WHERE age > 3",
        "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
        "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
    ),
    (
        "SELECT clinic FROM visits GROUP BY clinic",
        "public groups are known already",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    ),
    (
        'SELECT COUNT(*) FROM visits WHERE note = "asthma"',
        "'asthma'",
        "SELECT COUNT(*) FROM visits WHERE note = 'asthma'",
    ),
    (
        "SELECT clinic, MEDIAN(age) OVER (PARTITION BY clinic) FROM visits GROUP BY clinic",
        "MEDIAN(age) without OVER",
        "SELECT clinic, MEDIAN(age) FROM visits GROUP BY clinic",
    ),
    (
        "SELECT MAX(COUNT(*)) FROM visits GROUP BY clinic",
        "MAX(COUNT(*)) OVER ()",
        "SELECT clinic, MAX(COUNT(*)) OVER () FROM visits GROUP BY clinic",
    ),
    (
        "SELECT MODE(note), COUNT(*) FROM visits",
        "GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT note, COUNT(*) FROM visits GROUP BY note ORDER BY COUNT(*) DESC LIMIT 1",
    ),
    (
        "SELECT clinic, BOOL_OR(urgent) FROM visits GROUP BY clinic",
        "COUNT(*) FILTER (WHERE condition)",
        "SELECT clinic, COUNT(*) FILTER (WHERE urgent) FROM visits GROUP BY clinic",
    ),
    (
        "SELECT BOOL_AND(age > 3) FROM visits",
        "COUNT(*) FILTER (WHERE NOT condition)",
        "SELECT COUNT(*) FILTER (WHERE NOT (age > 3)) FROM visits",
    ),
    (
        "SELECT AVG(urgent) FROM visits",
        "AVG(CAST(urgent AS INTEGER))",
        "SELECT AVG(CAST(urgent AS INTEGER)) FROM visits",
    ),
    (
        "SELECT clinic, age FROM visits GROUP BY clinic",
        "AVG(age)",
        "SELECT clinic, AVG(age) FROM visits GROUP BY clinic",
    ),
    (
        "SELECT note FROM visits",
        "COUNT(DISTINCT note)",
        "SELECT COUNT(DISTINCT note) FROM visits",
    ),
    (
        "SELECT strftime(day, '%m/%y') AS m, COUNT(*) FROM visits GROUP BY m",
        "date_trunc('month', d)",
        "SELECT date_trunc('month', day) AS m, COUNT(*) FROM visits GROUP BY m",
    ),
    (
        "SELECT age / 10 AS decade, COUNT(*) FROM visits GROUP BY decade",
        "n // 10",
        "SELECT age // 10 AS decade, COUNT(*) FROM visits GROUP BY decade",
    ),
    (
        (
            "SELECT COUNT(*) FROM (SELECT *, RANK() OVER (PARTITION BY person ORDER BY day) AS r"
            " FROM visits WHERE r = 1)"
        ),
        "QUALIFY",
        (
            "SELECT COUNT(*) FROM (SELECT *, RANK() OVER (PARTITION BY person ORDER BY day) AS r"
            " FROM visits QUALIFY r = 1)"
        ),
    ),
]


@pytest.mark.parametrize(
    ("sql", "hint", "rewritten"), REWRITTEN, ids=[sql[:70] for sql, *_ in REWRITTEN]
)
def test_a_refusal_and_its_rewrite(sql, hint, rewritten):
    with pytest.raises((RefusedQuery, UndeclaredBound, DiscreetError)) as caught:
        bound(question_of(sql))
    assert hint in str(caught.value)
    bound(question_of(rewritten))


UNDERSTOOD = [
    "SELECT clinic, COUNT(DISTINCT note) AS n FROM visits GROUP BY clinic",
    "SELECT note, COUNT(*) FROM visits GROUP BY note ORDER BY COUNT(*) DESC LIMIT 10",
    (
        "SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS b,"
        " COUNT(*) FROM visits GROUP BY b"
    ),
    "SELECT date_part('month', day) AS m, COUNT(*) FROM visits GROUP BY m",
    "SELECT year(day) AS y, month(day) AS m, COUNT(*) FROM visits GROUP BY y, m ORDER BY y, m",
    "SELECT COUNT(*) FROM visits WHERE day BETWEEN '2025-01-01' AND '2025-06-30'",
    (
        "WITH f AS (SELECT person, MIN(day) AS start FROM visits GROUP BY person)"
        " SELECT date_trunc('month', start) AS cohort, COUNT(*) FROM f GROUP BY cohort"
    ),
    (
        "SELECT COUNT(DISTINCT a.person) FROM visits a JOIN visits b ON a.person = b.person"
        " AND b.day > a.day AND b.day <= a.day + INTERVAL 30 DAY"
    ),
    "SELECT COUNT(*) FROM visits WHERE note ILIKE '%asthma%'",
    "SELECT COUNT(*) FROM visits WHERE note NOT IN ('x', 'y') AND COALESCE(note, '') <> ''",
    "SELECT clinic, COUNT(*) FILTER (WHERE urgent) AS u, u / COUNT(*) AS s FROM visits GROUP BY 1",
    "SELECT clinic, urgent, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (urgent), ())",
    "SELECT AVG(CASE WHEN urgent THEN 1 ELSE 0 END) AS share FROM visits",
    "SELECT ROUND(AVG(cost), 2) AS c, STDDEV(cost) AS s, MEDIAN(cost) AS m FROM visits",
    "SELECT width_bucket(cost, 0, 10, 5) AS b, COUNT(*) FROM visits GROUP BY b ORDER BY b",
    "SELECT length(person) AS l, COUNT(*) FROM visits GROUP BY l",
    "select clinic, count(*) from visits left join patients on id = person group by clinic;",
    (
        "select clinic, sum(count(*)) over (order by clinic rows between 1 preceding and current"
        " row) as s from visits group by clinic"
    ),
    "FROM visits SELECT COUNT(*) WHERE urgent",
]


@pytest.mark.parametrize("sql", UNDERSTOOD, ids=[sql[:70] for sql in UNDERSTOOD])
def test_what_is_asked_first_is_understood(sql):
    assert bound(question_of(sql)).contributions()


def test_aliases_that_grow_are_stopped_before_they_are_huge():
    steps = ["COUNT(*) AS a0", *(f"a{i} + a{i} AS a{i + 1}" for i in range(200))]
    with pytest.raises(RefusedQuery, match="too large"):
        question_of(f"SELECT {', '.join(steps)} FROM visits")


def test_private_names_do_not_hide_behind_with():
    steps = ["t0 AS (SELECT age FROM visits)"]
    steps += [f"t{i + 1} AS (SELECT * FROM t{i})" for i in range(10)]
    sql = f"WITH {', '.join(steps)} SELECT COUNT(*) FROM visits WHERE age > (SELECT age FROM t10)"
    with pytest.raises(RefusedQuery, match="everybody's rows"):
        question_of(sql)


def test_the_plan_is_shown_on_request(tmp_path, capsys):
    project = write_project(tmp_path, [visit("p1")])
    sql = "SELECT clinic, COUNT(*) FROM visits WHERE age > 3 GROUP BY clinic"
    asked = ["explain", "--project", str(project), "--epsilon", "1", sql]
    assert main(asked) == 0
    assert "scan visits" not in capsys.readouterr().out
    assert main([*asked, "--plan"]) == 0
    shown = capsys.readouterr().out
    with connect(project, epsilon="1") as connection:
        plan = connection.explain(sql).plan
    assert plan.splitlines()[0] == "unit: person of people"
    assert plan in shown
    assert main([*asked, "--plan", "--json"]) == 0
    assert '"plan": "unit: person of people' in capsys.readouterr().out
