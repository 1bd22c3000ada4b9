"""The first line of an answer: there if limits distort a number, with a size that is right."""

import re
from functools import partial

import pytest
from attrs import evolve

from discreet.curator.cut.left_out import bounded_by
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.headline import headline
from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.plan import plan_of

SHARE = re.compile(r"(\d+) % \((\d+) to (\d+)\)")
BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
LOST = 1 - 120 / 450
WHOLE = {
    "SELECT COUNT(*) AS n FROM visits": LOST,
    "SELECT AVG(cost) AS m, SUM(cost) AS s FROM visits": LOST,
    BY_CLINIC: LOST,
    "SELECT clinic, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY clinic": LOST,
    f"{BY_CLINIC} HAVING n > 20": LOST,
    "SELECT MODE(clinic) AS m FROM visits": LOST,
    "SELECT clinic, COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM visits GROUP BY clinic": 1
    - 120 / 450,
}
"""Questions about all rows, and which share of them limits leave out."""

PART = (
    "SELECT COUNT(*) AS n FROM visits WHERE urgent",
    "SELECT COUNT(*) AS n FROM visits WHERE clinic = 'b'",
    "SELECT clinic, COUNT(*) AS n FROM visits WHERE clinic IN ('b', 'c') GROUP BY clinic",
    "SELECT clinic, AVG(cost) AS m FROM visits WHERE age < 30 GROUP BY clinic",
)
"""Questions about a part of the rows, of which a profile does not know the share."""


def share_in(line):
    """Return the only share in a line, and its ends, in per cent."""
    (found,) = SHARE.findall(line)
    return tuple(map(int, found))


def heavy():
    """Ten people with 40 rows in one clinic, and fifty with one row in another."""
    many = [visit(f"p{i}", "a", age=60) for i in range(10) for _ in range(40)]
    return many + [visit(f"q{i}", "b", age=20, urgent=True) for i in range(50)]


def make(folder, rows, *, rows_per_group, most=60):
    """Write a project whose profile has hardly any noise."""
    write_project(folder, rows, epsilon="100000", rows_per_group=rows_per_group, groups_per_unit=3)
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    declared = f"most_rows_per_unit = {most}\nrows_per_group" if most else "rows_per_group"
    file.write_text(text.replace("rows_per_group", declared, 1), encoding="utf-8")
    with own(folder) as owner:
        owner.profile("visits", epsilon=2_000)
    return folder


def first_lines(folder, sql):
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=500)
    lines = release.headline()
    assert str(release).startswith("\n".join(lines))
    assert all(line in release._repr_html_() for line in lines)
    assert release.to_json()["headline"] == list(lines)
    assert release.to_pandas().attrs["discreet"]["headline"] == list(lines)
    return lines


@pytest.fixture(scope="module")
def distorted(tmp_path_factory):
    return make(tmp_path_factory.mktemp("distorted"), heavy(), rows_per_group=7)


@pytest.mark.parametrize(("sql", "truth"), WHOLE.items())
def test_the_share_is_that_of_the_rows_asked_about(distorted, sql, truth):
    (line,) = first_lines(distorted, sql)
    about, low, high = share_in(line)
    assert "of the rows: these are numbers of the rows that count" in line
    assert low <= 100 * truth <= high
    assert about == pytest.approx(100 * truth, abs=3)  # bins round numbers of rows


@pytest.mark.parametrize("sql", PART)
def test_the_share_of_a_table_is_not_told_as_that_of_a_part(distorted, sql):
    (line,) = first_lines(distorted, sql)
    assert line.startswith("Limits may leave out rows: they leave out ")
    assert "of all rows of visits, and of those asked about more or fewer" in line
    with connect(distorted) as connection:
        said = connection.explain(sql, epsilon=1).steps()
    sized = [
        text for name, text in said if name in ("Other limits", "Left out") and "about" in text
    ]
    assert sized
    assert all("all rows of visits" in text for text in sized)


def test_there_is_no_first_line_where_nothing_is_distorted(tmp_path):
    """By the profile nobody has more rows than count, though more are declared to be possible."""
    folder, asked = make(tmp_path, heavy(), rows_per_group=45), (*list(WHOLE)[:4], *PART[1:3])
    assert {sql: first_lines(folder, sql) for sql in asked} == dict.fromkeys(asked, ())


def test_people_are_not_said_to_be_lost_with_their_rows(distorted):
    """Everybody is in one group: no person is missing, however many rows are."""
    sql = "SELECT clinic, COUNT(DISTINCT person) AS n FROM visits GROUP BY clinic"
    assert first_lines(distorted, sql) == ()


def test_one_distorted_cell_is_enough(tmp_path):
    """Of 420 rows ten are left out, all of them in the smallest group: it loses half."""
    rows = [visit(f"p{i}", "abc"[i % 3]) for i in range(399)]
    rows += [visit("q", "d") for _ in range(20)]
    folder = make(tmp_path, rows, rows_per_group=10, most=20)
    (line,) = first_lines(folder, BY_CLINIC)
    assert line.startswith("Limits may have moved n by more than a tenth in 1 of 4 rows")
    assert first_lines(folder, f"{BY_CLINIC} HAVING n > 50") == ()


def test_without_a_most_the_size_is_told_too(tmp_path):
    folder = make(tmp_path, heavy(), rows_per_group=7, most=None)
    (line,) = first_lines(folder, BY_CLINIC)
    assert share_in(line)[1] > 10
    (line,) = first_lines(folder, PART[2])
    assert "of all rows of visits" in line


def test_a_share_that_noise_hides_is_told_by_its_ends(distorted):
    """With so much noise no tail clearly has anybody, but most rows are those of a few people."""
    with own(distorted) as owner:
        profile = owner.profile("visits", epsilon=2_000)
        plan = plan_of(BY_CLINIC, owner.catalog(), owner._project.engine)
    noisy = partial(evolve, noise=DiscreteLaplace(scale=2))
    hidden = evolve(
        profile,
        rows=noisy(profile.rows),
        groups={name: noisy(one) for name, one in profile.groups.items()},
        busiest={name: noisy(one) for name, one in profile.busiest.items()},
    )
    assert not hidden.busiest["clinic"].beyond(7)
    found = bounded_by(plan, hidden)
    assert found.share is not None
    assert found.share.about > 0.5
    (line,) = headline(found)
    assert re.match(r"Limits left out (\d+ to \d+|at least \d+) % of the rows", line)


def test_a_clamp_of_totals_is_named_and_its_interval_is_not_denied(tmp_path):
    """Ten people have ten rows of age 60 in each of four groups, of which three count.

    What is left out is known at one end: a sum of what is not negative only grows.
    """
    rows = [visit(f"p{i}", "abcd"[j % 4], age=60) for i in range(10) for j in range(40)]
    folder = make(tmp_path, rows, rows_per_group=7)
    summed = "SUM(age, contribution_bounds_per_group => (0, 300))"
    with connect(folder) as connection:
        sql = f"SELECT clinic, {summed} AS s FROM visits GROUP BY clinic"
        release = connection.sql(sql, epsilon=500)
    assert "or more]" in str(release)
    assert any("the clamp of totals" in line or "totals of" in line for line in release.headline())
    (said,) = (note for note in release.notes() if "what is beyond is left out" in note)
    assert "takes account of it, at one end only for s" in said
    assert "nothing here takes account" not in said
    assert "what limits left out and clamps cut" in str(release)
