"""Lower bounds: no mechanism of the house lies below one, and what they rest on is enumerated."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.core.loss import Approximate, GaussianDp, Pure, Zcdp
from discreet.core.rounding import log_down
from discreet.planner.lower_bounds import Fingerprinting, Packing, Wanted
from discreet.planner.plan import impossible_error
from discreet.planner.tasks import CountTask, HistogramTask, MarginalsTask
from tests.support.statistics.exact_tests import alpha, clopper_pearson

LOSSES = [
    Pure("0.01"),
    Pure(1),
    Pure(8),
    Approximate("0.1", "1e-9"),
    Approximate(1, "1e-6"),
    Approximate(3, "1e-3"),
    Zcdp("0.0001"),
    Zcdp("0.5"),
    Zcdp(20),
]
TASKS = [
    CountTask(),
    HistogramTask(2),
    HistogramTask(1_000),
    HistogramTask(10**9),
    MarginalsTask(1),
    MarginalsTask(30),
    MarginalsTask(10**4),
    MarginalsTask(10**8),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.words)
@pytest.mark.parametrize("beta", ["0.4", "0.05", "1e-9"])
def test_no_mechanism_lies_below_a_bound(task, loss, beta):
    level = Fraction(beta)
    ways = task.ways(loss, level)
    error, _ = impossible_error(task, Wanted(10**12, Fraction(0), level, loss))
    assert error is None or error < ways[0].error


def test_a_bound_that_claims_more_is_found_out():
    """A broken twin: four times the exponent refutes what discrete Laplace noise does."""
    wanted = Wanted(
        10**6, HistogramTask(1_000).ways(Pure(1), Fraction(1, 3))[0].error, Fraction(1, 3), Pure(1)
    )
    assert Packing(log_down(Fraction(1_000))).refutes(wanted) is False
    assert Packing(4 * log_down(Fraction(1_000))).refutes(wanted) is True


def test_packing_by_hand():
    """ε = 1/10, two data sets that differ in k people: k/10 must reach ln 19."""
    packing, beta = Packing(log_down(Fraction(2))), Fraction(1, 20)
    need = 10 * math.log(19)
    for error in range(30):
        told = packing.refutes(Wanted(10**6, Fraction(error), beta, Pure("0.1")))
        assert told is (2 * error + 1 < need)
    assert packing.refutes(Wanted(10, Fraction(9), beta, Pure("0.1"))) is False, "nobody is so many"


def test_zcdp_packing_by_hand():
    packing, beta = Packing(log_down(Fraction(10**6))), Fraction(1, 20)
    told = 0.95 * math.log(10**6) - math.log(2)
    for error in range(40):
        refuted = packing.refutes(Wanted(10**6, Fraction(error), beta, Zcdp("0.01")))
        assert refuted is (told > 0.01 * (2 * error + 1) ** 2)


def test_bounds_say_nothing_about_other_losses():
    wanted = Wanted(100, Fraction(0), Fraction(1, 20), GaussianDp(mu_squared=1))
    assert Packing(log_down(Fraction(2))).refutes(wanted) is None
    assert Fingerprinting(10).refutes(wanted) is None


# ---- What fingerprinting rests on.


def moments(count):
    """Return E[p^i (1-p)^..] in the form: for each x, the law of x and E[sum(x_i - p) | x]."""
    rows = []
    for x in product((-1, 1), repeat=count):
        ones = sum(one == 1 for one in x)
        # p uniform on [-1, 1], so (1 + p)/2 is uniform on [0, 1]: beta integrals.
        chance = Fraction(1, (count + 1) * math.comb(count, ones))
        mean_p = Fraction(2 * (ones + 1), count + 2) - 1
        rows.append((x, chance, sum(x) - count * mean_p))
    return rows


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_the_minimum_of_the_fingerprinting_lemma_is_two_thirds(count):
    """E[f Σ(x_i - p) + 2|f - x̄|] is linear on both sides of x̄, so its minimum is at -1, x̄ or 1."""
    least = Fraction(0)
    for x, chance, excess in moments(count):
        mean = Fraction(sum(x), count)
        least += chance * min(
            f * excess + 2 * abs(f - mean) for f in (Fraction(-1), mean, Fraction(1))
        )
    assert least == Fraction(2, 3)


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_the_minimum_with_squares(count):
    """E[f Σ(x_i - p) + (f - x̄)²] is least at f = x̄ - excess/2 [Ste16, proposition 4.3.10]."""
    least = Fraction(0)
    for x, chance, excess in moments(count):
        mean = Fraction(sum(x), count)
        best = mean - excess / 2
        least += chance * (best * excess + (best - mean) ** 2)
    assert least == Fraction(count + 4, 3 * (count + 2))


def test_the_minimum_is_found_by_a_search_too():
    rows = moments(4)
    chance = np.array([float(one[1]) for one in rows])
    excess = np.array([float(one[2]) for one in rows])
    mean = np.array([sum(one[0]) / 4 for one in rows])

    def value(f):
        return float(chance @ (f * excess + 2 * np.abs(f - mean)))

    starts = np.random.default_rng(1).uniform(-1, 1, (5, len(rows)))
    found = min(
        minimize(value, start, method="Powell", bounds=[(-1, 1)] * len(rows)).fun
        for start in starts
    )
    assert found == pytest.approx(2 / 3, abs=1e-3)


def test_where_fingerprinting_says_impossible_an_exact_release_is_traced():
    """The attack that proves it: exact means of so many columns tell who is in the sample.

    Nobody with ε = 1 and δ = 1e-6 (replaced: 2 and less than 1e-5) may publish them: a member is
    found with a chance p and a stranger with q, and p > e² q + 1e-5 with high confidence.
    """
    people, columns, runs = 12, 20_000, 60
    wanted = Wanted(people, Fraction(0), Fraction(0), Approximate(1, "1e-6"))
    assert Fingerprinting(columns).refutes(wanted) is True
    random = np.random.default_rng(5)
    inside, outside = 0, 0
    for _ in range(runs):
        means = random.uniform(-1, 1, columns)
        rows = np.where(random.random((people + 1, columns)) < (1 + means) / 2, 1.0, -1.0)
        released = rows[:people].mean(axis=0)
        scores = (rows - means) @ released
        threshold = columns / people / 3
        inside += scores[0] > threshold
        outside += scores[people] > threshold
    share = alpha("planner/fingerprinting", parts=2)
    low, _ = clopper_pearson(int(inside), runs, share)
    _, high = clopper_pearson(int(outside), runs, share)
    assert low > math.e**2 * 1e-5
    assert inside >= 0.9 * runs
    assert outside <= 0.1 * runs
    assert high < 1
