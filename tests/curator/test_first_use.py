"""What somebody meets who asks for the first time: refusals that say what to write instead."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.core.errors import QueryError, RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.releases.estimates.groups import Groups
from discreet.sql.parse import parse
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.tables.column import ColumnType
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import PrivateKeys, PublicKeys
from tests.support.projects.clinic import run_exact, visit, write_project
from tests.support.projects.one_group import value_of

FOLDER = Path(__file__).parents[1] / "sql" / "plans"
N = "SELECT COUNT(*) FROM"


def ask(sql: str) -> Question:
    return resolve(parse(sql), read_catalog(FOLDER), DuckDbEngine().public_rows)


ONE_PERSON = [
    "SELECT person, COUNT(*) FROM visits GROUP BY person",
    "SELECT person AS p, COUNT(*) FROM visits GROUP BY p",
    "SELECT person, clinic, COUNT(*) FROM visits GROUP BY person, clinic",
    "SELECT who, COUNT(*) FROM (SELECT person AS who FROM visits) GROUP BY who",
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = LAPLACE_THRESHOLD)"
        " person, COUNT(*) FROM visits GROUP BY person"
    ),
]


@pytest.mark.parametrize("sql", ONE_PERSON)
def test_groups_of_one_person_are_refused_before_they_cost(sql):
    with pytest.raises(RefusedQuery, match="Groups of one unit are never shown") as caught:
        ask(sql)
    assert "COUNT(DISTINCT" in caught.value.next


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT length(person) AS l, COUNT(*) FROM visits GROUP BY l",
        "SELECT note, COUNT(DISTINCT person) FROM visits GROUP BY note",
    ],
)
def test_groups_of_many_people_are_selected_privately(sql):
    assert isinstance(ask(sql).keys, PrivateKeys)


def test_the_period_of_a_unit_is_nobody():
    asked = ask("SELECT date_trunc('month', day) AS m, COUNT(*) FROM trips GROUP BY m")
    assert isinstance(asked.keys, PrivateKeys)


def test_no_example_is_about_the_unit():
    with pytest.raises(RefusedQuery) as caught:
        ask("SELECT person, COUNT(*) FROM visits")
    assert "AVG" not in str(caught.value)
    assert "Add person" not in str(caught.value)
    assert "COUNT(DISTINCT person)" in caught.value.next


def test_a_numbered_unit_with_a_range_is_not_averaged(tmp_path):
    text = (FOLDER / "discreet.toml").read_text()
    ranged = text.replace(
        'person = { type = "text" }\nclinic',
        'person = { type = "integer", min = 0, max = 9 }\nclinic',
    )
    assert ranged != text
    ranged = ranged.replace('id = { type = "text" }', 'id = { type = "integer" }')
    (tmp_path / "discreet.toml").write_text(ranged)
    with pytest.raises(RefusedQuery) as caught:
        resolve(parse("SELECT * FROM visits"), read_catalog(tmp_path), DuckDbEngine().public_rows)
    assert "AVG(age)" in caught.value.next


def test_nothing_is_not_paid_for():
    with pytest.raises(RefusedQuery, match="LIMIT 0"):
        ask("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic LIMIT 0")
    assert ask("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic LIMIT 1").view.limit == 1


LAG = "LAG({}) OVER (PARTITION BY person ORDER BY day)"
BY_CLINIC = "FROM visits GROUP BY clinic"
PERSONS = "FROM visits GROUP BY person"
WEEKS = "date_diff('day', date_trunc('week', day), date_trunc('week', DATE '2025-01-01')) // 7"

REWRITTEN = [
    (
        f"{N} visits v WHERE v.note IN (SELECT p.district FROM patients p WHERE p.id = v.person)",
        "names a column of the query around it. .*got v.person. Write EXISTS",
        (
            f"{N} visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.id = v.person"
            " AND p.district = v.note)"
        ),
    ),
    (
        f"{N} visits WHERE note IN (SELECT district FROM patients WHERE id = person)",
        "Write EXISTS",
        f"{N} visits WHERE EXISTS (SELECT 1 FROM patients WHERE id = person AND district = note)",
    ),
    (
        f"{N} visits WHERE EXISTS (SELECT person {PERSONS})",
        "GROUP BY is not supported in EXISTS",
        f"{N} visits WHERE person IN (SELECT person {PERSONS})",
    ),
    (
        "SELECT COUNT(*) FILTER (WHERE person IN (SELECT id FROM patients)) FROM visits",
        "Move it to WHERE, or LEFT JOIN",
        (
            "SELECT COUNT(*) FILTER (WHERE p.id IS NOT NULL) FROM visits LEFT JOIN patients AS p"
            " ON p.id = person"
        ),
    ),
    (
        f"SELECT clinic, COUNT(*), clinic IN (SELECT clinic FROM clinics) {BY_CLINIC}",
        "Move it to WHERE",
        f"{N} visits WHERE clinic IN (SELECT clinic FROM clinics)",
    ),
    (
        f"{N} (SELECT person, bit_or(age) > 0 AS u {PERSONS}) WHERE u",
        "BIT_OR is not supported here. For each unit: COUNT",
        f"{N} (SELECT person, BOOL_OR(urgent) AS u {PERSONS}) WHERE u",
    ),
    (
        f"SELECT clinic, LAST_VALUE(COUNT(*)) OVER (ORDER BY clinic) AS l {BY_CLINIC}",
        r"FIRST_VALUE\(x\) OVER \(ORDER BY ... DESC\)",
        f"SELECT clinic, FIRST_VALUE(COUNT(*)) OVER (ORDER BY clinic DESC) AS l {BY_CLINIC}",
    ),
    (
        f"SELECT clinic, NTILE(2) OVER (ORDER BY clinic) AS t {BY_CLINIC}",
        r"ROW_NUMBER\(\) OVER",
        (
            "SELECT clinic, COUNT(*), ROW_NUMBER() OVER (ORDER BY clinic) > COUNT(*) OVER () / 2"
            f" AS t {BY_CLINIC}"
        ),
    ),
    (
        f"SELECT clinic, LAG(COUNT(*), 1, 0) OVER (ORDER BY clinic) AS l {BY_CLINIC}",
        "its value is NULL",
        f"SELECT clinic, COALESCE(LAG(COUNT(*)) OVER (ORDER BY clinic), 0) AS l {BY_CLINIC}",
    ),
    (
        f"{N} (SELECT {LAG.format('age, 1, 0')} AS a FROM visits)",
        "its value is NULL",
        f"{N} (SELECT COALESCE({LAG.format('age')}, 0) AS a FROM visits)",
    ),
    (
        f"{N} (SELECT person FROM visits UNION ALL BY NAME SELECT id AS person FROM patients)",
        "List the columns of both sides in the same order",
        f"{N} (SELECT person FROM visits UNION ALL SELECT id AS person FROM patients)",
    ),
    (
        f"SELECT clinic, COUNT(*) {BY_CLINIC} ORDER BY ALL",
        "Name the columns",
        f"SELECT clinic, COUNT(*) {BY_CLINIC} ORDER BY 1, 2",
    ),
    (f"{N} visits WHERE ISNULL(note)", "x IS NULL", f"{N} visits WHERE note IS NULL"),
    (
        f"{N} visits WHERE date_diff('week', day, DATE '2025-01-01') = 1",
        "counts spans of seven days",
        f"{N} visits WHERE {WEEKS} = 1",
    ),
    (
        f"{N} visits WHERE day >= '2025-13-01'",
        "'2025-13-01' is not a date",
        f"{N} visits WHERE day >= '2025-12-01'",
    ),
    (
        f"{N} visits WHERE day BETWEEN '2025-01-01' AND '2025-02-30'",
        "'2025-02-30' is not a date",
        f"{N} visits WHERE day BETWEEN '2025-01-01' AND '2025-02-28'",
    ),
    (
        f"{N} visits WHERE day IN ('yesterday')",
        "'yesterday' is not a date",
        f"{N} visits WHERE day IN ('2025-01-31')",
    ),
    (f"{N} visits WHERE NULL", "true or false; got NULL", f"{N} visits WHERE urgent"),
    (
        "SELECT COUNT(*) FILTER (WHERE NULL) FROM visits",
        "true or false; got NULL",
        "SELECT COUNT(*) FILTER (WHERE urgent) FROM visits",
    ),
    (f"{N} visit", r"Did you mean visits\?", f"{N} visits"),
    (f"{N} visits WHERE clinc = 'a'", r"Did you mean clinic\?", f"{N} visits WHERE clinic = 'a'"),
    (
        f"{N} visits WHERE visit.clinic = 'a'",
        r"Did you mean visits\?",
        f"{N} visits WHERE visits.clinic = 'a'",
    ),
    (
        f"{N} visits WHERE clinic = hospital",
        "Texts stand in single quotes: 'hospital'",
        f"{N} visits WHERE clinic = 'hospital'",
    ),
    (
        f"{N} visits WHERE clinic IN (hospital)",
        "Texts stand in single quotes: 'hospital'",
        f"{N} visits WHERE clinic IN ('hospital')",
    ),
]


@pytest.mark.parametrize(("sql", "hint", "rewritten"), REWRITTEN)
def test_a_refusal_says_what_to_write_and_that_is_accepted(sql, hint, rewritten):
    with pytest.raises(QueryError) as caught:
        ask(sql)
    with pytest.raises(QueryError, match=hint):
        raise RefusedQuery(str(caught.value))
    assert ask(rewritten).aggregates


def test_no_hint_where_it_would_mislead():
    with pytest.raises(QueryError) as left:
        ask(f"{N} visits WHERE clinc = 'a'")
    assert "single quotes" not in str(left.value)
    with pytest.raises(QueryError) as unknown:
        ask(f"{N} visits WHERE note IN (SELECT nobody FROM patients)")
    assert "EXISTS" not in str(unknown.value)
    with pytest.raises(QueryError) as window:
        ask(f"SELECT clinic, PERCENT_RANK() OVER (ORDER BY clinic) AS p {BY_CLINIC}")
    assert "without OVER" not in str(window.value)


def names(sql: str) -> list[str]:
    return [output.name for output in ask(sql).view.outputs]


def test_columns_of_two_tables_have_two_names():
    joined = "FROM visits AS v JOIN clinics AS c ON v.clinic = c.clinic"
    assert names(f"SELECT COUNT(v.clinic), COUNT(c.clinic) {joined}") == [
        "count_clinic",
        "count(c.clinic)",
    ]
    for twice in ("COUNT(*), COUNT(*)", "COUNT(*) AS n, SUM(age) AS N"):
        with pytest.raises(RefusedQuery, match="Two outputs are called"):
            ask(f"SELECT {twice} FROM visits")


def test_constants_in_names_keep_their_case():
    written = "COUNT(*) FILTER (WHERE clinic = 'N'), COUNT(*) FILTER (WHERE /* Or */ clinic = 'n')"
    assert names(f"SELECT {written} FROM visits") == [
        "count(*) filter(where clinic = 'N')",
        "count(*) filter(where clinic = 'n') (2)",
    ]
    assert names("SELECT 'It''S' || \"CLINIC\", COUNT(*) FROM visits GROUP BY 1") == [
        "'It''S' || \"clinic\"",
        "count",
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_integers_beside_reals_in_a_union_become_reals(tmp_path, swapped):
    write_project(tmp_path, [visit("p", age=40, cost=2.5)])
    sides = ["SELECT person, age AS x FROM visits", "SELECT person, cost AS x FROM visits"]
    union = " UNION ALL ".join(sides[::-1] if swapped else sides)
    assert ask(f"SELECT COUNT(x) FROM ({union})").relation.fields()[1].type is ColumnType.REAL
    (total,) = run_exact(tmp_path, f"SELECT SUM(CLAMP(x, 0, 100, 0.25)) AS s FROM ({union})")
    assert list(total) == [170]


def test_aggregates_of_no_rows_are_what_the_reference_says():
    items = "COUNT(*), SUM(age), AVG(age), VAR_POP(age), VAR_SAMP(age)"
    asked = ask(f"SELECT {items} FROM visits")
    nothing = Groups.one([0] * len(asked.aggregates))
    shown = [value_of(output.estimate, nothing) for output in asked.view.outputs]
    largest = Fraction(100) ** 2 / 4
    assert shown == [0, 0, 50, largest / 2, largest]


def test_values_beside_the_public_keys_can_be_given_a_key():
    named = ask("SELECT COALESCE(clinic, 'none') AS c, COUNT(*) FROM visits GROUP BY c").keys
    assert isinstance(named, PublicKeys)
    assert ("none",) in named.sets[0].rows
