"""Hundreds of different losses: what ``auto`` says, against enumeration and against a peer."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as peer

from discreet.accounting.accounting_question import account
from discreet.accounting.composition import murtagh_vadhan
from discreet.accounting.composition.compose import compose_delta, compose_epsilon
from discreet.accounting.curves.bounded import TightPure
from discreet.accounting.curves.curve import RenyiCurve
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.core.stated_event import ApproximateEvent

UNIT = Fraction(1, 2**13)
SIXTEEN = [Approximate(Fraction(1, 3 + k), Fraction(k % 3, 10**7)) for k in range(16)]
HUNDREDS = [Approximate((2 * k + 1) * UNIT, Fraction(k, 10**11)) for k in range(300)]
ROUNDING = 1e-9


def numbers(loss: PrivacyLoss | None) -> tuple[float, float]:
    assert isinstance(loss, Approximate)
    return float(loss.epsilon), float(loss.delta)


def true_delta(losses: list[Approximate], epsilon: float) -> float:
    """List every combination of true and false responses; floats that are good to ten digits."""
    mass, loss = np.ones(1), np.zeros(1)
    for one in losses:
        e = float(one.epsilon)
        lie = 1 / (1 + math.exp(e))
        mass = np.concatenate((mass * (1 - lie), mass * lie))
        loss = np.concatenate((loss + e, loss - e))
    over = loss > epsilon
    pure = math.fsum(mass[over] * -np.expm1(epsilon - loss[over]))
    return 1 - (1 - pure) * math.prod(1 - float(one.delta) for one in losses)


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "3/2", "2"])
def test_delta_of_sixteen_losses_is_in_the_interval(epsilon: str):
    found = compose_delta(SIXTEEN, epsilon=epsilon)
    truth = true_delta(SIXTEEN, float(Fraction(epsilon)))
    low, high = numbers(found.lower)[1], numbers(found.loss)[1]
    assert low * (1 - ROUNDING) <= truth <= high * (1 + ROUNDING)
    assert high - low <= 0.05 * high


@pytest.mark.parametrize("delta", ["1e-2", "1e-4", "1e-5"])
def test_epsilon_of_sixteen_losses_is_in_the_interval(delta: str):
    found = compose_epsilon(SIXTEEN, delta=delta)
    low, high = numbers(found.lower)[0], numbers(found.loss)[0]
    assert true_delta(SIXTEEN, high) <= float(delta) * (1 + 1e-6)
    assert true_delta(SIXTEEN, low) >= float(delta) * (1 - 1e-6)
    assert high - low <= 1e-3 * max(1.0, high)
    # A broken twin that takes the lower end for the answer is caught by the first line.
    assert true_delta(SIXTEEN, low - 1e-3) > float(delta) * (1 + 1e-6)


def on_the_lattice(losses: list[Approximate]) -> tuple[np.ndarray, np.ndarray, float]:
    """All losses are odd multiples of one unit, so the law of their sum can be written down."""
    mass = np.ones(1)
    for one in losses:
        whole, lie = int(one.epsilon / UNIT), 1 / (1 + math.exp(one.epsilon))
        padding = np.zeros(whole)
        mass = np.concatenate((mass * lie, padding)) + np.concatenate((padding, mass * (1 - lie)))
    kept = math.prod(1 - float(one.delta) for one in losses)
    # Each loss moves the sum by twice itself, from all false to all true.
    reach = len(mass) - 1
    return np.arange(-reach, reach + 1, 2) * float(UNIT), mass, kept


def test_hundreds_of_losses_are_in_the_interval():
    places, mass, kept = on_the_lattice(HUNDREDS)

    def truth(epsilon: float) -> float:
        over = places > epsilon
        return 1 - kept * (1 - float(mass[over] @ -np.expm1(epsilon - places[over])))

    events = [ApproximateEvent(epsilon=one.epsilon, delta=one.delta) for one in HUNDREDS]
    for found in (compose_epsilon(HUNDREDS, delta="1e-6"), account(events, delta="1e-6")):
        low, high = numbers(found.lower)[0], numbers(found.loss)[0]
        assert truth(high) <= 1e-6 * (1 + 1e-6)
        assert truth(low) >= 1e-6 * (1 - 1e-6)
        assert high <= low + 1e-3 * high
    for epsilon in (0, 2, 4):
        found, at = compose_delta(HUNDREDS, epsilon=epsilon), truth(epsilon)
        assert numbers(found.lower)[1] * (1 - 1e-6) <= at <= numbers(found.loss)[1] * (1 + 1e-6)


def test_dozens_of_losses_agree_with_a_peer():
    """On a grid of which every ε is a multiple, the peer's number is the truth but for rounding."""
    some, whole = HUNDREDS[::6], None
    for one in some:
        values = common.DifferentialPrivacyParameters(float(one.epsilon), float(one.delta))
        part = peer.from_privacy_parameters(values, value_discretization_interval=float(UNIT))
        whole = part if whole is None else whole.compose(part)
    assert whole is not None
    found, truth = compose_epsilon(some, delta="1e-6"), whole.get_epsilon_for_delta(1e-6)
    assert numbers(found.lower)[0] - 1e-6 <= truth <= numbers(found.loss)[0] + 1e-6


@pytest.mark.parametrize("epsilon", ["3", "6", "11"])
def test_many_losses_need_no_dynamic_programme(monkeypatch, epsilon: str):
    """At a δ of 1e-27 the interval was called wide, and the slow way took ten seconds."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the slow way was taken")

    monkeypatch.setattr(murtagh_vadhan, "_refined", refuse)
    for losses in (HUNDREDS, [Pure(one.epsilon) for one in HUNDREDS]):
        found = compose_delta(losses, epsilon=epsilon)
        low, high = numbers(found.lower)[1], numbers(found.loss)[1]
        assert low <= high <= 1.053 * low
    if Fraction(epsilon) >= sum(one.epsilon for one in HUNDREDS):
        found = compose_delta(HUNDREDS, epsilon=epsilon)
        truth = float(1 - math.prod(1 - one.delta for one in HUNDREDS))
        assert numbers(found.lower)[1] * (1 - ROUNDING) <= truth
        assert truth <= numbers(found.loss)[1] * (1 + ROUNDING)


def test_pieces_are_estimated_together(monkeypatch):
    """One by one, hundreds of pure pieces took most of the time of an answer."""
    pieces = [(TightPure(epsilon=Fraction(k, 100)), k % 3 + 1) for k in range(1, 40)]
    pieces += [(TightPure(epsilon="1e-9"), 5), (TightPure(epsilon=50), 2)]
    for order in (1.0, 1 + 1e-12, 1.001, 3.0, 1e4, 1e30):
        apart = sum(count * piece.estimate(order) for piece, count in pieces)
        assert RenyiCurve(pieces).estimate(order) == pytest.approx(apart, rel=1e-6)
    monkeypatch.setattr(TightPure, "estimate", None)
    found = compose_epsilon([Pure(Fraction(k, 99)) for k in range(1, 40)], delta="1e-6")
    assert numbers(found.loss)[0] < 8
