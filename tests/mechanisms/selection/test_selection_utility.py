"""Utility theorems of private choices: exact worst cases, and simulation at the stated β."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.audit.exponential_sum import exp
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.top_k import TopK
from tests.mechanisms.selection.laws import exponential_noise_law, laplace_law
from tests.support.statistics.exact_tests import alpha

KINDS = (ExponentialMechanism, PermuteAndFlip, LaplaceNoisyMax)
BETA = Fraction(1, 20)
RUNS = 2000


def fails_too_often(failures: int, runs: int, beta: Fraction) -> float:
    """The chance of so many failures or more if each had probability ``beta``."""
    return float(stats.binom.sf(failures - 1, runs, float(beta)))


@pytest.mark.parametrize("candidates", [2, 10, 1000])
@pytest.mark.parametrize("best", [1, 2])
def test_exponential_error_is_the_worst_case_exactly(candidates: int, best: int):
    scale, others = Fraction(7, 2), candidates - best
    t = ExponentialMechanism(scale=scale).error_quantile(BETA, candidates=candidates, best=best)

    def is_enough(gap: Fraction) -> bool:
        bad = others * exp(-gap / scale)
        return bad <= BETA * (best + bad)

    assert is_enough(t + 1)
    assert t == 0 or not is_enough(t)


@pytest.mark.parametrize("candidates", [2, 5])
def test_permute_and_flip_error_is_the_worst_case_exactly(candidates: int):
    scale = Fraction(7)
    t = int(PermuteAndFlip(scale=scale).error_quantile(BETA, candidates=candidates))

    def is_enough(gap: int) -> bool:
        law = exponential_noise_law([0, *[-gap] * (candidates - 1)], scale)
        return law.total - law.weights[0] <= BETA * law.total

    assert is_enough(t + 1)
    assert not is_enough(t)


@pytest.mark.parametrize("candidates", [2, 6])
def test_laplace_error_holds_in_the_worst_case(candidates: int):
    t = int(LaplaceNoisyMax(scale=2).error_quantile(BETA, candidates=candidates))
    law = laplace_law([*[-t - 1] * (candidates - 1), 0], 2)
    assert 1 - law.masses[candidates - 1,][0] <= BETA


@pytest.mark.parametrize("candidates", [2, 100, 10**6])
def test_permute_and_flip_is_never_worse(candidates: int):
    for beta in ("1/2", "1/20", "1/1000"):
        one = PermuteAndFlip(scale=30).error_quantile(beta, candidates=candidates)
        other = ExponentialMechanism(scale=30).error_quantile(beta, candidates=candidates)
        assert one <= other


def test_stated_bounds_of_the_sources_hold():
    """At most scale · ln(N/(N* β)), the usual theorem, and the bound of two counts 0 and c."""
    for candidates, best in ((2, 1), (1000, 1), (1000, 10)):
        usual = 5 * np.log(candidates / best / float(BETA))
        own = ExponentialMechanism(scale=5)
        assert own.error_quantile(BETA, candidates=candidates, best=best) <= usual
    assert ExponentialMechanism(scale=5).error_quantile(BETA, candidates=1) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_error_holds_in_simulation(kind, rng):
    mechanism, candidates = kind(scale=4), 50
    t = int(mechanism.error_quantile(BETA, candidates=candidates))
    scores = np.array([0, *[-t - 1] * (candidates - 1)])
    failures = sum(mechanism.select(scores, rng) != 0 for _ in range(RUNS))
    share = alpha("selection/error", parts=len(KINDS))
    assert fails_too_often(failures, RUNS, BETA) > share
    near = np.array([0, *[-(t // 2)] * (candidates - 1)])
    failures = sum(mechanism.select(near, rng) != 0 for _ in range(RUNS))
    assert fails_too_often(failures, RUNS, BETA) < share, "half the bound would not do"


def test_top_k_error_holds_in_simulation(rng):
    top, scores = TopK(scale=2, count=3), np.array([40, 35, 30, *[0] * 30])
    t = int(top.error_quantile(BETA, candidates=scores.size))
    ordered = np.sort(scores)[::-1]
    failures = 0
    for _ in range(RUNS):
        chosen = scores[top.select(scores, rng)]
        failures += bool((chosen < ordered[:3] - t).any())
    assert fails_too_often(failures, RUNS, BETA) > alpha("selection/top-k error")
