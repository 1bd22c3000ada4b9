"""The exact law of transcripts on both neighbours, against the loss that is charged."""

import math
from fractions import Fraction

import pytest

from discreet.accounting.accountants.approximate import approximate
from discreet.accounting.accountants.pure import epsilon
from discreet.accounting.accountants.renyi import renyi
from discreet.audit.divergence import max_divergence, renyi_divergence
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import EnclosedLaw
from discreet.audit.verdict import VerdictAnswer, verify, worst_delta
from discreet.core.contribution import Contribution, Metric
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.above_threshold import above_threshold
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.sparse_vector import SparseVector
from tests.mechanisms.thresholds.transcripts import (
    between_law,
    between_leads,
    between_stops,
    pairs_law,
    stopping_law,
)

ONE = Contribution(linf=1)
TINY = Fraction(1, 10**20)
"""For what lies beyond the reach of the sums."""

LONG = 200
PAIRS = {
    "all up": ([0] * LONG, [1] * LONG),
    "up, then one down": ([10] * LONG, [11] * (LONG - 1) + [9]),
    "low, then one down": ([-10] * LONG, [-9] * (LONG - 1) + [-11]),
    "in turn": ([0, 0] * 100, [1, -1] * 100),
    "rising": (list(range(-100, 100)), [v + (-1) ** (v // 3) for v in range(-100, 100)]),
}


def pair_of(machine: SparseVector | HaltingSparseVector, first, second, reach: int) -> LawPair:
    laws = [
        stopping_law(
            values,
            threshold_noise=machine.threshold_noise,
            query_noise=machine.query_noise,
            reach=reach,
        )
        for values in (first, second)
    ]
    return LawPair(first=laws[0], second=laws[1])


# ---------------------------------------------------------------- sparse vector, pure


@pytest.mark.parametrize("name", PAIRS)
def test_above_threshold_keeps_its_loss_over_two_hundred_queries(name: str):
    machine = above_threshold(d_in=ONE, loss=Pure(1))
    pair = pair_of(machine, *PAIRS[name], reach=120)
    loss = epsilon(machine.event(ONE))
    assert loss == 1
    assert verify(pair, Approximate(loss, TINY)).answer is VerdictAnswer.HOLDS


def test_above_threshold_spends_all_of_its_loss():
    machine = above_threshold(d_in=ONE, loss=Pure(1))
    pair = pair_of(machine, *PAIRS["up, then one down"], reach=120)
    assert max_divergence(pair.first, pair.second).low > 0.999999


def test_a_larger_sensitivity_needs_more_noise():
    machine = above_threshold(d_in=Contribution(linf=3), loss=Pure(1))
    first, second = PAIRS["in turn"]
    moved = [a + 3 * (b - a) for a, b in zip(first, second, strict=True)]
    pair = pair_of(machine, first, moved, reach=360)
    assert verify(pair, Approximate(1, TINY)).answer is VerdictAnswer.HOLDS
    smaller = above_threshold(d_in=ONE, loss=Pure(1))
    pair = pair_of(smaller, [10] * LONG, [13] * (LONG - 1) + [7], reach=120)
    assert verify(pair, Approximate(1, TINY)).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize("name", ["all up", "up, then one down", "in turn"])
def test_one_threshold_for_two_queries_above(name: str):
    """Each query above pays 2Δ of its own noise; the threshold, kept, pays once."""
    machine = SparseVector(
        threshold_noise=DiscreteLaplace(scale=4),
        query_noise=DiscreteLaplace(scale=8),
        most_above=2,
    )
    laws = [
        pairs_law(
            values[-30:],
            threshold_noise=machine.threshold_noise,
            query_noise=machine.query_noise,
            reach=240,
        )
        for values in PAIRS[name]
    ]
    pair = LawPair(first=laws[0], second=laws[1])
    loss = epsilon(machine.event(ONE))
    assert loss == Fraction(3, 4)
    assert verify(pair, Approximate(loss, TINY)).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize("metric", Metric)
def test_events_read_back(metric: Metric):
    d_in = Contribution(linf=1, metric=metric)
    machines = (
        above_threshold(d_in=d_in, loss=Pure(1)),
        SparseVector(
            threshold_noise=DiscreteGaussian(sigma_squared=9),
            query_noise=DiscreteGaussian(sigma_squared=36),
            most_above=3,
            most_queries=50,
        ),
    )
    for machine in machines:
        event = machine.event(d_in)
        assert event.metric is metric
        assert event_from_json(event.to_json()) == event


# ---------------------------------------------------------------- sparse vector, Rényi

GAUSSIAN = DiscreteGaussian(sigma_squared=4)
WIDE = DiscreteGaussian(sigma_squared=16)
ORDERS = (2, 4, 8, 20)


def curve(machine: SparseVector | HaltingSparseVector, order: int) -> Fraction:
    event = machine.event(ONE)
    single = event.parts[0][0] if hasattr(event, "parts") else event
    return renyi(single)[0].upper(Fraction(order))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", PAIRS)
def test_bounded_gaussian_stays_below_its_curve(name: str, order: int):
    machine = SparseVector(threshold_noise=GAUSSIAN, query_noise=WIDE, most_queries=LONG)
    _require_below(pair_of(machine, *PAIRS[name], reach=26), curve(machine, order), order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", PAIRS)
def test_hybrid_stays_below_its_curve(name: str, order: int):
    machine = SparseVector(threshold_noise=GAUSSIAN, query_noise=DiscreteLaplace(scale=6))
    _require_below(pair_of(machine, *PAIRS[name], reach=26), curve(machine, order), order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["all up", "in turn"])
def test_halting_gaussian_stays_below_its_curve(name: str, order: int):
    """No query is negative; 0 is the threshold here, so values are counted from it."""
    machine = HaltingSparseVector(threshold_noise=GAUSSIAN, query_noise=WIDE, ceiling=5)
    first, second = ([v - 5 + 1 for v in values] for values in PAIRS[name])
    _require_below(pair_of(machine, first, second, reach=26), curve(machine, order), order)


def _require_below(pair: LawPair, bound: Fraction, order: int) -> None:
    for first, second in pair.directions():
        measured = renyi_divergence(first, second, order).low
        assert measured <= bound
        # The same without what lies beyond the sums' reach, so that the check is not vacuous.
        assert isinstance(first, EnclosedLaw)
        assert isinstance(second, EnclosedLaw)
        total = sum(
            float(p) * (float(p) / float(q)) ** (order - 1)
            for (p, _), (_, q) in (
                (ends, second.masses[outcome]) for outcome, ends in first.masses.items()
            )
            if p > Fraction(1, 10**30)
        )
        assert math.log(total) / (order - 1) <= float(bound) + 1e-9


# ---------------------------------------------------------------- between thresholds

LOSS = Approximate(1, "1e-6")
BETWEEN = BetweenThresholds.calibrate(d_in=ONE, loss=LOSS, centre=0)
GAP = BETWEEN.upper - BETWEEN.lower
SCALES = (BETWEEN.threshold_scale, BETWEEN.query_scale)


def test_gap_is_the_smallest_that_is_certified():
    assert approximate(BETWEEN.event(ONE, epsilon=1)).delta <= LOSS.delta
    smaller = BetweenThresholds(
        threshold_scale=SCALES[0], query_scale=SCALES[1], lower=0, upper=GAP - 1
    )
    assert approximate(smaller.event(ONE, epsilon=1)).delta > LOSS.delta
    assert 12 * (math.log(10) + math.log(10**6) + 1) / 3 > GAP


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 5, -3, 8, GAP // 2, GAP], [1, 4, -2, 7, GAP // 2 + 1, GAP - 1]),
        ([GAP // 2] * 6, [GAP // 2 + 1, GAP // 2 - 1] * 3),
        ([0] * 6, [-1] * 6),
        ([GAP, 0, GAP, 0, GAP, 0], [GAP - 1, 1, GAP + 1, -1, GAP - 1, 1]),
    ],
)
def test_between_keeps_its_loss_over_all_words(first, second):
    laws = [
        between_law(values, lower=0, upper=GAP, scales=SCALES, reach=110)
        for values in (first, second)
    ]
    assert verify(LawPair(first=laws[0], second=laws[1]), LOSS).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize("value", [0, GAP // 2])
def test_between_keeps_its_loss_over_two_hundred_queries(value: int):
    laws = [
        between_stops([v] * LONG, lower=0, upper=GAP, scales=SCALES, reach=110)
        for v in (value, value + 1)
    ]
    assert verify(LawPair(first=laws[0], second=laws[1]), LOSS).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize(
    ("gap", "answer"),
    [(0, VerdictAnswer.BROKEN), (2, VerdictAnswer.BROKEN), (GAP, VerdictAnswer.HOLDS)],
)
def test_between_with_too_small_a_gap_is_caught(gap: int, answer: VerdictAnswer):
    """Two hundred queries, half of which move up and half down: who leads?"""
    laws = [
        between_leads(a, b, count=100, lead=10, gap=gap, scales=SCALES, reach=110)
        for a, b in ((-1, 1), (0, 0))
    ]
    pair = LawPair(first=laws[0], second=laws[1])
    assert verify(pair, LOSS).answer is answer
    if gap == 2:
        assert worst_delta(pair, Fraction(1)).low > 0.08
