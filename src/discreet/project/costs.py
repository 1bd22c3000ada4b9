"""Costs: one event in every measure that has a theorem for it, and what it says about groups."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from attrs import frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accounting_question import account
from discreet.accounting.filters.rules import left
from discreet.accounting.losses.group import group
from discreet.accounting.losses.loss_json import decimals
from discreet.accounting.losses.result import Result, best
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Zcdp
from discreet.project.charged import charged
from discreet.tables.catalog import PeriodLength

DELTAS = (Fraction(1, 10**6), Fraction(1, 10**9))
"""The δ at which an explanation shows an (ε, δ)."""


@frozen
class Cost:
    """A true bound on one event, and the theorem that it rests on."""

    loss: PrivacyLoss
    theorem: str

    def to_json(self) -> dict[str, object]:
        """Return the cost as plain values."""
        return {"loss": self.loss.to_json(), "theorem": self.theorem}


@lru_cache(maxsize=64)
def costs(event: ComposedEvent) -> tuple[Cost, ...]:
    """Return what ``event`` costs, once for each measure in which a theorem bounds it.

    Example:
        >>> from discreet.events import DiscreteLaplaceEvent
        >>> noise = ComposedEvent.of([DiscreteLaplaceEvent(scale=2, distance=1)])
        >>> [str(cost.loss) for cost in costs(noise)][:2]
        ['ε = 0.5', 'ρ = 0.125']
    """
    return tuple(_known(event))


def first_cost(event: ComposedEvent) -> PrivacyLoss:
    """Return the cost in the first measure that has a theorem: ε, then (ε, δ), then ρ."""
    return next(iter(_known(event))).loss


def group_costs(
    event: ComposedEvent, length: PeriodLength
) -> tuple[tuple[int, PrivacyLoss | None], ...]:
    """Return what the event tells about one person over several periods together.

    The loss holds for one period of a person. Whoever wants to hide all that a person did in ``k``
    of them asks about data sets that differ in ``k`` units: group privacy. None means that no
    bound below certainty follows.
    """
    return group_losses([cost.loss for cost in costs(event)], length)


def group_losses(
    known: Sequence[PrivacyLoss], length: PeriodLength
) -> tuple[tuple[int, PrivacyLoss | None], ...]:
    """Return the same from losses that are known, the first of them that tells something."""
    return tuple((size, _grouped(known, size)) for size in _SIZES[length])


_SIZES = {
    PeriodLength.DAY: (7, 30),
    PeriodLength.WEEK: (4, 52),
    PeriodLength.MONTH: (3, 12),
    PeriodLength.YEAR: (2, 5),
}


def _grouped(losses: Iterable[PrivacyLoss], size: int) -> PrivacyLoss | None:
    for loss in losses:
        try:
            return group(loss, size).loss
        except Unsupported:
            continue
    return None


def _known(event: ComposedEvent) -> Iterator[Cost]:
    for way in _WAYS:
        try:
            yield way(event)
        except Unsupported:
            continue


def _pure(event: ComposedEvent) -> Cost:
    return Cost(pure_loss([event]), "DR14, Theorem 3.14")


def _concentrated(event: ComposedEvent) -> Cost:
    loss = charged(event, ApproximateZcdp(rho=0, delta=0))
    assert isinstance(loss, ApproximateZcdp)
    if loss.delta:
        return Cost(loss, "BS16, Lemma 8.2")
    return Cost(Zcdp(rho=loss.rho, xi=loss.xi), "BS16, Lemma 2.3")


def _own_delta(event: ComposedEvent) -> Cost:
    loss = charged(event, Approximate(0, 0))
    assert isinstance(loss, Approximate)
    if not loss.delta:
        raise Unsupported("This is the pure loss")
    return Cost(loss, "DR14, Theorem 3.16")


def _at(delta: Fraction, event: ComposedEvent) -> Cost:
    """Return the least of a few bounds that are quick to find; each of them is true by itself."""
    found: list[Result] = []
    for method in _METHODS if _spread(event) <= _WIDEST else _METHODS_IF_WIDE:
        try:
            found.append(account(event, delta=delta, measure=method))
        except Unsupported:
            continue
    if not found:
        raise Unsupported("No theorem bounds this event at a δ")
    least = best(found)
    return Cost(least.loss, f"{least.method}: {least.theorem}")


_METHODS = ("basic", "rdp", "pld")
_METHODS_IF_WIDE = ("basic", "rdp", "discrete")
_WIDEST = 3000
"""The time for a loss distribution grows with σ; up to here it is a tenth of a second."""


def _spread(event: ComposedEvent) -> float:
    """Return the standard deviations of all Gaussian noise, in steps, added up."""
    return sum(math.sqrt(getattr(part, "sigma_squared", 0)) for part, _ in event.parts)


_WAYS: tuple[Callable[[ComposedEvent], Cost], ...] = (
    _pure,
    _own_delta,
    _concentrated,
    *(partial(_at, delta) for delta in DELTAS),
)
"""Each refuses an event that its measure has no theorem for."""


def decimals_of(cost: PrivacyLoss, remaining: PrivacyLoss, is_affordable: bool) -> dict[str, Any]:
    """Return a cost and what is left of a budget as decimals: what is left, rounded down."""
    after = left(remaining, cost) if is_affordable else None
    return {
        "cost": decimals(cost),
        "remaining": decimals(remaining, rounding=ROUND_FLOOR),
        "left_after": None if after is None else decimals(after, rounding=ROUND_FLOOR),
    }
