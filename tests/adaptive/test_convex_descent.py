"""Convex losses: the bound against the truth, its parts afresh, and what is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from discreet.adaptive.convex_descent import convex_minimum
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.question_mix import QuestionMix
from discreet.core.errors import InvalidArgument


def held(random, rng, rows=20_000, **changes):
    values = np.column_stack([random.beta(2, 5, rows), random.random(rows)])
    holdout = Holdout(values, **{"questions": 60, "alpha": "0.9", **changes})
    holdout._rng = rng
    return holdout


def toward(row, point):
    """Return the gradient of |row - point| in both coordinates, halved."""
    return [np.sign(point[0] - row[0]) / 2, np.sign(point[1] - row[1]) / 2]


def all_toward(rows, point):
    """Return the same of all rows at once."""
    return np.sign(np.array(point) - rows) / 2


def truth(point):
    """Return E |row - point| over the population, halved, by a large sample of its own."""
    random = np.random.default_rng(99)
    rows = np.column_stack([random.beta(2, 5, 200_000), random.random(200_000)])
    return np.abs(rows - np.array([float(one) for one in point])).sum(axis=1).mean() / 2


def test_the_bound_holds_and_the_point_is_near_the_best(rng):
    random = np.random.default_rng(4)
    found = convex_minimum(
        held(random, rng), all_toward, box=[(0, 1), (0, 1)], steps=30, is_batch=True
    )
    best = optimize.minimize(truth, [0.5, 0.5], method="Nelder-Mead").fun
    assert found.questions == 60
    assert 0 <= truth(found.point) - best + 0.002 <= float(found.excess) + 0.004
    assert truth(found.point) - best < 0.05
    assert "worse than the best point" in str(found)


def test_the_bound_is_the_largest_over_the_box(rng):
    """From the transcript alone: no point of a grid makes the sum of the proof larger."""
    holdout = held(np.random.default_rng(5), rng, questions=10)
    seen: list[tuple[float, ...]] = []

    def gradient(row, point):
        if not seen or seen[-1] != point:
            seen.append(point)
        return toward(row, point)

    found = convex_minimum(holdout, gradient, box=[(0, 1), (-1, 3)], steps=5, low=-1, high=1)
    told: Any = holdout.transcript
    slopes = np.array([float(one.value) for one in told]).reshape(5, 2)
    points, error = np.array(seen), 2 * float(holdout.guarantee.alpha)
    assert np.allclose(points.mean(axis=0), [float(one) for one in found.point])
    worst = -np.inf
    for first in np.linspace(0, 1, 21):
        for second in np.linspace(-1, 3, 21):
            off = points - np.array([first, second])
            worst = max(worst, ((slopes * off).sum() + error * np.abs(off).sum()) / 5)
    assert worst <= float(found.excess) + 1e-12
    assert ((points >= [0, -1]) & (points <= [1, 3])).all()


def test_a_mix_pays_with_means(rng):
    mix = QuestionMix(means=8, choices=1)
    holdout = held(np.random.default_rng(6), rng, questions=mix)
    convex_minimum(holdout, toward, box=[(0, 1), (0, 1)], steps=4)
    assert holdout.left_by_kind == {"means": 0, "choices": 1}


def test_what_is_refused_asks_nothing(rng):
    holdout = held(np.random.default_rng(7), rng)
    usual: dict[str, Any] = {"box": [(0, 1), (0, 1)], "steps": 3}
    wrongs: tuple[tuple[Any, dict[str, Any], str], ...] = (
        (toward, {"steps": 31}, "be 62"),
        (toward, {"steps": 0}, "steps"),
        (toward, {"box": []}, "no coordinate"),
        (toward, {"box": [(1, 0)]}, "range is empty"),
        (toward, {"low": 1, "high": 1}, "range is empty"),
        ("x", {}, "function"),
    )
    for gradient, changes, said in wrongs:
        with pytest.raises(InvalidArgument, match=said):
            convex_minimum(holdout, gradient, **{**usual, **changes})
    assert holdout.left == 60
    average = held(np.random.default_rng(7), rng, method="gaussian/expectation")
    with pytest.raises(InvalidArgument, match="on average"):
        convex_minimum(average, toward, **usual)
    assert average.left == 60


def test_a_gradient_that_fails_is_the_middle(rng):
    """Of no use, and no error: the bound says so, as answers near 0 tell of no descent."""
    holdout = held(np.random.default_rng(8), rng)
    found = convex_minimum(holdout, lambda row, point: row.none, box=[(0, 1), (0, 1)], steps=5)
    assert found.excess <= Fraction(3)
    assert holdout.left == 50
