"""Stability: each notion against exact laws, what it lets overfit, and that a δ can be spent."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.adaptive.guarantee import gaussian_guarantee
from discreet.adaptive.question_mix import QuestionMix, mixed_guarantee
from discreet.adaptive.separations.leaked_blocks import leak_chance, leaked_blocks
from discreet.adaptive.stability_notions import (
    entropy,
    expected_vector_error,
    overfitting_gap,
    variation,
)
from discreet.adaptive.transfer import THEOREMS, SampleAccuracy
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from tests.support.statistics.exact_tests import alpha, binomial_p_value


@given(st.fractions(0, 5, max_denominator=100), st.fractions(0, Fraction(1, 4), max_denominator=99))
def test_variation_is_that_of_the_worst_mechanism(epsilon, delta):
    """Approximate randomised response attains it: δ tells the bit, else e^ε : 1."""
    weight, told = math.exp(float(epsilon)), float(delta)
    apart = told + (1 - told) * (weight - 1) / (weight + 1)
    assert float(variation(Approximate(epsilon, delta))) == pytest.approx(apart)


@given(st.fractions(0, 5, max_denominator=100))
def test_entropy_is_that_of_randomised_response(epsilon):
    weight = math.exp(float(epsilon))
    truth = weight / (1 + weight)
    exact_entropy = float(epsilon) * (2 * truth - 1)
    found = float(entropy(Pure(epsilon)))
    assert 2 * found**2 == pytest.approx(exact_entropy, abs=1e-12)
    assert found <= float(epsilon) / 2 + 1e-12
    assert float(variation(Pure(epsilon))) <= found + 1e-12, "Pinsker"


def test_gaussian_noise_is_between_its_variation_and_pinsker():
    """ρ-zCDP: the laws of a shift by √(2ρ) deviations differ by 2Φ(√(2ρ)/2) - 1."""
    for rho in (0.001, 0.02, 0.3):
        apart = 2 * stats.norm.cdf(math.sqrt(2 * rho) / 2) - 1
        found = float(variation(Zcdp(Fraction(rho))))
        assert apart < found < 1.3 * apart
    assert variation(Zcdp(100)) == 1
    with pytest.raises(Unsupported):
        variation(ApproximateZcdp(1, "0.1"))
    with pytest.raises(Unsupported, match="infinite"):
        entropy(Approximate(1, "0.1"))


def test_the_gap_is_never_above_the_printed_one():
    for epsilon, delta, samples in product((0.01, 0.3, 1.0), (0.0, 1e-3), (1, 7)):
        loss = Approximate(Fraction(epsilon), Fraction(delta))
        printed = math.exp(epsilon) - 1 + samples * delta
        assert float(overfitting_gap(loss, samples=samples)) <= printed
        other = overfitting_gap(loss, samples=samples, width=3, is_statistical=False)
        assert float(other) <= 2 * 3 * printed
    with pytest.raises(InvalidArgument):
        overfitting_gap(Approximate(1, 0), width=0)


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_a_private_choice_of_question_and_sample_by_enumeration(scale):
    """Two samples of two bits; questions "is 1" and "is 0"; the exponential mechanism picks both.

    A row moves a score by 1/2, so it is (1/scale)-DP; the gap is worked out exactly.
    """
    law, samples = (0.3, 0.7), list(product((0, 1), repeat=2))
    gap, epsilon = 0.0, 1 / scale
    for one, two in product(samples, repeat=2):
        chance = math.prod(law[bit] for bit in (*one, *two))
        excess = []
        for sample in (one, two):
            ones = sum(sample) / 2
            excess += [ones - law[1], (1 - ones) - law[0]]
        weights = np.exp(np.array(excess) / scale)
        gap += chance * float(weights / weights.sum() @ np.array(excess))
    assert 0 < gap <= float(overfitting_gap(Approximate(Fraction(epsilon), 0), samples=2))


def test_private_means_of_vectors_generalise(rng):
    """Signs in 50 dimensions with Gaussian noise: the population is as near as the bound says."""
    random, people, size, rho = np.random.default_rng(4), 400, 50, 0.02
    deviation = 2 * math.sqrt(size) / (people * math.sqrt(2 * rho))
    errors, of_sample = [], []
    for _ in range(60):
        rows = random.choice([-1.0, 1.0], (people, size))
        answer = rows.mean(axis=0) + random.normal(0, deviation, size)
        # Norm 1: the Euclidean one over √size.
        errors.append(float(np.linalg.norm(answer) / math.sqrt(size)))
        of_sample.append(float(np.linalg.norm(answer - rows.mean(axis=0)) / math.sqrt(size)))
    bound = expected_vector_error(repr(float(np.mean(of_sample))), Zcdp(Fraction(rho)))
    assert np.mean(errors) < float(bound)


# ---- A δ that is spent.


@pytest.mark.parametrize(("share", "delta"), [("0.1", "0.01"), ("0.25", "0.2"), ("0.34", "0.3")])
def test_blocks_leak_as_often_as_said(share, delta, rng):
    runs = 2_000
    leaks = [leaked_blocks(40, alpha=share, delta=delta, rng=rng) for _ in range(runs)]
    told = sum(bool(one) for one in leaks)
    expected = leak_chance(alpha=share, delta=delta)
    assert binomial_p_value(told, runs, expected) > alpha("adaptive/leaks", parts=3)
    assert expected >= Fraction(delta) / (2 * Fraction(share))
    for one in leaks:
        assert sum(len(block) for block in one) >= math.ceil(Fraction(share) * 40) * len(one)
    for wrong in (
        {"alpha": 0, "delta": 0},
        {"alpha": 1, "delta": 2},
        {"alpha": "1e-300", "delta": 0},
    ):
        with pytest.raises(InvalidArgument):
            leak_chance(**wrong)


@pytest.mark.parametrize("theorem", THEOREMS)
def test_no_promise_is_refuted_by_leaks(theorem):
    """Blocks of a promised error leak no more often than the promise allows.

    A broken twin, which allows for δ instead of δ/α, is refuted.
    """
    for delta, beta in product((1e-6, 1e-4, 1e-3), (0.01, 0.05, 0.5)):
        promised = theorem.alpha(
            SampleAccuracy(0, 0),
            Approximate(Fraction(1, 10**4), Fraction(delta)),
            beta=Fraction(beta),
            rows=10**12,
        )
        if promised is not None and promised < 1:
            leaks = leak_chance(alpha=promised, delta=Fraction(delta))
            assert leaks <= Fraction(beta)
            assert promised > Fraction(1, 3) or leaks > Fraction(delta)


# ---- Corollaries with constants.


def test_choices_take_fewer_rows_than_the_explicit_corollary():
    """Finite minimisation: n ≥ 16 ln(32Dk/αβ)/(α ε₀), with ε₀ = √(2ρ/k) [Ste16, corollary 3.6.4].

    ρ is that of ε = α/128 and δ = αβ/64, the premises of the theorem for minimisation.
    """
    within, beta, choices, candidates = 0.2, 0.05, 20, 50
    epsilon, delta = within / 128, within * beta / 64
    rho = (math.sqrt(epsilon + math.log(1 / delta)) - math.sqrt(math.log(1 / delta))) ** 2
    each = math.sqrt(2 * rho / choices)
    rows = 16 * math.log(32 * candidates * choices / (within * beta)) / (within * each)
    mix = QuestionMix(choices=choices, candidates=candidates)
    ours = mixed_guarantee(rows=round(rows / 50), mix=mix, beta="0.05")
    assert ours is not None
    assert float(ours.alpha) < within


def test_rates_of_the_source_are_kept():
    """Rows grow as √k/α²: from k to 100 k at ten times the rows the error hardly changes."""
    few: Any = gaussian_guarantee(rows=10**5, questions=10**3, beta="0.05")
    many: Any = gaussian_guarantee(rows=10**6, questions=10**5, beta="0.05")
    assert 1 <= float(many.alpha / few.alpha) < 1.25
    finer: Any = gaussian_guarantee(rows=10**7, questions=10**3, beta="0.05")
    assert float(few.alpha / finer.alpha) == pytest.approx(10, rel=0.15)
