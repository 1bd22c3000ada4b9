"""Broken twins of the threshold machines: each printed form is caught by the detector it names."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting.accountants.discrete_gaussian import delta_of_shift
from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accounting_question import account
from discreet.accounting.curves.halting import log_halting_moment
from discreet.accounting.tails.gaussian_tail import gaussian_tail_bounds
from discreet.audit.divergence import max_divergence
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import discrete_laplace_law
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, Pure
from discreet.core.mechanism_event import DiscreteLaplaceEvent
from discreet.core.numbers import exp_bounds
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse import sparse, with_scale
from discreet.mechanisms.thresholds.sparse_vector import SparseVector
from tests.mechanisms.thresholds.transcripts import pattern_mass, spent, stopping_law

ONE = Contribution(linf=1)
UNITS = 10
"""Units to a sensitivity, so that the discrete noise is close to the continuous one."""


# ---------------------------------------------------------------- exact verifier: no halt


@pytest.mark.parametrize(("each", "printed"), [(5, 2.10), (10, 4.32), (50, 22.8)])
def test_exact_sums_catch_above_threshold_without_the_halt(each: int, printed: float):
    """ε = 1 is claimed; ``each`` queries below and ``each`` above tell much more."""
    noises: dict[str, Any] = {
        "threshold_noise": DiscreteLaplace(scale=2 * UNITS),
        "query_noise": DiscreteLaplace(scale=4 * UNITS),
        "reach": 1200 if each < 50 else 3000,
    }
    pattern = "-" * each + "+" * each
    first = pattern_mass([0] * each + [UNITS] * each, pattern, **noises)
    second = pattern_mass([UNITS] * each + [0] * each, pattern, **noises)
    measured = math.log(first[0] / second[1])
    assert measured > 1
    assert measured == pytest.approx(printed, rel=0.01)


def test_the_halt_mends_it():
    """The same queries, halting at the first above: within ε = 1."""
    laws = [
        stopping_law(
            values,
            threshold_noise=DiscreteLaplace(scale=2),
            query_noise=DiscreteLaplace(scale=4),
            reach=120,
        )
        for values in ([0] * 50 + [1] * 50, [1] * 50 + [0] * 50)
    ]
    pair = LawPair(first=laws[0], second=laws[1])
    assert verify(pair, Approximate(1, "1e-20")).answer is VerdictAnswer.HOLDS


# ---------------------------------------------------------------- accountant and verifier: values


def numeric_event(epsilon: Fraction, most_above: int, value_epsilon: Fraction) -> ComposedEvent:
    """NumericSparse with δ = 0: σ(e) = 2c/e for the comparisons and for the values."""
    vector = with_scale(2 * most_above / (epsilon * Fraction(8, 9)), most_above)
    value = DiscreteLaplaceEvent(scale=2 * most_above / value_epsilon, distance=1)
    return ComposedEvent.of([vector.event(ONE), value * most_above])


@pytest.mark.parametrize("most_above", [1, 4])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_accountant_catches_a_lost_fraction_bar(epsilon: Fraction, most_above: int):
    """ε₂ = 29ε is printed where 2ε/9 is meant: the values alone cost 14.5 ε."""
    sound = pure_loss([numeric_event(epsilon, most_above, 2 * epsilon / 9)])
    assert sound == Pure(epsilon)
    ours = NumericSparse.calibrate(d_in=ONE, loss=Pure(epsilon), most_above=most_above)
    assert pure_loss([ours.event(ONE)]) == Pure(epsilon)
    broken = pure_loss([numeric_event(epsilon, most_above, 29 * epsilon)])
    assert broken.epsilon == epsilon * (Fraction(8, 9) + Fraction(29, 2))


def test_verifier_catches_a_lost_fraction_bar():
    """One value above, ε = 1: noise of scale 2/29 instead of 9."""
    for scale, answer in (
        (Fraction(2, 29), VerdictAnswer.BROKEN),
        (Fraction(9), VerdictAnswer.HOLDS),
    ):
        laws = [discrete_laplace_law(scale, centre=c, window=(-9, 10)) for c in (0, 1)]
        assert verify(LawPair(first=laws[0], second=laws[1]), Pure(1)).answer is answer


ROOT = Fraction(math.sqrt(512)).limit_denominator(10**9)


def value_loss(most_above: int, delta: Fraction, value_epsilon: Fraction) -> Fraction:
    """What the values cost at δ/2 by the accountant, for δ > 0: σ(e) = √(32 c ln(2/δ))/e."""
    spread = Fraction(math.sqrt(32 * most_above * math.log(2 / delta))) / value_epsilon
    event = DiscreteLaplaceEvent(scale=spread, distance=1) * most_above
    return spent(event, delta / 2)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 100)])
def test_accountant_catches_a_missing_epsilon(epsilon: Fraction):
    """ε₂ = 2/(√512 + 1), without ε: for a small ε the values alone overspend."""
    delta = Fraction(1, 10**6)
    assert value_loss(10, delta, 2 * epsilon / (ROOT + 1)) <= epsilon / (ROOT + 1)
    broken = value_loss(10, delta, 2 / (ROOT + 1))
    assert broken > epsilon / (ROOT + 1)
    if epsilon < Fraction(1, 50):
        assert broken > epsilon


def test_accountant_shows_what_a_root_in_the_wrong_place_costs():
    """√(512 + 1) for √512 + 1: the two parts sum to 1.043 ε. Composition alone overspends."""
    epsilon, wrong = 1.0, math.sqrt(513)
    parts = math.sqrt(512) / wrong * epsilon + epsilon / wrong
    assert parts == pytest.approx(1.0432, abs=1e-4)
    assert math.sqrt(512) / (math.sqrt(512) + 1) + 1 / (math.sqrt(512) + 1) == pytest.approx(1)


# ---------------------------------------------------------------- accountant: side condition


def printed_sparse_scale(epsilon: float, delta: float, most_above: int) -> Fraction:
    return Fraction(math.sqrt(32 * most_above * math.log(1 / delta)) / epsilon)


def scale(machine: SparseVector) -> Fraction:
    assert isinstance(machine.threshold_noise, DiscreteLaplace)
    return machine.threshold_noise.scale


def advanced_composition(epsilon: float, delta: float, most_above: int) -> float:
    one = epsilon / math.sqrt(8 * most_above * math.log(1 / delta))
    return epsilon / 2 + most_above * one * math.expm1(one)


@pytest.mark.parametrize(
    ("epsilon", "delta", "most_above", "found"),
    [(1, 1e-6, 10, 0.509), (10, 0.1, 5, 14.6), (60, 1e-6, 10, 121.7), (1, 0.9, 1, 2.65)],
)
def test_advanced_composition_needs_its_side_condition(epsilon, delta, most_above, found):
    """The theorem that Sparse rests on gives more than ε where e^ε' − 1 > √(2 ln(1/δ)/c)."""
    total = advanced_composition(epsilon, delta, most_above)
    assert total == pytest.approx(found, rel=0.01)
    one = epsilon / math.sqrt(8 * most_above * math.log(1 / delta))
    holds = math.expm1(one) <= math.sqrt(2 * math.log(1 / delta) / most_above)
    assert (total <= epsilon) is holds


