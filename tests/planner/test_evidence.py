"""What is achievable is reached; where something is impossible, the attack that shows it wins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard

from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.local.frequency.choose_frequency import choose_frequency
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile
from discreet.planner.plan import plan
from discreet.planner.verdict import Feasibility
from discreet.synthesis.contingency.column_sets import sets_of_order
from discreet.synthesis.contingency.noisy_contrasts import NoisyContrasts
from discreet.synthesis.intervals.prefix_sums import PrefixSums
from discreet.synthesis.intervals.tree_counts import TreeCounts
from discreet.synthesis.microdata.points_with_sum import PointsWithSum
from tests.support.statistics.exact_tests import alpha, binomial_p_value, clopper_pearson

BETA = Fraction(1, 20)


def reached(missed, runs, share):
    """Tell whether so many misses are no more than one in twenty, as far as chance can tell."""
    return missed <= runs * BETA or binomial_p_value(missed, runs, BETA) > share


# ---- Achievable.


def test_counts_of_groups_are_within(rng):
    """300 releases with the noise that was planned: all groups are within, 19 times in 20."""
    found = plan("histogram", within="0.02", loss=Pure(1), dimension=20)
    noise = DiscreteLaplace.calibrate(d_in=Contribution(l0=1, linf=1), loss=Pure(1))
    draws = noise.release(np.zeros((300, 20), dtype=np.int64), rng)
    limits = float(found.within * found.people)
    share = alpha("planner/achievable", parts=2)
    assert reached(int((np.abs(draws).max(axis=1) > limits).sum()), 300, share)
    less = int((np.abs(draws).max(axis=1) > limits * 0.6).sum())
    assert not reached(less, 300, share), "the plan is not wasteful"


def test_weighted_rows_and_their_sum_are_within(rng):
    """Most groups are empty, where points that are moved up to 0 would add up."""
    found = plan("microdata", within="0.05", loss=Pure(1), dimension=20)
    assert found.ways[0].name == "discrete Laplace, with their sum"
    method = PointsWithSum.calibrate(loss=Pure(1), points=20, rows_per_unit=1)
    counts = np.zeros(20, dtype=np.int64)
    counts[:2] = found.people - 5, 5
    limit, missed = float(found.within * found.people), 0
    for _ in range(200):
        rows = method.estimate(method.measure(counts, rng))
        off = max(np.abs(rows - counts).max(), abs(int(rows.sum()) - found.people))
        missed += int(rows.min() < 0 or off > limit)
    assert reached(missed, 200, alpha("planner/weighted rows"))


def test_medians_are_within(rng):
    """The data of the lower bound, where one value in the middle is right and all others wrong."""
    found = plan("median", within="0.05", loss=Pure(1), dimension=1_000)
    people, limit = found.people, found.within * found.people
    median = Quantile.calibrate(
        d_in=Contribution(l1=1), loss=Pure(1), quantile="1/2", lower=0, upper=999
    )
    middle = math.ceil(2 * limit) + 1
    ends = (people - middle) // 2
    rows = np.array([0] * ends + [500] * (people - 2 * ends) + [999] * ends, dtype=np.int64)
    missed = 0
    for _ in range(300):
        chosen = median.release(rows, rng)
        below, up_to = int((rows < chosen).sum()), int((rows <= chosen).sum())
        half = Fraction(people, 2)
        missed += int(half - up_to > limit or below - half > limit)
    assert reached(missed, 300, alpha("planner/medians"))


def test_tables_of_two_columns_are_within(rng):
    """Contrasts with the noise of the method itself; its error does not depend on the rows."""
    found = plan("k-way", within="0.05", loss=Zcdp("0.2"), dimension=6)
    assert found.ways[0].name == "Gaussian noise on contrasts"
    sets = sets_of_order(6, 2)
    method = NoisyContrasts.calibrate([2] * 6, sets, loss=Zcdp("0.2"))
    missed = 0
    for _ in range(150):
        measured = tuple(
            noise.release(np.zeros([1] * len(one), dtype=np.int64), rng)
            for one, noise in zip(method.sets, method.noises, strict=True)
        )
        errors = [np.abs(method.estimate(measured, one)).max() for one in sets]
        missed += max(errors) > float(found.within * found.people)
    assert reached(missed, 150, alpha("planner/tables"))


def test_distribution_functions_are_within(rng):
    found = plan("thresholds", within="0.05", loss=Zcdp("0.2"), dimension=128)
    assert found.ways[0].name == "factorised prefix sums"
    sums = PrefixSums.calibrate(cells=128, loss=Zcdp("0.2"), rows_per_unit=1)
    counts = np.zeros(128, dtype=np.int64)
    draws = (sums.estimate(sums.measure(counts, rng)).up_to for _ in range(150))
    missed = sum(np.abs(one).max() > float(found.within * found.people) for one in draws)
    assert reached(missed, 150, alpha("planner/thresholds"))


@pytest.mark.parametrize("values", [2, 3, 4, 5, 8, 9])
def test_a_tree_is_within_what_its_variances_say(values):
    """The count of all people is a sum of two nodes also where there is one level."""
    loss, beta = Zcdp("0.001"), Fraction(1, 10**6)
    found = plan("thresholds", people=10**4, within="0.5", beta=beta, loss=loss, dimension=values)
    errors = {one.name: float(one.error) for one in found.ways}
    tree = TreeCounts.calibrate(cells=values, loss=loss, rows_per_unit=1, branching=2)
    spread = max(tree.deviation(0, last) for last in range(values))
    assert 2 * stats.norm.sf(errors["tree with Gaussian noise"] / spread) <= beta


def test_surveys_are_within(rng):
    """Everybody has the same value: the share whose reports vary most is among those."""
    found = plan("survey-shares", within="0.05", loss=Pure(2), dimension=4)
    offers = choose_frequency(categories=4, epsilon=2, people=1).offers
    scheme = next(one.scheme for one in offers if one.name == found.ways[0].name)
    missed = 0
    for run in range(60):
        values = np.full(found.people, run % 4, dtype=np.int64)
        shares = scheme.estimate(scheme.randomise_many(values, rng)).shares
        truth = np.eye(4)[run % 4]
        missed += np.abs(shares - truth).max() > float(found.within)
    assert reached(missed, 60, alpha("planner/surveys"))


def test_means_are_within(rng):
    """Sums from the middle of the range and a weighted number of people, all at one end."""
    found = plan("mean", within="0.05", loss=Pure(1))
    weight = 512
    noise = DiscreteLaplace.calibrate(d_in=Contribution(l1=512 + weight), loss=Pure(1))
    draws = noise.release(np.zeros((300, 2), dtype=np.int64), rng).astype(np.float64)
    people = found.people
    means = (people / 2 + draws[:, 0] / 1_024) / np.maximum(people + draws[:, 1] / weight, 1)
    missed = int((np.abs(means - 0.5) > float(found.within)).sum())
    assert reached(missed, 300, alpha("planner/means"))


# ---- Impossible: an accurate release, and an attack that no private one allows.


def is_won(inside, outside, runs, *, epsilon, delta, name):
    """Tell whether an attack is right more often than (ε, δ) allows, with confidence."""
    low, _ = clopper_pearson(inside, runs, name)
    _, high = clopper_pearson(outside, runs, name)
    return low > math.exp(epsilon) * high + delta


def test_where_marginals_are_impossible_people_are_traced():
    """Means within 0.02 of 10 people and 4,000 properties tell who is in the sample."""
    people, columns, within, runs = 10, 4_000, 0.02, 150
    loss = Approximate("0.1", "1e-6")
    found = plan("marginals", people=people, within=str(within), loss=loss, dimension=columns)
    assert found.verdict is Feasibility.IMPOSSIBLE
    random = np.random.default_rng(5)
    inside = outside = 0
    for _ in range(runs):
        means = random.uniform(-1, 1, columns)
        rows = np.where(random.random((people + 1, columns)) < (1 + means) / 2, 1.0, -1.0)
        released = rows[:people].mean(axis=0) + 2 * random.uniform(-within, within, columns)
        scores = (rows - means) @ released
        inside += int(scores[0] > columns / people / 3)
        outside += int(scores[people] > columns / people / 3)
    share = alpha("planner/fingerprinting", parts=2)
    # Somebody who is replaced: twice the ε, and a little more than twice the δ.
    assert is_won(inside, outside, runs, epsilon=0.2, delta=3e-6, name=share)


def test_where_sums_are_impossible_bits_are_reconstructed():
    """As many sums as people, each within two of 256, tell whether somebody is there."""
    people, runs = 256, 100
    loss = Pure("0.1")
    found = plan("sums", people=people, within="0.005", loss=loss, dimension=people)
    assert found.verdict is Feasibility.IMPOSSIBLE
    matrix, random = hadamard(people), np.random.default_rng(6)
    told = {0: 0, 1: 0}
    for bit in (0, 1):
        for _ in range(runs):
            bits = random.integers(0, 2, people)
            bits[17] = bit
            sums = (matrix > 0) @ bits + random.uniform(-1.28, 1.28, people)
            signed = 2 * sums - sums[0]
            signed[0] = sums[0]
            told[bit] += int((matrix.T @ signed / people)[17] > 0.5)
    share = alpha("planner/reconstruction", parts=2)
    assert is_won(told[1], told[0], runs, epsilon=0.1, delta=0, name=share)


@pytest.mark.parametrize("task", ["median", "count"])
def test_where_a_group_is_told_apart_no_loss_allows_it(task):
    """A right answer tells whether a group is there, more surely than its ε and β allow."""
    loss, people = Pure("0.05"), 1_000
    dimension = {"dimension": 10**6} if task == "median" else {}
    found = plan(task, people=people, within="0.01", loss=loss, **dimension)
    assert found.verdict is Feasibility.IMPOSSIBLE
    joined, runs = 2 * int(found.within * people) + 1, 2_000
    random = np.random.default_rng(7)
    off = random.uniform(-10, 10, (2, runs))
    if task == "count":  # within ten people: the group is there, or not
        inside, outside = (
            int((joined + off[0] > joined / 2).sum()),
            int((off[1] > joined / 2).sum()),
        )
        distance = joined
    else:  # whichever value is in the middle is the only right answer
        ends = (people - joined - 1) // 2
        values = np.array([250_000, 750_000])
        told = [
            np.median([0] * ends + [one] * (people - 2 * ends) + [10**6] * ends) for one in values
        ]
        inside, outside = runs * int(told[0] == values[0]), runs * int(told[1] == values[0])
        distance = 2 * (people - 2 * ends)
    share = alpha("planner/groups", parts=4)
    assert is_won(inside, outside, runs, epsilon=0.05 * distance, delta=0, name=share)
