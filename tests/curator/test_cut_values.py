"""The total interval holds the truth whatever clamps cut, and says nothing that is not known."""

from collections.abc import Callable, Sequence

import pandas as pd
import pytest

from discreet.project.terms import Terms
from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.real_stage import RELEASES, Coverage, is_inside, open_stage
from tests.support.projects.real_tables import LAB_TESTS
from tests.support.statistics.exact_tests import alpha

QUESTIONS: dict[str, tuple[str, Callable[[pd.DataFrame], Sequence[float]]]] = {
    "SUM": (
        "SELECT SUM(CLAMP(value, 0, {high})) AS x FROM records",
        lambda rows: [rows["value"].sum()],
    ),
    "AVG": (
        "SELECT AVG(CLAMP(value, 0, {high})) AS x FROM records",
        lambda rows: [rows["value"].mean()],
    ),
    "a multiple of AVG": (
        "SELECT AVG(CLAMP(value, 0, {high})) * 2 AS x FROM records WHERE value > 10",
        lambda rows: [2 * rows["value"][rows["value"] > 10].mean()],
    ),
    "AVG of groups": (
        "SELECT kind, AVG(CLAMP(value, 0, {high})) AS x FROM records GROUP BY kind",
        lambda rows: rows.groupby("kind")["value"].mean(),
    ),
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    found = open_stage(
        LAB_TESTS, tmp_path_factory.mktemp("real"), Terms(epsilon=1), keys=[], values=["value"]
    )
    yield found
    found.project.close()


ALL = [(name, 600) for name in QUESTIONS] + [("SUM", 18)]
USUAL = {("SUM", 600): (0, 50, 90), ("SUM", 18): (50,), ("AVG", 600): (10,)}


@pytest.mark.parametrize("cut", [0, 10, 50, 90])
@pytest.mark.parametrize(("name", "limit"), ALL)
def test_the_truth_is_inside_the_total_interval(stage, name, limit, cut, soak):
    """Clamps cut none, 10, 50 and 90 % of the units; limits none, or half of the rows.

    A release is missed if any of its cells is. Power: the same numbers without what clamps cut are
    missed in every release where many units are cut.
    """
    if not soak.active and cut not in USUAL.get((name, limit), (90,)):
        return
    sql, truth_of = QUESTIONS[name]
    largest = stage.rows.groupby("person")["value"].max()
    high = 500 if cut == 0 else round(float(largest.quantile(1 - cut / 100)), 1)
    terms = Terms(epsilon="0.5", rows_per_group=limit, groups_per_unit=4)
    count = RELEASES if soak.active else 8
    made = stage.releases(sql.replace("{high}", str(high)), terms, count)
    found = Coverage.of(made, list(truth_of(stage.rows)))
    assert found.unknown == 0
    assert found.is_enough(alpha("clamped totals/coverage", parts=4 * (len(QUESTIONS) + 1)))
    if cut >= 50 and name in ("SUM", "AVG"):
        assert found.bare == count


# ---- What is not known is not said.


def declared(folder, change):
    """Return a project of 300 people with a cost of 0 to 9.75, and at most 2 rows each."""
    rows = [visit(f"p{i}", cost=(i % 40) / 4) for i in range(300) for _ in range(2)]
    write_project(folder, rows, epsilon="10000")
    file = folder / "discreet.toml"
    text = file.read_text().replace("rows_per_group", "most_rows_per_unit = 2\nrows_per_group", 1)
    file.write_text(change(text))
    truth = sum(row["cost"] for row in rows)
    return folder, truth, truth / len(rows)


SQL = """SELECT SUM(CLAMP(cost, 0, 5, 0.25)) AS s, AVG(CLAMP(cost, 0, 5, 0.25)) AS a,
         STDDEV(CLAMP(cost, 0, 5, 0.25)) AS d, COUNT(*) AS n FROM visits"""


def undeclared(text: str) -> str:
    return text.replace(", min = 0, max = 10, step = 0.25", "")


def test_a_clamp_without_a_profile_is_bounded_by_the_declared_range(tmp_path):
    folder, _, mean = declared(tmp_path, lambda text: text)
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=1000)
    ((low, high),) = release.totals("s")
    assert high is None
    assert low is not None
    ((low, high),) = release.totals("a")
    assert is_inside((low, high), mean)
    (noise,) = release.intervals("a")
    assert noise is not None
    assert high == pytest.approx(noise[1] + 5 + 0.125, abs=0.1)  # half a step, for rounding
    assert release.totals("d") == ((None, None),)
    assert None not in release.totals("n")[0]
    first, *_ = str(release).splitlines()
    assert "discreet profile visits --value cost" in first
    assert "at most 2 rows" not in str(release)


