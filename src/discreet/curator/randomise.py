"""Randomise: exact aggregates to noisy ones. Below this line everything is public."""

from discreet.core.protocols import IntArray, Rng
from discreet.curator.price import PricedPlan
from discreet.tables.exact_aggregates import ExactAggregates


def randomise(exact: ExactAggregates, priced: PricedPlan, rng: Rng) -> tuple[IntArray, ...]:
    """Return each aggregate with its own fresh noise."""
    return tuple(
        exact.randomise(index, mechanism, rng) for index, mechanism in enumerate(priced.mechanisms)
    )
