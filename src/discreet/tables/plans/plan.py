"""The bounded plan: a query in which one unit can only move so much. All of it is public."""

from collections.abc import Iterator
from typing import Any

from attrs import field, frozen

from discreet.core.canonical import described, digest
from discreet.core.contribution import Contribution
from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import ONE_UNIT
from discreet.tables.catalog import LARGEST_LIMIT, Limits
from discreet.tables.keyset import Keys, PrivateKeys, PublicKeys
from discreet.tables.plans.aggregate import Aggregate, CountUnits
from discreet.tables.relations.relation import Relation, RowOwner
from discreet.tables.relations.scan import PublicScan, Scan

BOUNDING = 2
"""The version of the rules by which engines decide what is kept of a unit.

It is part of what a plan means, so that a release by other rules is never given again for it.
Version 1 kept rows by a hash of their values alone, for each condition by itself: equal values
stood or fell together, and shares were not of the same rows.
"""


@frozen(kw_only=True)
class BoundedPlan:
    """A private relation, its groups, the limits of each unit, the aggregates. Engines run it.

    Order matters: rows that the relation or the keys drop do not use up a unit's limits.
    ``groups_per_unit`` and ``rows_per_unit`` hold in each grouping set by itself.
    """

    relation: Relation
    keys: Keys
    limits: Limits
    aggregates: tuple[Aggregate, ...]
    counted: int | None = field(init=False)
    """Which aggregate the counts that choose private keys answer: the number of units, if asked."""

    @counted.default
    def _answered_by_keys(self) -> int | None:
        is_asked = isinstance(self.keys, PrivateKeys) and CountUnits() in self.aggregates
        return self.aggregates.index(CountUnits()) if is_asked else None

    @property
    def drawn(self) -> tuple[int, ...]:
        """The aggregates that need noise, or a choice, of their own: all others."""
        return tuple(i for i in range(len(self.aggregates)) if i != self.counted)

    def owner(self) -> RowOwner:
        """Return whose privacy is at stake."""
        owner = self.relation.owner()
        assert owner is not None
        return owner

    def reach(self) -> Limits:
        """Return the limits of one unit over all groups: its groups in every grouping set.

        With fewer keys than ``groups_per_unit`` a unit cannot reach more groups than there are, and
        no more rows count than these groups let in.
        Keys are public, so this is. Private keys are never counted: the number found is private.
        """
        if not isinstance(self.keys, PublicKeys):
            return self.limits
        each = self.limits.groups_per_unit
        reached = [min(each, len(keys.rows)) for keys in self.keys.sets]
        groups = sum(reached)
        if groups == 0:
            raise RefusedQuery(
                "There are no public keys to group by",
                must="have at least one",
                next="Look at the public table or the condition that the keys come from",
            )
        if groups > LARGEST_LIMIT:
            raise RefusedQuery(
                f"The query could count {ONE_UNIT} in too many groups",
                must=f"be in at most {LARGEST_LIMIT:,}, over all grouping sets",
                next="Ask for fewer grouping sets, or give a smaller groups_per_unit",
            )
        return Limits(
            rows_per_group=self.limits.rows_per_group,
            groups_per_unit=groups,
            rows_per_unit=self._rows_over_all(reached),
        )

    def _rows_over_all(self, reached: list[int]) -> int | None:
        """Return how many rows of a unit count over all grouping sets; None if groups decide."""
        most, rows = self.limits.rows_per_unit, self.limits.rows_per_group
        if most is None:
            return None
        total = sum(min(most, rows * groups) for groups in reached)
        if total == rows * sum(reached):
            return None
        if total > LARGEST_LIMIT:
            raise RefusedQuery(
                f"Too many rows of {ONE_UNIT} could count",
                must=f"be at most {LARGEST_LIMIT:,}, over all grouping sets",
                next="Ask for fewer grouping sets, or give a smaller rows_per_unit",
            )
        return total

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can move of each aggregate."""
        reach = self.reach()
        return tuple(aggregate.contribution(reach) for aggregate in self.aggregates)

    def scans(self) -> tuple[Scan | PublicScan, ...]:
        """Return the tables that the plan reads, in order."""
        return scans_of(self.relation)

    def to_json(self) -> dict[str, Any]:
        """Return what the plan means, canonically. Where the files lie is no part of it."""
        keys = described(self.keys)
        if isinstance(self.keys, PublicKeys):
            keys["sets"] = [digest(part) for part in keys["sets"]]  # a set can be very long
        parts = (self.relation, self.limits, self.aggregates)
        relation, limits, aggregates = (described(part) for part in parts)
        return {
            "bounding": BOUNDING,
            "relation": relation,
            "keys": keys,
            "limits": limits,
            "aggregates": aggregates,
        }


def scans_of(relation: Relation) -> tuple[Scan | PublicScan, ...]:
    """Return the scans of a relation, in the order in which they stand in it."""
    return tuple(_scans(relation))


def _scans(relation: Relation) -> Iterator[Scan | PublicScan]:
    if isinstance(relation, Scan | PublicScan):
        yield relation
    for source in relation.inputs():
        yield from _scans(source)
