"""Broken twins of private choices: each is caught by the detector that it names."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.audit.exponential_sum import exp
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import ExactLaw
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify
from discreet.core.contribution import Contribution
from discreet.core.loss import Pure
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.scores import Scores
from tests.mechanisms.selection.laws import (
    exponential_law,
    exponential_noise_law,
    gap_law,
    laplace_law,
    margin_law,
    pair,
)

ONE = Contribution(linf=1)
EPSILON = Pure(1)
BOTH_WAYS = ([0] * 50, [1, *[-1] * 49])


# ---------------------------------------------------------------- exact verifier: the factor 2


def continuous_share(own: float, other: float, scale: float, k: int) -> float:
    """P[the first of k wins] with continuous Laplace noise, by one-dimensional integration."""
    law = stats.laplace(scale=scale)
    shift = (own - other) / scale

    def density(z: float) -> float:
        return float(law.pdf(z * scale) * scale * law.cdf((z + shift) * scale) ** (k - 1))

    points = [-shift, 0.0]
    return sum(
        integrate.quad(density, low, high, limit=400, epsabs=0, epsrel=1e-10)[0]
        for low, high in ((-60.0, min(points)), (min(points), max(points)), (max(points), 60.0))
    )


def test_integral_shows_the_noise_of_one_over_epsilon():
    """Lap(1/ε) on scores that move both ways: ε = 1.990 at k = 50; Lap(2/ε) stays below 1."""
    for scale, low, high in ((1.0, 1.989, 1.991), (2.0, 0.9999, 1.0)):
        before, after = (continuous_share(own, -own, scale, 50) for own in (0.0, 1.0))
        assert low < math.log(after / before) < high


@pytest.mark.parametrize(
    ("law", "mechanism"),
    [
        (exponential_law, ExponentialMechanism),
        (laplace_law, LaplaceNoisyMax),
    ],
)
def test_verifier_catches_the_monotone_price_for_general_scores(law, mechanism):
    sound = mechanism.calibrate(d_in=ONE, loss=EPSILON)
    twin = mechanism.calibrate(d_in=ONE, loss=EPSILON, scores=Scores.MONOTONE)
    assert (sound.scale, twin.scale) == (2, 1)
    assert verify(pair(law, *BOTH_WAYS, sound.scale), EPSILON).answer is VerdictAnswer.HOLDS
    broken = verify(pair(law, *BOTH_WAYS, twin.scale), EPSILON)
    assert broken.answer is VerdictAnswer.BROKEN
    assert broken.measured.low > Fraction(18, 10)


def test_verifier_catches_the_monotone_price_for_permute_and_flip():
    first, second = [20, *[0] * 6], [19, *[1] * 6]
    twin = PermuteAndFlip.calibrate(d_in=ONE, loss=EPSILON, scores=Scores.MONOTONE)
    sound = PermuteAndFlip.calibrate(d_in=ONE, loss=EPSILON)
    laws = pair(exponential_noise_law, first, second, twin.scale)
    assert verify(laws, EPSILON).answer is VerdictAnswer.BROKEN
    laws = pair(exponential_noise_law, first, second, sound.scale)
    assert verify(laws, EPSILON).answer is VerdictAnswer.HOLDS


def test_verifier_catches_the_monitor_with_weight_epsilon():
    """Weights e^(ε score/Δ) over q and -q [Ste16, Figure 3.7]: one rises while the other falls."""
    laws = pair(exponential_law, [5, -5], [4, -4], 1)
    assert verify(laws, EPSILON).answer is VerdictAnswer.BROKEN
    far = pair(exponential_law, [40, -40], [39, -39], 1)
    assert pure_epsilon(far).low > Fraction(199, 100)


# ---------------------------------------------------------------- exact verifier: float weights


def float_law(scores, scale: float) -> ExactLaw:
    """Weights as everybody computes them: floats, less the largest score."""
    best = max(scores)
    return ExactLaw({i: Fraction(math.exp((s - best) / scale)) for i, s in enumerate(scores)})


def float_sum_law(scores, scale: float) -> ExactLaw:
    """The law of comparing a uniform number with a running float sum of these weights."""
    weights = np.exp((np.array(scores, dtype=float) - max(scores)) / scale)
    sums = [Fraction(0), *map(Fraction, np.cumsum(weights).tolist())]
    return ExactLaw({i: sums[i + 1] - sums[i] for i in range(len(scores))})


def test_verifier_catches_weights_that_underflow():
    """A candidate 745 below is possible, one 746 below is not: its weight is 0."""
    first, second = [0, -745], [1, -746]
    assert pure_epsilon(pair(float_law, first, second, 1.0)).low == math.inf
    assert verify(pair(exponential_law, first, second, 1), Pure(2)).answer is VerdictAnswer.HOLDS


def test_verifier_catches_weights_that_a_float_sum_swallows():
    first, second = [0, -36, -36], [1, -37, -37]
    assert pure_epsilon(pair(float_sum_law, first, second, 1.0)).low == math.inf
    assert verify(pair(exponential_law, first, second, 1), Pure(2)).answer is VerdictAnswer.HOLDS


def test_verifier_catches_one_rounding():
    """Without any underflow the float weights break the claim by a hair, somewhere."""
    answers = set()
    for n in range(30, 60):
        first, second = [0, -n], [1, -n - 1]
        claim = pure_loss_of(first, second)
        answers.add(verify(pair(float_law, first, second, 1.0), claim).answer)
    assert VerdictAnswer.BROKEN in answers


def pure_loss_of(first: list[int], second: list[int]) -> Pure:
    """The loss of these two laws, rounded up by less than a float rounds."""
    high = pure_epsilon(pair(exponential_law, first, second, 1)).high
    assert isinstance(high, Fraction)
    return Pure(high)


# ---------------------------------------------------------------- exact verifier: gaps


@pytest.mark.parametrize("early", [3, 6])
def test_verifier_catches_the_plain_gap_of_integers(early: int):
    """A gap of 0 says that the second one comes later: rare if many early ones have risen."""
    first, second = [0] * (early + 2), [*[1] * early, 0, 0]
    loss = LaplaceNoisyMax(scale=2, scores=Scores.MONOTONE).loss(ONE)
    assert verify(pair(gap_law, first, second, 2), loss).answer is VerdictAnswer.BROKEN
    assert verify(pair(margin_law, first, second, 2), loss).answer is VerdictAnswer.HOLDS


# ---------------------------------------------------------------- exact tail: the sign


def test_tail_catches_the_sign():
    """e^(-εu/2) for a utility [Gro14, Theorem 3.4] is private, and chooses the worst."""
    scores, scale = [0] * 9 + [100], Fraction(2)
    printed = ExactLaw({i: exp(-Fraction(u) / scale) for i, u in enumerate(scores)})
    neighbour = ExactLaw({i: exp(-Fraction(u - 1) / scale) for i, u in enumerate(scores)})
    assert verify(LawPair(first=printed, second=neighbour), Pure(1)).answer is VerdictAnswer.HOLDS
    bound = ExponentialMechanism(scale=scale).error_quantile("0.05", candidates=10)
    assert bound < 100
    assert printed.weights[9] * 10**6 < printed.total
    sound = exponential_law(scores, scale)
    assert (sound.total - sound.weights[9]) * 20 < sound.total


def test_laplace_as_an_instance_has_twice_the_scale():
    """Score -|f - h| by the exponential mechanism is Lap(2Δ/ε), not Lap(Δ/ε) [Das22, 4.1.2]."""
    choice = ExponentialMechanism.calibrate(d_in=ONE, loss=EPSILON)
    law = exponential_law([-abs(h) for h in range(-9, 10)], choice.scale)
    assert law.weights[9] * exp(Fraction(-1, 2)) == law.weights[10]
