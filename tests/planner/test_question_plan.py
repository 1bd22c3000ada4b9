"""Plans for questions about declared tables: declarations, one account, and no rows."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import Approximate, GaussianDp
from discreet.curator.explanation.explanation import Explanation
from discreet.planner.question_plan import SHARES, _explain_for, plan_question
from discreet.planner.verdict import Feasibility
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project

COUNT = "SELECT COUNT(*) FROM visits"
GROUPS = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, [visit(f"p{i}") for i in range(9)], epsilon="2")


def test_it_starts_from_what_is_left_and_spends_nothing(folder):
    with connect(folder) as connection:
        first = plan_question(connection, COUNT, accuracy="±50 at 95 %", table="visits")
        assert first.verdict is Feasibility.ACHIEVABLE
        assert str(first.left) == "ε = 2"
        assert first.times is not None
        assert first.times > 1
        errors = [one.errors["COUNT(*)"] for one in first.spendings]
        assert errors == sorted(errors)
        before = len(connection.history())
        connection.sql(COUNT, epsilon="1.5")
        after = plan_question(connection, COUNT, accuracy="±50 at 95 %")
        assert str(after.left) == "ε = 0.5"
        assert after.times is not None
        assert after.times < first.times
        assert len(connection.history()) > before


def test_errors_are_told_in_their_own_unit(folder):
    """A share of the people is for counts; how far a quantile is off is known in ranks."""
    with connect(folder) as connection:
        count = str(plan_question(connection, COUNT, people=100))
        assert "% of 100)" in count
        assert "ranks" not in count
        for query in ("SELECT SUM(cost) FROM visits", "SELECT MEDIAN(cost) FROM visits"):
            found = plan_question(connection, query, people=100)
            assert "% of 100" not in str(found)
            assert (" ranks" in str(found)) == ("MEDIAN" in query)
            assert bool(found.to_json()["in_ranks"]) == ("MEDIAN" in query)


def test_the_promised_number_of_answers_can_be_bought(folder):
    with connect(folder) as connection:
        found = plan_question(connection, COUNT, accuracy="±4")
        assert found.times is not None
        for _ in range(found.times):
            connection.sql(COUNT, accuracy="±4", fresh=True)
        with pytest.raises(DiscreetError):
            connection.sql(COUNT, accuracy="±4", fresh=True)


def test_nothing_left_buys_nothing(folder):
    with connect(folder) as connection:
        connection.sql(COUNT, epsilon=2)
        found = plan_question(connection, GROUPS, accuracy="±50")
        assert found.times == 0
        assert found.verdict is Feasibility.IMPOSSIBLE
        assert found.spendings == ()
        assert "ε = 0, of your own" in str(found)


def test_only_the_askers_own_account_is_shown(folder):
    with connect(folder, analyst="ann") as connection:
        connection.sql(COUNT, epsilon="0.5")
    with connect(folder, analyst="bea") as connection:
        own = [one.own_remaining for one in connection.budget()]
        assert plan_question(connection, COUNT).left == own[0]


def test_what_cannot_be_had_is_called_impossible(folder):
    with connect(folder) as connection:
        few = plan_question(connection, COUNT, accuracy="0.00001", people=10_000)
        assert few.accuracy is not None
        assert few.accuracy.within < 1
        assert few.verdict is Feasibility.IMPOSSIBLE
        assert "packing" in str(few)
        nobody = f"{COUNT} WHERE age > 200"  # it is always 0, so it can be had
        empty = plan_question(connection, nobody, accuracy="0.00001", people=10_000)
        assert empty.verdict is Feasibility.OPEN
        groups = plan_question(connection, GROUPS, accuracy="±3 at 99 %")
        assert groups.verdict is Feasibility.OPEN
        assert groups.to_json()["verdict"] == "open"


def test_rows_change_nothing_of_a_plan(tmp_path):
    """It never counts: nine people and nine hundred give the same plan."""
    said = []
    for count in (9, 900):
        place = tmp_path / str(count)
        place.mkdir()
        write_project(place, [visit(f"p{i}") for i in range(count)], epsilon="2")
        with connect(place) as connection:
            said.append(str(plan_question(connection, GROUPS, accuracy="±5", people=500)))
    assert said[0] == said[1]


def test_bad_questions_are_told(folder):
    with connect(folder) as connection:
        with pytest.raises(DiscreetError, match="not about 'others'"):
            plan_question(connection, COUNT, table="others")
        with pytest.raises(InvalidArgument, match="accuracy"):
            plan_question(connection, COUNT, accuracy="near")
        with pytest.raises(DiscreetError):
            plan_question(connection, "SELECT name FROM visits")
        with pytest.raises(InvalidArgument, match="free"):
            plan_question(connection, "SELECT DISTINCT clinic FROM visits")


def test_averages_have_a_price_with_people_and_no_share(folder):
    """An average errs by how many people there are; a share of the people is none of a number."""
    average = "SELECT AVG(age) FROM visits"
    with connect(folder) as connection:
        alone = plan_question(connection, average, accuracy="±0.5")
        assert alone.verdict is Feasibility.OPEN
        assert "depends on how many rows" in str(alone)
        found = plan_question(connection, average, accuracy="±0.5", people=5_000)
        assert found.accuracy is not None
        assert found.accuracy.within == Fraction(1, 2)
        assert found.verdict is Feasibility.ACHIEVABLE
        said: Any = connection.explain(average, accuracy=found.accuracy)
        assert found.cost == said.priced.loss
        with pytest.raises(InvalidArgument, match="share of the people is for counts"):
            plan_question(connection, average, accuracy="0.5", people=5_000)
        near = plan_question(connection, COUNT, accuracy="±0.5", people=5_000)
        assert near.accuracy is not None
        assert near.accuracy.within == Fraction(1, 2)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT AVG(age) FROM visits",
        "SELECT COUNT(*) / 1000 FROM visits",
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 1000000000",
        "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n DESC LIMIT 1",
    ],
)
def test_what_is_no_plain_count_is_not_refuted_as_one(folder, query):
    """Within ±0.4 a plain count is refuted; a count inside of something else is nobody's output."""
    with connect(folder) as connection:
        plain = plan_question(connection, COUNT, accuracy="±0.4 at 99 %", people=10_000)
        assert plain.verdict is Feasibility.IMPOSSIBLE
        other = plan_question(connection, query, accuracy="±0.4 at 99 %", people=10_000)
        assert other.verdict is not Feasibility.IMPOSSIBLE


