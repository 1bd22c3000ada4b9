"""Caveats: what ± does not show is said where the answer is read."""

import pytest
from attrs import evolve

from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project

LIMITS = "what is beyond is left out"
CHOSEN = "chosen by their noisy numbers"


@pytest.fixture
def connection(tmp_path):
    with connect(write_project(tmp_path, [visit("p"), visit("q", "b")])) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT COUNT(*) FROM visits", "at most 2 rows of one person count;"),
        (
            "SELECT clinic, SUM(age) FROM visits GROUP BY clinic",
            "rows of one person count in a group, and one person counts in at most 3 groups",
        ),
        (
            "SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY clinic",
            "one person counts in at most 3 groups;",
        ),
        (
            "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP (clinic)",
            "one person counts in at most 3 groups of each grouping set",
        ),
    ],
)
def test_limits_are_said_beside_the_answer(connection, sql, words):
    release = connection.sql(sql, epsilon=1)
    assert any(words in note and LIMITS in note for note in release.notes())
    assert LIMITS in str(release)
    assert release.to_json()["limits"] == {"rows_per_group": 2, "groups_per_unit": 3}


def test_auto_is_not_advised_where_limits_were_chosen_from_a_profile(connection):
    release = connection.sql("SELECT COUNT(*) FROM visits", epsilon=1)
    chosen = evolve(release, view=evolve(release.view, has_chosen_limits=True))
    assert any("limits = auto" in note for note in release.notes())
    assert not any("limits = auto" in note for note in chosen.notes())


def test_counting_people_leaves_nobody_out(connection):
    release = connection.sql("SELECT COUNT(DISTINCT person) FROM visits", epsilon=1)
    assert release.notes() == ("rows whose person is NULL are left out",)


def test_a_unit_that_is_always_there_leaves_no_row_out(tmp_path):
    folder = write_project(tmp_path, [visit("p")])
    file = folder / "discreet.toml"
    said, never = 'person = { type = "text" }', 'person = { type = "text", nullable = false }'
    text = file.read_text(encoding="utf-8")
    assert said in text
    file.write_text(text.replace(said, never), encoding="utf-8")
    with connect(folder) as connection:
        release = connection.sql("SELECT COUNT(DISTINCT person) FROM visits", epsilon=1)
    assert release.notes() == ()


CLAMPED = "counts as the nearer end"


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ("COUNT(*), COUNT(age)", []),
        ("SUM(age)", ["age outside 0 to 100 (declared)"]),
        (
            "AVG(age), SUM(age), MEDIAN(age), STDDEV(age)",
            ["age outside 0 to 100 (declared)"],
        ),
        ("AVG(CLAMP(age, 20, 60))", ["age outside 20 to 60 (written in the query)"]),
        ("SUM(age * 2)", ["age * 2 outside 0 to 200 (proposed from the declared ranges)"]),
        ("AVG(CASE WHEN age > 60 THEN 1 ELSE 0 END)", []),
        (
            "SUM(age), AVG(CLAMP(age, 20, 60))",
            [
                "age outside 0 to 100 (declared)",
                "age outside 20 to 60 (written in the query)",
            ],
        ),
    ],
)
def test_clamps_are_said_beside_the_answer_once_for_each_value(connection, items, said):
    release = connection.sql(f"SELECT {items} FROM visits", epsilon=1)
    notes = [note for note in release.notes() if CLAMPED in note]
    assert sorted(notes) == sorted(f"{text} {CLAMPED}" for text in said)
    assert all(note in str(release) for note in notes)


INNER = "part of the question: numbers are about clamped values"
IN_QUERY = "SELECT person, CLAMP(age, 0, 10) AS x FROM visits"


