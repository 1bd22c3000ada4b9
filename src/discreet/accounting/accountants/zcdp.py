"""The zCDP accountant: events to ρ, by the theorem of each event, and what ρ says about (ε, δ)."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from discreet.accounting.accountants.pure import epsilon
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event, require_one_metric
from discreet.core.loss import Zcdp
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialSelectionEvent,
    LaplaceNoisyMaxEvent,
    LinfExponentialEvent,
    PermuteAndFlipEvent,
    RandomisedResponseEvent,
    SignOfGaussianEvent,
    SparseVectorEvent,
    TwoCoinResponseEvent,
)
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.core.stated_event import (
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    MeanConcentratedEvent,
    PureEvent,
    ZcdpEvent,
)


def zcdp_loss(events: Iterable[Event]) -> Zcdp:
    r"""Return the zCDP loss of all ``events`` together.

    Guarantee:
        The sum of the events' :math:`\rho` bounds the loss of releasing all of them, even if each
        was chosen after seeing the ones before [BS16, Lemma 2.3].

    Example:
        >>> zcdp_loss([DiscreteGaussianEvent(sigma_squared=4, distance_squared=1)] * 2)
        Zcdp(ρ = 0.25)
    """
    return sum((line(event) for event in require_one_metric(events)), Zcdp(rho=0))


@singledispatch
def line(event: Event) -> Zcdp:
    """Return the (ξ, ρ) of one event; most have ξ = 0."""
    return Zcdp(rho=rho(event))


@line.register
def _(event: ZcdpEvent) -> Zcdp:
    return Zcdp(rho=event.rho, xi=event.xi)


@line.register
def _(event: MeanConcentratedEvent) -> Zcdp:
    # The cumulants of the loss lie below a line [Ste16, Lemma 2.4.2]; lines compose, mCDP does not.
    slope = event.tau_squared / 2
    return Zcdp(rho=slope, xi=max(Fraction(0), event.mu - slope))


@line.register
def _(event: SparseVectorEvent) -> Zcdp:
    r"""Add a line for each threshold and a constant for each query above [Das22, Theorem 9.9].

    The condition is that the noise of the *queries* is pure; where the thresholds' is too, the
    square of the whole ε may be lower.
    """
    hybrid = Zcdp(
        rho=event.draws * rho(event.threshold_noise), xi=event.above * epsilon(event.query_noise)
    )
    try:
        pure = Zcdp(rho=rho(event))
    except Unsupported:
        return hybrid
    return pure if pure.rho <= hybrid.xi + hybrid.rho else hybrid


@line.register
def _(event: ComposedEvent) -> Zcdp:
    return sum((line(part) * count for part, count in event.parts), Zcdp(rho=0))


@singledispatch
def rho(event: Event) -> Fraction:
    """Return the ρ of one event, or refuse."""
    raise Unsupported(
        "No zCDP bound is known for this event",
        must="be an event with a zCDP theorem",
        got=getattr(event, "kind", type(event).__name__),
    )


@rho.register
def _(event: DiscreteGaussianEvent) -> Fraction:
    r"""Divide: :math:`\rho = \|v\|_2^2 / (2\sigma^2)` [CKS20, Theorem 4].

    Rényi divergences of independent entries add, so the squares of their moves do.
    """
    return event.distance_squared / (2 * event.sigma_squared)


@rho.register
def _(event: SignOfGaussianEvent) -> Fraction:
    r"""Divide: :math:`\rho = 2^2 / (2\sigma^2)`, as ±1 are 2 apart [BS16, Proposition 1.6].

    That is the normal variable's, and its sign tells no more.
    """
    return 2 / event.sigma_squared


@rho.register(DiscreteLaplaceEvent)
@rho.register(LinfExponentialEvent)
@rho.register(RandomisedResponseEvent)
@rho.register(TwoCoinResponseEvent)
@rho.register(PureEvent)
@rho.register(LaplaceEvent)
@rho.register(PermuteAndFlipEvent)
@rho.register(LaplaceNoisyMaxEvent)
@rho.register(SparseVectorEvent)
def _(event: Event) -> Fraction:
    r"""Square: :math:`\varepsilon`-DP is :math:`\varepsilon^2/2`-zCDP [BS16, Proposition 1.4]."""
    return epsilon(event) ** 2 / 2


@rho.register
def _(event: GaussianEvent) -> Fraction:
    # Exactly: D_α = α Δ² / (2σ²) at every order [BS16, Lemma 2.4].
    return event.distance**2 / (2 * event.scale**2)


@rho.register
def _(event: BoundedRangeEvent) -> Fraction:
    # The proof is with BoundedRangePiece [CR21].
    return event.epsilon**2 / 8


@rho.register
def _(event: ExponentialSelectionEvent) -> Fraction:
    # Its loss stays in an interval of that width.
    return epsilon(event) ** 2 / 8


def delta_of_zcdp(loss: Zcdp, at_epsilon: Number) -> Fraction:
    r"""Return a :math:`\delta` at which ``loss`` implies :math:`(\varepsilon, \delta)`-DP.

    Guarantee:
        For every order :math:`\alpha > 1` the value
        :math:`e^{(\alpha-1)(\xi + \rho\alpha - \varepsilon)} (1 - 1/\alpha)^\alpha / (\alpha - 1)`
        will do [CKS20, Proposition 12 and Corollary 13]. The order is looked for with floats, the
        value at it is rounded up: a bad order only makes the bound larger, never wrong.

    Example:
        >>> float(delta_of_zcdp(Zcdp(rho="0.1"), "2.141940")) < 1e-6
        True
        >>> float(delta_of_zcdp(Zcdp(rho="0.1"), "2.1417")) > 1e-6
        True
    """
    epsilon_ = exact(at_epsilon)
    if loss.rho == 0 and loss.xi <= epsilon_:
        return Fraction(0)
    order = _best_order(float(loss.rho), float(loss.xi), float(epsilon_))
    exponent = (order - 1) * (loss.xi + loss.rho * order - epsilon_)
    _, log_high = log_bounds(1 - 1 / order, bits=96)
    _, log_rest = log_bounds(1 / (order - 1), bits=96)
    total = exponent + order * log_high + log_rest
    bits = 160 + min(_MOST_BITS, -2 * math.floor(total))
    return Fraction(1) if total >= 0 else exp_bounds(total, bits)[1]


_MOST_BITS = 10_000


def _best_order(rho_: float, xi: float, at_epsilon: float) -> Fraction:
    """Return an order near the best one: any above 1 is safe."""

    def log_delta(order: float) -> float:
        gap = order - 1
        return (
            gap * (xi + rho_ * order - at_epsilon) + order * math.log1p(-1 / order) - math.log(gap)
        )

    low, high = math.log(1e-3), math.log(1e9)
    for _ in range(100):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if log_delta(1 + math.exp(first)) <= log_delta(1 + math.exp(second)):
            high = second
        else:
            low = first
    return Fraction(max(1, round(math.exp(low) * 2**20)), 2**20) + 1