def test_accountant_catches_sparse_outside_its_side_condition():
    """(40, 0.1) and a hundred above: even the optimal composition of the printed noise overspends.

    AboveThreshold spends all of its ε (see test_privacy), so the optimum is a fair lower bound.
    """
    machine = with_scale(printed_sparse_scale(40, 0.1, 100), 100)
    assert spent(machine.event(ONE), "0.1", "kov") > 40
    ours = sparse(d_in=ONE, loss=Approximate(40, "0.1"), most_above=100)
    assert spent(ours.event(ONE), "0.1") <= 40
    assert scale(ours) > scale(machine)


def test_inside_the_side_condition_ours_is_smaller():
    ours = sparse(d_in=ONE, loss=Approximate(1, "1e-6"), most_above=10)
    assert scale(ours) < printed_sparse_scale(1, 1e-6, 10)


# ---------------------------------------------------------------- accountant: hybrid condition


def test_accountant_refuses_the_hybrid_condition_as_printed():
    """Pure noise on the *threshold* does not make a machine of any length private."""
    printed = SparseVector(
        threshold_noise=DiscreteLaplace(scale=4), query_noise=DiscreteGaussian(sigma_squared=4)
    )
    with pytest.raises(Unsupported, match="limit on the number"):
        account(printed.event(ONE), delta="1e-6", measure="rdp")
    swapped = SparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared=4), query_noise=DiscreteLaplace(scale=4)
    )
    assert spent(swapped.event(ONE), "1e-6") < 4


