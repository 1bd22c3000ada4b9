"""Caveats: what ± does not show is said where the answer is read."""

import pytest

from discreet.curator.connection import connect
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
        ("SELECT COUNT(*) FROM visits", "at most 2 rows of one unit count;"),
        (
            "SELECT clinic, SUM(age) FROM visits GROUP BY clinic",
            "at most 2 rows of one unit count in a group, and one unit counts in at most 3 groups",
        ),
        (
            "SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY clinic",
            "one unit counts in at most 3 groups;",
        ),
        (
            "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP (clinic)",
            "one unit counts in at most 3 groups of each grouping set",
        ),
    ],
)
def test_limits_are_said_beside_the_answer(connection, sql, words):
    release = connection.sql(sql, epsilon=1)
    assert any(words in note and LIMITS in note for note in release.notes())
    assert LIMITS in str(release)
    assert release.to_json()["limits"] == {"rows_per_group": 2, "groups_per_unit": 3}


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