def test_what_costs_more_than_is_left_is_told(folder):
    with connect(folder) as connection:
        dear = plan_question(connection, GROUPS, accuracy="±1 at 99.9 %")
        assert dear.times == 0
        assert "more than is left" in str(dear)


def test_groups_without_keys_have_a_price_where_a_delta_is_left(tmp_path):
    """Below it stands what is left would buy: so to call it open was not true."""
    query = "SELECT note, COUNT(*) FROM visits GROUP BY note"
    write_project(tmp_path, [visit(f"p{i}") for i in range(9)], epsilon="2, delta = 1e-6")
    with connect(tmp_path) as connection:
        found = plan_question(connection, query, accuracy="±50")
        assert found.verdict is Feasibility.ACHIEVABLE
        assert isinstance(found.cost, Approximate)
        assert found.times
        assert not found.because
        for _ in range(found.times):
            connection.sql(query, accuracy="±50", delta=found.cost.delta, fresh=True)
        dear = plan_question(connection, query, accuracy="±1")
        assert dear.verdict is Feasibility.OPEN
        assert "more than is left" in str(dear)


def test_a_share_with_an_exception_can_be_refuted(tmp_path):
    """A budget in approximate zCDP has a group loss by the (ε, δ) that it implies."""
    write_project(tmp_path, [visit(f"p{i}") for i in range(9)], epsilon="2")
    declared = tmp_path / "discreet.toml"
    text = declared.read_text(encoding="utf-8")
    declared.write_text(text.replace("epsilon = 2", "rho = 0.01, delta = 1e-9"), encoding="utf-8")
    with connect(tmp_path) as connection:
        found = plan_question(connection, COUNT, accuracy="±0.4 at 99.9 %", people=10_000)
        assert found.verdict is Feasibility.IMPOSSIBLE
        assert "packing" in str(found)
        cheap = plan_question(connection, COUNT, accuracy="±400", people=10_000)
        assert cheap.verdict is Feasibility.ACHIEVABLE


@pytest.mark.parametrize("aggregate", ["COUNT(*)", "MEDIAN(age)", "SUM(cost)"])
def test_a_budget_in_mu_is_planned_with_prices_in_rho(tmp_path, aggregate):
    """What a ρ costs in μ² depends on the noise; each part buys what it says for no more."""
    query = f"SELECT {aggregate} FROM visits"
    write_project(tmp_path, [visit(f"p{i}") for i in range(9)], epsilon="2")
    declared = tmp_path / "discreet.toml"
    text = declared.read_text(encoding="utf-8")
    declared.write_text(text.replace("epsilon = 2", "mu = 1"), encoding="utf-8")
    with connect(tmp_path) as connection:
        found = plan_question(connection, query)
        assert [one.share for one in found.spendings] == list(SHARES)
        for one in found.spendings:
            assert isinstance(one.loss, GaussianDp)
            said = _explain_for(connection, query, one.loss)
            assert isinstance(said, Explanation)
            assert one.loss * Fraction(9, 10) <= said.priced.loss <= one.loss
        if aggregate == "COUNT(*)":
            wanted = plan_question(connection, query, accuracy="±20")
            assert wanted.verdict is Feasibility.ACHIEVABLE
            never = plan_question(connection, query, accuracy="±0.1 at 99.99 %")
            assert never.verdict is Feasibility.IMPOSSIBLE
