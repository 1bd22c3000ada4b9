"""The accuracy theorems hold at their β, in simulation; the printed one that fails, fails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.above_threshold import above_threshold
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds
from discreet.mechanisms.thresholds.interior_point import InteriorPoint
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.partition import cut_error, noisy_cuts
from discreet.mechanisms.thresholds.sparse import sparse, with_scale
from tests.support.statistics.exact_tests import alpha

ONE = Contribution(linf=1)
BETA = Fraction(1, 20)


def too_often(failures: int, runs: int, beta: float) -> float:
    """The p-value of "fails with probability at most beta"."""
    return float(stats.binom.sf(failures - 1, runs, beta))


@pytest.mark.parametrize(("epsilon", "queries"), [(1, 1), (1, 1000), ("1/10", 50), (4, 10)])
def test_above_threshold_is_within_the_theorem(epsilon, queries: int):
    """α = 8(ln k + ln(2/β))/ε; a step or two for whole numbers."""
    machine = above_threshold(d_in=ONE, loss=Pure(epsilon))
    printed = 8 * (math.log(queries) + math.log(2 / BETA)) / float(Fraction(epsilon))
    assert machine.error_quantile(BETA, queries=queries) <= printed + 2


def test_above_threshold_errs_rarely_enough(rng):
    machine = above_threshold(d_in=ONE, loss=Pure(1))
    queries, runs = 20, 4000
    error = int(machine.error_quantile(BETA, queries=queries))
    values = np.full(queries, -error - 1)
    values[-1] = error
    failures = 0
    for _ in range(runs):
        answers = machine.open(threshold=0, d_in=ONE, rng=rng).ask_many(values)
        failures += answers.size < queries or not answers[-1]
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/above_threshold")


def test_sparse_errs_rarely_enough(rng):
    """C queries above by the error, k − c below by it: all must be told apart."""
    machine = sparse(d_in=ONE, loss=Approximate(1, "1e-6"), most_above=5)
    queries, runs = 30, 2000
    error = int(machine.error_quantile(BETA, queries=queries))
    values = np.full(queries, -error - 1)
    values[5::6] = error
    failures = 0
    for _ in range(runs):
        answers = machine.open(threshold=0, d_in=ONE, rng=rng).ask_many(values)
        failures += answers.size < queries or bool((answers != (values > 0)).any())
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/sparse")


# ---------------------------------------------------------------- NumericSparse, δ > 0


def numeric_scales(epsilon: float, delta: float, most_above: int) -> tuple[float, float]:
    """σ(ε₁) and σ(ε₂) of the corrected algorithm."""
    root, spread = math.sqrt(512), math.sqrt(32 * most_above * math.log(2 / delta))
    return spread * (root + 1) / (root * epsilon), spread * (root + 1) / (2 * epsilon)


def printed_alpha(epsilon: float, delta: float, most_above: int, queries: int) -> float:
    logs = math.log(queries) + math.log(4 * most_above / BETA)
    return logs * math.sqrt(most_above * math.log(2 / delta)) * (math.sqrt(512) + 1) / epsilon


def corrected_alpha(epsilon: float, delta: float, most_above: int, queries: int) -> float:
    values = math.log(2 * most_above / BETA) * numeric_scales(epsilon, delta, most_above)[1]
    return max(printed_alpha(epsilon, delta, most_above, queries), values)


@pytest.mark.parametrize(("queries", "printed_fails"), [(5, 0.297), (100, 0.113), (1000, 0.0512)])
def test_the_printed_error_of_numeric_sparse_fails(queries: int, printed_fails: float, rng):
    """The values carry Lap(σ(ε₂)), which the bound forgets; the corrected one covers it."""
    epsilon, delta, most_above, runs = 1.0, 1e-6, 5, 20_000
    first, second = numeric_scales(epsilon, delta, most_above)
    machine = NumericSparse(
        vector=with_scale(Fraction(first), most_above),
        value_noise=DiscreteLaplace(scale=Fraction(second)),
    )
    errors = np.abs(
        machine.value_noise.release(np.zeros((runs, most_above), dtype=np.int64), rng)
    ).max(axis=1)
    share = alpha("thresholds/numeric_sparse", parts=9)
    printed = printed_alpha(epsilon, delta, most_above, queries)
    failures = int((errors > printed).sum())
    exact = 1 - (1 - math.exp(-printed / second)) ** most_above
    assert exact == pytest.approx(printed_fails, rel=0.02)
    if queries == 5:
        assert too_often(failures, runs, float(BETA)) < share
    fails = int((errors > corrected_alpha(epsilon, delta, most_above, queries)).sum())
    assert too_often(fails, runs, float(BETA / 2)) > share
    ours = int((errors > machine.error_quantile(BETA, queries=queries)).sum())
    assert too_often(ours, runs, float(BETA / 2)) > share


def test_numeric_sparse_errs_rarely_enough(rng):
    machine = NumericSparse.calibrate(d_in=ONE, loss=Approximate(1, "1e-6"), most_above=5)
    queries, runs = 5, 2000
    error = int(machine.error_quantile(BETA, queries=queries))
    values = np.full(queries, error)
    failures = 0
    for _ in range(runs):
        above, noisy = machine.open(threshold=0, d_in=ONE, rng=rng).ask_many(values)
        failures += not above.all() or bool((np.abs(noisy - error) > error).any())
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/numeric")


@pytest.mark.parametrize("most_above", [1, 5, 50])
def test_pure_numeric_sparse_is_within_the_theorem(most_above: int):
    """α = 9c(ln k + ln(4c/β))/ε for δ = 0 is right as printed."""
    machine = NumericSparse.calibrate(d_in=ONE, loss=Pure(1), most_above=most_above)
    printed = 9 * most_above * (math.log(200) + math.log(4 * most_above / BETA))
    assert machine.error_quantile(BETA, queries=200) <= printed + 2


# ---------------------------------------------------------------- between, interior point


def test_between_thresholds_errs_rarely_enough(rng):
    machine = BetweenThresholds.calibrate(d_in=ONE, loss=Approximate(1, "1e-6"), centre=0)
    queries, runs = 20, 3000
    error = int(machine.error_quantile(BETA, queries=queries))
    gap = machine.upper - machine.lower
    assert error <= 8 * (math.log(queries + 1) + math.log(1 / BETA)) + 2
    assert gap > 0
    values = np.array([machine.lower - error - 1, machine.upper + error + 1] * (queries // 2))
    failures = 0
    for _ in range(runs):
        run = machine.open(d_in=ONE, epsilon=1, rng=rng)
        answers = run.ask_many(values)
        failures += answers.size < queries or bool((answers != np.sign(values)).any())
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/between")


def test_interior_point_errs_rarely_enough(rng):
    machine = InteriorPoint.calibrate(loss=Approximate(1, "1e-6"), queries=20, beta=BETA)
    bound = 36 * (math.log(21) + math.log(20) + math.log(10) + math.log(10**6) + 1)
    assert machine.size < bound / 3
    values = np.full(machine.size, 7)
    runs, failures = 2000, 0
    points = np.array([6, 7] * 10)
    for _ in range(runs):
        run = machine.open(values, d_in=ONE, rng=rng)
        failures += bool((run.ask_many(points) != (points >= 7)).any())
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/interior_point")


# ---------------------------------------------------------------- partition, adaptive thresholds


def test_cuts_err_rarely_enough(rng):
    depth, scale, runs = 4, Fraction(9), 3000
    bound = cut_error(BETA, depth=depth, scale=scale)
    places = np.arange(1, 16) * 100
    failures = sum(
        int(np.abs(noisy_cuts(1600, depth=depth, scale=scale, rng=rng) - places).max() > bound)
        for _ in range(runs)
    )
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/cuts")


@pytest.mark.parametrize(("base", "is_wrong"), [(2, False), (math.e, True)])
def test_the_claim_about_cuts_needs_logarithms_to_base_two(base: float, is_wrong: bool, rng):
    """N = 24 log^2.5(4/α) log(2/β)/(αε) makes |t − mn/M| ≤ αn/24 but for β/2: α = 0.1, β = 0.5."""
    accuracy, beta, epsilon, runs = 0.1, 0.5, 0.1, 1000
    depth = math.ceil(math.log2(2 / accuracy))
    size = 24 * math.log(4 / accuracy, base) ** 2.5 * math.log(2 / beta, base)
    size = int(size / (accuracy * epsilon))
    places = np.arange(1, 1 << depth) * size // (1 << depth)
    scale = Fraction(depth) / Fraction(1, 10)
    failures = 0
    for _ in range(runs):
        cuts = noisy_cuts(size, depth=depth, scale=scale, rng=rng)
        failures += int(np.abs(cuts - places).max() > accuracy * size / 24)
    share = alpha("thresholds/base_of_logarithm", parts=2)
    if is_wrong:
        assert too_often(failures, runs, beta / 2) < share
    else:
        assert too_often(failures, runs, beta / 2) > share


def test_adaptive_thresholds_are_within_their_bound(rng):
    machine = AdaptiveThresholds.calibrate(
        d_in=ONE, loss=Approximate(8, "1e-4"), alpha="0.25", beta=BETA, queries=60
    )
    size = machine.least_size(BETA, queries=60)
    error = float(machine.error_quantile(BETA, queries=60, size=size))
    assert error <= 0.25
    values = np.concatenate([np.zeros(size // 4, np.int64), np.arange(size - size // 4) ** 2 // 50])
    points = np.sort(values)[:: size // 30]
    truth = np.searchsorted(np.sort(values), points, side="right") / size
    failures, runs = 0, 150
    for _ in range(runs):
        run = machine.open(values, size=size, d_in=ONE, rng=rng)
        answers = np.concatenate([run.ask_many(points[::2]), run.ask_many(points[1::2])])
        expected = np.concatenate([truth[::2], truth[1::2]])
        failures += bool((np.abs(answers / machine.chunks - expected) > error).any())
    assert too_often(failures, runs, float(BETA)) > alpha("thresholds/adaptive")
