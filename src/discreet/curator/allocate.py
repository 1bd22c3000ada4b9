"""Allocate: split an offer over the aggregates of a plan, and the keys if they are private."""

from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument, MissingLoss
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.project.offer import Offer
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.plan import BoundedPlan


@frozen(kw_only=True)
class Shares:
    """What each part of a plan may spend."""

    aggregates: tuple[Pure | Zcdp | None, ...]
    """One for each aggregate; None if the counts that chose the keys are its answer."""
    keys: Approximate | ApproximateZcdp | None
    """For private keys; they get all of the δ."""


def allocate(plan: BoundedPlan, weights: tuple[Fraction, ...], offer: Offer) -> Shares:
    """Return exact shares in proportion to the ``weights``; together they are the ``offer``.

    Private keys take a part too: as much as the aggregates get on average, and all of the δ. If
    the number of units of each group is asked for, the noisy counts that chose the keys are the
    answer; so that aggregate is free, and its weight is added to the keys'.

    Guarantee:
        The shares' ε (or ρ) sum to the offer's exactly, so what the mechanisms spend does.
    """
    if len(weights) != len(plan.aggregates) or any(weight <= 0 for weight in weights):
        raise InvalidArgument(
            "The weights do not fit the aggregates", must="be one each, above 0", got=str(weights)
        )
    free = plan.counted
    parts = [Fraction(0) if i == free else weight for i, weight in enumerate(weights)]
    whole = sum(weights, Fraction(0))
    if not isinstance(plan.keys, PrivateKeys):
        return Shares(aggregates=tuple(_part(offer, part / whole) for part in parts), keys=None)
    delta = require_delta(getattr(offer, "delta", None))
    own = whole / len(weights) if weights else Fraction(1)
    for_keys = own + (0 if free is None else weights[free])
    share = _part(offer, for_keys / (whole + own))
    return Shares(
        aggregates=tuple(
            None if i == free else _part(offer, part / (whole + own))
            for i, part in enumerate(parts)
        ),
        keys=with_delta(share, delta),
    )


def require_delta(delta: Fraction | None) -> Fraction:
    """Return the δ, or say that private keys need one."""
    if not delta:
        raise MissingLoss(
            "The groups of this query are not public, and nobody gave a δ",
            must="have a δ: the chance that a group shows which only one person is in",
            next="Give delta= (a usual δ is far below one over the number of people, such as 1e-9),"
            " or group by columns with declared keys",
        )
    return delta


def with_delta(share: Pure | Zcdp, delta: Fraction) -> Approximate | ApproximateZcdp:
    """Return the share of private keys."""
    if isinstance(share, Pure):
        return Approximate(share.epsilon, delta)
    return ApproximateZcdp(rho=share.rho, delta=delta)


def _part(offer: Offer, part: Fraction) -> Pure | Zcdp:
    if isinstance(offer, Pure | Approximate):
        return Pure(offer.epsilon * part)
    return Zcdp(offer.rho * part)
