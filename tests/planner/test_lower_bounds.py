"""Lower bounds: no mechanism of the house lies below one, and what they rest on is enumerated."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.optimize import minimize
from scipy.stats import binom

from discreet.core.loss import Approximate, GaussianDp, Pure, Zcdp
from discreet.core.rounding import log_down
from discreet.planner.bounds.fingerprinting import Fingerprinting, mean_score
from discreet.planner.bounds.local_bits import LocalBits
from discreet.planner.bounds.mutual_information import BlockPacking, InformedMarginals
from discreet.planner.bounds.packing import Packing, RankPacking
from discreet.planner.bounds.printed_marginals import (
    BasicMarginals,
    GroupedMarginals,
    PureMarginals,
    ScaledMarginals,
    SquaredMarginals,
    fewer_people,
)
from discreet.planner.bounds.reconstruction import Reconstruction
from discreet.planner.bounds.wanted import GroupLoss, Wanted, most_agreement
from discreet.planner.bounds.weighted_microdata import WeightedMicrodata
from discreet.planner.plan import plan
from discreet.planner.task_names import task_of
from discreet.planner.verdict import Feasibility, bound_reports, is_refuted

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
    ("count", None),
    ("histogram", 1),
    ("histogram", 1_000),
    ("histogram", 10**9),
    ("microdata", 1),
    ("microdata", 2),
    ("microdata", 1_000),
    ("microdata", 10**9),
    ("marginals", 1),
    ("marginals", 30),
    ("marginals", 10**4),
    ("marginals", 10**8),
    ("sums", 3),
    ("means", 1),
    ("means", 300),
    ("median", 2),
    ("median", 10**12),
    ("quantiles", 10**3),
    ("thresholds", 2),
    ("thresholds", 100),
    ("k-way", 12),
    ("k-way", 10**3),
    ("synthetic", 6),
    ("survey-shares", 2),
    ("survey-shares", 1_000),
    ("survey-mean", None),
]
HALF = Fraction(1, 20)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(("name", "dimension"), TASKS)
def test_no_way_lies_below_a_bound(name, dimension, loss):
    """At each point of a grid of tasks, losses, chances and numbers of people."""
    task = task_of(name, dimension, None)
    for beta, people in (("0.4", 10**4), ("0.05", 10**4), ("0.05", 10**7), ("1e-9", 10**7)):
        for way in task.ways(loss, Fraction(beta), people)[:1]:
            if way.error >= people:
                continue  # nothing is promised
            wanted = Wanted(people, way.error, Fraction(beta), loss)
            assert not is_refuted(task.bounds(), wanted), way.name


def test_a_bound_that_claims_more_is_found_out():
    """A broken twin: four times the exponent refutes what discrete Laplace noise does."""
    task = task_of("histogram", 1_000, None)
    error = task.ways(Pure(1), Fraction(1, 3), 10**6)[0].error
    wanted = Wanted(10**6, error, Fraction(1, 3), Pure(1))
    assert not Packing(log_down(Fraction(1_000))).rule(wanted).refutes
    assert Packing(4 * log_down(Fraction(1_000))).rule(wanted).refutes


# ---- By hand.


def test_packing_by_hand():
    """ε = 1/10 and one way: k/10 must reach ln 19; of ten ways ln 190."""
    for ways in (1, 10):
        packing = Packing(log_down(Fraction(ways)))
        need = 10 * math.log(19 * ways)
        for error in range(35):
            told = packing.rule(Wanted(10**6, Fraction(error), HALF, Pure("0.1"))).refutes
            assert told is (2 * error + 1 < need)
    few = Packing(log_down(Fraction(2))).rule(Wanted(10, Fraction(9), HALF, Pure("0.1")))
    assert few.why_not, "nobody is so many"


def test_packing_for_a_fixed_number_of_people():
    """Where fewer people are promised nothing: ln(0.95 T) < k ε, or ln(19 T/2) < 2 k ε."""
    packing = Packing(log_down(Fraction(1_000)), is_of_fixed_size=True)
    need = 10 * max(math.log(950), math.log(9_500) / 2)
    for error in range(45):
        told = packing.rule(Wanted(10**6, Fraction(error), HALF, Pure("0.1"))).refutes
        assert told is (2 * error + 1 < need)


def test_zcdp_packing_by_hand():
    told = 0.95 * math.log(0.95 * 10**6 / 0.05) + 0.05 * math.log(0.05)
    for error in range(40):
        wanted = Wanted(10**6, Fraction(error), HALF, Zcdp("0.01"))
        refuted = Packing(log_down(Fraction(10**6))).rule(wanted).refutes
        assert refuted is (told > 0.01 * (2 * error + 1) ** 2)


def test_packing_of_ranks_is_not_weaker_than_the_printed_lemma():
    """[Ste16, lemma 7.5.6]: n ≥ (ln((1-β)(T-1)/β) - 2ε)/(2αε) for people who are replaced."""
    values, alpha, epsilon = 10**9, 0.05, 0.1
    least = (math.log(19 * (values - 1)) - 2 * epsilon) / (2 * alpha * epsilon)
    people = math.floor(least) - 20
    wanted = Wanted(people, Fraction("0.05") * people, HALF, Pure(Fraction("0.1") / 2))
    assert RankPacking(log_down(Fraction(values))).rule(wanted).refutes


def test_a_quantile_of_one_value_is_refuted_for_nobody():
    """Whoever says that value is right, and tells nothing."""
    found = plan("median", people=100, within="0.1", loss=Pure("0.001"), dimension=1)
    assert found.ways[0].error == 0
    assert (found.impossible_within, found.people_refuted) == (None, None)


def test_an_interior_point_is_a_median_within_just_less_than_half():
    """All people have one value: that takes about ln T over ε people; half of the ranks, nobody."""
    for people, verdict in ((9, Feasibility.IMPOSSIBLE), (60, Feasibility.ACHIEVABLE)):
        near = Fraction(1, 2) - Fraction(1, 100 * people)
        found = plan("median", people=people, within=near, loss=Pure(1), dimension=10**6)
        assert found.verdict is verdict
    half = RankPacking(log_down(Fraction(10**6))).rule(Wanted(9, Fraction(9, 2), HALF, Pure(1)))
    assert "every value" in half.why_not


def test_the_continuum_is_impossible_for_any_number_of_people():
    wanted = Wanted(10**9, Fraction(499_999_999), Fraction(9, 10), Zcdp(100))
    assert RankPacking(None).rule(wanted).refutes
    approximate = RankPacking(None).rule(Wanted(100, Fraction(10), HALF, Approximate(1, "1e-6")))
    assert not approximate.refutes
    assert "rate" in approximate.why_not


def test_blocks_refute_more_where_failures_are_likely():
    """One block has to pay for ln 2; many blocks share it. [Ste16, theorem 2.6.3]"""
    blocks = BlockPacking(10**6)
    for error in range(1, 40):
        divergence = 0.01 * (2 * error + 1) ** 2
        told = max(
            0.95 * math.log(10**6 // m) - math.log(2) / m
            for m in [2**i for i in range(19)]
            if m * (2 * error + 1) <= 10**6
        )
        wanted = Wanted(10**6, Fraction(error), HALF, Zcdp("0.01"))
        assert blocks.rule(wanted).refutes is (told > divergence)


def test_weighted_microdata_by_hand():
    """Of T - 1 groups, at most (m + 2a)/(m - a) can have room for m people."""
    bound = WeightedMicrodata(10**6)
    for error in range(2, 150):
        sizes = [max(error + 1, math.ceil(part * error)) for part in (1.01, 1.1, 1.25, 1.5, 2)]
        told = any(
            math.log((10**6 - 1) * 0.95 * (m - error) / (m + 2 * error)) > 0.1 * m for m in sizes
        )
        wanted = Wanted(10**6, Fraction(error), HALF, Pure("0.1"))
        assert bound.rule(wanted).refutes is told
    # With the sum it is about twice as strong as packing, which a histogram has.
    task = task_of("microdata", 10**6, None)
    first, second = bound_reports(task.bounds(), Wanted(10**6, Fraction(9), HALF, Pure("0.1")))[:2]
    assert (first.name, second.name) == ("weighted microdata", "packing")
    assert first.error is not None
    assert second.error is not None
    assert first.error > Fraction(11, 10) * second.error
    assert bound.rule(Wanted(9, Fraction(9), HALF, Pure("0.1"))).why_not
    assert "the sum" in WeightedMicrodata(1).rule(Wanted(90, Fraction(9), HALF, Pure(1))).why_not


def test_a_good_sum_leaves_room_for_few_groups():
    """Random weights, none negative: few groups are right at once. With negative ones, all are."""
    random = np.random.default_rng(8)
    for _ in range(300):
        people, error = int(random.integers(20, 200)), float(random.uniform(0, 8))
        size = int(random.integers(math.floor(error) + 1, 20))
        rest = people + error - max(0.0, people - size - error)  # beside the first group, at most
        parts = int(random.integers(1, 40))
        weights = random.dirichlet(np.full(parts, random.uniform(0.1, 50))) * rest
        assert (weights >= size - error).sum() <= (size + 2 * error) / (size - error) + 1e-9
    signed = np.concatenate([np.full(20, 10.0), np.full(20, -10.0)])
    assert signed.sum() <= 0 < (signed >= 10 - 2).sum(), "a broken twin: a histogram has such"


def test_bounds_say_why_they_do_not_apply():
    strange = Wanted(100, Fraction(1), HALF, GaussianDp(mu_squared=1))
    packing = Packing(log_down(Fraction(2)))
    for bound in (packing, Fingerprinting(10), BlockPacking(10), WeightedMicrodata(10)):
        ruling = bound.rule(strange)
        assert not ruling.refutes
        assert "measure" in ruling.why_not
    assert "δ" in LocalBits().rule(Wanted(100, Fraction(1), HALF, Zcdp(1))).why_not
    assert Fingerprinting(10).rule(Wanted(9, Fraction(1), Fraction(1, 2), Pure(1))).why_not


# ---- Theorems as they are printed.


def rules(bound, *, people, error, loss, beta="0.0001"):
    return bound.rule(Wanted(people, Fraction(error), Fraction(beta), loss))


def test_printed_theorems_where_they_hold_and_where_not():
    pure = PureMarginals(10**6)
    least = 10**6 / 800 / 2 - math.log(20) / 2
    assert rules(pure, people=math.floor(least), error=1, loss=Pure(1)).refutes
    assert not rules(pure, people=math.ceil(least) + 1, error=1, loss=Pure(1)).refutes
    assert "0.9" in rules(pure, people=10, error=5, loss=Pure(1)).why_not
    assert "without" in rules(pure, people=10, error=1, loss=Approximate(1, "1e-9")).why_not

    basic, half = BasicMarginals(10**8), Approximate("0.5", "1e-9")
    assert rules(basic, people=243, error=1, loss=half).refutes
    assert not rules(basic, people=244, error=1, loss=half).refutes
    assert "1/2" in rules(basic, people=243, error=1, loss=Approximate(1, "1e-9")).why_not
    assert "δ" in rules(basic, people=243, error=1, loss=Approximate("0.5", "1e-3")).why_not

    squares = SquaredMarginals(10**8)
    assert rules(squares, people=300, error=1, loss=half).refutes
    assert "square" in rules(squares, people=300, error=100, loss=half).why_not
    assert "1/50" in rules(squares, people=300, error=1, loss=Approximate(1, "1e-3")).why_not

    groups = GroupedMarginals(10**14)
    delta = Fraction(1, 10**9)
    assert rules(groups, people=50_000, error=1, loss=Approximate("0.5", delta)).refutes
    small = rules(groups, people=1_000, error=1, loss=Approximate("0.5", delta))
    assert "at least" in small.why_not
    large = rules(groups, people=50_000, error=1, loss=Approximate("0.5", "1e-6"))
    assert "at most" in large.why_not

    scaled = ScaledMarginals(10**18)
    assert rules(scaled, people=10**7, error=10**5, loss=Approximate("0.01", "1e-12")).refutes
    assert "0.1" in rules(scaled, people=10**7, error=1, loss=Approximate(1, "1e-12")).why_not


def test_the_repaired_fact_fits_its_people_in():
    """[Ste16, fact 4.2.2] with k = ⌈1/2ε⌉: errors stay below a tenth; as printed it overflows."""
    for alpha in (Fraction(1, 100), Fraction(1, 14), Fraction(9, 100)):
        for epsilon in (Fraction(1, 1_000), Fraction(1, 20), Fraction(1, 10)):
            people = 10**6
            fewer = fewer_people(people, alpha, epsilon)
            copies = math.ceil(1 / (2 * epsilon))
            assert fewer is None or copies * fewer <= people
            if fewer is not None:
                assert alpha * people / (copies * fewer) <= Fraction(1, 10)
    printed = math.floor(math.log(2) / 0.001) * math.ceil(20 * 0.09 * 0.001 * 10**6)
    assert printed > 10**6, "a broken twin: the printed number of copies has no room"
    assert fewer_people(10**6, Fraction(9, 100), Fraction(1, 1_000)) is not None


def test_mutual_information_of_marginals_by_hand():
    """[2.44]: n ≥ √(d(ln 2 - h(2α))/ρ)."""
    wrong = 2 * (0.05 + 0.05)
    entropy = -wrong * math.log(wrong) - (1 - wrong) * math.log(1 - wrong)
    least = math.sqrt(10**4 * (math.log(2) - entropy) / 0.5)
    for people in (math.floor(least), math.ceil(least)):
        wanted = Wanted(people, Fraction(people, 20), HALF, Zcdp("0.5"))
        assert InformedMarginals(10**4).rule(wanted).refutes is (people < least)


def test_sharp_bounds_say_more_than_printed_ones():
    for loss in (Pure(1), Approximate("0.5", "1e-9"), Zcdp("0.5")):
        task = task_of("marginals", 10**8, None)
        reports = bound_reports(task.bounds(), Wanted(5_000, Fraction(10), HALF / 100, loss))
        assert reports[0].name in ("packing", "fingerprinting", "reconstruction")


# ---- What groups tell.


def test_the_distance_of_groups_against_randomised_response():
    """Randomised response attains (e^ε - 1)/(e^ε + 1); sums of Gaussians attain their own."""
    for epsilon in (0.1, 1.0, 3.0):
        tight = math.tanh(epsilon / 2)
        assert float(GroupLoss(Pure(str(epsilon)), 1).distance) == pytest.approx(tight, rel=1e-6)
    assert GroupLoss(Approximate(1, "1e-3"), 3).delta > 3 * Fraction(1, 1_000)
    assert GroupLoss(Zcdp("0.01"), 5).divergence == Fraction(1, 4)
    assert GroupLoss(Pure(10**6), 9).distance == 1


def test_the_distance_for_zcdp_is_above_that_of_gaussian_noise():
    """Means that are √(2ρ) deviations apart; never 1, so many answers are refuted for any ρ."""
    for rho in ("1e-6", "0.01", "0.5", "2", "9"):
        apart = math.sqrt(2 * float(rho))
        distance = GroupLoss(Zcdp(rho), 1).distance
        assert math.erf(apart / 2 / math.sqrt(2)) <= float(distance) < 1
    assert Reconstruction(2**20).rule(Wanted(2**20, Fraction(1), HALF / 100, Zcdp(2))).refutes


def test_the_slack_of_groups_is_sound_and_close_for_a_tiny_loss():
    """δ (e^(kε) - 1)/(e^ε - 1), which is near kδ; 96 bits alone would divide by nothing."""
    for epsilon in ("1e-8", "1e-28", "1e-40"):
        for size in (1, 3, 1_000):
            found = GroupLoss(Approximate(epsilon, "1e-9"), size).delta / Fraction(1, 10**9)
            assert size <= found <= size * (1 + Fraction(1, 10**4))


def test_nobody_agrees_with_nearly_all_bits():
    """[Ste16, fact 7.4.4]: with (1, 1/20) no signs agree with 3/4 of n ≥ 211 bits, 99 in 100."""
    assert float(most_agreement(Approximate(1, "1/20"))) < 0.99 * 0.76
    events = [n for n in range(1, 400) if math.e * (1 / 4 + 1 / n) + 1 / 20 < 0.99 * 3 / 4]
    assert events == list(range(211, 400))


# ---- What surveys cannot do.


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("apart", [1, 5, 20])
def test_the_distance_of_randomised_bits_is_below_its_bound(epsilon, apart):
    """The exact law of the number of ones among randomised responses, for two numbers of ones."""
    people, p = 200, math.exp(epsilon) / (1 + math.exp(epsilon))
    laws = []
    for ones in (90, 90 + apart):
        own = binom.pmf(np.arange(ones + 1), ones, p)
        rest = binom.pmf(np.arange(people - ones + 1), people - ones, 1 - p)
        laws.append(np.convolve(own, rest))
    exact_distance = np.abs(laws[0] - laws[1]).sum() / 2
    bound = apart * math.sinh(epsilon / 2) * math.sqrt(math.pi / (2 * (people - 1)))
    assert exact_distance <= bound
    assert min(1.0, bound) <= 2.2 * exact_distance, "and it is not far off"


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


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_the_minimum_against_the_population_is_a_third(count):
    """E[f Σ(x_i - p) + (f - p)²] is least at f = E[p|x] - excess/2, where it is 1/3."""
    least = Fraction(0)
    for x, chance, excess in moments(count):
        ones = sum(one == 1 for one in x)
        first = Fraction(2 * (ones + 1), count + 2) - 1
        half = Fraction((ones + 1) * (ones + 2), (count + 2) * (count + 3))
        second = 4 * half - 4 * Fraction(ones + 1, count + 2) + 1  # E[p² | x]
        best = first - excess / 2
        least += chance * (best * excess + best**2 - 2 * best * first + second)
    assert least == Fraction(1, 3)


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


def test_scores_of_members_stay_below_their_bound():
    """The Gaussian mechanism at ρ = 1/2 has mean scores below √(2dρ); exact means do not."""
    people, columns = 10, 4_000
    random = np.random.default_rng(3)
    allowed = float(mean_score(Zcdp("0.5"), 1, columns) or 0)
    scores: dict[str, list[Any]] = {"noisy": [], "exact": []}
    for _ in range(40):
        means = random.uniform(-1, 1, columns)
        rows = np.where(random.random((people, columns)) < (1 + means) / 2, 1.0, -1.0)
        noise = random.normal(0, math.sqrt(columns), columns)
        for name, sums in (("noisy", rows.sum(axis=0) + noise), ("exact", rows.sum(axis=0))):
            scores[name].append((rows - means) @ np.clip(sums / people, -1, 1))
    assert np.mean(scores["noisy"]) < allowed < np.mean(scores["exact"])


def test_hadamard_answers_are_undone():
    """Whatever errors within a: at most 36 a² bits are wrong."""
    size, error = 64, 1
    matrix, random = hadamard(size), np.random.default_rng(4)
    for _ in range(50):
        bits = random.integers(0, 2, size)
        counts = (matrix > 0) @ bits + random.integers(-error, error + 1, size)
        signed = 2 * counts - counts[0]
        signed[0] = counts[0]
        wrong = int(((matrix.T @ signed / size > 0.5) != bits).sum())
        assert wrong <= 36 * error**2
    assert Reconstruction(size).rule(Wanted(size, Fraction(1, 4), HALF, Pure("0.1"))).refutes
