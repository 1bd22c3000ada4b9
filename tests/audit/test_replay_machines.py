"""Replay of machines, of choices of several, and of local responses: sound ones and twins."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

from discreet.audit.finding import FindingKind, record, replay_audit
from discreet.audit.inputs import Inputs
from discreet.audit.recorder import Recorder
from discreet.audit.sampling import audit_outputs
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.guess_and_check import (
    CheckedAnswer,
    GuessAndCheck,
    GuessAndCheckRun,
)
from discreet.mechanisms.query_release.median_mechanism import MedianMechanism
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.response.approximate_response import ApproximateResponse
from discreet.mechanisms.response.categorical_response import CategoricalResponse
from discreet.mechanisms.response.sign_of_gaussian import SignOfGaussian
from discreet.mechanisms.response.two_coin_response import TwoCoinResponse
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.scores import Scores
from discreet.mechanisms.selection.top_k import TopK
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds, Side
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.interior_point import InteriorPoint
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse import sparse
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector, SparseVectorRun
from discreet.mechanisms.thresholds.stage_wise import StageWise
from discreet.randomness.rng import SystemRng
from tests.support.statistics.numbered_rng import NumberedRng

ONE = Contribution(linf=1)
VECTOR = sparse(d_in=ONE, loss=Pure(4), most_above=3)
GAUSS = DiscreteGaussian(sigma_squared=4)
HALTING = HaltingSparseVector(threshold_noise=GAUSS, query_noise=GAUSS, ceiling=100, most_above=2)
CAPPED = SparseVector(
    threshold_noise=GAUSS, query_noise=GAUSS, most_above=2, most_queries=9, redraw=Redraw.NEVER
)
MACHINES = {
    "sparse": VECTOR,
    "never redrawn": evolve(VECTOR, redraw=Redraw.NEVER),
    "capped": CAPPED,
    "numeric": NumericSparse.calibrate(d_in=ONE, loss=Pure(4), most_above=3),
    "halting": HALTING,
    "stages": StageWise(stage=CAPPED, most_above=3),
    "halting stages": StageWise(stage=HALTING, most_above=3),
}
DATA = [5, 50, 12, 11, 48, 3, 51, 9]
MOVED = [value + (-1) ** place for place, value in enumerate(DATA)]
KINDS = FindingKind


def asks(machine, *, d_in=ONE, many=False):
    """Ask until the machine ends, and a last time then, which it refuses."""

    def run(values, recorder):
        life = recorder.watch_machine(machine, d_in=d_in).open(threshold=30, rng=recorder.rng)
        if many:
            return life.ask_many(np.array(values)), life.ended
        answers: list[Any] = []
        for value in values:
            try:
                answers.append((life.ask(value), life.ended))
            except Unsupported:
                answers.append("ended")
        return answers

    return run


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("name", MACHINES)
def test_machines_replay(name, many):
    for number in range(6):
        function = asks(MACHINES[name], many=many)
        assert replay_audit(function, DATA, MOVED, NumberedRng(number)) == ()


def test_between_thresholds_replays():
    machine = BetweenThresholds.calibrate(d_in=ONE, loss=Approximate(4, "1e-3"), centre=30)

    def run(values, recorder):
        watched = recorder.watch_machine(machine, d_in=ONE)
        return watched.open(epsilon=4, rng=recorder.rng).ask_many(np.array(values))

    for number in range(6):
        assert replay_audit(run, [900, 0, 30, 30], [899, 1, 31, 29], NumberedRng(number)) == ()


@pytest.mark.parametrize("metric", Metric)
def test_machines_on_rows_replay(metric):
    one = Contribution(l0=1, linf=1, metric=metric)
    chunk = InteriorPoint.calibrate(loss=Approximate(8, "0.01"), queries=20, beta="0.1")
    parts = AdaptiveThresholds(depth=2, cut_scale=1, chunk=chunk)
    data = list(range(400))
    neighbour = data[1:] + ([7] if metric is Metric.CHANGE_ONE else [])

    def inside(values, recorder):
        watched = recorder.watch_machine(chunk, d_in=one, inputs=Inputs.POINTS)
        life = watched.open(np.array(values), rng=recorder.rng)
        return life.ask_many(np.arange(0, 400, 10)), life.point

    def shares(values, recorder):
        watched = recorder.watch_machine(parts, d_in=one, inputs=Inputs.POINTS)
        life = watched.open(np.array(values), size=400, rng=recorder.rng)
        return [life.ask(point) for point in (10, 200, 390)]

    for function in (inside, shares):
        assert replay_audit(function, data, neighbour, NumberedRng(1)) == ()
        findings = replay_audit(function, data, neighbour[2:], NumberedRng(1))
        assert KINDS.CONTRIBUTION in {finding.kind for finding in findings}

    def asks_of_data(values, recorder):
        watched = recorder.watch_machine(chunk, d_in=one, inputs=Inputs.POINTS)
        return watched.open(np.array(values), rng=recorder.rng).ask(int(values[0]))

    findings = replay_audit(asks_of_data, data, neighbour, NumberedRng(1))
    assert {finding.kind for finding in findings} == {KINDS.CONTROL_FLOW}


TWO = Contribution(l1=2)
CHECKS = GuessAndCheck.calibrate(d_in=TWO, loss=Pure(4), most_above=2, threshold=5)
GUESSERS: dict[str, Any] = {
    "weights": PrivateMultiplicativeWeights(checks=CHECKS, cells=3, total=DiscreteLaplace(scale=3)),
    "median": MedianMechanism(checks=CHECKS, cells=3, size=4, total=60),
}
ASKED = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]])


def guesses(machine, d_in=TWO):
    def run(counts, recorder):
        watched = recorder.watch_machine(machine, d_in=d_in, inputs=Inputs.VECTOR)
        life = watched.open(np.array(counts), rng=recorder.rng)
        first = life.ask(ASKED[0])
        return first, [] if life.ended else life.ask_many(ASKED[1:])

    return run


@pytest.mark.parametrize("name", GUESSERS)
def test_machines_that_guess_replay(name):
    """A person with two rows may come; a third row is too much."""
    for number in range(6):
        function = guesses(GUESSERS[name])
        assert replay_audit(function, [50, 9, 1], [51, 9, 2], NumberedRng(number)) == ()
    findings = replay_audit(guesses(GUESSERS[name]), [50, 9, 1], [52, 9, 2], NumberedRng(1))
    assert {finding.kind for finding in findings} == {KINDS.CONTRIBUTION}


class NoComparison(GuessAndCheckRun):
    """Twin: it measures every query, and never ends."""

    def ask(self, query):
        exact = np.array([(self._checked(query) * self._rows).sum()])
        noise = self._mechanism.value_noise.release(exact, self._rng)
        return CheckedAnswer(int(noise[0]), is_measured=True)


@frozen(kw_only=True)
class MeasuresAll(GuessAndCheck):
    def open(self, histogram, *, guess, d_in, rng, event=None):
        return NoComparison(self, histogram=histogram, guess=guess, d_in=d_in, rng=rng, event=event)


def test_a_machine_that_measures_every_query_is_caught():
    checks = MeasuresAll(**{f: getattr(CHECKS, f) for f in ("vector", "value_noise", "threshold")})
    twin = PrivateMultiplicativeWeights(checks=checks, cells=3, total=60)
    findings = replay_audit(guesses(twin), [50, 9, 1], [51, 9, 2], NumberedRng(1))
    assert {finding.kind for finding in findings} == {KINDS.UNPAID}
    assert "too few words" in str(findings[0])


# ---------------------------------------------------------------- twins of machines


@frozen(kw_only=True)
class Twin(SparseVector):
    """Describes itself as the sound machine does, and opens a broken one."""

    life: type[SparseVectorRun]

    def open(self, *, threshold, d_in, rng):
        return self.life(self, threshold=threshold, event=self.event(d_in), rng=rng)


class NeverEnds(SparseVectorRun):
    def _end(self):
        self._above_left = 1


class KeepsItsThreshold(SparseVectorRun):
    def _draw(self):
        if not hasattr(self, "_shift"):
            return super()._draw()
        return self._shift


class TellsNumbers(SparseVectorRun):
    def ask(self, query, *, threshold=None):
        noisy = int(self._mechanism.query_noise.release(np.array([query]), self._rng)[0])
        return noisy if noisy >= self._threshold + self._shift else None


class KeepsItsNoise(SparseVectorRun):
    def ask(self, query, *, threshold=None):
        return bool(query >= self._threshold + self._shift)


class NoThresholdNoise(SparseVectorRun):
    def _draw(self):
        return 0


def twin(life):
    return Twin(
        threshold_noise=VECTOR.threshold_noise,
        query_noise=VECTOR.query_noise,
        most_above=3,
        redraw=Redraw.AFTER_ABOVE,
        life=life,
    )


@pytest.mark.parametrize(
    ("life", "said"),
    [
        (NeverEnds, "4 queries above, and its event pays for 3"),
        (KeepsItsThreshold, "too few words"),
        (TellsNumbers, "tells 1 numbers, and its event pays for 0"),
        (KeepsItsNoise, "too few words"),
        (NoThresholdNoise, "draws no noise for its threshold"),
    ],
)
def test_broken_machines_are_caught(life, said):
    high = [90] * 6
    findings = replay_audit(asks(twin(life)), high, [91] * 6, NumberedRng(1))
    assert {finding.kind for finding in findings} == {KINDS.UNPAID}
    assert said in str(findings[0])
    assert replay_audit(asks(twin(SparseVectorRun)), high, [91] * 6, NumberedRng(1)) == ()


class LooseBetween:
    """Twin of BetweenThresholds that goes on."""

    def __init__(self, inner):
        self._inner = inner

    def event(self):
        return self._inner.event()

    def ask_many(self, values):
        return np.full(len(values), int(Side.BETWEEN))


def test_a_between_machine_that_goes_on_is_caught():
    sound = BetweenThresholds.calibrate(d_in=ONE, loss=Approximate(4, "1e-3"), centre=30)

    class Loose:
        def open(self, **public):
            return LooseBetween(sound.open(**public))

    def run(values, recorder):
        watched = recorder.watch_machine(Loose(), d_in=ONE)
        return watched.open(epsilon=4, rng=recorder.rng).ask_many(np.array(values))

    (finding,) = replay_audit(run, [30, 30], [31, 29], NumberedRng(1))
    assert finding.kind is KINDS.UNPAID


def data_threshold(values, recorder):
    life = recorder.watch_machine(VECTOR, d_in=ONE).open(threshold=max(values), rng=recorder.rng)
    return life.ask(0)


def data_limit(values, recorder):
    life = recorder.watch_machine(VECTOR, d_in=ONE).open(threshold=9, rng=recorder.rng)
    return life.ask(0, threshold=max(values))


def data_many(values, recorder):
    life = recorder.watch_machine(VECTOR, d_in=ONE).open(threshold=9, rng=recorder.rng)
    return life.ask_many(np.zeros(max(values), dtype=np.int64))


def data_stop(values, recorder):
    life = recorder.watch_machine(VECTOR, d_in=ONE).open(threshold=1000, rng=recorder.rng)
    return [life.ask(0) for _ in range(max(values))]


@pytest.mark.parametrize("function", [data_threshold, data_limit, data_many, data_stop])
def test_what_is_public_about_a_machine_may_not_come_from_data(function):
    findings = replay_audit(function, [3], [4], NumberedRng(1))
    assert KINDS.CONTROL_FLOW in {finding.kind for finding in findings}


def test_queries_that_move_too_far_are_caught():
    findings = replay_audit(asks(VECTOR), DATA, [DATA[0] + 2, *DATA[1:]], NumberedRng(1))
    assert {finding.kind for finding in findings} == {KINDS.CONTRIBUTION}
    assert "linf = 1" in str(findings[0])


def test_a_machine_in_a_trace_shows_nothing():
    trace = record(asks(VECTOR), [987654321], NumberedRng(1))
    assert "987654321" not in repr(trace)
    assert [call.name for call in trace.calls] == ["SparseVector", "SparseVector.ask"]


# ---------------------------------------------------------------- choices

SCORES = [5, 9, 9, 4, 1]


def chooses(selector, *, d_in=ONE):
    def run(scores, recorder):
        return recorder.watch_selector(selector, d_in=d_in).select(
            np.array(scores, dtype=np.int64), recorder.rng
        )

    return run


SELECTORS = [
    TopK(scale=2, count=3),
    ExponentialMechanism(scale=2),
    PermuteAndFlip(scale=2),
    LaplaceNoisyMax(scale=2),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_choices_replay(selector):
    neighbour = [score + (-1) ** score for score in SCORES]
    for number in range(8):
        assert replay_audit(chooses(selector), SCORES, neighbour, NumberedRng(number)) == ()
    findings = replay_audit(chooses(selector), SCORES, [7, *SCORES[1:]], NumberedRng(1))
    assert KINDS.CONTRIBUTION in {finding.kind for finding in findings}


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_scores_that_go_both_ways_are_not_monotone(selector):
    monotone = evolve(selector, scores=Scores.MONOTONE)
    together, apart = [6, 9, 10, 4, 1], [6, 8, 9, 4, 1]
    assert replay_audit(chooses(monotone), SCORES, together, NumberedRng(1)) == ()
    assert replay_audit(chooses(selector), SCORES, apart, NumberedRng(1)) == ()
    (finding, *_) = replay_audit(chooses(monotone), SCORES, apart, NumberedRng(1))
    assert "move apart by more than the spread 1" in str(finding)


def test_a_choice_with_its_margin_replays():
    def run(scores, recorder):
        watched = recorder.watch_selector(LaplaceNoisyMax(scale=2), d_in=ONE)
        return watched.select_with_margin(np.array(scores), recorder.rng)

    assert replay_audit(run, SCORES, [6, *SCORES[1:]], NumberedRng(1)) == ()


class PaysForOne(TopK):
    def event(self, d_in):
        return evolve(TopK(scale=self.scale, count=1), count=1).event(d_in)


def test_top_k_that_pays_for_one_is_caught():
    findings = replay_audit(chooses(PaysForOne(scale=2, count=3)), SCORES, SCORES, NumberedRng(1))
    assert {str(finding) for finding in findings} == {
        "Call 1 (PaysForOne) makes 3 choices, and its event pays for 1."
    }


# ---------------------------------------------------------------- local responses

PEOPLE = [0, 1, 1, 0, 1, 0]


def responds(response, *, reports=1, one_by_one=False):
    def run(values, recorder):
        watched = recorder.watch_response(response, reports=reports)
        if one_by_one:
            return [watched.randomise(value, recorder.rng) for value in values]
        return watched.randomise_all(np.array(values), recorder.rng)

    return run


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize(
    "response",
    [
        TwoCoinResponse(),
        CategoricalResponse(epsilon=1, categories=5),
        ApproximateResponse(epsilon=1, delta="0.1"),
        SignOfGaussian(sigma_squared=4),
    ],
    ids=lambda response: type(response).__name__,
)
def test_responses_replay(response, one_by_one):
    people, other = PEOPLE, [1, *PEOPLE[1:]]
    if isinstance(response, SignOfGaussian):
        people, other = ([2 * bit - 1 for bit in bits] for bits in (people, other))
    for number in range(4):
        function = responds(response, one_by_one=one_by_one)
        assert replay_audit(function, people, other, NumberedRng(number)) == ()


def test_two_people_are_not_one():
    two = [1, 0, *PEOPLE[2:]]
    findings = replay_audit(responds(TwoCoinResponse()), PEOPLE, two, NumberedRng(1))
    assert {finding.kind for finding in findings} == {KINDS.CONTRIBUTION}
    assert replay_audit(responds(TwoCoinResponse(), reports=2), PEOPLE, two, NumberedRng(1)) == ()
    watched = Recorder(SystemRng()).watch_response(TwoCoinResponse(), reports=2)
    assert watched.event() == TwoCoinResponse().event() * 2, "two reports cost two"


def keeps_by_data(values, recorder):
    truth = Fraction(1 + sum(values), 20)
    return responds(TwoCoinResponse(truth=truth))(values, recorder)


class TellsOnes(TwoCoinResponse):
    """Twin: ones are told truthfully more often, and need one more toss."""

    def randomise_all(self, values, rng):
        rng.words(int(np.sum(values)))
        return super().randomise_all(values, rng)


def test_a_response_that_the_data_steers_is_caught():
    other = [1, *PEOPLE[1:]]
    (finding, *_) = replay_audit(keeps_by_data, PEOPLE, other, NumberedRng(1))
    assert (finding.kind, "another event" in str(finding)) == (KINDS.CONTROL_FLOW, True)
    (finding, *_) = replay_audit(responds(TellsOnes()), PEOPLE, other, NumberedRng(1))
    assert finding.kind is KINDS.WORDS


class KeepsOnes(TwoCoinResponse):
    """Twin: ones are always told, with the same words. Replay does not look inside."""

    def randomise_all(self, values, rng):
        return np.where(values == 1, 1, super().randomise_all(values, rng))


def test_a_response_that_is_broken_inside_is_for_the_sampling_auditor(rng):
    outputs = [KeepsOnes().randomise_all(np.full(4000, bit, dtype=np.int64), rng) for bit in (0, 1)]
    assert audit_outputs(*outputs, confidence="0.999999").refutes(KeepsOnes().loss())


@pytest.mark.parametrize(
    "watch",
    [
        lambda recorder: recorder.watch(VECTOR, d_in=ONE),
        lambda recorder: recorder.watch(TopK(scale=1, count=2), d_in=ONE),
        lambda recorder: recorder.watch_selector(DiscreteLaplace(scale=1), d_in=ONE),
        lambda recorder: recorder.watch_response(DiscreteLaplace(scale=1)),
        lambda recorder: recorder.watch_machine(DiscreteLaplace(scale=1), d_in=ONE),
        lambda recorder: recorder.watch_machine(VECTOR, d_in=ONE, inputs=Inputs.KEYS),
    ],
)
def test_what_cannot_be_watched_is_refused(watch):
    with pytest.raises(InvalidArgument):
        watch(Recorder(SystemRng()))
