"""Plans: four give the fifth, verdicts are true, and bad input is told."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, GaussianDp, Pure, Zcdp
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.planner.plan import Feasibility, plan
from tests.support.statistics.exact_tests import alpha, binomial_p_value


def test_oracles_of_the_largest_error_of_pure_noise():
    """314, 2,340 and 21,052 people if they are replaced: half of that if they are added."""
    for columns, replaced in ((10, 314), (100, 2_340), (1_000, 21_052)):
        found = plan("marginals", within="0.1", loss=Pure(1), dimension=columns)
        assert found.people == pytest.approx(replaced / 2, rel=0.16 if columns == 10 else 0.05)
        assert found.ways[0].name == "cube of random size"


@pytest.mark.parametrize("loss", [Pure("0.5"), Approximate(1, "1e-6"), Zcdp("0.1")], ids=str)
@pytest.mark.parametrize("task", ["count", "histogram", "marginals"])
def test_each_of_the_five_gives_back_the_others(task, loss):
    dimension = None if task == "count" else 50
    first = plan(task, within="0.01", loss=loss, dimension=dimension)
    assert first.verdict is Feasibility.ACHIEVABLE
    fewer = plan(task, people=first.people - 1, within="0.01", loss=loss, dimension=dimension)
    assert fewer.verdict is not Feasibility.ACHIEVABLE
    again = plan(task, people=first.people, loss=loss, dimension=dimension)
    assert again.within <= Fraction("0.01")
    chance = plan(
        task, people=first.people, within="0.01", beta=None, loss=loss, dimension=dimension
    )
    assert Fraction(1, 40) < chance.beta * 2 <= Fraction(1, 5)
    if dimension and not isinstance(loss, Approximate):
        wide = plan(task, people=first.people, within="0.01", loss=loss)
        assert wide.verdict is Feasibility.ACHIEVABLE
        assert int(wide.task.split(" ")[-2].replace(",", "")) >= dimension
    if isinstance(loss, Pure):
        cheap: Any = plan(task, people=first.people, within="0.01", dimension=dimension)
        assert cheap.loss.epsilon <= Fraction("0.505")


def test_what_is_achievable_is_reached(rng):
    """300 releases with the noise that was planned: all groups are within, 19 times in 20."""
    found = plan("histogram", within="0.02", loss=Pure(1), dimension=20)
    noise = DiscreteLaplace.calibrate(d_in=Contribution(l0=1, linf=1), loss=Pure(1))
    draws = noise.release(np.zeros((300, 20), dtype=np.int64), rng)
    missed = int((np.abs(draws).max(axis=1) > float(found.within * found.people)).sum())
    share = alpha("planner/achievable")
    assert missed <= 15 or binomial_p_value(missed, 300, Fraction(1, 20)) > share
    assert missed > 0, "the plan is not wasteful"


def test_verdicts_and_words():
    impossible = plan("count", people=100, within="0.001", loss=Pure("0.1"))
    assert impossible.verdict is Feasibility.IMPOSSIBLE
    assert "nobody: within" in str(impossible)
    assert "packing" in impossible.because
    between = plan("count", people=1_000, within="0.02", loss=Pure("0.1"))
    assert between.verdict is Feasibility.OPEN
    said = between.to_json()
    assert said["verdict"] == "open"
    assert said["impossible_within"] < 0.02 < said["ways"][0]["within"]


@pytest.mark.parametrize(
    ("task", "given", "says"),
    [
        ("median", {"people": 3, "within": "0.1", "loss": Pure(1)}, "task is unknown"),
        ("count", {"loss": Pure(1)}, "people and within"),
        (
            "histogram",
            {"people": 3, "within": "0.1", "dimension": 0, "loss": Pure(1)},
            "dimension|1",
        ),
        ("count", {"people": 0, "within": "0.1", "loss": Pure(1)}, "people"),
        ("count", {"people": 9, "within": "1", "loss": Pure(1)}, "out of range"),
        ("count", {"people": 9, "within": "nan", "loss": Pure(1)}, "number"),
        (
            "count",
            {"people": 9, "within": "0.1", "beta": 2, "loss": Pure(1)},
            "between|0 and 1|below",
        ),
        ("count", {"people": 9, "within": "0.1", "loss": GaussianDp(mu_squared=1)}, "No noise"),
        ("count", {"people": 9, "within": "0.1", "loss": Pure(0)}, "No noise"),
        ("marginals", {"people": 2, "within": "0.1", "loss": Pure(1)}, "Not even one"),
    ],
)
def test_bad_input_is_told(task, given, says):
    with pytest.raises(InvalidArgument, match=says):
        plan(task, **given)
