"""Plans: four give the fifth, verdicts are true, and bad input is told."""

import contextlib
import math
import re
from fractions import Fraction
from typing import Any

import pytest

from discreet.adaptive.rows_needed import least_rows
from discreet.core.contribution import Contribution
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds
from discreet.planner.plan import plan
from discreet.planner.task_names import TASKS
from discreet.planner.tasks.counts import MarginalsTask, cube
from discreet.planner.verdict import Feasibility


def test_oracles_of_the_largest_error_of_pure_noise():
    """314, 2,340 and 21,052 people if they are replaced: half of that if they are added."""
    for columns, replaced in ((10, 314), (100, 2_340), (1_000, 21_052)):
        found = plan("marginals", within="0.1", loss=Pure(1), dimension=columns)
        way = cube(Pure(1), Fraction(1, 20), columns)
        assert way is not None
        assert float(way.error) * 10 == pytest.approx(
            replaced / 2, rel=0.16 if columns == 10 else 0.05
        )
        assert found.ways[0].error <= way.error


def test_a_cube_of_a_huge_loss_is_drawn_for_a_smaller_one():
    """The tail for such an ε has a logarithm that no table holds."""
    for columns in (1, 1_000, 10**6):
        ways = [cube(Pure(epsilon), Fraction(1, 20), columns) for epsilon in (10**4, 10**6)]
        assert ways[0] == ways[1] is not None


def test_oracles_of_adaptive_questions():
    """1.98e6 rows for 1,000 questions by the repaired theorem; fewer by a later one."""
    printed = least_rows(alpha="0.1", questions=1_000, beta="0.05", method="gaussian/overfitting")
    assert printed.rows <= 1_980_000
    found = plan("adaptive", within="0.1", dimension=1_000)
    assert found.people <= printed.rows
    assert found.loss is None
    assert "√questions / error = 316" in str(found)
    # 64 (24 π n)² 11 questions, if one-way functions exist; without that nothing of it is known.
    most = 704 * (24 * math.pi * found.people) ** 2
    said = re.search(r"if one-way functions exist, no quick mechanism answers (\S+) ", str(found))
    assert said is not None
    assert most <= float(said[1]) <= 1.001 * most  # rounded up: fewer are not refuted
    assert "rows of twice as many bits" in str(found)
    # Answers in [-1, 1] within 0.99; the middle is always within half of the range.
    assert f"questions within {0.99 / 2:.1%} of the range" in str(found)


def test_the_oracle_of_between_thresholds():
    """The printed theorem asks for n ≥ 2066 at α = 0.1; the certified gap and errors for less."""
    asked = max(12 * math.log(30 * 10**6), 16 * math.log(1_001 / 0.05)) / 0.1
    assert round(asked) == 2_066
    one = Contribution(linf=1)
    machine = BetweenThresholds.calibrate(d_in=one, loss=Approximate(1, "1e-6"), centre=1_000)
    needs = (machine.upper - machine.lower) / 2 + machine.error_quantile("0.05", queries=1_000)
    assert needs / Fraction(1, 10) <= 2_066


def test_a_loss_with_an_exception_is_planned_as_what_it_implies():
    """δ-approximate zCDP has the ways of zCDP; of no δ it is zCDP, and has its bounds too."""
    given: dict[str, Any] = {"people": 400, "within": "0.02", "dimension": 30}
    plain = plan("histogram", loss=Zcdp("0.2"), **given)
    same = plan("histogram", loss=ApproximateZcdp(rho="0.2", delta=0), **given)
    assert (same.ways, same.impossible_within) == (plain.ways, plain.impossible_within)
    loose = plan("histogram", loss=ApproximateZcdp(rho="0.2", delta="1e-9"), **given)
    assert loose.ways == plain.ways
    assert loose.impossible_within is not None
    assert plain.impossible_within is not None
    assert 0 < loose.impossible_within < plain.impossible_within
    pure = plan("histogram", loss=Approximate(1, 0), **given)
    assert pure.impossible_within == plan("histogram", loss=Pure(1), **given).impossible_within


def test_where_there_is_no_way_at_all_that_is_said():
    """No loss at all: nobody is within a share, however many people there are."""
    nothing = plan("count", people=100, within="0.1", loss=Approximate(0, 0))
    assert nothing.verdict is Feasibility.IMPOSSIBLE
    assert "no way here is known for this loss" in str(nothing)
    assert nothing.people_refuted is not None
    assert nothing.people_refuted > 10**12
    assert "1 person," in str(plan("count", people=1, within="0.9", loss=Pure(1)))