def test_exact_sums_show_why():
    """With Gaussian noise on the queries one place can tell ever more as the sequence grows."""
    found = []
    for length in (2, 20, 200):
        laws = [
            stopping_law(
                values,
                threshold_noise=DiscreteLaplace(scale=4),
                query_noise=DiscreteGaussian(sigma_squared=1),
                reach=150,
            )
            for values in ([0] * length, [1] * (length - 1) + [-1])
        ]
        found.append(max_divergence(laws[0], laws[1]).low)
    assert found[0] < found[1] < found[2]
    assert found[2] > 4


# ---------------------------------------------------------------- certified sums: small thresholds

SIGMA = 20


def printed_moment(threshold: float, sigma: float) -> float:
    """1 + 2√3π(1 + 9T²/σ²)exp(T²/σ²), for γ = 2 and σ₂ = √3 σ₁."""
    square = (threshold / sigma) ** 2
    return 1 + 2 * math.sqrt(3) * math.pi * (1 + 9 * square) * math.exp(square)


def moment_from_below(threshold: int) -> float:
    """Sum P[z] / P[ν ≥ T + z]² over the middle only, from below."""
    variance = Fraction(SIGMA**2)
    total = Fraction(0)
    for z in range(-6 * SIGMA, 9 * SIGMA):
        mass = gaussian_tail_bounds(variance, z)[0] - gaussian_tail_bounds(variance, z + 1)[1]
        total += max(Fraction(0), mass) / gaussian_tail_bounds(3 * variance, threshold + z)[1] ** 2
    return float(total)


def test_certified_sums_catch_the_moment_of_a_small_threshold():
    assert printed_moment(0, SIGMA) == pytest.approx(11.88, abs=0.01)
    below = moment_from_below(0)
    bound = log_halting_moment(Fraction(SIGMA**2), Fraction(3 * SIGMA**2), 0, Fraction(2))
    # The continuous moment is 12.96; ties count as above, which lowers the discrete one a little.
    assert math.exp(bound) == pytest.approx(12.96, abs=0.01)
    assert printed_moment(0, SIGMA) + 0.4 < below <= math.exp(bound)


@pytest.mark.parametrize(
    ("share", "is_broken"), [(0.0, True), (0.2, True), (0.5, False), (1, False)]
)
def test_the_printed_moment_breaks_only_for_small_thresholds(share: float, is_broken: bool):
    threshold = int(share * SIGMA)
    assert (moment_from_below(threshold) > printed_moment(threshold, SIGMA)) is is_broken


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(10), Fraction(100)])
def test_the_dropped_factor_does_not_follow_but_a_better_hoelder_does(order: Fraction):
    """For γ = 2: printed theorem, printed corollary, and ours, which is below both."""
    rho = Fraction(1, 2 * SIGMA**2)
    theorem = (order - Fraction(1, 2)) / (order - 1) * rho * 2 * order
    corollary = 2 * rho * order
    ours = rho * (2 * order - 1)
    assert ours < corollary < theorem


# ---------------------------------------------------------------- exact curve: half a root


def test_exact_curve_catches_half_of_the_square_root():
    """A + √(2aB) for a + 2√(aB): at a = 0.01 and B = 20 the true δ is 40 times e^−20."""
    a, exponent = Fraction(1, 100), 20
    printed = a + Fraction(math.sqrt(2 * a * exponent))
    right = a + 2 * Fraction(math.sqrt(a * exponent))
    assert float(printed) == pytest.approx(0.642, abs=1e-3)
    assert float(right) == pytest.approx(0.904, abs=1e-3)
    target = exp_bounds(Fraction(-exponent), 96)
    units = 20
    variance = units**2 / (2 * a)
    assert delta_of_shift(variance, units, printed)[0] > 40 * target[1]
    assert delta_of_shift(variance, units, right)[1] < target[0]


def test_the_count_of_transcripts_must_hold_all_of_them():
    """c·C(k, c) is smaller than the number of transcripts for c = 1."""
    machine = SparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared=100),
        query_noise=DiscreteGaussian(sigma_squared=400),
        most_queries=10,
    )
    assert math.log(10) == pytest.approx(2.303, abs=1e-3)
    assert math.log(1 + 10) == pytest.approx(2.398, abs=1e-3)
    found = spent(machine.event(ONE), "1e-6", "rdp")
    rho = 1 / 200 + 4 / 800
    best = min(
        rho * order + (math.log(11) + math.log(1e6)) / (order - 1)
        for order in (1 + step / 10 for step in range(1, 2000))
    )
    assert 0.7 * best < float(found) <= best
