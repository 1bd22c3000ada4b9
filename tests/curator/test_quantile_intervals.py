"""Quantiles have intervals of values, which hold as often as they say, and old ones stay as is."""

import datetime
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from discreet.accounting.accountants.pure import pure_loss
from discreet.core.errors import RefusedQuery
from discreet.core.loss import Pure
from discreet.curator.answer import prepare
from discreet.curator.price import price as pricing
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.project.project import open_project
from discreet.project.terms import Terms
from discreet.releases.body import Body
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.release import Release
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT
from tests.support.projects.real_stage import BETA, RELEASES
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.quantiles import all_quantiles

SQL = (
    "SELECT clinic, MEDIAN(age) AS middle, MAX(cost) AS most, MEDIAN(age) - QUANTILE(age, 0.25)"
    " AS spread, MIN(CLAMP(change, -10, 4)) AS least FROM visits GROUP BY clinic"
)
SIZES = {"a": 400, "b": 40, "c": 3, "d": 0}
"""Many rows, about as many as the ends are away, next to none, and none."""


@pytest.fixture
def rows(rng):
    words = iter((rng.words(3000) % 101).tolist())
    return [
        visit(
            f"{clinic}{i}",
            clinic,
            age=min(next(words), next(words)),
            cost=next(words) % 41 / 4,
            change=next(words) % 15 - 10,
        )
        for clinic, size in SIZES.items()
        for i in range(size)
    ]


@pytest.fixture
def folder(tmp_path, rows):
    return write_project(tmp_path, rows, epsilon="1000", rows_per_group=1, groups_per_unit=1)


@pytest.fixture
def project(folder):
    found = open_project(folder)
    yield found
    found.close()


def exact_values(rows, name):
    """Every value that may be called the quantile: from the lowest to the highest of them."""
    share, column = {"middle": (0.5, "age"), "most": (0.99, "cost"), "least": (0.01, "change")}[
        name
    ]
    return all_quantiles([row[column] for row in rows], share)


def test_quantiles_are_inside_their_intervals(project, rows, soak):
    """The plan runs once, and the noise is drawn again. Power: the value alone would miss."""
    count = RELEASES if soak.active else 30
    missed, bare = dict.fromkeys(["middle", "most", "least"], 0), 0
    question, priced, _ = prepare(project, SQL, Terms(epsilon=4))
    exact = project.engine.execute(priced.plan, SALT, open_permit())
    for _ in range(count):
        body = publish(randomise(exact, priced, project.rng), priced)
        release = Release(view=question.view, body=body, receipt=None, left_out=None)  # type: ignore[arg-type]
        shown = dict(zip("abcd", release.to_dicts(), strict=True))
        for name in missed:
            ends = dict(zip("abcd", release.intervals(name), strict=True))
            for clinic in "abc":
                truth = exact_values([row for row in rows if row["clinic"] == clinic], name)
                low, high = ends[clinic] or (101, -101)
                missed[name] += not low <= min(truth) <= max(truth) <= high
                bare += shown[clinic][name] not in truth
            assert ends["d"] is not None
            assert ends["d"][0] <= shown["d"][name] <= ends["d"][1]
    level = alpha("quantile intervals/coverage", parts=3)
    for many in missed.values():
        assert many <= BETA * 3 * count or binomial_p_value(many, 3 * count, BETA) > level
    assert binomial_p_value(bare, 9 * count, BETA) < level


def only(release: Release | FreeAnswer, name: str) -> tuple[Any, Any]:
    """Return the one interval of an output."""
    (found,) = release.intervals(name)
    assert found is not None
    return found


def test_price_is_that_of_all_three_choices(project):
    _, priced, _ = prepare(project, "SELECT MEDIAN(age) FROM visits", Terms(epsilon=2))
    (answer,) = priced.answers
    assert priced.loss == Pure(2) == pure_loss([priced.event])
    assert answer.mechanism.spread == 1
    assert [end.scale for end in priced.ends[0]] == [2, 2]
    without = evolve(priced, answers=(pricing.Drawn(answer.mechanism, answer.event),))
    assert without.digest() != priced.digest()


def test_intervals_say_less_the_surer_they_must_be(folder):
    with connect(folder) as connection:
        release = connection.sql("SELECT MEDIAN(age) AS middle FROM visits", epsilon=4)
    low, high = only(release, "middle")
    assert release.intervals("middle", confidence="0.99") == ((low, high),)
    assert release.intervals("middle", confidence="0.995") == ((0, 100),)
    assert 0 < low < high < 100


def test_answers_without_ends_are_given_again(folder, monkeypatch):
    """What an earlier version stored costs nothing, and says that its interval is not known."""
    sql = "SELECT MEDIAN(age) AS middle, COUNT(*) AS n FROM visits"
    monkeypatch.setattr(pricing, "ends_for", lambda *_: ())
    with connect(folder) as connection:
        first = connection.sql(sql, epsilon=1)
    monkeypatch.undo()
    with connect(folder) as connection:
        assert connection.explain(sql, epsilon=1).is_stored
        again = connection.sql(sql, epsilon=1)
        fresh = connection.sql(sql, epsilon=1, fresh=True)
    assert again.is_stored
    assert again.rows == first.rows
    assert again.intervals("middle") == (None,)
    assert "(unknown)" in str(again)
    assert any("how far that is in values is not known" in note for note in again.notes())
    assert fresh.intervals("middle") != (None,)
    assert not any("not known" in note for note in fresh.notes())
    assert Body.from_json(fresh.body.to_json()) == fresh.body


def test_days_have_intervals_of_days(tmp_path):
    first = datetime.date(2025, 1, 1)
    rows = [visit(f"p{i}", "a", day=first + datetime.timedelta(i % 365)) for i in range(800)]
    folder = write_project(tmp_path, rows, epsilon="1000", rows_per_group=1, groups_per_unit=1)
    file = folder / "discreet.toml"
    bounds = 'type = "date", min = 2025-01-01, max = 2025-12-31'
    file.write_text(file.read_text().replace('type = "date"', bounds))
    sql = "SELECT MEDIAN(day) AS middle, MAX(day) - MIN(day) AS days FROM visits"
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=50)
    low, high = only(release, "middle")
    assert datetime.date(2025, 5, 1) < low <= release.rows[0][0] <= high < datetime.date(2025, 9, 1)
    assert f"({low} to {high})" in str(release)
    assert release.to_json()["intervals"]["middle"] == [[low.isoformat(), high.isoformat()]]
    least, most = only(release, "days")
    assert 300 < least <= most <= 364
    assert release.to_arrow()["middle_low"].to_pylist() in ([low], [None])
    release.plot(tmp_path / "days.png")


def test_ends_that_cannot_be_drawn_are_refused_before_the_gate(folder):
    with connect(folder) as connection, pytest.raises(RefusedQuery, match="noise"):
        connection.sql("SELECT QUANTILE(age, 0.333333) FROM visits", epsilon=Fraction(1, 2**40))
