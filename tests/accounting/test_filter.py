"""A filter that remembers: exact at the boundary, in every measure, and no measure is mixed up."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.conversions.convert import convert
from discreet.accounting.conversions.from_gaussian import gaussian_log_delta
from discreet.accounting.filters.filter import PrivacyFilter
from discreet.core.errors import BudgetExhausted, InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, PrivacyLoss, Pure, Zcdp


@pytest.mark.parametrize(
    "cap",
    [
        Pure("0.1"),
        Approximate("0.7", "1e-6"),
        Zcdp(rho="1/7"),
        ApproximateZcdp(rho="0.3", delta="1e-9"),
        GaussianDp(mu_squared="1/9"),
    ],
    ids=str,
)
def test_every_part_is_admitted_and_nothing_more(cap: PrivacyLoss):
    gate = PrivacyFilter(cap)
    for _ in range(7):
        gate.admit(cap * Fraction(1, 7))
    assert gate.spent == cap
    assert gate.left == cap * 0
    with pytest.raises(BudgetExhausted):
        gate.admit(cap * Fraction(1, 10**30))
    assert gate.spent == cap


def test_an_approximate_cap_takes_losses_in_rho():
    """Refused before: the ρ had to be found by hand."""
    gate = PrivacyFilter(Approximate(1, "1e-6"), kept_as="zcdp")
    assert isinstance(gate.limit, Zcdp)
    found = convert(gate.limit, to="approximate", delta="1e-6").loss
    assert isinstance(found, Approximate)
    assert Fraction("0.999999") < found.epsilon <= 1
    gate.admit(Zcdp(rho="0.02"))
    gate.admit(Pure("0.05"))
    assert not gate.admits(Zcdp(rho="0.004"))


def test_an_approximate_cap_takes_gaussian_losses():
    gate = PrivacyFilter(Approximate(1, "1e-6"), kept_as="gaussian")
    assert isinstance(gate.limit, GaussianDp)
    assert math.exp(float(gaussian_log_delta(gate.limit.mu_squared, Fraction(1))[1])) <= 1e-6
    assert float(gate.limit.mu_squared) ** -0.5 == pytest.approx(4.22468, rel=1e-5)
    gate.admit(Pure("0.1"))
    assert gate.left <= gate.limit


def delta_of_two_steps(first: float, second: tuple[float, float], epsilon: float) -> float:
    """Gaussian noise with a drift of ``first``; then of one of two, by the sign of the answer."""
    x = np.linspace(-12, 12, 24_001)
    step = x[1] - x[0]
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    total = 0.0
    for chosen, mu in ((x > 0, second[0]), (x <= 0, second[1])):
        # The loss of the first answer, under P centred at ``first`` and Q at 0.
        left = epsilon - (first * x - first**2 / 2)[chosen]
        p = (density * np.exp(first * x - first**2 / 2))[chosen] * step
        total += float((p * hockey(mu, left)).sum())
    return total


def hockey(mu: float, epsilon: np.ndarray) -> np.ndarray:
    if mu == 0.0:
        return np.maximum(0.0, 1 - np.exp(epsilon))
    erfc = np.vectorize(math.erfc)

    def tail(z: np.ndarray) -> np.ndarray:
        return erfc(z / math.sqrt(2)) / 2

    return np.asarray(tail(epsilon / mu - mu / 2) - np.exp(epsilon) * tail(epsilon / mu + mu / 2))


@pytest.mark.parametrize("second", [(0.8, 0.0), (0.0, 0.8), (0.8, 0.8), (0.3, 0.7)])
def test_gaussian_losses_may_be_chosen_adaptively(second):
    """Squares of 0.36 and up to 0.64 keep to a cap of 1, whatever the answer chooses."""
    for epsilon in (0.0, 0.5, 1.5, 3.0):
        cap = math.exp(float(gaussian_log_delta(Fraction(1), Fraction(epsilon))[1]))
        assert delta_of_two_steps(0.6, second, epsilon) <= cap + 1e-7
    # A broken twin, that adds up μ and not its square, would let 0.8 pass after 0.2.
    wrong = math.exp(float(gaussian_log_delta(Fraction("0.64"), Fraction("1.5"))[1]))
    assert delta_of_two_steps(0.6, (0.8, 0.8), 1.5) > wrong


def test_what_is_no_loss_is_refused_and_what_a_filter_is_can_be_read():
    wrong: Any
    for wrong in (1, "0.1", None):
        with pytest.raises(InvalidArgument, match="not a privacy loss"):
            PrivacyFilter(wrong)
        with pytest.raises(InvalidArgument, match="not a privacy loss"):
            PrivacyFilter(Pure(1)).admit(wrong)
    gate = PrivacyFilter(Approximate(1, "1e-6"), kept_as="zcdp")
    gate.admit(Zcdp("0.01"))
    shown = "PrivacyFilter(Approximate(ε = 1, δ = 0.000001), kept_as='zcdp'): ρ = 0.01 spent"
    assert repr(gate) == shown


def test_refusals():
    with pytest.raises(Unsupported):
        PrivacyFilter(Pure(1), kept_as="zcdp")
    with pytest.raises(InvalidArgument, match="no such measure"):
        PrivacyFilter(Pure(1), kept_as="euros")
    with pytest.raises(Unsupported):
        PrivacyFilter(Zcdp(rho=1)).admit(Approximate(1, "1e-6"))
    plain = PrivacyFilter(Approximate(1, "1e-6"))
    assert plain.admits(Pure("0.1"))
    with pytest.raises(Unsupported, match="kept_as='zcdp'"):
        plain.admits(Zcdp("0.01"))  # "must be given either delta or epsilon" before
    gate = PrivacyFilter(Zcdp(rho=1))
    with pytest.raises(Unsupported):
        gate.admits(ApproximateZcdp(rho="0.1", delta="1e-9"))
    assert gate.spent == Zcdp(rho=0)
