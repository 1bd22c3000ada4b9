"""Verdicts: proved, refuted, or honestly not decided."""

from fractions import Fraction

import pytest

from discreet.audit.combine import product
from discreet.audit.discrete_gaussian_law import discrete_gaussian_law
from discreet.audit.discrete_laplace_law import discrete_laplace_law
from discreet.audit.exponential_sum import exp
from discreet.audit.law import ExactLaw, enclosed
from discreet.audit.verify import Answer, LawPair, pure_epsilon, verify, worst_delta
from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace

TINY = Fraction(1, 10**40)


def laplace_pair(scale, *, shift: int = 1) -> LawPair:
    window = (-5, shift + 5)
    first, second = (discrete_laplace_law(scale, centre=c, window=window) for c in (0, shift))
    return LawPair(first=first, second=second)


def gaussian_pair(sigma_squared, *, radius: int = 60) -> LawPair:
    first, second = (discrete_gaussian_law(sigma_squared, centre=c, radius=radius) for c in (0, 1))
    return LawPair(first=first, second=second)


@pytest.mark.parametrize("scale", ["1/3", "1", "7/2", "100"])
@pytest.mark.parametrize("shift", [1, 3])
def test_the_laplace_loss_is_exactly_the_truth(scale, shift):
    """Equality is decided: the declared loss holds, and a hair less is broken."""
    declared = DiscreteLaplace(scale=scale).loss(Contribution(l1=shift))
    pair = laplace_pair(scale, shift=shift)
    assert verify(pair, declared).answer is Answer.HOLDS
    assert verify(pair, Pure(declared.epsilon - TINY)).answer is Answer.BROKEN
    measured = pure_epsilon(pair)
    assert measured.low <= declared.epsilon <= measured.high


def test_a_vector_of_laplace_noise_costs_its_l1_distance():
    window = (-4, 6)
    first = product(*(discrete_laplace_law(3, centre=0, window=window) for _ in range(2)))
    second = product(*(discrete_laplace_law(3, centre=c, window=window) for c in (1, 2)))
    pair = LawPair(first=first, second=second)
    assert verify(pair, Pure(1)).answer is Answer.HOLDS
    assert verify(pair, Pure(1 - TINY)).answer is Answer.BROKEN


def test_approximate_claims_on_exact_laws_are_decided_at_equality():
    """Odds of 3 to 1 against claimed ε = 0 leave δ = 1/2 exactly."""
    pair = LawPair(first=ExactLaw({0: 3, 1: 1}), second=ExactLaw({0: 1, 1: 3}))
    assert verify(pair, Approximate(0, "1/2")).answer is Answer.HOLDS
    assert verify(pair, Approximate(0, Fraction(1, 2) - TINY)).answer is Answer.BROKEN
    assert worst_delta(pair, Fraction(0)).low == Fraction(1, 2)


def test_both_directions_count():
    pair = LawPair(first=ExactLaw({0: 1}), second=ExactLaw({0: 9, 1: 1}))
    assert verify(pair, Approximate(1, "1/10")).answer is Answer.HOLDS
    assert verify(pair, Approximate(1, "9/100")).answer is Answer.BROKEN
    assert verify(pair, Pure(100)).answer is Answer.BROKEN
    assert worst_delta(pair, Fraction(1)).low == Fraction(1, 10)
    loose = LawPair(first=enclosed(pair.first), second=enclosed(pair.second))
    assert verify(loose, Approximate(1, "9/100")).answer is Answer.BROKEN
    assert verify(loose, Pure(100)).answer is Answer.BROKEN
    assert verify(loose, Zcdp(rho=100)).answer is Answer.BROKEN


def test_gaussian_claims():
    pair = gaussian_pair(4)
    truth = worst_delta(pair, Fraction(1))
    assert isinstance(truth.high, Fraction)
    assert verify(pair, Approximate(1, truth.high)).answer is Answer.HOLDS
    assert verify(pair, Approximate(1, Fraction(truth.low) * Fraction(999, 1000))).answer is (
        Answer.BROKEN
    )
    assert verify(pair, Pure(1)).answer is Answer.BROKEN, "the ratio grows without limit"
    assert verify(gaussian_pair(4, radius=3), Pure(100)).answer is Answer.UNDECIDED
    assert verify(gaussian_pair(4, radius=3), Approximate(1, truth.high)).answer is (
        Answer.UNDECIDED
    )


def test_zcdp_claims():
    assert verify(gaussian_pair(4), Zcdp(rho="1/8")).answer is Answer.UNDECIDED
    assert verify(gaussian_pair(4), Zcdp(rho="0.1249")).answer is Answer.BROKEN
    pair = laplace_pair(2)
    assert verify(pair, Zcdp(rho="0.12501")).answer is Answer.HOLDS, "ε²/2 from pure ε = 1/2"
    assert verify(pair, Zcdp(rho="0.01", xi="0.5")).answer is Answer.HOLDS
    assert verify(pair, Zcdp(rho="0.05")).answer is Answer.BROKEN
    assert verify(pair, Zcdp(rho="0.12")).answer is Answer.UNDECIDED


def test_mixed_pairs_are_enclosed():
    pair = laplace_pair(2)
    mixed = LawPair(first=pair.first, second=enclosed(pair.second))
    assert verify(mixed, Pure("0.501")).answer is Answer.HOLDS
    assert verify(mixed, Pure("0.499")).answer is Answer.BROKEN
    assert verify(mixed, Pure("1/2")).answer is Answer.UNDECIDED


def test_a_response_with_its_exact_odds():
    pair = LawPair(first=ExactLaw({0: exp("2/3"), 1: 1}), second=ExactLaw({0: 1, 1: exp("2/3")}))
    verdict = verify(pair, Pure("2/3"))
    assert verdict.answer is Answer.HOLDS
    assert "holds" in str(verdict)


def test_an_unknown_measure_is_refused():
    with pytest.raises(Unsupported, match="verifier"):
        verify(laplace_pair(1), ApproximateZcdp(rho=1, delta="1/10"))
