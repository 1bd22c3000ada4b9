"""Bounds that choose themselves: from the profile, at the price, as ordinary clamps."""

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from discreet.core.errors import DeclarationError, DiscreetError, RefusedQuery
from discreet.core.loss import Approximate, Pure
from discreet.curator.answer import prepare
from discreet.curator.batch import price_batch
from discreet.project.terms import Terms
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.tables.column import Bounds
from discreet.tables.plans.sums import SumValues
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.real_tables import LAB_TESTS

SQL = "SELECT SUM(CLAMP(cost)) AS s FROM visits"


def change(folder, *pairs):
    file = folder / "discreet.toml"
    text = file.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


@pytest.fixture
def folder(tmp_path):
    """Four hundred people with a cost of 2 at most, and four with one of 9."""
    rows = [visit(f"p{i}", cost=9.0 if i % 100 == 0 else 2 - i % 8 / 4) for i in range(404)]
    return write_project(tmp_path, rows, epsilon="10000", rows_per_group=1)


def profile(folder, *values):
    with own(folder) as owner:
        owner.profile("visits", epsilon=100, keys=[], values=values or ["cost"])


def bounds_of(folder, sql, **terms) -> Bounds:
    with own(folder) as owner:
        _, priced, _ = prepare(owner._project, sql, Terms(**terms))
    found = [one for one in priced.plan.aggregates if isinstance(one, SumValues)]
    return found[0].bounds


def test_without_a_profile_it_says_what_to_run(folder):
    with connect(folder) as connection:
        for measured in ((), ("age",)):
            if measured:
                profile(folder, *measured)
            with pytest.raises(RefusedQuery, match="--value cost"):
                connection.sql(SQL, epsilon=1)
        assert connection.budget()[0].spent == Pure(100)  # for the profile


def test_bounds_follow_the_profile_and_the_price(folder):
    profile(folder)
    wide = bounds_of(folder, SQL, epsilon=100)
    narrow = bounds_of(folder, SQL, epsilon="0.05")
    assert wide.lower == narrow.lower == 0
    assert wide.upper >= 9
    assert narrow.upper <= 2
    assert narrow.step == wide.step == Fraction(1, 4)


@pytest.mark.parametrize("function", ["SUM", "AVG", "STDDEV", "MEDIAN"])
def test_the_plan_has_ordinary_clamps(folder, function):
    profile(folder)
    with own(folder) as owner:
        sql = f"SELECT {function}(CLAMP(cost)) AS x FROM visits"
        _, chosen, _ = prepare(owner._project, sql, Terms(epsilon=1))
        grid = chosen.plan.aggregates[-1].grid or chosen.plan.aggregates[0].grid
        assert grid is not None
        written = f"CLAMP(cost, {float(grid.lower)}, {float(grid.upper)}, {float(grid.step)})"
        sql = f"SELECT {function}({written}) AS x FROM visits"
        _, plain, _ = prepare(owner._project, sql, Terms(epsilon=1))
    assert chosen.digest() == plain.digest()


def test_answers_and_explanations_show_what_was_chosen(folder):
    profile(folder)
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=1)
        explained = connection.explain(SQL, epsilon=1)
        worse = connection.explain("SELECT SUM(CLAMP(cost, 0, 0.25)) AS s FROM visits", epsilon=1)
        assert "chosen from the profile" in str(release)
        assert "chosen from the profile" in str(explained)
        assert explained.to_json()["bounds"][0]["column"] == "cost"
        assert "chooses it" not in str(explained)
        assert "the least error in all (CLAMP(cost) chooses it)" in " ".join(str(worse).split())
        assert connection.sql(SQL, epsilon=1).is_stored
        assert connection.rehearse(SQL, epsilon=1).rows


def test_limits_and_bounds_are_chosen_together(folder):
    profile(folder)
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=10, limits="auto")
        grouped = "SELECT clinic, AVG(CLAMP(cost)) AS x FROM visits GROUP BY clinic"
        assert len(connection.sql(grouped, epsilon=10, limits="auto").rows) == 4
    assert "chosen from the profile" in str(release)


def test_a_column_may_be_declared_so(folder):
    sql = "SELECT SUM(cost) AS s FROM visits"
    change(folder, ("step = 0.25", 'step = 0.25, bounds = "auto"'))
    assert bounds_of(folder, sql, epsilon="0.05").upper == 10  # as declared, until there is one
    profile(folder)
    assert bounds_of(folder, sql, epsilon="0.05").upper <= 2
    assert bounds_of(folder, "SELECT SUM(CLAMP(cost, 0, 5)) AS s FROM visits", epsilon=1).upper == 5


def test_a_column_without_a_range_may_be_declared_so(folder):
    sql = "SELECT SUM(cost) AS s FROM visits"
    change(folder, (", min = 0, max = 10, step = 0.25", ', bounds = "auto"'))
    with connect(folder) as connection, pytest.raises(RefusedQuery, match="--value cost"):
        connection.sql(sql, epsilon=1)
    profile(folder)
    found = bounds_of(folder, sql, epsilon="0.05")
    assert found.lower == 0
    assert 1 <= found.upper <= 2.4
    assert bounds_of(folder, sql, epsilon=100).upper >= 8


def test_a_declaration_of_other_bounds_is_refused(folder):
    change(folder, ("step = 0.25", 'step = 0.25, bounds = "best"'))
    with pytest.raises(DeclarationError, match="bounds"):
        own(folder)


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "an accuracy": ("SELECT SUM(CLAMP(cost)) AS s FROM visits", {"accuracy": "±50 at 95 %"}),
    "an expression": ("SELECT SUM(CLAMP(cost * 2)) AS s FROM visits", {"epsilon": 1}),
    "a condition": ("SELECT COUNT(*) AS n FROM visits WHERE CLAMP(cost) > 1", {"epsilon": 1}),
    "a text": ("SELECT SUM(CLAMP(note)) AS s FROM visits", {"epsilon": 1}),
}


