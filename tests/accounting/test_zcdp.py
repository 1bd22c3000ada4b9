"""The zCDP accountant, and what ρ says about (ε, δ)."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.accounting.accountants.zcdp import delta_of_zcdp, rho, zcdp_loss
from discreet.core.errors import Unsupported
from discreet.core.loss import Zcdp
from discreet.core.mechanism_event import (
    ApproximateResponseEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    TruncatedGeometricEvent,
    UniformNoiseEvent,
)

RHOS = st.fractions(min_value="1/1000", max_value=5, max_denominator=1000)
EPSILONS = st.fractions(min_value="1/100", max_value=10, max_denominator=100)


@given(variance=RHOS, squared=RHOS)
def test_gaussian_costs_half_the_squared_ratio(variance: Fraction, squared: Fraction):
    event = DiscreteGaussianEvent(sigma_squared=variance, distance_squared=squared)
    assert rho(event) == squared / (2 * variance)


def test_events_add_up():
    gaussian = DiscreteGaussianEvent(sigma_squared=4, distance_squared=1)
    laplace = DiscreteLaplaceEvent(scale=2, distance=1)
    assert zcdp_loss([gaussian * 2 + laplace]) == Zcdp(rho="3/8")
    assert rho(RandomisedResponseEvent(epsilon=1)) == Fraction(1, 2)
    assert rho(SignOfGaussianEvent(sigma_squared=4)) == Fraction(1, 2)


@pytest.mark.parametrize(
    "event",
    [
        TruncatedGeometricEvent(scale=1, bound=9, distance=1, largest=1, entries=1),
        UniformNoiseEvent(radius=9, distance=1),
        ApproximateResponseEvent(epsilon=1, delta="0.1"),
    ],
    ids=lambda event: event.kind,
)
def test_events_without_a_zcdp_loss_are_refused(event):
    with pytest.raises(Unsupported):
        zcdp_loss([event])


def test_oracle_of_the_conversion():
    """ρ = 0.1 and δ = 1e-6: ε = 2.141939 by this bound, 1.994527 for the exact Gaussian."""
    loss = Zcdp(rho="0.1")
    assert delta_of_zcdp(loss, "2.14194") <= Fraction(1, 10**6) < delta_of_zcdp(loss, "2.14193")


@given(rho_=RHOS, epsilon=EPSILONS)
def test_bound_lies_between_the_gaussian_and_the_simple_one(rho_: Fraction, epsilon: Fraction):
    bound = float(delta_of_zcdp(Zcdp(rho=rho_), epsilon))
    e, spread = float(epsilon), math.sqrt(2 * float(rho_))
    exact = stats.norm.cdf(spread / 2 - e / spread) - math.exp(e) * stats.norm.cdf(
        -spread / 2 - e / spread
    )
    assert bound >= exact * (1 - 1e-6)
    if epsilon > rho_:
        assert bound <= math.exp(-((e - float(rho_)) ** 2) / (4 * float(rho_))) * (1 + 1e-6)
    assert 0 <= bound <= 1


def test_a_pure_line_costs_no_delta():
    assert delta_of_zcdp(Zcdp(rho=0, xi=1), 1) == 0
    assert delta_of_zcdp(Zcdp(rho=0, xi=2), 1) > 0
    assert delta_of_zcdp(Zcdp(rho="0.1", xi="0.1"), 2) > delta_of_zcdp(Zcdp(rho="0.1"), 2)
