"""Propose-test-release and the median: margins by brute force, every small pair by enumeration."""

import itertools
from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.accounting_question import account
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import enclosed
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.mechanisms.stability.stable_median import StableMedian
from tests.mechanisms.stability.laws import ALMOST, released_law, rows, scaled, with_one_more
from tests.support.statistics.exact_tests import alpha, cells_p_value

DOMAIN = range(5)
ONE = Contribution(l1=1)


def median_of(proposed: int, *, threshold: int = 3) -> StableMedian:
    ptr = ProposeTestRelease(
        proposed=proposed,
        test=StabilityTest(scale=2, threshold=threshold),
        noise=DiscreteLaplace(scale=3),
    )
    return StableMedian(lower=DOMAIN[0], upper=DOMAIN[-1], mechanism=ptr)


def value(data: tuple[int, ...]) -> int:
    return sorted(data)[(len(data) - 1) // 2] if data else DOMAIN[0]


def steps(data: tuple[int, ...]) -> list[tuple[int, ...]]:
    fewer = [data[:i] + data[i + 1 :] for i in range(len(data))]
    return [*fewer, *with_one_more(data, DOMAIN)]


def local_sensitivity(data: tuple[int, ...]) -> int:
    return max(abs(value(data) - value(other)) for other in steps(data))


def distance_to_unstable(data: tuple[int, ...], proposed: int) -> int:
    """Breadth first over all data sets."""
    seen, queue = {data}, deque([(data, 0)])
    while queue:
        found, distance = queue.popleft()
        if local_sensitivity(found) > proposed:
            return distance
        for other in steps(found):
            if other not in seen:
                seen.add(other)
                queue.append((other, distance + 1))
    raise AssertionError("unreachable")


def margin(median: StableMedian, data: tuple[int, ...]) -> int:
    return median.margin(np.array(data, dtype=np.int64))


@pytest.mark.parametrize("proposed", [1, 2, 3])
def test_margin_is_the_distance_to_instability(proposed: int):
    median = median_of(proposed)
    for data in rows(DOMAIN, 4):
        assert margin(median, data) == distance_to_unstable(data, proposed), data


@pytest.mark.parametrize("proposed", [4, 5, 100])
def test_a_proposal_as_wide_as_the_range_is_always_safe(proposed: int):
    assert margin(median_of(proposed), ()) > 2**60


@given(data=st.lists(st.integers(-50, 50), max_size=30), row=st.integers(-50, 50))
def test_margin_moves_by_at_most_one_and_bounds_the_move(data: list[int], row: int):
    ptr = median_of(7).mechanism
    median = StableMedian(lower=-40, upper=40, mechanism=ptr)
    before = np.array(data, dtype=np.int64)
    after = np.array([*data, row], dtype=np.int64)
    margins = median.margin(before), median.margin(after)
    assert abs(margins[0] - margins[1]) <= 1
    assert min(margins) >= 0
    if max(margins) >= 1:
        both = [np.sort(np.clip(x, -40, 40)) for x in (before, after)]
        ends = [int(x[(x.size - 1) // 2]) if x.size else -40 for x in both]
        assert abs(ends[0] - ends[1]) <= 7


@pytest.mark.parametrize("proposed", [1, 2])
def test_loss_holds_for_every_small_pair(proposed: int):
    """All data of up to three rows against all with one row more, before the final clamp."""
    median = median_of(proposed)
    loss = median.loss(ONE)
    laws: dict[tuple[int, int], Any] = {}
    for data in rows(DOMAIN, 4):
        key = value(data), min(margin(median, data), 8)
        laws[key] = None
    for centre, away in laws:
        laws[centre, away] = released_law(median.mechanism, centre, away, reach=8, window=(-1, 6))
    pairs = set()
    for data in rows(DOMAIN, 3):
        for more in with_one_more(data, DOMAIN):
            ends = [(value(x), min(margin(median, x), 8)) for x in (data, more)]
            pairs.add((min(ends), max(ends)))
    for first, second in sorted(pairs):
        pair = LawPair(first=laws[first], second=laws[second])
        assert verify(pair, loss).answer is VerdictAnswer.HOLDS, (first, second)


def test_a_row_that_changes_is_two_steps():
    median = median_of(2)
    two = Contribution(l0=2, linf=1, metric=Metric.CHANGE_ONE)
    loss = median.loss(two)
    pairs = set()
    for rest in rows(DOMAIN, 2):
        for old, new in itertools.combinations(DOMAIN, 2):
            ends = [tuple(sorted((*rest, row))) for row in (old, new)]
            pairs.add(tuple(sorted((value(x), min(margin(median, x), 8)) for x in ends)))
    laws = {
        end: released_law(median.mechanism, *end, reach=8, window=(-1, 6))
        for end in {end for pair in pairs for end in pair}
    }
    for first, second in sorted(pairs):
        pair = LawPair(first=laws[first], second=laws[second])
        assert verify(pair, loss).answer is VerdictAnswer.HOLDS


def test_test_alone_is_tight():
    """Where nothing is known of what follows, δ is the chance of the false pass."""
    test = StabilityTest(scale=2, threshold=4)
    ptr = ProposeTestRelease(proposed=1, test=test, noise=DiscreteLaplace(scale="1/1000"))
    loss = test.loss(distance=1, unstable=0)
    # Values far apart, hardly any noise: what follows tells all.
    pair = LawPair(
        first=released_law(ptr, 0, 0, reach=6, window=(-1, 11)),
        second=released_law(ptr, 10, 0, reach=6, window=(-1, 11)),
    )
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS
    assert verify(pair, scaled(loss, ALMOST)).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize("moves", [1, 2, 5])
def test_calibration_is_exact_in_epsilon_and_smallest_in_threshold(moves: int):
    d_in, target = Contribution(l1=moves), Approximate("3/2", "1e-5")
    ptr = ProposeTestRelease.calibrate(proposed=4, d_in=d_in, loss=target, test_share="1/3")
    assert ptr.loss(d_in) <= target
    assert ptr.loss(d_in).epsilon == target.epsilon
    lower = StabilityTest(scale=ptr.test.scale, threshold=ptr.test.threshold - 1)
    assert lower.loss(distance=moves, unstable=moves - 1).delta > target.delta


def test_event_is_remembered_and_composes():
    event = median_of(2).event(Contribution(l0=2, linf=1, metric=Metric.CHANGE_ONE))
    assert event_from_json(event.to_json()) == event
    assert isinstance(account(event * 3, delta="0.9").loss, Approximate)


def test_released_medians_have_the_verified_law(rng):
    median = median_of(2, threshold=2)
    data = np.array([1, 2, 2, 2, 3, 3], dtype=np.int64)
    away, samples = median.margin(data), 4000
    raw = enclosed(released_law(median.mechanism, 2, away, reach=8, window=(-40, 44))).masses
    cells: dict[int, Fraction] = {-1: raw[None][0]}
    for outcome, ends in raw.items():
        if outcome is not None:
            inside = min(4, max(0, outcome))
            cells[inside] = cells.get(inside, Fraction(0)) + ends[0]
    drawn = [median.release(data, rng) for _ in range(samples)]
    found = np.array([-1 if x is None else x for x in drawn])
    level = alpha("stability/median", parts=2)
    assert cells_p_value(found, cells) > level
    swapped = cells | {0: cells[2], 2: cells[0]}
    assert cells_p_value(found, swapped) < level, "the check has power"


def test_wide_gaps_are_refused_and_tight_clusters_answered(rng):
    median = StableMedian.calibrate(
        lower=0, upper=10**9, proposed=100, d_in=ONE, loss=Approximate(2, "1e-6")
    )
    apart = np.array([0] * 500 + [10**9] * 500)
    together = np.arange(1000) + 10**6
    assert median.margin(apart) == 0
    assert median.release(apart, rng) is None
    answer = median.release(together, rng)
    assert answer is not None
    assert abs(answer - 10**6 - 499) <= median.error_quantile("1e-12")
    assert median.release(np.array([], dtype=np.int64), rng) is None


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: StabilityTest(scale=0, threshold=1),
        lambda: StabilityTest(scale=1, threshold=0),
        lambda: StabilityTest.calibrate(distance=0, unstable=0, loss=Approximate(1, "0.1")),
        lambda: StabilityTest.calibrate(distance=1, unstable=0, loss=Approximate(1, 0)),
        lambda: ProposeTestRelease.calibrate(proposed=0, d_in=ONE, loss=Approximate(1, "0.1")),
        lambda: ProposeTestRelease.calibrate(
            proposed=1, d_in=ONE, loss=Approximate(1, "0.1"), test_share=1
        ),
        lambda: StableMedian(lower=3, upper=3, mechanism=median_of(1).mechanism),
        lambda: StableMedian(lower=0, upper=2**61, mechanism=median_of(1).mechanism),
        lambda: median_of(1).margin(np.array([0.5])),
    ],
)
def test_bad_parameters_are_refused(attempt):
    with pytest.raises(InvalidArgument):
        attempt()
