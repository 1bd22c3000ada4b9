"""Record and replay: what the data may steer, and what it may not."""

from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pytest
from attrs import frozen

from discreet.audit.assertions import assert_private, assert_replays
from discreet.audit.finding import FindingKind, compare, record, replay, replay_audit
from discreet.audit.inputs import distances, exceeded
from discreet.audit.recorder import Recorder
from discreet.audit.trace import Ending, Parted, RecordingRng, ReplayRng
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.mechanism_event import DiscreteLaplaceEvent
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.rng import SystemRng
from tests.support.statistics.numbered_rng import NumberedRng

ONE = Contribution(l0=1, linf=1)
SECRET = 987654321


def noise(recorder: Recorder, *, d_in: Contribution = ONE, scale=2):
    return recorder.watch(DiscreteLaplace(scale=scale), d_in=d_in)


def count(data, recorder):
    return noise(recorder).release(np.array([len(data)]), recorder.rng)


def adaptive(data, recorder):
    """Look closer if the noisy count is even: a choice by an output, which is allowed."""
    first = count(data, recorder)
    if int(first[0]) % 2:
        return first
    capped = np.array([sum(min(value, 5) for value in data), 0])
    return noise(recorder, d_in=Contribution(l0=1, linf=5)).release(capped, recorder.rng)


@pytest.mark.parametrize("function", [count, adaptive])
@pytest.mark.parametrize("number", range(8))
def test_sound_functions_replay(function, number):
    rng = NumberedRng(number)
    assert replay_audit(function, [1, 2, 3], [1, 2, 3, SECRET], rng) == ()


class Plain:
    """An object of the function's own, which has no notion of being equal."""

    def __init__(self, answer):
        self.answer = answer

    def told(self):
        return self.answer


class Slotted:
    __slots__ = ("answer",)

    def __init__(self, answer):
        self.answer = answer


@frozen
class Answered:
    answer: Any


@dataclass
class Kept:
    answer: Any


WRAPPED = {
    "plain": Plain,
    "slotted": Slotted,
    "record": Answered,
    "data class": Kept,
    "frame": lambda answer: pd.DataFrame({"answer": answer}),
    "record of a frame": lambda answer: Answered(pd.Series(answer)),
    "generator": lambda answer: (number for number in answer),
    "function": lambda answer: lambda: answer,
    "method": lambda answer: Plain(answer).told,
}


@pytest.mark.parametrize("name", WRAPPED)
def test_results_of_every_kind_are_compared_by_what_is_in_them(name):
    def wrapped(data, recorder):
        answer = noise(recorder).release(np.array([len(data), 3]), recorder.rng)
        return WRAPPED[name](answer)

    def leaky(data, recorder):
        return WRAPPED[name](np.array([len(data), 3]))

    assert replay_audit(wrapped, [1, 2], [1, 2, 3], NumberedRng(1)) == ()
    findings = replay_audit(leaky, [1, 2], [1, 2, 3], NumberedRng(1))
    assert {finding.kind for finding in findings} == {FindingKind.RESULT}


class OwnNoise:
    """A mechanism of the user's own, made anew in each run, with a part that shows nothing."""

    def __init__(self, clamp):
        self.clamp, self.lock = clamp, Lock()

    def event(self, d_in):
        return DiscreteLaplace(scale=2).event(d_in)

    def release(self, exact_values, rng):
        return DiscreteLaplace(scale=2).release(np.minimum(exact_values, self.clamp), rng)


def test_a_mechanism_of_ones_own_is_compared_by_its_settings():
    def own(clamp):
        def run(data, recorder):
            watched = recorder.watch(OwnNoise(clamp(data)), d_in=ONE)
            return watched.release(np.array([len(data)]), recorder.rng)

        return run

    assert replay_audit(own(lambda data: 9), [1, 2], [1, 2, 3], NumberedRng(1)) == ()
    findings = replay_audit(own(max), [1, 2], [1, 2, 3], NumberedRng(1))
    assert [str(one) for one in findings] == [
        "Call 1 (OwnNoise) has other settings on the neighbour."
    ]


# ---------------------------------------------------------------- broken twins, caught by replay


def skips_empty(data, recorder):
    return count(data, recorder) if data else None


def other_noise(data, recorder):
    return noise(recorder, scale=1 + len(data)).release(np.array([0]), recorder.rng)


