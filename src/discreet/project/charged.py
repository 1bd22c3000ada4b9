"""Charged: what an event costs, in the measure in which a budget is kept."""

from functools import singledispatch

from discreet.accounting.accountants.approximate import approximate
from discreet.accounting.accountants.gaussian import gaussian_loss
from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.renyi import renyi_loss
from discreet.accounting.accountants.zcdp import line
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import ThresholdedGaussianEvent, ThresholdedLaplaceEvent

THRESHOLDED = ThresholdedLaplaceEvent | ThresholdedGaussianEvent
"""The events of private keys: the only ones of a query that have a δ."""


def charged(event: Event, cap: PrivacyLoss) -> PrivacyLoss:
    """Return what ``event`` costs, in the measure in which the budget is kept.

    Guarantee:
        A true bound on the event by the accountant of that measure, its parts added up; an event
        that has none there is refused, and never converted silently.

    Example:
        >>> from discreet.events import DiscreteLaplaceEvent
        >>> charged(DiscreteLaplaceEvent(scale=2, distance=1), Zcdp(rho=1))
        Zcdp(ρ = 0.125)
    """
    return _charged(cap, ComposedEvent.of([event]))


@singledispatch
def _charged(cap: PrivacyLoss, event: ComposedEvent) -> PrivacyLoss:
    raise Unsupported("No budget is kept in this measure", got=cap.measure.value)


@_charged.register
def _(cap: Pure, event: ComposedEvent) -> Pure:
    _require_no_delta(event, cap)
    try:
        return pure_loss([event])
    except Unsupported:
        raise _needs_rho(cap) from None


@_charged.register
def _(cap: Approximate, event: ComposedEvent) -> Approximate:
    try:
        losses = [approximate(part) * count for part, count in event.parts]
    except Unsupported:
        raise _needs_rho(cap) from None
    return sum(losses, Approximate(0, 0))


@_charged.register
def _(cap: Zcdp, event: ComposedEvent) -> Zcdp:
    _require_no_delta(event, cap)
    return line(event)


@_charged.register
def _(cap: ApproximateZcdp, event: ComposedEvent) -> ApproximateZcdp:
    losses = [_approximate_zcdp(part) * count for part, count in event.parts]
    return sum(losses, ApproximateZcdp(rho=0, delta=0))


@_charged.register
def _(cap: GaussianDp, event: ComposedEvent) -> GaussianDp:
    _require_no_delta(event, cap)
    return gaussian_loss([event])


def _approximate_zcdp(event: Event) -> ApproximateZcdp:
    if not isinstance(event, THRESHOLDED):
        found = line(event)
        return ApproximateZcdp(rho=found.rho, delta=0, xi=found.xi)
    # Outside of the δ the two laws are noise on the same keys, whose line is known.
    whole = renyi_loss([event])
    known = whole.curve.line()
    assert known is not None
    return ApproximateZcdp(rho=known[1], delta=whole.delta, xi=known[0])


def _require_no_delta(event: ComposedEvent, cap: PrivacyLoss) -> None:
    if any(isinstance(part, THRESHOLDED) for part, _ in event.parts):
        raise Unsupported(
            "Private keys have a δ, and this budget has none",
            got=cap.measure.value,
            next="Declare the keys as public, or a budget with delta",
        )


def _needs_rho(cap: PrivacyLoss) -> Unsupported:
    return Unsupported(
        "Gaussian noise has no ε of its own, and this budget is kept in ε",
        got=cap.measure.value,
        next="Ask with epsilon=, ask in a batch, or have the budget declared as rho with delta"
        " before anything is spent of it",
    )
