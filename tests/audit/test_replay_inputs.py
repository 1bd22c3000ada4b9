"""Replay where the number of rows or the set of keys is private: sound mechanisms and twins."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

from discreet.audit.finding import RARE, FindingKind, replay_audit
from discreet.audit.inputs import Inputs
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, ApproximateZcdp, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries, PrefixRelease
from discreet.mechanisms.selection.binary_search_quantile import BinarySearchQuantile
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import QuantileEnd
from discreet.mechanisms.selection.quantiles import Quantiles
from discreet.mechanisms.stability.stable_median import StableMedian
from discreet.mechanisms.stability.stable_mode import StableMode
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from tests.support.statistics.numbered_rng import NumberedRng

ONE = Contribution(l0=1, linf=1)
ROW = Contribution(l1=1)
LOSS = Approximate(1, "1e-6")
KEYS = ThresholdedKeys.calibrate(d_in=ONE, loss=LOSS)
CROWD = ["a"] * 400 + ["b"] * 300 + ["c"] * 30


def keys(mechanism=KEYS, *, d_in=ONE):
    def run(people, recorder):
        shown = recorder.watch(mechanism, d_in=d_in).release(Counter(people), recorder.rng)
        # Noise of its own afterwards shows that the tape goes on where it should.
        more = recorder.watch(DiscreteLaplace(scale=2), d_in=ONE)
        return shown, more.release(np.array([len(people)]), recorder.rng), recorder.rng.words(2)

    return run


def rows(mechanism, *, d_in=ROW):
    def run(values, recorder):
        watched = recorder.watch(mechanism, d_in=d_in)
        first = watched.release(np.array(values, dtype=np.int64), recorder.rng)
        return first, watched.release(np.array(values, dtype=np.int64), recorder.rng)

    return run


# ---------------------------------------------------------------- texts


PREFIXES = PrefixQueries([{"a"}, {"ab", "c"}])


@pytest.mark.parametrize("person", [["abc", "zz"], ["c"], ["", "ab"]])
def test_prefix_queries_replay(person):
    """A person with two texts may come; one with three is too much."""
    two = Contribution(l1=2)
    inner = Mwem.calibrate(queries=PREFIXES.linear, rounds=2, d_in=two, loss=Pure(1))
    mechanism = PrefixRelease(prefixes=PREFIXES, inner=inner)

    def run(texts, recorder):
        return recorder.watch(mechanism, d_in=two).release(texts, recorder.rng).values

    texts = ["ab", "a", "x", "cc"] * 3
    assert replay_audit(run, texts, texts + person, NumberedRng(1)) == ()
    findings = replay_audit(run, texts, [*texts, *person, "a", "q"], NumberedRng(1))
    assert FindingKind.CONTRIBUTION in {finding.kind for finding in findings}


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("more", ["a", "c", "new"])
@pytest.mark.parametrize(
    "mechanism",
    [
        KEYS,
        ThresholdedKeys.calibrate(d_in=ONE, loss=ApproximateZcdp(rho="1/2", delta="1e-9")),
        StableMode.calibrate(d_in=ONE, loss=LOSS),
    ],
)
def test_private_keys_replay(mechanism, more, number):
    """A key that one unit brings alone changes the keys present, their order and the words."""
    assert replay_audit(keys(mechanism), CROWD, [more, *CROWD], NumberedRng(number)) == ()


def test_a_count_of_zero_is_an_absent_key():
    def counts(data, recorder):
        return recorder.watch(KEYS, d_in=ONE).release(data, recorder.rng)

    assert replay_audit(counts, {"a": 90, "b": 0}, {"a": 90}, NumberedRng(1)) == ()


@pytest.mark.parametrize(
    ("neighbour", "norm"),
    [([*CROWD, "a", "a"], "linf = 1"), ([*CROWD, "a", "new"], "l0 = 1"), (CROWD[2:], "l1 = 1")],
)
def test_twin_keys_that_move_more_than_declared(neighbour, norm):
    findings = replay_audit(keys(), CROWD, neighbour, NumberedRng(1))
    assert {finding.kind for finding in findings} >= {FindingKind.CONTRIBUTION}
    assert any(norm in str(finding) for finding in findings)


class LowThreshold(ThresholdedKeys):
    """Twin: describes the threshold that it was given, and shows whatever has 1 or more."""

    def release(self, counts, rng):
        return evolve(KEYS, threshold=1).release(counts, rng)


def test_twin_keys_below_their_threshold_are_caught():
    twin = LowThreshold(noise=KEYS.noise, threshold=KEYS.threshold)
    findings = [
        finding
        for number in range(20)
        for finding in replay_audit(keys(twin), CROWD, [*CROWD, "new"], NumberedRng(number))
    ]
    assert {finding.kind for finding in findings} == {FindingKind.OWN_KEY}
    assert "new" not in repr(findings) + "".join(map(str, findings)), "no finding quotes a key"


def test_an_event_with_a_large_delta_is_not_accused_of_it():
    """Its δ is honest, and large: an own key that is shown is what it says will happen."""
    open_handed = ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=1)
    assert open_handed.loss(ONE).delta > RARE

    def looks_up(people, recorder):
        shown = recorder.watch(open_handed, d_in=ONE).release(Counter(people), recorder.rng)
        return {key: Counter(people)[key] > 0 for key in shown}

    for number in range(10):
        assert replay_audit(looks_up, CROWD, [*CROWD, "new"], NumberedRng(number)) == ()


def test_keys_do_not_excuse_a_leak():
    def leaks(people, recorder):
        return keys()(people, recorder)[0], len(set(people))

    findings = replay_audit(leaks, CROWD, [*CROWD, "new"], NumberedRng(1))
    assert {finding.kind for finding in findings} == {FindingKind.RESULT}


# ---------------------------------------------------------------- rows

QUARTER = Quantile(quantile="1/4", lower=0, upper=100, scale=2)
RANKS: dict[str, Any] = {
    "quantile": QUARTER,
    "end": QuantileEnd(quantile="1/4", side="low", lower=0, upper=100, scale=2, distance=3),
    "quantiles": Quantiles(quantiles=["1/4", "1/2", "3/4"], lower=0, upper=100, scale=4),
    "search": BinarySearchQuantile(
        quantile="1/2", lower=0, upper=127, noise=DiscreteLaplace(scale=14)
    ),
    "stable": StableMedian.calibrate(lower=0, upper=100, proposed=50, d_in=ROW, loss=LOSS),
}
AGES = [3, 18, 18, 25, 44, 60, 61, 90]


@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize(("data", "neighbour"), [(AGES, [*AGES, 50]), (AGES, AGES[1:]), ([], [7])])
@pytest.mark.parametrize("number", range(3))
def test_one_row_more_replays(name, data, neighbour, number):
    assert replay_audit(rows(RANKS[name]), data, neighbour, NumberedRng(number)) == ()


@pytest.mark.parametrize("name", RANKS)
def test_twin_with_a_range_from_the_data_is_caught(name):
    """The event is the same, or nearly, whatever the range is; who was the oldest is not."""

    def run(values, recorder):
        own = evolve(RANKS[name], upper=127 if max(values) > 90 else 63)
        return recorder.watch(own, d_in=ROW).release(np.array(values), recorder.rng)

    findings = replay_audit(run, AGES, [*AGES, 99], NumberedRng(1))
    differs = "another event" if name == "search" else "other settings"
    assert [str(one) for one in findings] == [
        f"Call 1 ({type(RANKS[name]).__name__}) has {differs} on the neighbour."
    ]


@pytest.mark.parametrize("name", RANKS)
def test_a_changed_row_is_one_that_goes_and_one_that_comes(name):
    changed = Contribution(l1=2, metric=Metric.CHANGE_ONE)
    neighbour = [100, *AGES[1:]]
    assert replay_audit(rows(RANKS[name], d_in=changed), AGES, neighbour, NumberedRng(1)) == ()
    findings = replay_audit(rows(RANKS[name]), AGES, neighbour, NumberedRng(1))
    assert {str(finding)[-len("l1 = 1.") :] for finding in findings} >= {"l1 = 1."}


@pytest.mark.parametrize("name", RANKS)
def test_twin_with_more_rows_than_declared_is_caught(name):
    findings = replay_audit(rows(RANKS[name]), AGES, [*AGES, 50, 51], NumberedRng(1))
    assert {finding.kind for finding in findings} == {FindingKind.CONTRIBUTION}


def test_twin_that_looks_at_the_number_of_rows_is_caught():
    def scale_by_size(values, recorder):
        quantile = evolve(QUARTER, scale=1 + len(values))
        return rows(quantile)(values, recorder)

    def size_beside(values, recorder):
        return rows(QUARTER)(values, recorder), len(values)

    for twin, kind in (
        (scale_by_size, FindingKind.CONTROL_FLOW),
        (size_beside, FindingKind.RESULT),
    ):
        findings = replay_audit(twin, AGES, [*AGES, 50], NumberedRng(1))
        assert kind in {finding.kind for finding in findings}


# ---------------------------------------------------------------- mechanisms of one's own


@frozen
class Loudest:
    """Takes rows, and is known to nobody."""

    def event(self, d_in):
        return QUARTER.event(d_in)

    def error_quantile(self, beta):
        return beta

    def release(self, exact_values, rng):
        rng.words(exact_values.size)
        return 0


def test_a_mechanism_of_ones_own_says_that_it_takes_rows():
    def own(inputs):
        def run(values, recorder):
            watched = recorder.watch(Loudest(), d_in=ROW, inputs=inputs)
            return watched.release(np.array(values), recorder.rng)

        return run

    assert replay_audit(own(Inputs.ROWS), AGES, [*AGES, 5], NumberedRng(1)) == ()
    assert replay_audit(own(None), AGES, [*AGES, 5], NumberedRng(1)) != ()


def test_a_mapping_is_no_vector():
    def wrong(data, recorder):
        watched = recorder.watch(KEYS, d_in=ONE, inputs=Inputs.VECTOR)
        return watched.release(data, recorder.rng)

    with pytest.raises(InvalidArgument, match="nothing was audited"):
        replay_audit(wrong, {"a": 1}, {"a": 2}, NumberedRng(1))


def test_an_error_that_one_data_set_raises_is_found_even_if_it_is_caught():
    @frozen
    class Touchy(Loudest):
        def release(self, exact_values, rng):
            if exact_values.max() > 80:
                raise ValueError
            return 0

    def catches(values, recorder):
        watched = recorder.watch(Touchy(), d_in=ROW, inputs=Inputs.ROWS)
        try:
            return watched.release(np.array(values), recorder.rng)
        except ValueError:
            return 0

    findings = replay_audit(catches, [5], [5, 90], NumberedRng(1))
    assert {finding.kind for finding in findings} == {FindingKind.RESULT}
