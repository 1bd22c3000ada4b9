"""A range that is false cuts totals inside of a question too, and then nothing is claimed."""

import pytest

from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

INNER = "SELECT person, SUM(cost) AS s FROM visits GROUP BY person"
COUNTED = f"SELECT COUNT(*) AS n FROM ({INNER}) AS q WHERE s > 20"


def profiled(folder, largest: float):
    """Return a project in which a third of the people has one large value, and its profile."""
    rows = [visit(f"p{i}", cost=largest if i % 3 == 0 else 5.0) for i in range(90)]
    project = write_project(folder, rows, epsilon="10000")
    with own(project) as owner:
        owner.profile("visits", epsilon=500, keys=[], values=["cost"])
    return project


@pytest.fixture(scope="module")
def false_range(tmp_path_factory):
    return profiled(tmp_path_factory.mktemp("false"), 50.0)


MORE = "SELECT person FROM visits GROUP BY person HAVING SUM(cost) > 20"
WINDOW = "SELECT person, AVG(cost * 2) OVER (PARTITION BY person) AS a FROM visits"


@pytest.mark.parametrize(
    "sql",
    [
        COUNTED,
        f"SELECT AVG(age) AS n FROM visits WHERE person IN ({MORE})",
        f"SELECT SUM(CLAMP(s, 0, 100)) AS n FROM ({INNER}) AS q",
        f"SELECT COUNT(DISTINCT person) AS n FROM ({WINDOW}) WHERE a > 30",
    ],
)
def test_a_range_that_is_false_leaves_every_total_unknown(false_range, sql):
    with connect(false_range) as connection:
        release = connection.sql(sql, epsilon=100)
        explained = str(connection.explain(sql, epsilon=100))
    assert release.totals("n") == ((None, None),)
    assert release.sampling("n") == ((None, None),)
    above, _, below = str(release).partition("---")
    assert "values of cost lie outside its declared min and max" in " ".join(above.split())
    assert "[unknown]" in below
    words = " ".join(explained.split())
    assert "outside the clamp" in words or "lie outside its declared min and max" in words
    clamps = release.to_json()["limits_cut"]["clamps"]
    assert any("lie outside" in one["why_not"] for one in clamps)


@pytest.mark.parametrize(
    "sql",
    [
        COUNTED.replace("SUM(cost)", "SUM(CLAMP(cost, 0, 100))"),
        COUNTED.replace("SUM(cost)", "MAX(cost)"),
        COUNTED.replace("SUM(cost)", "SUM(age)"),
    ],
)
def test_what_does_not_rest_on_it_stays_known(false_range, sql):
    with connect(false_range) as connection:
        release = connection.sql(sql, epsilon=100)
    ((low, high),) = release.totals("n")
    truth = 90 if "age" in sql else 30
    assert low is not None
    assert high is not None
    assert low <= truth <= high


def test_a_range_that_no_profile_refutes_is_believed(tmp_path):
    with connect(profiled(tmp_path, 9.0)) as connection:
        release = connection.sql(COUNTED.replace("20", "8"), epsilon=100)
    ((low, high),) = release.totals("n")
    assert low is not None
    assert high is not None
    assert low <= 30 <= high
    assert "cost outside 0 to 10 (declared) counts as the nearer end" in " ".join(release.notes())
