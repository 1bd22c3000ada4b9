"""Rényi curves of samples: a peer, enumeration, and the inequality that orders the directions."""

import math
from fractions import Fraction

import dp_accounting as peer
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.accountants.renyi import renyi, renyi_loss
from discreet.accounting.accounting_question import account
from discreet.accounting.curves import sampled
from discreet.accounting.curves.bounded import TightPure
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import StatedPiece
from discreet.accounting.curves.sampled import SampledPiece, ToldPiece
from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event, FixedSizeSampledEvent, PoissonSampledEvent
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.stated_event import (
    BoundedRangeEvent,
    BoundedZcdpEvent,
    GaussianEvent,
    LaplaceEvent,
    MeanConcentratedEvent,
    PureEvent,
    RenyiEvent,
)

ORDERS = (Fraction("1.3"), Fraction(2), Fraction("2.5"), Fraction(5), Fraction("17.2"))


def poisson(inner: Event, rate: str, metric: Metric = Metric.ADD_REMOVE) -> PoissonSampledEvent:
    return PoissonSampledEvent(inner=inner, rate=rate, metric=metric)


def epsilon_of(loss: PrivacyLoss) -> Fraction:
    assert isinstance(loss, Approximate)
    return loss.epsilon


@pytest.mark.parametrize(("scale", "rate"), [("1", "0.01"), ("2", "0.2"), ("0.7", "0.001")])
def test_whole_orders_agree_with_the_peer(scale: str, rate: str):
    piece, _ = renyi(poisson(GaussianEvent(scale=scale), rate))
    for order in (2, 3, 8, 32):
        theirs = RdpAccountant(orders=[order]).compose(
            peer.PoissonSampledDpEvent(float(rate), peer.GaussianDpEvent(float(scale)))
        )
        (value,) = theirs._rdp
        assert float(piece.upper(Fraction(order))) == pytest.approx(value, rel=1e-9)


def moments(p: np.ndarray, q: np.ndarray, order: Fraction) -> float:
    power = float(order)
    return math.log(float((p**power * q ** (1 - power)).sum())) / (power - 1)


def response(epsilon: float, categories: int = 2) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.ones(categories), np.ones(categories)
    first[0] = second[1] = math.exp(epsilon)
    return first / first.sum(), second / second.sum()


@given(st.floats(0.01, 4), st.integers(2, 5), st.floats(0.001, 0.999), st.sampled_from(ORDERS))
def test_both_directions_of_a_response_are_below(epsilon, categories, rate, order):
    p, q = response(epsilon, categories)
    mixed = (1 - rate) * q + rate * p
    inner = RenyiCurve.of(TightPure(Fraction(epsilon)))
    found = float(SampledPiece(inner=inner, rate=Fraction(rate)).upper(order))
    for first, second in ((mixed, q), (q, mixed)):
        assert moments(first, second, order) <= found * (1 + 1e-9) + 1e-12


@given(st.floats(0.001, 6), st.floats(0.001, 0.999), st.floats(1, 60))
def test_the_inequality_that_orders_the_directions(z, rate, order):
    """Pointwise, for every symmetric pair: the lemma of the docstring."""
    x = math.exp(z)
    a, b = 1 - rate + rate * x, 1 - rate + rate / x
    left, right = a**order - a ** (1 - order), x * (b ** (1 - order) - b**order)
    assert right <= left * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_laplace_noise_by_integration(order):
    """In cells, which tells a little less; the loss is constant outside of 0 to 1."""
    x = np.linspace(0, 1, 20_001)

    def cells(centre: float) -> np.ndarray:
        below = np.where(x < centre, np.exp(x - centre) / 2, 1 - np.exp(centre - x) / 2)
        return np.diff(np.concatenate(([0.0], below, [1.0])))

    q, p = cells(0.0), cells(1.0)
    for rate in ("0.01", "0.3"):
        mixed = (1 - float(rate)) * q + float(rate) * p
        piece, _ = renyi(poisson(LaplaceEvent(scale=1), rate))
        truth = max(moments(mixed, q, order), moments(q, mixed, order))
        found = float(piece.upper(order))
        assert truth <= found * (1 + 1e-9) + 1e-12
        if order.denominator == 1:
            assert found == pytest.approx(truth, rel=1e-4)


def test_a_binomial_too_small_is_caught(monkeypatch):
    """A broken twin: the sum without its binomials is below a response that is enumerated."""
    monkeypatch.setattr("discreet.accounting.curves.sampled.math.comb", lambda n, k: 1)
    sampled._moment.cache_clear()
    p, q = response(2.0)
    mixed = 0.7 * q + 0.3 * p
    piece = SampledPiece(inner=RenyiCurve.of(TightPure(2)), rate="0.3")
    wrong = float(piece.upper(Fraction(5)))
    sampled._moment.cache_clear()
    assert wrong < moments(mixed, q, Fraction(5))


