"""The bounded plan: a query in which one unit can only move so much. All of it is public."""

from typing import Any

from attrs import frozen

from discreet.core.canonical import described
from discreet.core.contribution import Contribution
from discreet.tables.aggregate import Aggregate
from discreet.tables.catalog import Table
from discreet.tables.expression import Expression
from discreet.tables.keyset import KeySet
from discreet.tables.limits import Limits


@frozen(kw_only=True)
class BoundedPlan:
    """Filter, keep the public keys, limit each unit, aggregate. Engines run it; nothing else does.

    Order matters: rows that the filter or the keys drop do not use up a unit's limits.
    """

    table: Table
    where: Expression | None
    keys: KeySet
    limits: Limits
    aggregates: tuple[Aggregate, ...]

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can move of each aggregate."""
        return tuple(aggregate.contribution(self.limits) for aggregate in self.aggregates)

    def to_json(self) -> dict[str, Any]:
        """Return what the plan means, canonically. Where the file lies is no part of it."""
        parts = (self.where, self.keys, self.limits, self.aggregates)
        where, keys, limits, aggregates = (described(part) for part in parts)
        return {
            "table": self.table.name,
            "unit": described(self.table.unit),
            "where": where,
            "keys": keys,
            "limits": limits,
            "aggregates": aggregates,
        }
