"""A limit on all rows of a unit together is chosen where it errs less than one in each group."""

import json

import numpy as np
import pytest

from discreet.curator.limits.limits_error import Proposal
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.tables.catalog import Limits
from tests.support.house.narrow import whole
from tests.support.projects.clinic import visit, write_project

GROUPED = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
EVERYWHERE = """SELECT clinic, COUNT(*) AS n FROM visits
    GROUP BY ROLLUP (clinic)"""


def profiled(folder, rows):
    """Return a project with a profile that is nearly exact."""
    budget = "100000, delta = 0.001"
    write_project(folder, rows, epsilon=budget, rows_per_group=1, groups_per_unit=1)
    with own(folder) as owner:
        owner.profile("visits", epsilon=1000, keys=["clinic"])
    return folder


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """Everybody has nine rows in one clinic, and one in each of the others."""
    rows = [
        visit(f"p{i}", "abcd"[(i + (j - 8) * (j > 8)) % 4]) for i in range(60) for j in range(12)
    ]
    return profiled(tmp_path_factory.mktemp("uneven"), rows)


@pytest.fixture(scope="module")
def even(tmp_path_factory):
    """Everybody has three rows in each clinic: three in four are as many as twelve in all."""
    rows = [visit(f"p{i}", "abcd"[j % 4]) for i in range(60) for j in range(12)]
    return profiled(tmp_path_factory.mktemp("even"), rows)


def limits_of(folder, sql, **terms) -> Limits:
    with connect(folder) as connection:
        return connection.explain(sql, limits="auto", **terms).priced.plan.limits


def test_it_is_chosen_where_rows_are_uneven(uneven):
    """Nine rows in each of four clinics would be the noise of 36, for twelve that there are."""
    found = limits_of(uneven, GROUPED, epsilon=10)
    assert found == Limits(rows_per_group=12, groups_per_unit=12, rows_per_unit=12)
    with connect(uneven) as connection:
        release = connection.sql(GROUPED, epsilon=10, limits="auto")
        again = connection.sql(GROUPED, epsilon=10, limits="auto")
    assert release.body.limits.rows_per_unit == 12
    assert again.is_stored
    assert all(abs(whole(row[1]) - 180) < 60 for row in release.rows)
    json.dumps(release.to_json())


def test_no_more_noise_is_taken_than_the_rows_need(even):
    with connect(even) as connection:
        plan = connection.explain(GROUPED, limits="auto", epsilon=10).priced.plan
    assert [each.l1 for each in plan.contributions()] == [12]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT clinic, COUNT(DISTINCT person) AS n FROM visits GROUP BY clinic",
    ],
)
def test_it_is_not_chosen_where_there_are_no_groups_or_units_are_counted(uneven, sql):
    assert limits_of(uneven, sql, epsilon=10).rows_per_unit is None


def test_units_that_are_counted_have_groups_chosen_by_their_noise(uneven):
    """At a high price all four clinics of everybody, at a low one fewer: rows play no part."""
    sql = "SELECT clinic, COUNT(DISTINCT person) AS n FROM visits GROUP BY clinic"
    assert limits_of(uneven, sql, epsilon=10) == Limits(rows_per_group=1, groups_per_unit=4)
    assert limits_of(uneven, sql, epsilon="0.01") == Limits(rows_per_group=1, groups_per_unit=1)


def test_it_holds_in_each_grouping_set(uneven):
    found = limits_of(uneven, EVERYWHERE, epsilon=10)
    assert found.rows_per_unit == 12


def test_private_groups_keep_their_number(uneven):
    """Each group that a unit may be in raises the threshold of all of them."""
    sql = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    assert limits_of(uneven, sql, epsilon=10, delta="1e-6").groups_per_unit == 1


def test_a_batch_has_it_too(uneven):
    """Gaussian noise in a square: nine rows in each of four clinics are 18, twelve in all 12."""
    with connect(uneven) as connection:
        (release,) = connection.batch([GROUPED], epsilon=11, delta="1e-6", limits="auto")
    assert release.body.limits.rows_per_unit == 12


def test_explain_proposes_it(uneven):
    with connect(uneven) as connection:
        explained = connection.explain(GROUPED, epsilon=10)
    assert "rows_per_unit = 12 would leave out" in " ".join(str(explained).split())
    assert explained.to_json()["proposal"]["rows_per_unit"] == 12


def test_a_proposal_for_units_says_units():
    limits = Limits(rows_per_group=2, groups_per_unit=3)
    said = Proposal(limits=limits, cut=7, noise=3, errors=np.array([10.0]), counts_units=True)
    assert "7 units of a group" in str(said)
    assert said.to_json()["units_cut_in_a_group"] == 7
