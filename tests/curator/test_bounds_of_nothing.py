"""A bound of no rows is a bound like others: it may be wrong, and its interval must know."""

import math
from fractions import Fraction
from itertools import product

import pytest
from attrs import evolve

from discreet.core.loss import Pure
from discreet.curator.cut.left_out import BETA, bounded_by, bounded_by_units, by_clamps
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.accuracy import error_of
from discreet.releases.body import ChosenPrivately
from discreet.releases.estimates.estimate import TotalOf
from discreet.releases.estimates.groups import Groups
from discreet.releases.histogram import Histogram
from discreet.releases.left_out import UNCHANGED, total_ends
from discreet.releases.profile import Profile
from discreet.releases.release import Release
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.tables.column import ColumnType
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.aggregate import CountRows, CountUnits
from tests.support.projects.clinic import make_plan, visit, write_project

OF_PROFILE = DiscreteLaplace(scale=Fraction(138, 1000))
OF_ANSWER = DiscreteLaplace(scale=Fraction(2729, 10_000))
"""Just so much that it is 0 in 95.004 % of answers: an interval of noise alone has no slack."""

COUNT = TotalOf(ColumnType.INTEGER, 0)
PEOPLE = "COUNT(DISTINCT person)"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    """People with at most 1,000 rows, of which ten count."""
    folder = tmp_path_factory.mktemp("visits")
    write_project(folder, [visit("p")], rows_per_group=10, groups_per_unit=4)
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("rows_per", "most_rows_per_unit = 1000\nrows_per", 1))
    return read_catalog(folder)


def profile_of(*units):
    """Return a profile in which so many people have up to 10, 800 and 1,000 rows."""
    rows = Histogram(ends=(10, 800, 1000), values=(*units, 0), noise=OF_PROFILE, most=1000)
    return Profile(table="visits", unit="a person", rows=rows, groups={}, busiest={}, cost=Pure(1))


def mass(noise, value):
    ratio = math.exp(-1 / float(noise.scale))
    return ratio ** abs(value) * (1 - ratio) / (1 + ratio)


def failing(plan, change):
    """Return how often the interval of a count of all rows misses, if nothing is left out.

    What is far from 0 has a probability below 1e-20; those of floating point are as wrong as 1e-15.
    """
    found = 0.0
    for middle, last in product(range(-6, 7), repeat=2):
        left_out = change(bounded_by(plan, profile_of(100, middle, last)))
        ends = total_ends(
            COUNT,
            Groups.one([0]),
            lambda _, beta: error_of(OF_ANSWER, beta),
            left_out,
            beta=2 * BETA,
        )
        (low,), (high,) = ends.lows.scalars(), ends.highs.scalars()
        assert low is not None
        assert high is not None
        missed = sum(mass(OF_ANSWER, x) for x in range(-20, 21) if not x + low <= 0 <= x + high)
        found += mass(OF_PROFILE, middle) * mass(OF_PROFILE, last) * missed
    return found


def test_the_interval_of_a_count_fails_as_rarely_as_it_says(catalog):
    """In about one of 1,400 profiles the least number of rows that are left out is wrong.

    The twin gives all of the probability to noise where the largest number is 0, and fails in more
    than 5 % of answers. Both are exact, so there is no false alarm.
    """
    plan = make_plan(catalog, "SELECT COUNT(*) FROM visits")
    assert bounded_by(plan, profile_of(100, 0, 0)).rows == UNCHANGED
    assert failing(plan, lambda found: found) <= 0.05
    assert failing(plan, lambda found: evolve(found, by_chance=frozenset())) > 0.0505


def test_where_nobody_can_be_cut_the_interval_is_that_of_noise(catalog):
    plan = make_plan(catalog, f"SELECT {PEOPLE}, COUNT(*) FROM visits")
    chosen = ChosenPrivately(
        share=Fraction(1, 5), candidates=4, units_cut=0, noise=OF_PROFILE, is_exact=True
    )
    for found in (
        bounded_by(plan, profile_of(100, 0, 0)),
        bounded_by_units(plan, chosen, 1000),
    ):
        assert found.each == (UNCHANGED, UNCHANGED)
        assert not found.is_nothing
        changing = {type(plan.aggregates[index]): found.may_change(index) for index in (0, 1)}
        assert changing == {CountUnits: False, CountRows: True}


def test_a_total_that_a_profile_shows_to_be_whole_may_be_cut_all_the_same(catalog):
    sql = "SELECT SUM(age, contribution_bounds_per_group => (0, 1000)) FROM visits"
    plan = make_plan(catalog, sql)
    found = by_clamps(plan, profile_of(100, -1, -1), most=1000)
    assert found is not None
    assert (found.each, found.beta) == ((UNCHANGED,), BETA)
    assert found.may_change(0)
    assert not found.for_half_of(Fraction(999, 1000)).is_nothing
    wide = make_plan(catalog, sql.replace("1000", "100000"))
    assert by_clamps(wide, profile_of(100, -1, -1), most=1000) is None


def test_a_total_is_told_at_every_confidence(tmp_path):
    """At 95 % somebody may be cut and at 10 % nobody: no answer may fail for that."""
    rows = [visit(f"p{i}", age=100) for i in range(50) for _ in range(10)]
    folder = write_project(tmp_path, rows, epsilon="10000")
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("rows_per", "most_rows_per_unit = 12\nrows_per", 1))
    with own(folder) as owner:
        owner.profile("visits", epsilon=50)
    sql = "SELECT SUM(age, contribution_bounds_per_group => (0, 1000)) AS x FROM visits"
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=100)
    for confidence in ("0.0001", "0.1", "0.5", "0.95", "0.999999"):
        ((low, high),) = release.totals("x", confidence)
        assert low <= high


def test_the_mode_of_all_rows_knows_it_too(catalog, tmp_path):
    rows = [visit(f"p{i}", "a") for i in range(90)]
    sql = "SELECT MODE(clinic) AS m FROM visits"
    with connect(write_project(tmp_path, rows, epsilon="100")) as connection:
        release = connection.sql(sql, epsilon=10)
    assert isinstance(release, Release)
    found = bounded_by(make_plan(catalog, sql), profile_of(100, 0, 0))
    assert found.each == (UNCHANGED,)
    told = evolve(release, left_out=found)
    assert any(note.startswith("m: of all rows with one of the declared") for note in told.notes())