@pytest.mark.parametrize("why", REFUSED)
def test_bounds_are_not_chosen_elsewhere(folder, why):
    profile(folder)
    sql, terms = REFUSED[why]
    with connect(folder) as connection, pytest.raises(DiscreetError):
        connection.sql(sql, **terms)


@pytest.fixture
def with_delta(folder):
    change(folder, ("budget = { epsilon = 10000 }", "budget = { epsilon = 10000, delta = 0.01 }"))
    profile(folder)
    return folder


def batch_of(folder, queries, **options) -> list[Bounds]:
    with own(folder) as owner:
        target = Approximate(options.pop("epsilon"), "1e-6")
        plans = price_batch(owner._project, queries, target, **options).plans
    sums = [one for priced in plans for one in priced.plan.aggregates]
    return [one.bounds for one in sums if isinstance(one, SumValues)]


def test_bounds_are_chosen_in_a_batch(with_delta):
    """Each question has its own, for its part of the price, as ordinary clamps."""
    mean = "SELECT AVG(CLAMP(cost)) AS m FROM visits"
    written = "SELECT SUM(CLAMP(cost, 0, 5)) AS s FROM visits"
    wide = batch_of(with_delta, [SQL, mean, written], epsilon=100)
    narrow = batch_of(with_delta, [SQL, mean, written], epsilon="0.05")
    assert [one.upper for one in (wide[2], narrow[2])] == [5, 5]
    assert wide[0].upper >= 8
    assert narrow[0].upper <= 2
    assert narrow[1].upper <= 2.5
    with connect(with_delta) as connection:
        releases = connection.batch([SQL, mean], epsilon=100, delta="1e-6")
        again = connection.batch([SQL, mean], epsilon=100, delta="1e-6")
    assert all("chosen from the profile" in str(one) for one in releases)
    assert all(one.is_stored for one in again)


def test_more_questions_of_a_batch_leave_less_for_each(with_delta):
    alone = batch_of(with_delta, [SQL], epsilon="0.6")[0].upper
    many = [f"SELECT SUM(CLAMP(cost)) AS s FROM visits WHERE age > {age}" for age in range(60)]
    assert batch_of(with_delta, many, epsilon="0.6")[0].upper <= alone


def test_limits_and_bounds_are_chosen_together_in_a_batch(with_delta):
    grouped = "SELECT clinic, SUM(CLAMP(cost)) AS s FROM visits GROUP BY clinic"
    with connect(with_delta) as connection:
        releases = connection.batch([SQL, grouped], epsilon=50, delta="1e-6", limits="auto")
    assert all("chosen from the profile" in str(one) for one in releases)


def test_a_declared_column_is_chosen_in_a_batch_as_alone(with_delta):
    sql = "SELECT SUM(cost) AS s FROM visits"
    change(with_delta, ("step = 0.25", 'step = 0.25, bounds = "auto"'))
    assert batch_of(with_delta, [sql], epsilon="0.05")[0].upper <= 2


@pytest.mark.parametrize("why", [name for name in REFUSED if "epsilon" in REFUSED[name][1]])
def test_bounds_are_not_chosen_elsewhere_in_a_batch(with_delta, why):
    with connect(with_delta) as connection, pytest.raises(DiscreetError):
        connection.batch([SQL, REFUSED[why][0]], epsilon=10, delta="1e-6")


def test_a_batch_without_a_profile_says_what_to_run(tmp_path):
    folder = write_project(tmp_path, [visit("p", cost=1.0)], epsilon="10")
    change(folder, ("budget = { epsilon = 10 }", "budget = { epsilon = 10, delta = 1e-6 }"))
    with connect(folder) as connection, pytest.raises(RefusedQuery, match="only from a profile"):
        connection.batch([SQL], epsilon=1, delta="1e-9")


@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_chosen_bounds_are_nearly_the_best_in_hindsight(lab, function):
    """At ε = 0.1 and 1 they err at most three times as much as the best of all bounds.

    That allows a largest value anywhere from about 110 to 550. For the choice to leave that range,
    noise would have to hide or make up about two thousand of 15,666 units in the tail; the sum of
    its hundred bins at scale 30 does so with probability below 1e-20 (Chernoff's bound, as in
    ``Histogram.margin``).
    """
    folder, rows = lab
    limit = 55
    kept = rows.sample(frac=1, random_state=1).groupby("person").head(limit)["value"]
    sql = f"SELECT {function}(CLAMP(value)) AS x FROM records"
    for epsilon in (0.1, 1):
        found = bounds_of(folder, sql, epsilon=epsilon, rows_per_group=limit)
        share, size = (epsilon, 1) if function == "SUM" else (epsilon / 2, 0.5)

        def error(low, high, share=share, size=size):
            reach = max(high, -low) if size == 1 else size * (high - low)
            noise = 2**0.5 * limit * reach / share
            return abs(kept - kept.clip(low, high)).sum() + noise

        best = min(error(0, high) for high in range(5, 501, 5))
        assert error(float(found.lower), float(found.upper)) <= 3 * best
        # Power: bounds that many people would guess are not.
        assert error(0, 20) > 3 * best


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> tuple[object, pd.DataFrame]:
    folder, rows = LAB_TESTS.write(tmp_path_factory.mktemp("lab"))
    with own(folder) as owner:
        owner.profile("records", epsilon="0.1", keys=[], values=["value"])
    return folder, rows
