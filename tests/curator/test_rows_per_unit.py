"""A limit on all rows of a unit, wherever it is said, and what is said about it."""

import json

import pytest

from discreet.cli.main import main
from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.roles.connection import connect
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import visit, write_project

BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
OPTIONS = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rows_per_unit = 5) clinic, COUNT(*) AS n"


@pytest.fixture
def folder(tmp_path):
    rows = [visit(f"p{i}", "abcd"[j % 4]) for i in range(30) for j in range(8)]
    return write_project(tmp_path, rows, epsilon="1000")


def declare(folder, old, new):
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_it_is_the_same_wherever_it_is_said(folder):
    with connect(folder, epsilon=100) as connection:
        given = connection.sql(BY_CLINIC, rows_per_unit=5)
        written = connection.sql(f"{OPTIONS} FROM visits GROUP BY clinic")
    assert written.is_stored
    assert written.receipt == given.receipt
    assert given.to_json()["limits"] == {
        "rows_per_group": 5,
        "groups_per_unit": 5,
        "rows_per_unit": 5,
    }
    # Thirty people with five rows each, which are drawn from eight.
    assert abs(sum(int(str(row[1])) for row in given.rows) - 150) <= 8


def test_a_declared_one_is_enough(folder):
    declare(folder, "rows_per_group = 2\ngroups_per_unit = 3\n", "rows_per_unit = 5\n")
    (limits,) = {table.limits for table in read_catalog(folder).tables}
    assert limits.given() == {"rows_per_group": 5, "groups_per_unit": 5, "rows_per_unit": 5}
    with connect(folder, epsilon=100) as connection:
        assert connection.sql(BY_CLINIC).to_json()["limits"]["rows_per_unit"] == 5
        narrow = connection.sql(BY_CLINIC, rows_per_group=1).to_json()["limits"]
    # One row in each of four clinics is no more than five: nothing needs to be drawn.
    assert narrow == {"rows_per_group": 1, "groups_per_unit": 5}


def test_a_declared_one_must_be_a_number(folder):
    declare(folder, "rows_per_group = 2\n", "rows_per_unit = 0\n")
    with pytest.raises(DeclarationError, match=r"rows_per_unit .* is out of range"):
        read_catalog(folder)


def test_it_is_said_beside_the_answer(folder):
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(BY_CLINIC, rows_per_unit=5, rows_per_group=2)
        assert any(
            "at most 2 rows of one person count in a group, and at most 5 rows of one person count"
            " over all groups; what is beyond is left out" in note
            for note in release.notes()
        )
        people = "SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY ROLLUP (clinic)"
        counted = connection.sql(people, rows_per_unit=2)
        said = "at most 2 rows of one person count over all groups of each grouping set"
        assert any(said in note for note in counted.notes())
        explained = connection.explain(BY_CLINIC, rows_per_unit=5, rows_per_group=2)
    said = " ".join(str(explained).split())
    assert "at most 2 rows in each and 5 over all groups" in said
    assert "1 × 5 rows over all groups = 5" in said
    assert explained.to_json()["limits"]["rows_per_unit"] == 5


def test_a_rehearsal_and_a_batch_take_it(folder):
    with connect(folder, epsilon=100) as connection:
        rehearsal = connection.rehearse(BY_CLINIC, rows_per_unit=5, rows=100)
        assert rehearsal.release.to_json()["limits"]["rows_per_unit"] == 5
        batch = connection.sql("SELECT COUNT(*) FROM visits", rows_per_unit=5)
        assert batch.to_json()["limits"] == {"rows_per_group": 5, "groups_per_unit": 5}


def test_it_is_not_chosen_and_given_at_once(folder):
    with connect(folder, epsilon=1) as connection, pytest.raises(InvalidArgument, match="twice"):
        connection.sql(BY_CLINIC, rows_per_unit=5, limits="auto")


def test_the_command_line_takes_it(folder, capsys):
    options = ["--project", str(folder), "--epsilon", "1", "--rows-per-unit", "5", "--json"]
    assert main(["explain", BY_CLINIC, *options]) == 0
    assert json.loads(capsys.readouterr().out)["limits"]["rows_per_unit"] == 5


@pytest.mark.parametrize("most", [0, 10**7])
def test_a_given_one_is_refused_by_its_own_name(folder, most):
    with (
        connect(folder, epsilon=1) as connection,
        pytest.raises(InvalidArgument, match="rows_per_unit is out of range"),
    ):
        connection.sql(BY_CLINIC, rows_per_unit=most)
