"""CORR, COVAR and REGR_SLOPE: numpy's numbers without noise, and intervals that hold with it."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import RefusedQuery
from discreet.curator.answer import prepare
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.project.project import open_project
from discreet.project.terms import Terms
from discreet.releases.estimates.estimate import CorrelationOf, CovarianceOf, VarianceOf, indices
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.rules import column_of, intervals_of
from discreet.releases.release import Release
from discreet.roles.connection import connect
from discreet.tables.arithmetic.columns import scalars
from discreet.tables.column import ColumnType
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT
from tests.support.statistics.exact_tests import alpha, binomial_p_value

RELEASES = 300
BETA = 0.05
SQL = (
    "SELECT CORR(age, cost) AS r, CORR(cost, age) AS turned, COVAR_POP(age, cost) AS pop,"
    " COVAR_SAMP(age, cost) AS samp, REGR_SLOPE(cost, age) AS slope FROM visits"
)


@pytest.fixture
def rows(rng):
    words = (rng.words(1200) % 41).astype(int).reshape(-1, 2).tolist()
    rows = [visit(f"p{i}", age=2 * a, cost=(a + b) // 2 / 4) for i, (a, b) in enumerate(words)]
    return [*rows, visit("x", age=None, cost=1.0), visit("y", age=3, cost=None)]


@pytest.fixture
def project(tmp_path, rows):
    folder = write_project(tmp_path, rows, epsilon="100000", rows_per_group=1, groups_per_unit=1)
    found = open_project(folder)
    yield found
    found.close()


def truths(rows):
    pairs = [(row["age"], row["cost"]) for row in rows if None not in (row["age"], row["cost"])]
    ages, costs = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    r = np.corrcoef(ages, costs)[0, 1]
    return {
        "r": r,
        "turned": r,
        "pop": np.cov(ages, costs, bias=True)[0, 1],
        "samp": np.cov(ages, costs)[0, 1],
        "slope": np.polyfit(ages, costs, 1)[0],
    }


def releases(project, epsilon, count):
    question, priced, _ = prepare(project, SQL, Terms(epsilon=epsilon))
    exact = project.engine.execute(priced.plan, SALT, open_permit())
    assert len(priced.plan.aggregates) == 6
    for _ in range(count):
        body = publish(randomise(exact, priced, project.rng), priced)
        yield Release(view=question.view, body=body, receipt=None, left_out=None)  # type: ignore[arg-type]


def test_without_noise_they_are_numpys(project, rows):
    """At so high a price no noise is ever drawn."""
    (release,) = releases(project, 3000, 1)
    (found,) = release.to_dicts()
    for name, truth in truths(rows).items():
        assert found[name] == pytest.approx(truth, rel=0.02), name


def test_intervals_hold(project, rows, soak):
    """Power: intervals that are as narrow as the value alone would nearly always miss."""
    count = RELEASES if soak.active else 40
    missed, bare = dict.fromkeys(truths(rows), 0), 0
    for release in releases(project, 60, count):
        for name, truth in truths(rows).items():
            (ends,) = release.intervals(name)
            slack = 1e-9 * abs(truth)
            assert ends is not None
            missed[name] += not ends[0] - slack <= truth <= ends[1] + slack
        (found,) = release.to_dicts()
        bare += abs(found["r"] - truths(rows)["r"]) > 1e-4
    for many in missed.values():
        level = alpha("correlations/coverage", parts=len(missed))
        assert many <= BETA * count or binomial_p_value(many, count, BETA) > level
    assert binomial_p_value(bare, count, BETA) < level


def test_a_correlation_is_never_beyond_one(project):
    for release in releases(project, 1, 30):
        (row,), (ends,) = release.to_dicts(), release.intervals("r")
        assert row["r"] is None or -1 <= row["r"] <= 1
        assert ends is not None
        assert -1 <= ends[0] <= ends[1] <= 1


def test_a_correlation_shares_its_doubt_among_six_numbers():
    """The broken twin counts its parts once, and is too narrow."""
    bounds = {"centre": Fraction(5), "lower": Fraction(0), "upper": Fraction(10)}
    first, second = (
        VarianceOf(ColumnType.REAL, i, j, 5, offset=Fraction(12), freedom=0, **bounds)
        for i, j in ((0, 2), (1, 3))
    )
    together = CovarianceOf(ColumnType.REAL, 4, 2, 3, 5, Fraction(5), Fraction(5), 0)
    estimate = CorrelationOf(ColumnType.REAL, together, first, second)
    assert indices(estimate) == (0, 1, 2, 3, 4, 5)
    seen = []

    def margin(_: int, beta: Fraction) -> Fraction:
        seen.append(beta)
        return Fraction(1)

    group = Groups.one([-4000, -4000, 0, 0, 3000, 1000])
    (found,) = intervals_of(estimate, group, margin, beta=Fraction(6, 100)).each()
    assert set(seen) == {Fraction(1, 100)}
    assert found is not None
    assert found[0] < Fraction(3, 8) < found[1]
    assert scalars(column_of(estimate, group)) == [Fraction(3, 8)]
    empty = Groups.one([-12000, -12000, 0, 0, 0, 1000])
    widest = (Fraction(-1), Fraction(1))
    assert intervals_of(estimate, empty, margin, beta=Fraction(6, 100)).each() == [widest]
    assert scalars(column_of(estimate, empty)) == [None]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT CORR(age, note) FROM visits", "not a number"),
        ("SELECT REGR_SLOPE(age) FROM visits", "takes two values"),
        ("SELECT CORR(age, day) FROM visits", "date"),
    ],
)
def test_other_calls_are_refused(project, sql, said):
    with pytest.raises(RefusedQuery, match=said):
        prepare(project, sql, Terms(epsilon=1))


def test_filters_and_groups(tmp_path, rows):
    folder = write_project(tmp_path, rows, epsilon="1000", rows_per_group=1, groups_per_unit=1)
    sql = (
        "SELECT clinic, CORR(age, cost) FILTER (WHERE age > 20) AS r FROM visits"
        " GROUP BY clinic HAVING COUNT(*) > 50 ORDER BY r"
    )
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=100)
    assert [row[0] for row in release.rows] == ["a"]
    assert release.intervals("r")[0] is not None
