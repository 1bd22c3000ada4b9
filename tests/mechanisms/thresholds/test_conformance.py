"""The machines that run have the law that was proved private."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.laws import EnclosedLaw
from discreet.core.contribution import Contribution
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds
from discreet.mechanisms.thresholds.sparse_vector import SparseVector, ThresholdNoise
from tests.mechanisms.thresholds.transcripts import between_law, pairs_law, stopping_law
from tests.support.statistics.exact_tests import alpha, cells_p_value

ONE = Contribution(linf=1)
RUNS = 8000
VALUES = [-3, 1, -2, 0, 2, -1, 3]
NOISES: dict[str, tuple[ThresholdNoise, ThresholdNoise]] = {
    "laplace": (DiscreteLaplace(scale=2), DiscreteLaplace(scale=4)),
    "gaussian": (DiscreteGaussian(sigma_squared=4), DiscreteGaussian(sigma_squared=16)),
    "hybrid": (DiscreteGaussian(sigma_squared=4), DiscreteLaplace(scale=3)),
}
WRONG = DiscreteLaplace(scale="1/2")


def numbered(law: EnclosedLaw) -> tuple[dict, dict[int, Fraction]]:
    """Number the outcomes, and return their probabilities by number."""
    numbers = {outcome: index for index, outcome in enumerate(law.masses)}
    return numbers, {numbers[outcome]: low for outcome, (low, _) in law.masses.items()}


@pytest.mark.parametrize("most_above", [1, 2])
@pytest.mark.parametrize("name", NOISES)
def test_sparse_vector_has_its_law(name: str, most_above: int, rng):
    threshold_noise, query_noise = NOISES[name]
    machine = SparseVector(
        threshold_noise=threshold_noise,
        query_noise=query_noise,
        most_above=most_above,
        most_queries=len(VALUES),
    )
    exact = stopping_law if most_above == 1 else pairs_law
    share = alpha("thresholds/law", parts=12)
    right = exact(VALUES, threshold_noise=threshold_noise, query_noise=query_noise, reach=80)
    wrong = exact(VALUES, threshold_noise=WRONG, query_noise=query_noise, reach=80)
    numbers, cells = numbered(right)
    sample = []
    for _ in range(RUNS):
        answers = machine.open(threshold=5, d_in=ONE, rng=rng).ask_many(np.array(VALUES) + 5)
        places = tuple(np.flatnonzero(answers).tolist())
        outcome = None if not places else places[0] if len(places) == 1 else places
        sample.append(numbers[outcome])
    assert cells_p_value(sample, cells) > share
    assert cells_p_value(sample, {numbers[o]: low for o, (low, _) in wrong.masses.items()}) < share


def test_between_thresholds_has_its_law(rng):
    scales = (Fraction(2), Fraction(6))
    machine = BetweenThresholds(threshold_scale=scales[0], query_scale=scales[1], lower=0, upper=30)
    values = [0, 30, 15, -4]
    right = between_law(values, lower=0, upper=30, scales=scales, reach=110)
    wrong = between_law(values, lower=0, upper=30, scales=(scales[0], Fraction(2)), reach=110)
    numbers, cells = numbered(right)
    letters = {-1: "L", 0: "T", 1: "R"}
    sample = []
    for _ in range(RUNS // 2):
        answers = machine.open(d_in=ONE, epsilon=2, rng=rng).ask_many(np.array(values))
        sample.append(numbers["".join(letters[side] for side in answers.tolist())])
    share = alpha("thresholds/between_law", parts=2)
    assert cells_p_value(sample, cells) > share
    assert cells_p_value(sample, {numbers[o]: low for o, (low, _) in wrong.masses.items()}) < share