@pytest.mark.parametrize("has_profile", [False, True])
def test_a_clamp_of_a_column_without_a_range_may_cut_anything(tmp_path, has_profile):
    folder, _, _ = declared(tmp_path, undeclared)
    if has_profile:
        with own(folder) as owner:
            owner.profile("visits", epsilon=1000, keys=[], values=["cost"])
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=1000)
    for name in "sad":
        assert release.totals(name) == ((None, None),)
    first, *_ = str(release).splitlines()
    assert ("not declared" in first) is has_profile
    assert ("of the people" in first) is has_profile
    shown = release.to_json()["limits_cut"]["clamps"]
    assert [one["known"] for one in shown] == [False]


def test_a_profile_of_values_bounds_what_a_clamp_cuts(tmp_path):
    folder, total, mean = declared(tmp_path, lambda text: text)
    with own(folder) as owner:
        owner.profile("visits", epsilon=1000, keys=[], values=["cost"])
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=1000)
        plain = connection.sql("SELECT SUM(cost) AS s FROM visits", epsilon=1000)
        explained = str(connection.explain(SQL, epsilon=1000))
    for name, truth in (("s", total), ("a", mean)):
        (ends,) = release.totals(name)
        assert None not in ends
        assert is_inside(ends, truth)
        for confidence in ("0.5", "0.999999"):
            assert is_inside(release.totals(name, confidence)[0], truth)
    assert "of the people" in str(release).splitlines()[0]
    assert "have such a value" in str(release)
    assert "outside the clamp" in explained
    # Where the clamp is the declared range, nothing is cut, and nothing is said.
    assert plain.left_out is None


def test_a_range_that_the_profile_refutes_bounds_nothing(tmp_path):
    folder, _, _ = declared(tmp_path, lambda text: text.replace("max = 10,", "max = 5,"))
    sql = "SELECT SUM(cost) AS s, AVG(cost) AS a, SUM(cost * 2) AS t FROM visits"
    with connect(folder) as connection:
        assert connection.sql(sql, epsilon=1000).left_out is None  # as declared
    with own(folder) as owner:
        owner.profile("visits", epsilon=1000, keys=[], values=["cost"])
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=1000)
    assert release.totals("s")[0][1] is None
    assert release.totals("a")[0][1] is None
    assert release.totals("t")[0] == (None, None)
    assert "values of cost lie outside its declared min and max" in str(release)


def test_a_clamp_inside_an_expression_is_what_was_asked_for(tmp_path):
    folder, _, _ = declared(tmp_path, lambda text: text)
    sql = "SELECT SUM(c) AS s FROM (SELECT CLAMP(cost, 0, 5, 0.25) AS c FROM visits)"
    with connect(folder) as connection:
        assert connection.sql(sql, epsilon=1000).left_out is None


COUNTED = {
    "AVG(CLAMP(n, 1, 2)) AS x FROM (SELECT person, COUNT(*) AS n": True,
    "AVG(CLAMP(n, 0, 1)) AS x FROM (SELECT person, COUNT(*) AS n": False,
    "AVG(CLAMP(n, 1, 2)) AS x FROM (SELECT person, COUNT(DISTINCT clinic) AS n": False,
    "AVG(CLAMP(n + 1, 1, 3)) AS x FROM (SELECT person, COUNT(cost) AS n": True,
}


@pytest.mark.parametrize(("sql", "is_wide"), COUNTED.items())
def test_a_count_is_no_more_than_the_declared_number_of_rows(tmp_path, sql, is_wide):
    folder, _, _ = declared(tmp_path, lambda text: text)
    with connect(folder) as connection:
        release = connection.sql(f"SELECT {sql} FROM visits GROUP BY person)", epsilon=1000)
    assert (release.left_out is None) is is_wide
    assert None not in release.totals("x")[0]
