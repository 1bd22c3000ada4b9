"""Allocate: split a price over the aggregates of a plan, and the keys if they are private."""

from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument, MissingLoss
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.unit_words import ONE_UNIT, UNITS
from discreet.project.terms import Price
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan


@frozen(kw_only=True)
class Shares:
    """What each part of a plan may spend."""

    aggregates: Mapping[int, Pure | Zcdp]
    """One for each aggregate that needs noise, or a choice, of its own."""
    keys: Approximate | ApproximateZcdp | None = None
    """For private keys; they get all of the δ."""


def allocate(plan: BoundedPlan, weights: tuple[Fraction, ...], price: Price) -> Shares:
    """Return exact shares in proportion to the ``weights``; together they are the ``price``.

    Private keys take a part too: as much as the aggregates get on average, and all of the δ. If
    the number of units of each group is asked for, the noisy counts that chose the keys are the
    answer; so that aggregate is free, and its weight is added to the keys'.

    Guarantee:
        The shares' ε (or ρ) sum to the price's exactly, so what the mechanisms spend does.
    """
    if len(weights) != len(plan.aggregates) or any(weight <= 0 for weight in weights):
        raise InvalidArgument(
            "The weights do not fit the aggregates", must="be one each, above 0", got=str(weights)
        )
    parts = {index: weights[index] for index in plan.drawn}
    asked = sum(weights, Fraction(0))
    if isinstance(plan.keys, PublicKeys):
        return Shares(aggregates={i: _part(price, part / asked) for i, part in parts.items()})
    delta = require_delta(getattr(price, "delta", None))
    whole = asked + (asked / len(weights) if weights else 1)
    for_keys = whole - sum(parts.values())
    return Shares(
        aggregates={i: _part(price, part / whole) for i, part in parts.items()},
        keys=with_delta(_part(price, for_keys / whole), delta),
    )


def require_delta(delta: Fraction | None) -> Fraction:
    """Return the δ, or say that private keys need one."""
    if not delta:
        raise MissingLoss(
            "The groups of this query are not public, and nobody gave a δ",
            must=f"have a δ: the chance that a group shows which only {ONE_UNIT} is in",
            next=f"Give delta= (a usual δ is far below one over the number of {UNITS}, such as"
            " 1e-9), or group by columns with declared keys",
        )
    return delta


def with_delta(share: Pure | Zcdp, delta: Fraction) -> Approximate | ApproximateZcdp:
    """Return the share of private keys."""
    if isinstance(share, Pure):
        return Approximate(share.epsilon, delta)
    return ApproximateZcdp(rho=share.rho, delta=delta)


def _part(price: Price, part: Fraction) -> Pure | Zcdp:
    if isinstance(price, Pure | Approximate):
        return Pure(price.epsilon * part)
    return Zcdp(price.rho * part)