@pytest.mark.parametrize(
    ("sql", "clamp"),
    [
        ("SELECT SUM(CLAMP(age, 0, 10) * 2) FROM visits", "CLAMP(age, 0, 10) is"),
        ("SELECT MEDIAN(CLAMP(CLAMP(age, 0, 10), 0, 5)) FROM visits", "CLAMP(age, 0, 10) is"),
        (f"SELECT SUM(x) FROM ({IN_QUERY})", "CLAMP(age, 0, 10) is"),
        (
            f"SELECT AVG(y) FROM (SELECT person, MAX(x) AS y FROM ({IN_QUERY}) GROUP BY person)",
            "CLAMP(age, 0, 10) is",
        ),
        (
            (
                "SELECT SUM(x + CLAMP(change, 0, 4)) FROM"
                " (SELECT person, change, CLAMP(age, 0, 10) AS x FROM visits)"
            ),
            "CLAMP(change, 0, 4) and CLAMP(age, 0, 10) are",
        ),
        ("SELECT SUM(CLAMP(age, 0, 10)), COVAR_POP(age, change) FROM visits", None),
        ("SELECT SUM(age) FROM visits WHERE CLAMP(age, 0, 10) > 5", None),
    ],
)
def test_a_clamp_that_is_not_the_aggregates_own_is_said(connection, sql, clamp):
    notes = [note for note in connection.sql(sql, epsilon=1).notes() if INNER in note]
    assert notes == ([] if clamp is None else [f"{clamp} {INNER}"])


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ("age AS x", "x outside 0 to 100 (declared)"),
        ("age * 2 AS x", "x outside 0 to 200 (proposed from the declared ranges)"),
        ("CLAMP(age, 0, 10) AS x", None),
        ("AVG(cost) OVER (PARTITION BY person) AS x", None),  # its own values are moved, inside
        (
            "AVG(age) OVER (PARTITION BY person) AS x",
            "x outside 0 to 100 (proposed from the declared ranges)",
        ),
        ("MAX(CLAMP(age, 0, 10)) OVER (PARTITION BY person) AS x", None),
        (
            "MAX(age) OVER (PARTITION BY person) AS x",
            "x outside 0 to 100 (proposed from the declared ranges)",
        ),
    ],
)
def test_nobody_declared_the_range_of_what_a_sub_query_computes(connection, inner, said):
    sql = f"SELECT SUM(x) FROM (SELECT person, {inner} FROM visits)"
    notes = [note for note in connection.sql(sql, epsilon=1).notes() if note.endswith(CLAMPED)]
    assert notes == ([] if said is None else [f"{said} {CLAMPED}"])


ROUNDED = "which no interval shows"
COUNTED = "; ask for COUNT(*) as well, and [… to …] takes account of that"


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ("SUM(age), MEDIAN(change), AVG(CLAMP(age, 0, 10))", None),
        ("AVG(CASE WHEN age > 60 THEN 1.5 ELSE 0 END), SUM(age * 0.5)", None),
        ("SUM(ROUND(cost, 0)), MEDIAN(age / 7)", None),
        (
            "SUM(cost)",
            (
                f"cost is rounded to steps of 0.25, {ROUNDED}: each value moves by up to 0.125,"
                f" so a sum over n rows by up to 0.125 n{COUNTED}"
            ),
        ),
        (
            "SUM(CLAMP(age, 0, 100, 20)), SUM(age)",
            (
                f"age is rounded to steps of 20, {ROUNDED}: each value moves by up to 10, so a sum"
                f" over n rows by up to 10 n{COUNTED}"
            ),
        ),
        (
            "SUM(CLAMP(age, 0, 100, 20)), SUM(cost), SUM(CLAMP(cost, 0, 10, 0.5))",
            (
                "values are rounded, age to steps of 20 and cost to steps of 0.5,"
                f" {ROUNDED}: each value moves by up to half a step, so a sum over n rows by up to"
                f" n times that{COUNTED}"
            ),
        ),
    ],
)
def test_rounding_is_said_where_it_can_happen(connection, items, said):
    notes = connection.sql(f"SELECT {items} FROM visits", epsilon=1).notes()
    assert [note for note in notes if ROUNDED in note] == ([] if said is None else [said])


def test_rounding_looks_into_sub_queries(connection):
    sql = "SELECT SUM(x) FROM (SELECT person, {} AS x FROM visits)"
    whole, part = (connection.sql(sql.format(x), epsilon=1).notes() for x in ("age * 0.5", "cost"))
    assert not any(ROUNDED in note for note in whole)
    assert any(ROUNDED in note for note in part)


def test_rows_that_are_units_are_all_there(tmp_path):
    folder = write_project(tmp_path, [visit("p")], rows_per_group=1, groups_per_unit=1)
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8").replace('unit = "person"', "unit = { each_row = true }")
    file.write_text(text, encoding="utf-8")
    with connect(folder) as connection:
        release = connection.sql("SELECT COUNT(*) FROM visits WHERE age > 3", epsilon=1)
    assert release.notes() == ()


BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.mark.parametrize(
    ("rest", "is_chosen"),
    [
        ("", False),
        (" ORDER BY n DESC", False),
        (" LIMIT 2", False),
        (" ORDER BY clinic LIMIT 2", False),
        (" HAVING clinic <> 'a'", False),
        (" ORDER BY n DESC LIMIT 2", True),
        (" HAVING COUNT(*) > 3", True),
        (" ORDER BY n OFFSET 1", True),
    ],
)
def test_rows_chosen_by_noise_are_said_to_be(connection, rest, is_chosen):
    release = connection.sql(BY_CLINIC + rest, epsilon=1)
    assert any(CHOSEN in note for note in release.notes()) is is_chosen
