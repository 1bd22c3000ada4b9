"""Allocate: split a query's loss over its aggregates."""

from discreet.core.loss import Pure
from discreet.tables.plan import BoundedPlan


def allocate(plan: BoundedPlan, loss: Pure) -> tuple[Pure, ...]:
    """Return one share for each aggregate: equal, exact, and summing to ``loss``."""
    count = len(plan.aggregates)
    return tuple(Pure(loss.epsilon / count) for _ in range(count))
