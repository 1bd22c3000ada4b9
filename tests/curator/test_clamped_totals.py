"""Totals that are clamped as a whole: how they are written, and what is said about them."""

import pytest

from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

BY_CLINIC = "SELECT clinic, {} AS x FROM visits GROUP BY clinic"
WRITTEN = "SUM(age, contribution_bounds_per_group => (0, 300))"


@pytest.fixture
def folder(tmp_path):
    rows = [visit(f"p{i}", "abcd"[j % 4], age=50) for i in range(40) for j in range(16)]
    return write_project(tmp_path, rows, epsilon="10000", groups_per_unit=4)


def declare(folder, most):
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    new = text.replace("rows_per_group", f"most_rows_per_unit = {most}\nrows_per_group", 1)
    file.write_text(new, encoding="utf-8")


def test_both_spellings_are_one_question(folder):
    with connect(folder, epsilon=100) as connection:
        first = connection.sql(BY_CLINIC.format(WRITTEN))
        second = connection.sql(BY_CLINIC.format("SUM(CLAMP_TOTAL(age, 0, 300))"))
    assert second.is_stored
    # Four rows of 50 of each of forty people, although only two rows of one would count.
    assert all(abs(int(str(x)) - 8_000) < 200 for _, x in first.rows)
    (aggregate,) = first.body.aggregates
    assert aggregate.to_json()["lower"] == "0"
    assert aggregate.to_json()["upper"] == "300"
    assert aggregate.text == "SUM(CLAMP_TOTAL(age, 0, 300))"


def test_the_clamp_is_said_and_nobody_knows_what_it_cut(folder):
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(BY_CLINIC.format(WRITTEN))
        explained = " ".join(str(connection.explain(BY_CLINIC.format(WRITTEN))).split())
    assert "the total of age of one person in a group outside 0 to 300 counts as" in str(release)
    assert "rows of one person count" not in str(release)
    assert all(low is not None and high is None for low, high in release.totals("x"))
    assert "so it adds at most 300 in size: 300 × 4 groups = 1200" in explained


@pytest.mark.parametrize("ends", ["10, 300", "-300, -10"])
def test_a_range_without_zero_can_err_on_both_sides(folder, ends):
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(BY_CLINIC.format(f"SUM(CLAMP_TOTAL(age, {ends}))"))
    assert all(pair == (None, None) for pair in release.totals("x"))


def test_a_value_that_can_be_negative_can_err_on_both_sides(folder):
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(BY_CLINIC.format("SUM(CLAMP_TOTAL(age - 50, -300, 300))"))
    assert all(pair == (None, None) for pair in release.totals("x"))


def test_a_declared_number_of_rows_can_show_that_nothing_is_cut(folder):
    declare(folder, 3)
    with connect(folder, epsilon=100) as connection:
        wide = connection.sql(BY_CLINIC.format(WRITTEN), rows_per_group=3)
        assert wide.left_out is None
        narrow = BY_CLINIC.format("SUM(CLAMP_TOTAL(age, 0, 200))")
        assert all(high is None for _, high in connection.sql(narrow, rows_per_group=3).totals("x"))


def test_a_profile_bounds_what_is_cut(folder):
    declare(folder, 16)
    with own(folder) as owner:
        owner.profile("visits", epsilon=10)
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(BY_CLINIC.format("SUM(CLAMP_TOTAL(age, 0, 100))"))
    # A row adds at most 100, so one of sixteen fits in any case; bins and noise add to the rest.
    for low, high in release.totals("x"):
        assert low is not None
        assert high is not None
        assert low <= 8_000 <= high <= 100_000


def test_it_stands_beside_other_aggregates(folder):
    with connect(folder, epsilon=1000) as connection:
        release = connection.sql(
            f"SELECT clinic, COUNT(*) AS n, COUNT(DISTINCT person) AS people, {WRITTEN} AS x"
            " FROM visits GROUP BY ROLLUP (clinic)"
        )
    *clinics, everybody = release.rows
    # Of the noise of the sum, of scale 300 x 5 / 333, 200 is beyond once in 10^19 times.
    count, people, total = (int(str(value)) for value in clinics[0][1:])
    assert abs(count - 80) < 30
    assert abs(people - 40) < 30
    assert abs(total - 8_000) < 200
    # Over all clinics the total of one person is 800, and clamped as well.
    assert abs(int(str(everybody[3])) - 12_000) < 200


ALONE = "SELECT SUM(age, contribution_bounds_per_group => (0, 300)) AS x FROM visits"


def test_limits_on_rows_do_not_touch_it_and_nothing_is_said_of_them(folder):
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(ALONE)
        explained = connection.explain(ALONE)
        beside = connection.sql(ALONE.replace("AS x", "AS x, COUNT(*) AS n"))
    first = str(release).splitlines()[0]
    assert first.startswith("The clamp may cut totals of a person, and nobody has measured")
    assert "discreet profile visits" in first
    assert "Limits" not in str(release)
    assert explained.proposal is None
    assert not release.body.limits.leave_out
    assert beside.body.limits.leave_out


def test_a_profile_bounds_what_is_cut_although_limits_leave_out_nothing(folder):
    declare(folder, 16)
    with own(folder) as owner:
        owner.profile("visits", epsilon=500)
    by_clinic = BY_CLINIC.format("SUM(CLAMP_TOTAL(age, 0, 100))")
    with connect(folder, epsilon=100) as connection:
        release = connection.sql(ALONE)
        narrow = connection.sql(by_clinic, rows_per_group=16)
    # All rows come to 50 x 640; a row adds at most 100, and three of sixteen fit in any case.
    ((low, high),) = release.totals("x")
    assert low is not None
    assert high is not None
    assert low <= 32_000 <= high <= 13_000 + 40 * 15 * 100
    assert all(high is not None and high >= 8_000 for _, high in narrow.totals("x"))
    assert "Limits" not in str(release)