def test_samples_of_several_and_of_fixed_size():
    both = GaussianEvent(scale=3) + LaplaceEvent(scale=4)
    curve = renyi_loss([poisson(both, "1/50")]).curve
    whole = renyi_loss([both]).curve
    for order in ORDERS:
        assert curve.upper(order) <= whole.upper(order)
    inner = GaussianEvent(scale=3, metric=Metric.CHANGE_ONE)
    fixed = FixedSizeSampledEvent(inner=inner, population=50, sample=1, metric=Metric.ADD_REMOVE)
    alike, _ = renyi(poisson(GaussianEvent(scale=3), "1/50"))
    assert renyi(fixed)[0].upper(Fraction(4)) == alike.upper(Fraction(4))


def test_what_tells_who_was_sampled_is_a_mixture():
    inner = PureEvent(epsilon=1, metric=Metric.CHANGE_ONE)
    piece, _ = renyi(poisson(inner, "1/10", Metric.CHANGE_ONE))
    assert isinstance(piece, ToldPiece)
    p, q = response(1.0)
    for order in ORDERS:
        truth = math.log1p(0.1 * math.expm1(float(order - 1) * moments(p, q, order)))
        assert float(piece.upper(order)) == pytest.approx(truth / float(order - 1), rel=1e-9)
    assert float(piece.upper(Fraction(1))) == pytest.approx(0.1 * math.tanh(0.5), rel=1e-9)


def test_no_curve_where_no_theorem_is():
    with pytest.raises(Unsupported, match="No Rényi curve is known for this sample"):
        renyi(poisson(BoundedRangeEvent(epsilon=1), "1/10"))
    with pytest.raises(Unsupported, match="No Rényi curve is known for this sample"):
        renyi(poisson(GaussianEvent(scale=1), "1/10", Metric.CHANGE_ONE))


def test_by_rdp_a_sample_is_amplified():
    """205.86 on the old code; the peer, with exact orders between the whole ones, has 1.85."""
    event = poisson(GaussianEvent(scale=2), "0.02") * 1000
    found = account(event, delta="1e-6", measure="rdp")
    theirs = RdpAccountant().compose(
        peer.PoissonSampledDpEvent(0.02, peer.GaussianDpEvent(2.0)), 1000
    )
    assert found.method == "rdp"
    assert float(epsilon_of(found.loss)) == pytest.approx(theirs.get_epsilon(1e-6), rel=0.02)


def test_stated_points_are_kept_and_joined():
    """A table of a Gaussian's curve gives what the Gaussian's own curve gives, or a little more."""
    rho = Fraction(1, 8)
    table = RenyiEvent(points=[(order, rho * order) for order in range(2, 65)])
    stated = account(table, delta="1e-6")
    truth = account(GaussianEvent(scale=2), delta="1e-6", measure="rdp")
    ratio = float(epsilon_of(stated.loss) / epsilon_of(truth.loss))
    assert 1 <= ratio < 1.01
    piece = StatedPiece([(2, "0.1"), (4, "0.3")])
    with pytest.raises(InvalidArgument):
        piece.upper(Fraction(5))
    for bad in ([(1, 1)], [(2, 1), (2, 2)], [(2, -1)]):
        with pytest.raises(InvalidArgument):
            RenyiEvent(points=bad)


@pytest.mark.parametrize(
    "event",
    [
        RenyiEvent(points=[(2, "0.1"), (8, "0.5")]),
        BoundedZcdpEvent(rho="0.1", order=8),
        MeanConcentratedEvent(mu="0.1", tau_squared="0.2"),
        poisson(RenyiEvent(points=[(2, "0.1"), (8, "0.5")]), "1/10"),
    ],
)
def test_stated_events_are_accounted_for_and_read_back(event: Event):
    assert event_from_json(event.to_json()) == event
    once, many = (account(event * count, delta="1e-6") for count in (1, 5))
    assert 0 < epsilon_of(once.loss) < epsilon_of(many.loss)


@pytest.mark.parametrize(
    "piece",
    [
        SampledPiece(inner=RenyiCurve.of(TightPure(1)), rate="1/3"),
        ToldPiece(inner=RenyiCurve.of(TightPure(1)), rate="1/3"),
        StatedPiece([(2, "0.1"), (4, "0.3")]),
    ],
)
def test_pieces_are_read_back(piece):
    curve = RenyiCurve.of(piece)
    assert loss_from_json(curve.to_json()) == curve
    assert float(curve.upper("1.5")) == pytest.approx(curve.estimate(1.5), rel=1e-6)
