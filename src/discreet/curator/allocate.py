"""Allocate: split an offer over the aggregates of a plan."""

from fractions import Fraction

from discreet.curator.offer import Offer
from discreet.tables.plan import BoundedPlan


def allocate(plan: BoundedPlan, offer: Offer) -> tuple[Offer, ...]:
    """Return one share for each aggregate: equal, exact, and summing to ``offer``."""
    count = len(plan.aggregates)
    return tuple(offer * Fraction(1, count) for _ in range(count))