def groups_from_data(data, recorder):
    return noise(recorder).release(np.unique(np.array(data, dtype=np.int64)), recorder.rng)


def one_more_call(data, recorder):
    return [count([], recorder) for _ in data]


def other_contribution(data, recorder):
    return noise(recorder, d_in=Contribution(l1=len(data))).release(np.array([0]), recorder.rng)


def another_type(data, recorder):
    kind = np.int64 if len(data) % 2 else np.int32
    return noise(recorder).release(np.array([0], dtype=kind), recorder.rng)


def draws_first(data, recorder):
    recorder.rng.words(len(data))
    return count([], recorder)


def draws_last(data, recorder):
    noisy = count([], recorder)
    recorder.rng.words(len(data))
    return noisy


def no_clamp(data, recorder):
    return noise(recorder).release(np.array([sum(data)]), recorder.rng)


def leaks(data, recorder):
    return count(data, recorder), len(data)


def own_noise(data, recorder):
    return len(data) + int(recorder.rng.words(1)[0] % 7)


def raises(data, recorder):
    if len(data) > 1:
        raise ValueError
    return 0


def raises_differently(data, recorder):
    raise ValueError(str(len(data)))


@frozen
class Rejecting:
    """A sampler whose work depends on the value: it draws one word for each unit of it."""

    def event(self, d_in):
        return DiscreteLaplaceEvent(scale=1, distance=1)

    def error_quantile(self, beta):
        return Fraction(0)

    def release(self, exact_values, rng):
        rng.words(int(exact_values[0]))
        return exact_values


def works_by_value(data, recorder):
    return recorder.watch(Rejecting(), d_in=ONE).release(np.array([len(data)]), recorder.rng)


FLOW, WORDS = FindingKind.CONTROL_FLOW, FindingKind.WORDS
BROKEN = [
    (other_noise, FLOW),
    (groups_from_data, FLOW),
    (one_more_call, FLOW),
    (other_contribution, FLOW),
    (another_type, FLOW),
    (draws_first, WORDS),
    (draws_last, WORDS),
    (works_by_value, WORDS),
    (no_clamp, FindingKind.CONTRIBUTION),
    (leaks, FindingKind.RESULT),
    (own_noise, FindingKind.RESULT),
    (raises, FindingKind.RESULT),
    (raises_differently, FindingKind.RESULT),
]


@pytest.mark.parametrize(("function", "kind"), BROKEN)
def test_replay_catches(function, kind):
    findings = replay_audit(function, [1], [1, SECRET], NumberedRng(1))
    assert kind in {finding.kind for finding in findings}
    assert str(SECRET) not in repr(findings), "findings quote declarations, never data"


def test_replay_catches_a_skipped_call():
    findings = replay_audit(skips_empty, [], [3], NumberedRng(1))
    assert {finding.kind for finding in findings} == {FLOW}


@pytest.mark.parametrize("norm", ["l0", "linf", "l1", "l2_squared"])
def test_every_norm_is_checked(norm):
    one: dict[str, Any] = {norm: 1}
    declared = Contribution(**one)

    def moves(data, recorder):
        return noise(recorder, d_in=declared).release(np.array(data), recorder.rng)

    if norm in ("l0", "l2_squared"):
        # This mechanism asks for an l1 bound; the distance itself is checked below.
        assert norm in exceeded(np.array([0, 0]), np.array([2, 2]), declared)
        return
    if norm == "linf":
        declared = Contribution(linf=1, l0=5)
    findings = replay_audit(moves, [0, 0], [2, 0], NumberedRng(1))
    assert any(norm in str(finding) for finding in findings)
    assert all(finding.measured and finding.measured > 1 for finding in findings)
    assert not replay_audit(moves, [0, 0], [1, 0], NumberedRng(1))


# ---------------------------------------------------------------- selectors


@frozen
class FirstBest:
    """Not private at all, which is not what replay looks at."""

    def event(self, d_in):
        return DiscreteLaplaceEvent(scale=1, distance=d_in.bound("linf"))

    def select(self, scores, rng):
        rng.words(2)
        return int(np.argmax(scores))


def choose(data, recorder):
    watched = recorder.watch_selector(FirstBest(), d_in=Contribution(linf=1))
    return watched.select(np.array([data.count(1), data.count(2)]), recorder.rng)


