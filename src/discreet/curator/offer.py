"""An offer: what an analyst is willing to spend on one question, as pure ε or as ρ."""

from functools import singledispatch

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core.errors import InvalidArgument, MissingLoss, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number

Offer = Pure | Zcdp
"""ε buys discrete Laplace noise; ρ buys whichever noise errs less."""


def read_offer(epsilon: Number | None, rho: Number | None, default: Offer | None) -> Offer:
    """Return the offer that was made with the question, or else the connection's default."""
    if epsilon is not None and rho is not None:
        raise InvalidArgument("Two prices were given", must="be either epsilon or rho")
    if epsilon is not None:
        return Pure(epsilon)
    if rho is not None:
        return Zcdp(rho)
    if default is None:
        raise MissingLoss(
            "Nobody said how much privacy this answer may cost",
            next="Give epsilon= (or rho=) with the query, or connect with a default (--epsilon)",
        )
    return default


def charged(event: Event, cap: PrivacyLoss) -> PrivacyLoss:
    """Return what ``event`` costs, in the measure in which the budget is kept.

    Guarantee:
        A true bound on the event by the accountant of that measure; an event that has none there
        is refused, and never converted silently.
    """
    return _charged(cap, event)


@singledispatch
def _charged(cap: PrivacyLoss, event: Event) -> PrivacyLoss:
    raise Unsupported("No budget is kept in this measure", got=cap.measure.value)


@_charged.register
def _(cap: Pure, event: Event) -> Pure:
    try:
        return pure_loss([event])
    except Unsupported:
        raise _needs_rho(cap) from None


@_charged.register
def _(cap: Approximate, event: Event) -> Approximate:
    try:
        return Approximate(pure_loss([event]).epsilon, 0)
    except Unsupported:
        raise _needs_rho(cap) from None


@_charged.register
def _(cap: Zcdp, event: Event) -> Zcdp:
    return zcdp_loss([event])


@_charged.register
def _(cap: ApproximateZcdp, event: Event) -> ApproximateZcdp:
    line = zcdp_loss([event])
    return ApproximateZcdp(rho=line.rho, delta=0, xi=line.xi)


def _needs_rho(cap: PrivacyLoss) -> Unsupported:
    return Unsupported(
        "Gaussian noise has no ε of its own, and this budget is kept in ε",
        got=cap.measure.value,
        next="Ask with epsilon=, ask in a batch, or have the budget declared as rho with delta",
    )
