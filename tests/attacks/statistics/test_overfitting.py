"""Adding up signs overfits exact answers as its law says, and noisy ones as much less."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.attacks.statistics.overfitting import expected_excess, overfit
from discreet.attacks.statistics.sign_data import uniforms
from discreet.core.errors import InvalidArgument
from tests.support.statistics.exact_tests import alpha

PEOPLE = 1001


@pytest.mark.parametrize(
    ("queries", "deviation", "simulated"),
    [(100, 0.0, 0.103), (1000, 0.0, 0.287), (1000, 0.064, 0.0761), (5000, 0.091, 0.118)],
)
def test_the_law_is_that_of_the_simulations(queries, deviation, simulated):
    assert expected_excess(PEOPLE, queries, deviation=deviation) == pytest.approx(
        simulated, abs=0.005
    )


@pytest.mark.parametrize(
    ("queries", "deviation", "runs"), [(100, 0.0, 100), (1000, 0.0, 20), (1000, 0.064, 20)]
)
def test_the_excess_is_as_the_law_says(queries, deviation, runs, rng):
    """To 0.01, and the width of the test: an average over samples of 1,001 people."""
    sample = np.arange(PEOPLE)
    normal = iter(stats.norm.ppf(uniforms((queries * runs,), rng) + 2.0**-55))

    def answer(query):
        return query.mean() + deviation * next(normal)

    excess = np.mean(
        [
            overfit(answer, universe=PEOPLE, queries=queries, rng=rng).excess_on(sample)
            for _ in range(runs)
        ]
    )
    width = stats.norm.isf(alpha("attacks/overfit/law", parts=6)) * 0.5 / np.sqrt(PEOPLE * runs)
    law = expected_excess(PEOPLE, queries, deviation=deviation)
    assert abs(excess - law) < 0.01 + width
    assert excess > law / 4


@pytest.mark.parametrize("deviation", [0.005, 0.0158, 0.05, 0.5])
@pytest.mark.parametrize("kind", ["normal", "laplace"])
def test_a_vote_agrees_with_a_person_as_often_as_the_law_says(kind, deviation):
    """By summing over all samples: how often answer and person are on one side of one half.

    Where noise prevails, Laplace noise leaves more than normal noise of its deviation.
    """
    law = (
        stats.norm(scale=deviation) if kind == "normal" else stats.laplace(scale=deviation / 2**0.5)
    )
    others = np.arange(PEOPLE)
    away = (1 + others) / PEOPLE - 0.5
    agree = float((stats.binom(PEOPLE - 1, 0.5).pmf(others) * law.sf(-away)).sum())
    noise = {"deviation": deviation} if kind == "normal" else {"scale": deviation / 2**0.5}
    said = stats.norm.ppf(0.5 + expected_excess(PEOPLE, 1000, **noise)) / 1000**0.5
    assert said == pytest.approx(2 * agree - 1, rel=0.01)


def test_the_law_joins_its_limits():
    """Little noise is none, much noise is its density at 0, and the two densities differ."""
    assert expected_excess(101, 50, scale=1e-12) == expected_excess(101, 50)
    assert expected_excess(101, 50, scale=1e-7) == pytest.approx(expected_excess(101, 50), rel=1e-5)
    normal, laplace = (
        stats.norm.ppf(0.5 + expected_excess(101, 50, **noise))
        for noise in ({"deviation": 100.0}, {"scale": 100 / np.sqrt(2)})
    )
    assert laplace / normal == pytest.approx(np.sqrt(np.pi), rel=1e-3)


def test_a_fresh_sample_shows_no_excess(rng):
    sample = np.arange(500)
    found = overfit(lambda query: query[sample].mean(), universe=5000, queries=1000, rng=rng)
    width = stats.norm.isf(alpha("attacks/overfit/fresh", parts=2)) * 0.5
    assert found.excess_on(sample) > 0.2
    assert abs(found.excess_on(np.arange(500, 5000))) < width / np.sqrt(4500)
    assert abs(found.population_value - 0.5) < 0.1


def test_bad_parameters_are_refused(rng):
    with pytest.raises(InvalidArgument):
        overfit(lambda _: 0.5, universe=0, queries=3, rng=rng)
    ways: list[Any] = [lambda _: float("nan"), lambda _: "x", lambda _: None, lambda _: [0.5]]
    for answer in ways:
        with pytest.raises(InvalidArgument, match="no number"):
            overfit(answer, universe=3, queries=3, rng=rng)
    with pytest.raises(InvalidArgument):
        expected_excess(10, 10, deviation=-1)
    with pytest.raises(InvalidArgument, match="scale"):
        expected_excess(10, 10, scale=float("nan"))


def test_answers_of_one_half_teach_nothing(rng):
    found = overfit(lambda _: 0.5, universe=2000, queries=5, rng=rng)
    width = stats.norm.isf(alpha("attacks/overfit/nothing")) * 0.5 / np.sqrt(2000)
    assert abs(found.population_value - 0.5) < width
