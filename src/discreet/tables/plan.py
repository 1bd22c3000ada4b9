"""The bounded plan: a query in which one unit can only move so much. All of it is public."""

from collections.abc import Iterator
from typing import Any

import attrs
from attrs import frozen

from discreet.core.canonical import described
from discreet.core.contribution import Contribution
from discreet.tables.aggregate import Aggregate
from discreet.tables.catalog import Table
from discreet.tables.column import Column
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

    def used_columns(self) -> frozenset[str]:
        """Return the names of the declared columns that the plan looks at."""
        unit = self.table.column(self.table.unit.column)
        return frozenset(_columns_in((unit, self.where, self.keys.columns, self.aggregates)))

    def to_json(self) -> dict[str, Any]:
        """Return what the plan means, canonically. Where the file lies is no part of it.

        The keys' columns stand for all combinations of their keys.
        """
        parts = (self.where, self.keys.columns, self.limits, self.aggregates)
        where, keys, limits, aggregates = (described(part) for part in parts)
        unit = self.table.column(self.table.unit.column)
        return {
            "table": self.table.name,
            "unit": [described(self.table.unit), described(unit)],
            "where": where,
            "keys": keys,
            "limits": limits,
            "aggregates": aggregates,
        }


def _columns_in(part: Any) -> Iterator[str]:
    """Yield the name of every column in a tree of nouns."""
    if isinstance(part, Column):
        yield part.name
    elif isinstance(part, tuple):
        for item in part:
            yield from _columns_in(item)
    elif attrs.has(type(part)):
        for field in attrs.fields(type(part)):
            yield from _columns_in(getattr(part, field.name))
