"""Transfer theorems: the lemma by enumeration, premises, repairs and their broken twins."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.adaptive.transfer import (
    ExpectationTransfer,
    MonitorTransfer,
    OverfittingTransfer,
    PosteriorTransfer,
    SampleAccuracy,
    half_tangent_up,
)
from discreet.core.loss import Approximate, Zcdp
from discreet.core.numbers import exact

BETA = exact("0.05")


def loss_of(mechanism, size, rows):
    """Return the exact ε of transcripts, by replacement of one row."""
    worst = 0.0
    for sample in product(range(size), repeat=rows):
        for place, other in product(range(rows), range(size)):
            moved = (*sample[:place], other, *sample[place + 1 :])
            worst = max(worst, float(np.log(mechanism[sample] / mechanism[moved]).max()))
    return worst


def gap_of(mechanism, questions, law, rows):
    """Return the sum over transcripts of how much the sample exceeds the population, if it does."""
    total = 0.0
    for transcript in range(questions.shape[0]):
        question = questions[transcript]
        excess = 0.0
        for sample in product(range(len(law)), repeat=rows):
            chance = math.prod(law[one] for one in sample) * mechanism[sample][transcript]
            excess += chance * (np.mean([question[one] for one in sample]) - question @ law)
        total += max(0.0, excess)
    return total


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_lemma_of_the_posterior_by_enumeration(rows):
    """Over all sets B of transcripts: the worst one has exactly those where the excess is positive.

    Its chance is at most one, so the worst gap is at most tanh(ε/4).
    """
    random = np.random.default_rng(rows)
    for _ in range(60):
        size, outcomes = int(random.integers(2, 4)), int(random.integers(2, 6))
        spread = random.choice([0.1, 1.0, 3.0])
        mechanism = {}
        for sample in product(range(size), repeat=rows):
            weights = np.exp(spread * random.standard_normal(outcomes))
            mechanism[sample] = weights / weights.sum()
        law = random.dirichlet(np.ones(size))
        questions = random.random((outcomes, size)).round()
        epsilon = loss_of(mechanism, size, rows)
        assert gap_of(mechanism, questions, law, rows) <= math.tanh(epsilon / 4) + 1e-12


def test_the_lemma_is_attained_and_half_of_it_is_false():
    """One row, and a set that has it more often than chance: subset selection attains the bound."""
    epsilon, size = 1.0, 2_000
    chosen = round(size / (1 + math.exp(epsilon / 2)))
    inside = chosen * math.exp(epsilon) / (chosen * math.exp(epsilon) + size - chosen)
    gap = inside - chosen / size
    assert gap == pytest.approx(math.tanh(epsilon / 4), abs=1e-5)
    assert gap <= half_tangent_up(exact(epsilon) / 2)
    assert gap > math.tanh(epsilon / 8) + 0.1


def test_an_exception_costs_what_is_claimed():
    """With chance δ the row itself is told: then the gap is δ times that of a row alone."""
    delta = Fraction(1, 10)
    # Told is the indicator of the row among very many: it is 1 on the sample and 0 on all others.
    # So the gap is 1 with chance δ, and a promise of less than 1 has to allow for that chance.
    for is_statistical in (True, False):
        found: Any = PosteriorTransfer(is_statistical).alpha(
            SampleAccuracy(0, 0), Approximate(0, delta), beta=delta, rows=1
        )
        assert found >= 1


@given(
    st.fractions(0, 2, max_denominator=50),
    st.fractions(0, Fraction(1, 100), max_denominator=10**6),
    st.fractions(0, Fraction(1, 10), max_denominator=100),
    st.fractions(0, Fraction(1, 100), max_denominator=10**6),
)
def test_the_best_split_is_never_beaten_by_another(epsilon, delta, error, part):
    """Nor does it promise less than the formula at any c and t with the same β."""
    found: Any = PosteriorTransfer().alpha(
        SampleAccuracy(error, part), Approximate(epsilon, delta), beta=BETA, rows=100
    )
    rest = 2 * float(delta)
    tilt = float(error) + math.tanh(float(epsilon) / 4)
    for share in (0.01, 0.2, 0.5, 0.8, 0.99):
        c, t = float(part) / (share * 0.05), rest / ((1 - share) * 0.05)
        assert float(found) <= (tilt + c + t) * (1 + 1e-9) + 1e-12
    least = (math.sqrt(float(part)) + math.sqrt(rest)) ** 2 / 0.05
    assert float(found) >= (tilt + least) * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.3"])
def test_the_printed_sampler_loses_two_epsilon(epsilon):
    """The broken twin of the constant 18: weights exp(ε s) for a question and its negation.

    One sample, so two candidates with scores s and -s. A row moves s by one, in opposite ways.
    """
    rate = float(epsilon)

    def chance(score, weight):
        up, down = math.exp(weight * score), math.exp(-weight * score)
        return up / (up + down)

    scores = np.linspace(-60 / rate, 60 / rate, 2_001)
    printed = max(math.log(chance(s + 1, rate) / chance(s, rate)) for s in scores if s < 0)
    repaired = max(math.log(chance(s + 1, rate / 2) / chance(s, rate / 2)) for s in scores if s < 0)
    assert printed == pytest.approx(2 * rate, rel=1e-6)
    assert repaired <= rate * (1 + 1e-9)


def test_the_repaired_premise_asks_for_twice_the_rows():
    epsilon, delta = exact("0.05"), exact("1e-4")
    need = 2 / float(epsilon) ** 2 * math.log(4 * 0.05 / 1e-4)
    sample, stable = SampleAccuracy("0.01", "0.01"), Approximate(epsilon, delta)
    at = OverfittingTransfer().alpha(sample, stable, beta=BETA, rows=math.ceil(need))
    assert at == exact("0.01") + 18 * epsilon
    fewer = OverfittingTransfer().alpha(sample, stable, beta=BETA, rows=math.ceil(need / 2))
    assert fewer is not None
    assert fewer > exact("0.01") + 24 * epsilon, "a larger ε has to do"
    assert OverfittingTransfer().alpha(sample, stable, beta=BETA, rows=50) is None


@pytest.mark.parametrize("theorem", [PosteriorTransfer(), MonitorTransfer(), OverfittingTransfer()])
def test_more_loss_or_more_error_never_promises_more(theorem):
    def within(error="0.001", part="1e-5", epsilon="0.001", delta="1e-8"):
        return theorem.alpha(
            SampleAccuracy(error, part), Approximate(epsilon, delta), beta=BETA, rows=10**9
        )

    base = within()
    worse = [within("0.01"), within(part="1e-3"), within(epsilon="0.01"), within(delta="1e-5")]
    assert all(one is None or one >= base for one in worse)


def test_numbers_of_the_main_theorem():
    """At the printed premises the four parts are equal to α [Ste16, theorem 3.3.4]."""
    alpha = exact("0.1")
    found: Any = MonitorTransfer().alpha(
        SampleAccuracy(alpha / 8, alpha * BETA / 16),
        Approximate(alpha / 64, alpha * BETA / 32),
        beta=BETA,
        rows=10,
    )
    assert alpha <= found <= alpha * (1 + exact("1e-15"))


def test_in_expectation_twice_for_questions_that_are_no_means():
    once = ExpectationTransfer().alpha(0, Zcdp("0.02"))
    twice = ExpectationTransfer().alpha(0, Zcdp("0.02"), is_statistical=False)
    assert once == pytest.approx(0.1)
    assert twice == pytest.approx(0.2)


@given(st.fractions(0, 100, max_denominator=1000))
def test_half_tangent_is_rounded_up(epsilon):
    assert math.tanh(float(epsilon) / 2) - 1e-12 <= float(half_tangent_up(epsilon)) <= 1
    assert half_tangent_up(epsilon) <= max(epsilon / 2, 0) or epsilon > 2
