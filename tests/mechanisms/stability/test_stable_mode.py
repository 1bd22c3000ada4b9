"""The stable mode: every small pair of counts by enumeration."""

import itertools
from functools import cache

import pytest

from discreet.audit.law_pair import LawPair
from discreet.audit.laws import ExactLaw, OutputLaw
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.mechanisms.stability.stable_mode import StableMode
from tests.mechanisms.stability.laws import ALMOST, law_behind_test, scaled
from tests.support.statistics.exact_tests import alpha, binomial_p_value

MODE = StableMode(test=StabilityTest(scale="3/2", threshold=4))
KEYS = 3
Counts = tuple[int, ...]


def ends_of(counts: Counts) -> tuple[int | None, int]:
    """By hand: who wins (the first largest), and by how much."""
    ordered = sorted(counts, reverse=True)
    return (counts.index(ordered[0]) if ordered[0] else None), ordered[0] - ordered[1]


@cache
def mode_law(winner: int | None, lead: int) -> OutputLaw:
    return law_behind_test(MODE.test, lead, ExactLaw({winner: 1}), reach=8)


def pair_of(first: Counts, second: Counts) -> LawPair:
    return LawPair(first=mode_law(*ends_of(first)), second=mode_law(*ends_of(second)))


def moves(signs: tuple[int, ...], least: int) -> list[tuple[Counts, Counts]]:
    """Every pair of small counts that differ by one move, once for each pair of laws."""
    found = {}
    for counts in itertools.product(range(least, 4), repeat=KEYS):
        for move in itertools.product(signs, repeat=KEYS):
            other = tuple(a + b for a, b in zip(counts, move, strict=True))
            found[frozenset((ends_of(counts), ends_of(other)))] = counts, other
    return list(found.values())


@pytest.mark.parametrize(
    ("metric", "signs", "least"),
    [(Metric.ADD_REMOVE, (0, 1), 0), (Metric.CHANGE_ONE, (-1, 0, 1), 1)],
)
def test_loss_holds_for_every_small_pair(metric: Metric, signs: tuple[int, ...], least: int):
    loss = MODE.loss(Contribution(l0=KEYS, linf=1, metric=metric))
    for first, second in moves(signs, least):
        assert verify(pair_of(first, second), loss).answer is VerdictAnswer.HOLDS, (first, second)


def test_delta_is_attained():
    """A tie that the first key wins, and one more unit for the second."""
    loss = MODE.loss(Contribution(l0=1, linf=1))
    pair = pair_of((2, 2, 0), (2, 3, 0))
    assert verify(pair, scaled(loss, ALMOST)).answer is VerdictAnswer.BROKEN


def test_verifier_catches_the_price_of_adding_when_units_change():
    """Leads move by 2 when a unit changes its key: the loss for adding is not enough."""
    loss = MODE.loss(Contribution(l0=2, linf=1))
    answers = [
        verify(pair_of(first, second), loss).answer
        for first, second in (
            ((3, 1, 0), (2, 2, 0)),
            ((2, 1, 0), (1, 2, 0)),
            ((6, 1, 0), (5, 2, 0)),
        )
    ]
    assert VerdictAnswer.BROKEN in answers


def test_verifier_catches_a_mode_without_a_test():
    loss = MODE.loss(Contribution(l0=1, linf=1))
    open_pair = LawPair(first=ExactLaw({0: 1}), second=ExactLaw({1: 1}))
    assert verify(open_pair, loss).answer is VerdictAnswer.BROKEN


def test_released_winners_have_the_verified_law(rng):
    samples, counts = 4000, {"b": 5, "a": 2, "c": 1}
    won = [MODE.release(counts, rng) for _ in range(samples)]
    assert set(won) == {"b", None}
    level = alpha("stability/mode", parts=2)
    passes = MODE.test.pass_probability(3)
    assert binomial_p_value(won.count("b"), samples, passes) > level
    assert binomial_p_value(won.count("b"), samples, MODE.test.pass_probability(4)) < level


def test_ties_go_to_the_first_key_and_nobody_wins_nothing(rng):
    eager = StableMode(test=StabilityTest(scale=50, threshold=1))
    won = {eager.release({"b": 3, "a": 3}, rng) for _ in range(100)}
    assert won == {"a", None}
    assert {eager.release({}, rng) for _ in range(50)} == {None}
    assert {eager.release({"a": 0}, rng) for _ in range(50)} == {None}


@pytest.mark.parametrize("metric", list(Metric))
def test_calibration_and_events(metric: Metric):
    d_in, target = Contribution(l0=9, linf=1, metric=metric), Approximate("1/2", "1e-7")
    mode = StableMode.calibrate(d_in=d_in, loss=target)
    assert mode.loss(d_in) <= target
    assert mode.loss(d_in).epsilon == target.epsilon
    lower = StableMode(test=StabilityTest(scale=mode.test.scale, threshold=mode.test.threshold - 1))
    assert lower.loss(d_in).delta > target.delta
    assert event_from_json(mode.event(d_in).to_json()) == mode.event(d_in)
    needed = mode.lead_needed("0.9")
    assert mode.test.pass_probability(needed) >= 0.9 > mode.test.pass_probability(needed - 1)


def test_bad_counts_are_refused(rng):
    with pytest.raises(InvalidArgument) as caught:
        MODE.release({"a": -77}, rng)
    assert "77" not in str(caught.value)