def test_what_is_known_as_a_rate_is_a_remark():
    """[Das22, theorem 9.3, 3] for ρ; the continuum; numbers that are not on the grid."""
    rows = plan("histogram", people=900, within="0.1", loss=Zcdp("0.5"), dimension=100)
    assert f"ln(groups)/ρ = {math.log(100) / 0.5:.3g}" in str(rows)
    assert "rate" in str(rows)
    for task in ("median", "thresholds"):
        for loss, says in ((Pure(1), "on the continuum"), (Approximate(1, "1e-6"), "log*")):
            assert says in str(plan(task, people=900, within="0.1", loss=loss, dimension=9))
    for task in ("sum", "mean"):
        assert "0.049%" in str(plan(task, people=900, within="0.1", loss=Pure(1)))


def test_few_plans_are_tried_to_find_what_is_missing(monkeypatch):
    """A search starts where errors are likely to be small enough, and finds the same."""
    tried: list[Any] = []
    ways = MarginalsTask.ways

    def counted(*given: Any) -> Any:
        tried.append(given)
        return ways(*given)

    monkeypatch.setattr(MarginalsTask, "ways", counted)
    given: dict[str, Any] = {"people": 100_000, "within": "0.1"}
    assert plan("marginals", dimension=1_000, **given).loss == Pure("0.106")
    assert len(tried) < 14
    tried.clear()
    found = plan("marginals", loss=Pure(1), **given)
    assert found.dimension == 9_719
    assert len(tried) < 30
    for dimension, verdict in ((9_719, "achievable"), (9_720, "open")):
        one = plan("marginals", loss=Pure(1), dimension=dimension, **given)
        assert one.verdict.value == verdict


DIMENSIONS = {"k-way": 4, "synthetic": 6, "quantiles": 64, "survey-shares": 8}


@pytest.mark.parametrize("task", [name for name in TASKS if name != "adaptive"])
def test_each_of_the_five_gives_back_the_others(task):
    kind = TASKS[task]
    dimension = None if kind.dimension is None else DIMENSIONS.get(task, 50)
    loss, within = Pure("0.5"), Fraction(1, 20)
    first = plan(task, within=within, loss=loss, dimension=dimension)
    assert first.verdict is Feasibility.ACHIEVABLE
    assert first.people_refuted is None or first.people_refuted < first.people
    fewer = plan(task, people=first.people - 1, within=within, loss=loss, dimension=dimension)
    assert fewer.verdict is not Feasibility.ACHIEVABLE
    assert fewer.people_needed == first.people
    again = plan(task, people=first.people, loss=loss, dimension=dimension)
    assert again.within <= within
    chance = plan(
        task, people=first.people, within=within, beta=None, loss=loss, dimension=dimension
    )
    assert Fraction(1, 80) <= chance.beta <= Fraction(1, 5)
    cheap: Any = plan(task, people=first.people, within=within, dimension=dimension)
    assert cheap.loss.epsilon <= Fraction("0.505")
    if dimension is not None and task != "synthetic":
        wide = plan(task, people=first.people, within=within, loss=loss)
        assert wide.verdict is Feasibility.ACHIEVABLE
        assert wide.dimension is not None
        assert wide.dimension >= dimension


@pytest.mark.parametrize("loss", [Approximate(1, "1e-6"), Zcdp("0.1")], ids=str)
@pytest.mark.parametrize("task", [name for name in TASKS if name != "adaptive"])
def test_other_measures_are_planned_too(task, loss):
    dimension = None if TASKS[task].dimension is None else DIMENSIONS.get(task, 50)
    found = plan(task, within="0.05", loss=loss, dimension=dimension)
    assert found.verdict is Feasibility.ACHIEVABLE
    assert found.to_json()["ways"][0]["within"] <= 0.0501


def test_verdicts_and_words():
    impossible = plan("count", people=100, within="0.001", loss=Pure("0.1"))
    assert impossible.verdict is Feasibility.IMPOSSIBLE
    assert "nobody: within" in str(impossible)
    assert "packing" in impossible.because
    assert impossible.margin is not None
    assert impossible.margin > 1
    between = plan("count", people=1_000, within="0.02", loss=Pure("0.1"))
    assert between.verdict is Feasibility.OPEN
    said = between.to_json()
    assert said["verdict"] == "open"
    assert said["impossible_within"] < 0.02 < said["ways"][0]["within"]
    listed = plan("marginals", people=900, within="0.02", loss=Pure(1), dimension=9).bounds_text()
    assert "does not apply: it is for zCDP" in listed


