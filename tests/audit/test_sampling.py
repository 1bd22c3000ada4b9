"""The sampling auditor: its level by exact enumeration, its power, and what it accepts."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.audit.output_event import HalfLine, OutcomeSet
from discreet.audit.sampling import AuditSuite, audit, audit_outputs, detectable_epsilon
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.numbers import exp_bounds
from discreet.randomness.samplers import discrete_laplace
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.numbered_rng import NumberedRng

TRUTH, LIE = Fraction(3, 4), Fraction(1, 4)
"""Randomised response with odds of 3 to 1: its true ε is ln 3, and all its chances are rational."""


def mass(hits: int, trials: int, p: Fraction) -> Fraction:
    return comb(trials, hits) * p**hits * (1 - p) ** (trials - hits)


# ---------------------------------------------------------------- level, exactly


@pytest.mark.parametrize("confidence", ["1/2", "9/10"])
def test_false_alarm_rate_of_the_whole_audit(confidence):
    """Every sample of ten on each side, weighted by its exact probability.

    The auditor picks its event on five and counts on five. The bound exceeds the true ε = ln 3
    exactly if likely_low > 3 * unlikely_high.
    """
    half = 5
    wrong = Fraction(0)
    for first_half, first_rest, second_half, second_rest in product(range(half + 1), repeat=4):
        first = [1] * first_half + [0] * (half - first_half)
        first += [1] * first_rest + [0] * (half - first_rest)
        second = [1] * second_half + [0] * (half - second_half)
        second += [1] * second_rest + [0] * (half - second_rest)
        result = audit_outputs(first, second, confidence=confidence)
        if result.likely_low > 3 * result.unlikely_high:
            assert result.epsilon_lower > 1, "the shown bound says the same"
            wrong += (
                mass(first_half, half, TRUTH)
                * mass(first_rest, half, TRUTH)
                * mass(second_half, half, LIE)
                * mass(second_rest, half, LIE)
            )
    assert wrong <= 1 - Fraction(confidence)
    if confidence == "1/2":
        assert wrong > 0, "the enumeration reaches the alarms that it counts"


def test_each_bound_gets_half_of_the_failure():
    result = audit_outputs([0, 1, 1, 1] * 25, [0, 0, 0, 1] * 25, confidence="9/10")
    each = Fraction(1, 20)
    assert result.likely_low == lower_confidence(result.likely_hits, result.likely_trials, each)
    assert result.unlikely_high == upper_confidence(
        result.unlikely_hits, result.unlikely_trials, each
    )


@pytest.mark.parametrize(("p", "q"), [(TRUTH, LIE), (Fraction(1, 2), Fraction(1, 6))])
def test_false_alarm_rate_of_one_event(p, q):
    """Thirty trials on each side of an event whose true ratio is 3."""
    trials, failure = 30, Fraction(1, 10)
    low = [lower_confidence(hits, trials, failure / 2) for hits in range(trials + 1)]
    high = [upper_confidence(hits, trials, failure / 2) for hits in range(trials + 1)]
    wrong = sum(
        (
            mass(a, trials, p) * mass(b, trials, q)
            for a, b in product(range(trials + 1), repeat=2)
            if low[a] > 3 * high[b]
        ),
        Fraction(0),
    )
    assert 0 < wrong <= failure


# ---------------------------------------------------------------- power


def test_power_by_exact_enumeration():
    """What is promised with probability 9/10 is reached at least that often."""
    samples, confidence = 160, Fraction(9, 10)
    promised = detectable_epsilon(TRUTH, LIE, samples=samples, confidence=confidence)
    assert 0 < promised < Fraction("1.0986")
    trials = samples // 2
    low = [lower_confidence(hits, trials, (1 - confidence) / 2) for hits in range(trials + 1)]
    high = [upper_confidence(hits, trials, (1 - confidence) / 2) for hits in range(trials + 1)]
    ratio, _ = exp_bounds(promised)
    reached = sum(
        (
            mass(a, trials, TRUTH) * mass(b, trials, LIE)
            for a, b in product(range(trials + 1), repeat=2)
            if low[a] >= ratio * high[b]
        ),
        Fraction(0),
    )
    assert reached >= Fraction(9, 10)


def test_more_samples_see_more():
    seen = [detectable_epsilon(TRUTH, LIE, samples=n) for n in (100, 1_000, 100_000)]
    assert seen == sorted(seen)
    assert seen[-1] > Fraction("1.03")
    assert detectable_epsilon(LIE, LIE, samples=1000) == 0
    with pytest.raises(InvalidArgument):
        detectable_epsilon(2, LIE, samples=1000)
    with pytest.raises(InvalidArgument):
        detectable_epsilon(TRUTH, LIE, samples=0)


def test_right_and_wrong_noise(soak):
    """The right scale passes at its share; half and 0.8 of it are caught with the same samples."""
    confidence = 1 - Fraction(alpha("audit/laplace scale"))
    count = soak.cases(60_000)

    def drawn(scale: str, centre: int) -> np.ndarray:
        return centre + discrete_laplace(Fraction(scale), count, NumberedRng(centre, label=scale))

    found = {
        scale: audit_outputs(drawn(scale, 0), drawn(scale, 1), confidence=confidence)
        for scale in ("2", "1.6", "1")
    }
    assert not found["2"].refutes(Pure("1/2"))
    assert found["1.6"].refutes(Pure("1/2"))
    assert found["1"].refutes(Pure("1/2"))
    assert found["1"].epsilon_lower > Fraction("0.9")
    assert found["2"].epsilon_lower > Fraction("0.4"), "it sees most of what is there"


# ---------------------------------------------------------------- what it accepts


def test_outputs_of_any_kind():
    rows = np.array([[0, 1]] * 100)
    assert audit_outputs(rows, rows + 1).refutes(Pure(1))
    assert audit_outputs([("a", 1)] * 100, [("b", 1)] * 100).refutes(Pure(1))
    nans = [float("nan")] * 100
    assert not audit_outputs(nans, nans).refutes(Pure(0))
    assert audit(lambda: np.int64(3), lambda: np.int64(4), samples=100).refutes(Pure(1))


def test_a_statistic_looks_where_it_is_told():
    first, second = ([f"id {n}" for n in range(start, 2000, 2)] for start in (0, 1))
    whole = audit_outputs(first, second)
    assert not whole.refutes(Pure(1)), "every output is new, so none was learnt"
    parity = audit_outputs(first, second, statistic=lambda value: int(value[3:]) % 2)
    assert parity.refutes(Pure(1))


def test_half_lines_work_for_numbers_that_never_repeat():
    rng = NumberedRng(5)
    first = rng.words(2000).astype(float)
    result = audit_outputs(first, first + 2.0**64)
    assert isinstance(result.event, HalfLine)
    assert result.refutes(Pure(3))


def test_it_finds_the_direction():
    """A count of 0 is certain on one side: the bet is on what only the other side says."""
    rare, never = [1, 0, 0, 0] * 500, [0] * 2000
    assert audit_outputs(rare, never).likelier_on == "first"
    assert audit_outputs(never, rare).likelier_on == "second"
    assert audit_outputs(never, rare).refutes(Pure(1))


def test_the_event_is_chosen_on_the_first_half_alone():
    """What only the second half shows is not bet on, and what it refutes is not claimed."""
    first, second = [0] * 1000 + [1] * 1000, [0] * 1000 + [2] * 1000
    assert audit_outputs(first, second).epsilon_lower == 0
    learnt, faded = [1] * 1000 + [0] * 1000, [0] * 2000
    assert audit_outputs(learnt, faded).epsilon_lower == 0


def test_every_measure_that_it_can_refute():
    result = audit_outputs([0] * 4000, [1] * 4000)
    assert result.refutes(Approximate(3, "1/10"))
    assert not result.refutes(Approximate(30, "1/10"))
    assert not result.refutes(Approximate(0, "0.999"))
    assert result.refutes(Zcdp(rho="1/10"))
    assert not result.refutes(Zcdp(rho=100))
    assert not audit_outputs([0] * 100, [0] * 100).refutes(Zcdp(rho=0))
    with pytest.raises(Unsupported, match="auditor"):
        result.refutes(ApproximateZcdp(rho=1, delta=0))
    assert "of 2000" in str(result)


def test_delta_is_taken_off():
    first, second = [1] * 30 + [0] * 970, [0] * 1000
    sample = [list(map(int, np.resize(half, 20_000))) for half in (first[::-1], second)]
    assert audit_outputs(*sample).epsilon_lower > 2
    assert audit_outputs(*sample, delta="0.05").epsilon_lower == 0


@pytest.mark.parametrize(
    "options", [{"confidence": 1}, {"confidence": 0}, {"delta": 1}, {"delta": -1}]
)
def test_bad_parameters(options):
    with pytest.raises(InvalidArgument):
        audit_outputs([0] * 10, [1] * 10, **options)
    with pytest.raises(InvalidArgument, match="few"):
        audit_outputs([0] * 3, [1] * 10)


# ---------------------------------------------------------------- families


def test_shares_of_a_suite_sum_to_less_than_its_rate():
    suite = AuditSuite(alpha="1/100")
    shares = [suite.take_share() for _ in range(500)]
    assert sum(shares) < Fraction(1, 100)
    assert sum(shares) == Fraction(1, 100) * (1 - Fraction(1, 501))
    assert suite.audits == 500
    result = suite.audit(lambda: 0, lambda: 0, samples=10, loss=Approximate(1, "1/4"))
    assert (result.delta, result.confidence) == (Fraction(1, 4), 1 - suite.alpha / (501 * 502))
    for rate in (0, 1, -1):
        with pytest.raises(InvalidArgument):
            AuditSuite(alpha=rate)


def test_events_say_what_they_are():
    assert str(HalfLine(high=3)) == "the output is at most 3"
    assert str(HalfLine(low=3)) == "the output is at least 3"
    assert not HalfLine(low=3).holds("text")
    assert str(OutcomeSet(frozenset(range(9)))).endswith("0, 1, 2, 3 and 5 more")
    assert str(OutcomeSet(frozenset({"a"}))) == "the output is a"
    assert str(OutcomeSet(frozenset())) == "the output is none"
    assert str(OutcomeSet(frozenset({10, 9}))) == "the output is one of 9, 10"


@pytest.mark.parametrize("delta", [-1, 1, 10**400])
def test_a_delta_that_is_none_is_refused(delta):
    with pytest.raises(InvalidArgument, match="delta"):
        audit_outputs([1] * 9, [2] * 9, delta=delta)


@pytest.mark.parametrize("output", [{1: 2}, {1}, [{1}]])
def test_outputs_that_cannot_be_compared_are_refused(output):
    with pytest.raises(InvalidArgument, match="cannot be compared"):
        audit_outputs([output] * 9, [output] * 9)
