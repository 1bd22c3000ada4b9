"""What is printed and false stays false, and what is true in its place holds."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.tails.normal_tail import log_tail_bounds, normal_tail_bounds
from discreet.audit.finite_divergence import LossVariable, excess, max_divergence
from discreet.core.numbers import exp_bounds, log_bounds
from tests.support.statistics.finite_laws import laws, response

factors = st.fractions(min_value=1, max_value=6, max_denominator=6)


def test_deltas_do_not_simply_add_along_a_chain():
    """The triangle inequality with δ₁ + δ₂ [Das22, section 3] is false."""
    e_low, _ = exp_bounds(Fraction(1), 96)
    far = {0: Fraction("0.02"), 1: Fraction("0.98")}
    middle_mass = e_low * far[0] + Fraction("0.05")
    middle = {0: middle_mass, 1: 1 - middle_mass}
    near = {0: e_low * middle_mass, 1: 1 - e_low * middle_mass}
    assert excess(near, middle, e_low) == excess(middle, near, e_low) == 0
    assert max(excess(middle, far, e_low), excess(far, middle, e_low)) == Fraction("0.05")
    truth = excess(near, far, e_low**2)
    assert float(truth) == pytest.approx(0.1359, abs=5e-5)
    assert truth == e_low * Fraction("0.05")
    assert truth > Fraction("0.05")


@given(laws(), laws(), laws(), factors, factors)
def test_deltas_along_a_chain(p, q, r, first, second):
    """True: δ₁ + e^ε₁ δ₂."""
    assert excess(p, r, first * second) <= excess(p, q, first) + first * excess(q, r, second)


def test_the_loss_may_exceed_epsilon_far_more_often_than_delta():
    """(ε, δ) does not give P[Z > ε] ≤ δ [Das22, section 3]."""
    p, q = response(Fraction(3))
    epsilon = log_bounds(Fraction("2.9"), 96)[0]
    delta = excess(p, q, Fraction("2.9"))
    assert delta == Fraction(1, 40)
    assert LossVariable.of(p, q).exceeds(epsilon)[0] == Fraction(3, 4)


@given(laws(), laws(), factors)
def test_rare_large_losses_are_enough(p, q, factor):
    """True the other way round: P[Z > ε] ≤ δ is sufficient."""
    rare = sum((mass for o, mass in p.items() if mass > factor * q[o]), Fraction(0))
    assert excess(p, q, factor) <= rare


def test_a_relation_with_epsilon_in_place_of_its_exponential():
    """As printed no law is close to itself below ε = 1, and e^ε is the bound that is meant."""
    law = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    epsilon = Fraction(1, 10)
    assert law[0] / law[0] > epsilon
    assert excess(law, law, exp_bounds(epsilon)[0]) == 0


def test_zcdp_is_not_linearly_mean_concentrated():
    """[Ste16, Lemma 2.4.3]: a variance of O(ξ + 2ρ) is exceeded by any factor."""
    half, excesses = Fraction(1, 2), []
    for exponent in (10, 100, 1000):
        ratio = Fraction(2) ** exponent
        p, q = {0: half, 1: half}, {0: half / ratio, 1: 1 - half / ratio}
        epsilon = max(max_divergence(p, q)[1], max_divergence(q, p)[1])
        assert epsilon <= log_bounds(ratio, 96)[1]
        spread = log_bounds(p[0] / q[0], 96)[0] - log_bounds(p[1] / q[1], 96)[1]
        excesses.append(spread**2 / 4 / epsilon)
        assert float(spread**2) == pytest.approx((float(epsilon) + math.log(2)) ** 2, rel=1e-3)
    assert excesses[-1] > 100
    assert excesses == sorted(excesses)


def threshold_moment(sigma, t, power):
    """E[e^(λ(Z - EZ))] of a Gaussian on ±1 that is published as its sign beyond ±t, else as 0."""
    p = math.exp(log_tail_bounds(Fraction(t - 1) ** 2 / sigma**2)[0])
    q = math.exp(log_tail_bounds(Fraction(t + 1) ** 2 / sigma**2)[0])
    ratio = p / q
    moment = p * ratio**power + q * ratio**-power + 1 - p - q
    return moment * ratio ** (-power * (p - q))


def test_mean_concentration_is_not_kept_by_post_processing():
    """[Ste16, Proposition 2.4.5 and its footnote]: 8707.1 is above e^8 = 2981.0."""
    assert threshold_moment(1, 3, 2) == pytest.approx(8707.137, abs=5e-4)
    assert math.exp(2 * 2**2) == pytest.approx(2980.958, abs=5e-4)


@pytest.mark.parametrize(("sigma", "t"), [(1, 7), (2, 49)])
def test_mean_concentration_breaks_where_the_proposition_says(sigma, t):
    power = Fraction(t, 2)
    low = log_tail_bounds(Fraction(t - 1) ** 2 / sigma**2)[0]
    gap = low - log_tail_bounds(Fraction(t + 1) ** 2 / sigma**2)[1]
    chance = math.exp(low)
    log_moment = float(low) + float(power) * float(gap) * (1 - chance)
    assert log_moment > 2 * float(power) ** 2 / sigma**2


def test_the_tail_constant_in_the_proof_is_wrong():
    """[Ste16, proof of Lemma 2.4.6]: with √(2/π) for 1/√(2π) it is no lower bound."""
    sigma, t = 1, 3
    chance = normal_tail_bounds(Fraction((t - 1) ** 2, sigma**2))[1]
    shape = sigma / (t + sigma - 1) * math.exp(-((t - 1) ** 2) / (2 * sigma**2))
    assert math.sqrt(2 / math.pi) * shape > chance
    assert shape / math.sqrt(2 * math.pi) < chance


def test_the_second_option_is_printed_for_too_many_deltas():
    """[Ste16, Lemma 2.3.7] claims all δ > 0; above √(πρ) its square root is imaginary."""
    rho, delta = 1e-4, 0.05
    assert math.log(math.sqrt(math.pi * rho) / delta) < 0