@pytest.mark.parametrize("people", [997, 5_003, 120_011])
def test_what_is_printed_is_no_better_than_what_is_true(people):
    """What a way is within is rounded up, and what nobody is within is rounded down."""
    found = plan("marginals", people=people, within="1/7", loss=Zcdp("0.01"), dimension=77)
    printed = dict(re.findall(r"^  (.+?): within ([0-9.]+)%", str(found), flags=re.MULTILINE))
    useful = [one for one in found.ways if one.error < people]
    assert useful
    for one in useful:
        assert Fraction(printed[one.name]) >= 100 * one.error / people
        assert Fraction(printed[one.name]) <= 101 * one.error / people
    assert found.impossible_within is not None
    assert 99 * found.impossible_within <= Fraction(printed["nobody"])
    assert Fraction(printed["nobody"]) <= 100 * found.impossible_within
    assert "within 14.29% of them" in str(found)


def test_a_confidence_is_one_less_a_chance():
    first = plan("count", within="0.01", confidence="0.99", loss=Pure(1))
    assert first == plan("count", within="0.01", beta="0.01", loss=Pure(1))
    with pytest.raises(InvalidArgument, match="said twice"):
        plan("count", within="0.01", confidence="0.9", beta="0.2", loss=Pure(1))


@pytest.mark.parametrize(
    ("task", "given", "says"),
    [
        ("mode", {"people": 3, "within": "0.1", "loss": Pure(1)}, "task is unknown"),
        ("count", {"loss": Pure(1)}, "people and within"),
        (
            "histogram",
            {"people": 3, "within": "0.1", "dimension": 0, "loss": Pure(1)},
            "dimension|1",
        ),
        ("count", {"people": 3, "within": "0.1", "dimension": 5, "loss": Pure(1)}, "no dimension"),
        ("count", {"people": 3, "within": "0.1", "order": 5, "loss": Pure(1)}, "no order"),
        ("k-way", {"people": 3, "within": "0.1", "dimension": 2, "order": 3, "loss": Pure(1)}, ""),
        ("quantiles", {"people": 9, "dimension": 9, "order": 0, "loss": Pure(1)}, "from 1 to"),
        ("count", {"people": 0, "within": "0.1", "loss": Pure(1)}, "people"),
        ("count", {"people": 9, "within": "1", "loss": Pure(1)}, "out of range"),
        ("count", {"people": 9, "within": "nan", "loss": Pure(1)}, "number"),
        ("count", {"people": 9, "within": "0.1", "confidence": 1, "loss": Pure(1)}, "confidence"),
        ("count", {"people": 9, "within": "0.1", "confidence": 0, "loss": Pure(1)}, "confidence"),
        (
            "count",
            {"people": 9, "within": "0.1", "beta": 2, "loss": Pure(1)},
            "between|0 and 1|below",
        ),
        ("count", {"people": 9, "loss": GaussianDp(mu_squared=1)}, "No way"),
        ("count", {"people": 9, "loss": Pure(0)}, "No way"),
        ("count", {"people": 9, "within": "0.1", "loss": 1}, "loss is not one"),
        (
            "median",
            {"people": 9, "within": "0.1", "dimension": math.inf, "loss": Pure(1)},
            "On the continuum nobody can.*BLR13",
        ),
        (
            "histogram",
            {"people": 9, "within": "0.1", "dimension": math.inf, "loss": Pure(1)},
            "not a number",
        ),
        ("count", {"people": 9, "within": "0.1", "loss": "ε = 1"}, "loss is not one"),
        ("count", {"people": 2, "loss": Pure(1)}, "too few people.*at least 4"),
        ("marginals", {"people": 2, "within": "0.1", "loss": Pure(1)}, "Not even 1"),
        ("adaptive", {"people": 2, "within": "0.1", "dimension": 9, "loss": Pure(1)}, "no loss"),
        ("adaptive", {"people": 9, "dimension": 10**6}, "too few|No way"),
    ],
)
def test_bad_input_is_told(task, given, says):
    with pytest.raises(InvalidArgument, match=f"(?s){says}"):
        plan(task, **given)


@pytest.mark.parametrize(
    "loss",
    [
        Pure("1e-9"),
        Pure(10**6),
        Approximate("1e-9", "1e-30"),
        Approximate("1e-40", "1e-6"),
        Approximate(10**6, "0.999"),
    ],
    ids=str,
)
@pytest.mark.parametrize("task", ["count", "marginals", "median"])
def test_odd_numbers_give_a_plan_or_a_reason(task, loss):
    for dimension in (2, 10**9):
        for people in (1, 10**12):
            given: dict[str, Any] = {} if task == "count" else {"dimension": dimension}
            with contextlib.suppress(DiscreetError):  # a reason, and no failure of another kind
                found = plan(
                    task, people=people, within="0.001", confidence="0.999999", loss=loss, **given
                )
                assert str(found)
