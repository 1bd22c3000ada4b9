"""Answers and explanations are read by people: numbers with their nouns, and no bare NULL."""

import re

import pytest

from discreet.core.loss import Pure, Zcdp
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project

ONE_OF_MANY = re.compile(r"(?<![\d.,])1 (?:rows|groups|places|values|people)\b")


def declare(folder, most):
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("rows_per", f"most_rows_per_unit = {most}\nrows_per", 1))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People with up to ten rows, of which one counts."""
    rows = [visit(f"p{i}", "abc"[j % 3], age=i % 90) for i in range(100) for j in range(1 + i % 10)]
    made = write_project(
        tmp_path_factory.mktemp("words"),
        rows,
        epsilon="10000, delta = 0.01",
        rows_per_group=1,
        groups_per_unit=1,
    )
    return declare(made, 20)


QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT clinic, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY clinic",
    "SELECT note, COUNT(DISTINCT age) AS n FROM visits GROUP BY note",
    "SELECT clinic, note, COUNT(*) AS n FROM visits GROUP BY clinic, note",
    "SELECT clinic, urgent, COUNT(*) AS n FROM visits GROUP BY ROLLUP (clinic, urgent)",
    "SELECT MEDIAN(age) AS m FROM visits",
    "SELECT AVG(CASE WHEN urgent THEN 1 ELSE 0 END) AS s FROM visits",
)


@pytest.mark.parametrize("sql", QUESTIONS)
def test_one_has_no_plural(folder, sql):
    with connect(folder) as connection:
        explained = str(connection.explain(sql, epsilon=30, delta="1e-6"))
        answered = str(connection.sql(sql, epsilon=30, delta="1e-6"))
    for said in (explained, answered):
        assert not ONE_OF_MANY.search(" ".join(said.split())), said
        assert "row of one person count " not in said
    assert "clinic, note has" not in explained
    assert "CASE(" not in explained


def test_what_counts_once_is_not_said_to_have_one_row(folder):
    whole = "SUM(cost, contribution_bounds_per_group => (0, 50))"
    asked = (
        "SELECT COUNT(DISTINCT person) AS x FROM visits",
        f"SELECT {whole} AS x FROM visits",
        "SELECT COUNT(*) AS x FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
    )
    with connect(folder) as connection:
        said = [dict(connection.explain(sql, epsilon=1).steps()) for sql in asked]
    people, totals, rows = (steps["Limits"] for steps in said)
    assert "counts once there, however many rows it has, so nothing is left out" in people
    assert "its total is of all its rows there, so nothing is left out" in totals
    assert "has at most 1 row in each by the shape of the query" in rows


def test_losses_are_written_as_people_write_them():
    assert str(Zcdp(60)) == "ρ = 60"
    assert "e+" not in str(Zcdp("59.99999999"))
    assert "e+" not in str(Pure("123456.789"))


# ---- No bare NULL, and no number that looks surer than it is.


def test_a_correlation_with_a_constant_is_unknown_and_says_why(tmp_path):
    """There is no spread at all: noise makes a little of it, or less than none."""
    rows = [visit(f"p{i}", "abcd"[i % 4], age=i % 90) for i in range(200)]
    folder = declare(write_project(tmp_path, rows, epsilon="10000"), 1)
    asked = "SELECT CORR(age, cost) AS c FROM visits WHERE age < {} GROUP BY clinic"
    with connect(folder) as connection:
        found = [connection.sql(asked.format(100 + i), epsilon=50) for i in range(6)]
    missing = [release for release in found if (None,) in release.rows]
    assert missing  # noise makes some spread in all 24 groups less often than once in 10 million
    said = "c: there is no number (NULL) where a column does not vary"
    for release in missing:
        shown = str(release).splitlines()[2:6]
        pairs = zip(shown, release.rows, strict=True)
        assert all((text.strip() == "unknown") is (row == (None,)) for text, row in pairs)
        assert any(note.startswith(said) for note in release.notes())


def test_an_end_has_no_more_decimals_than_the_value(tmp_path):
    rows = [visit(f"p{i}", cost=0.25) for i in range(100) for _ in range(3)]
    folder = write_project(tmp_path, rows, epsilon="10000")
    with connect(folder) as connection:
        shown = str(connection.sql("SELECT SUM(cost) AS s FROM visits", epsilon=1))
    assert not re.search(r"\.\d{4,}", shown), shown
