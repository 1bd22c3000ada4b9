r"""The Gaussian accountant: discrete noise is no easier to tell apart than its normal laws are.

The truth is listed outcome by outcome, with forty digits, and compared with the curve of the claim
at many ε, also between the losses that occur: δ of discrete noise is a chain of chords there.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from discreet.accounting.accountants.gaussian import gaussian_loss, smoothed_square, square
from discreet.accounting.accounting_question import account
from discreet.accounting.conversions.from_gaussian import gaussian_log_delta
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.stated_event import ApproximateEvent, GaussianEvent, PureEvent

Law = dict[int, Decimal]


def noise(sigma_squared: Fraction, shift: int) -> Law:
    """Masses of discrete Gaussian noise, to far beyond the losses that are looked at."""
    reach = 20 + math.ceil(9 * sigma_squared + 14 * math.sqrt(sigma_squared))
    twice = 2 * Decimal(sigma_squared.numerator) / Decimal(sigma_squared.denominator)
    masses = {k: (-(Decimal(k) ** 2) / twice).exp() for k in range(-reach, reach + 1)}
    total = sum(masses.values())
    return {k + shift: mass / total for k, mass in masses.items()}


def log_delta(shifts: tuple[int, ...], sigma_squared: Fraction, epsilon: float) -> float:
    """Return the logarithm of the true δ of noise on as many entries as there are shifts."""
    with localcontext(prec=40):
        here, pairs = noise(sigma_squared, 0), [(Decimal(1), Decimal(1))]
        for shift in shifts:
            there = noise(sigma_squared, shift)
            both = [(here[k], there[k]) for k in here if k in there]
            pairs = [(a * p, b * q) for a, b in pairs for p, q in both]
        e = Decimal(epsilon).exp()
        return float(sum((max(p - e * q, Decimal(0)) for p, q in pairs), Decimal(0)).ln())


def claim(event: Event, epsilon: float) -> float:
    return float(gaussian_log_delta(square(event), Fraction(epsilon))[1])


EPSILONS = [k / 7 for k in range(0, 60, 3)]


@pytest.mark.parametrize("sigma_squared", ["0.6", "1", "2", "13/3", "16"])
@pytest.mark.parametrize("shift", [1, 2])
def test_discrete_noise_keeps_the_claim_at_every_epsilon(sigma_squared: str, shift: int):
    sigma = Fraction(sigma_squared)
    event = DiscreteGaussianEvent(sigma_squared=sigma, distance_squared=shift**2, entries=1)
    try:
        square(event)
    except Unsupported:
        assert sigma < 1
        return
    for epsilon in EPSILONS:
        assert log_delta((shift,), sigma, epsilon) <= claim(event, epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.25])
def test_the_continuous_formula_is_broken_for_discrete_noise(epsilon: float):
    r"""A broken twin: :math:`\mu = d/\sigma` is too small, at ε = 0 and far out."""
    wrong = GaussianEvent(scale=2)
    truth = log_delta((1,), Fraction(4), epsilon)
    right = DiscreteGaussianEvent(sigma_squared=4, distance_squared=1, entries=1)
    assert truth <= claim(right, epsilon)
    if epsilon != 1.0:
        assert truth > claim(wrong, epsilon)


def test_two_entries_keep_the_claim():
    """Entries that do not change do not count, and integers bound how many do."""
    sigma = Fraction(2)
    event = DiscreteGaussianEvent(sigma_squared=sigma, distance_squared=2, entries=2)
    for epsilon in (0.0, 1.1, 3.3):
        assert log_delta((1, 1), sigma, epsilon) <= claim(event, epsilon)
    unknown = DiscreteGaussianEvent(sigma_squared=sigma, distance_squared=2)
    many = DiscreteGaussianEvent(sigma_squared=sigma, distance_squared=2, entries=1000)
    assert square(event) == square(unknown) == square(many)
    nothing = DiscreteGaussianEvent(sigma_squared=sigma, distance_squared="1/2")
    assert square(nothing) == 0


def test_large_noise_loses_hardly_anything():
    event = DiscreteGaussianEvent(sigma_squared=10**6, distance_squared=10**4, entries=100)
    assert Fraction(1, 100) < square(event) < Fraction(1, 100) * (1 + Fraction(1, 10**5))


def test_a_width_that_is_too_small_proves_nothing():
    event = DiscreteGaussianEvent(sigma_squared=4, distance_squared=1, entries=1)
    assert smoothed_square(event, Fraction(1, 50), 1) is None
    found = smoothed_square(event, Fraction(1), 10**15)
    assert found is None


def test_squares_add_up_over_all_parts():
    laplace = DiscreteLaplaceEvent(scale=2, distance=1)
    gaussian = DiscreteGaussianEvent(sigma_squared=9, distance_squared=1, entries=1)
    whole = ComposedEvent.of([laplace, laplace, gaussian])
    assert gaussian_loss([whole]).mu_squared == 2 * square(laplace) + square(gaussian)
    assert square(laplace) == square(PureEvent(epsilon="1/2"))
    assert square(GaussianEvent(scale=3, distance=2)) == Fraction(4, 9)


@pytest.mark.parametrize(
    "event",
    [
        ApproximateEvent(epsilon=1, delta="1e-9"),
        DiscreteGaussianEvent(sigma_squared="1/10", distance_squared=1, entries=1),
        DiscreteGaussianEvent(sigma_squared=1, distance_squared=10**4, entries=1),
    ],
)
def test_what_has_no_theorem_is_refused(event: Event):
    with pytest.raises(Unsupported):
        square(event)


def test_a_vector_of_discrete_noise_is_accounted_for_as_gaussian():
    """3.543 by ρ on the old code; with continuous noise it is 3.304, and it cannot be less."""
    event = DiscreteGaussianEvent(sigma_squared=10**4, distance_squared=100, entries=100)
    found = account(event * 50, delta="1e-6")
    continuous = account(GaussianEvent(scale=10) * 50, delta="1e-6").lower
    assert found.method == "gaussian"
    assert found.lower is None
    assert isinstance(found.loss, Approximate)
    assert isinstance(continuous, Approximate)
    assert 1 < found.loss.epsilon / continuous.epsilon < Fraction("1.001")


@pytest.mark.parametrize("count", [1, 7])
def test_the_gaussian_bound_is_above_the_interval_of_one_entry(count: int):
    event = DiscreteGaussianEvent(sigma_squared=9, distance_squared=1, entries=1) * count
    bound = account(event, delta="1e-5", measure="gaussian").loss
    lower = account(event, delta="1e-5", measure="pld").lower
    assert isinstance(bound, Approximate)
    assert isinstance(lower, Approximate)
    assert lower.epsilon <= bound.epsilon <= lower.epsilon * Fraction("1.1")