def test_selectors_are_watched():
    trace = record(choose, [1], NumberedRng(1))
    assert trace.result == 0
    replayed = replay(choose, [1, 2, 2], trace)
    assert replayed.result == 0, "the recorded choice is handed back"
    (finding,) = compare(trace, replayed)
    assert finding.kind is FindingKind.CONTRIBUTION


# ---------------------------------------------------------------- the parts


def test_a_trace_shows_no_values():
    trace = record(lambda data, recorder: count([0] * 54321, recorder), [], NumberedRng(1))
    assert "54321" not in repr(trace)
    (call,) = trace.calls
    assert (call.name, call.shape, call.dtype) == ("DiscreteLaplace", (1,), "int64")
    assert call.event == DiscreteLaplaceEvent(scale=2, distance=1)
    assert call.words_used == trace.words_drawn > 0
    assert trace.ending is Ending.RETURNED


def test_the_recorder_wants_its_own_generator():
    recorder = Recorder(SystemRng())
    with pytest.raises(InvalidArgument, match="another generator"):
        noise(recorder).release(np.array([1]), SystemRng())
    assert not recorder.calls


def test_a_watched_mechanism_is_the_mechanism():
    watched, plain = noise(Recorder(SystemRng())), DiscreteLaplace(scale=2)
    assert watched.event(ONE) == plain.event(ONE)
    assert watched.error_quantile(Fraction(1, 20)) == plain.error_quantile("1/20")


def test_later_changes_to_an_array_do_not_reach_the_trace():
    def overwrites(data, recorder):
        values = np.array([len(data)])
        noisy = noise(recorder).release(values, recorder.rng)
        values[:] = 0
        noisy[:] = 0
        return noisy

    trace = record(overwrites, [1, 2, 3], NumberedRng(1))
    assert trace.calls[0].values[0] == 3
    replayed = replay(overwrites, [1, 2], trace)
    assert (trace.calls[0].values[0], replayed.calls[0].values[0]) == (3, 2)
    assert compare(trace, replayed) == ()


def test_the_function_cannot_hide_that_it_parted():
    def swallows(data, recorder):
        try:
            recorder.rng.words(len(data))
        except Exception:
            return

    (finding,) = set(replay_audit(swallows, [1], [1, 2], NumberedRng(1)))
    assert finding.kind is WORDS


def test_tapes():
    recording = RecordingRng(NumberedRng(3))
    words = np.concatenate([recording.words(2), recording.words(0), recording.words(3)])
    assert recording.drawn == 5
    player = ReplayRng(recording.tape())
    assert (player.words(5) == words).all()
    with pytest.raises(Parted):
        player.words(1)


def test_distances_are_exact():
    far = distances(np.array([2**62, 1]), np.array([-(2**62), 1]))
    assert far["l2_squared"] == Fraction(2**126)
    assert far["l0"] == 1
    floats = distances(np.array([0.5, np.nan, np.inf]), np.array([0.25, np.nan, 0.0]))
    assert floats["linf"] == float("inf")
    assert distances(np.array([]), np.array([]))["linf"] == 0


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])}, True),
        ([1, (2, 3)], [1, (2, 4)], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        (np.array([1]), np.array([1], dtype=np.int32), False),
        (1, 1.0, False),
    ],
)
def test_results_are_compared_in_depth(first, second, same):
    findings = replay_audit(lambda data, recorder: data, first, second, NumberedRng(1))
    assert (not findings) == same


# ---------------------------------------------------------------- assertions


def test_assertions():
    assert_replays(count, [1], [1, 2])
    with pytest.raises(AssertionError, match="does not replay:\nThe inputs of call 1"):
        assert_replays(no_clamp, [1], [1, 7])
    result = assert_private(lambda: 0, lambda: 0, loss=Pure(1), samples=50)
    assert result.epsilon_lower == 0
    with pytest.raises(AssertionError, match="ε = 1"):
        assert_private(lambda: 0, lambda: 1, loss=Pure(1), samples=500, alpha="0.01")


def test_a_function_that_always_raises_is_not_called_private():
    def broken(data, recorder):
        raise KeyError("misspelt")

    with pytest.raises(InvalidArgument, match="nothing was audited"):
        replay_audit(broken, [1], [1, 2], NumberedRng(1))
