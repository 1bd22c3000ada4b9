r"""The plan of two related tables: what is counted, what is measured of it, and what it costs.

There is one charge. First the values of columns without declared ones are found; then the parents
are measured, with their number of children as one more column; then the children.

Guarantee:
    A unit is a person with all of its rows in both tables. By
    :mod:`~discreet.synthesis.related.joined_rows` adding one adds at most one row to the parents
    and at most :math:`m` to the children, and takes none away. The marginals of the parents are
    measured at ``rows_per_unit`` of 1 for :data:`PARENTS` of the price of noise, and cost so much
    [:mod:`discreet.synthesis.marginals.measure`]. The children are measured at :math:`m` for the
    rest, given what is public of the parents [:mod:`~discreet.synthesis.related.measure_children`].
    Values are found for a part of their own [:mod:`discreet.synthesis.price`]. All parts are fixed
    before the first row is read, so by adaptive composition the whole costs what is charged.

    Estimates, rows and made-up names follow from what was measured: post-processing.
"""

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from attrs import evolve, frozen

from discreet.core.canonical import digest
from discreet.core.loss import PrivacyLoss
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.releases import ReleaseSize
from discreet.project.passage import KIND, Leg, Passage, StoredBody
from discreet.synthesis.counted.counted_rows import CountedColumn
from discreet.synthesis.counted.value_cells import MOST_KEYS, ValueCells, rows_in_cells
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.plan import CountingPlan
from discreet.synthesis.price import SynthesisPrice
from discreet.synthesis.related.clusters import ParentValues
from discreet.synthesis.related.draw_related import UnitTable
from discreet.synthesis.related.joined_rows import JoinedRows, middles
from discreet.synthesis.related.measure_children import ChildMechanism
from discreet.tables.catalog import Table
from discreet.tables.column import Key
from discreet.tables.keyset import LONGEST_KEY
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BOUNDING, BoundedPlan

RELATED = "related synthesis"
"""What the ledger calls it."""

VERSION = 1
"""The version of what is measured and how: a release of another one is not taken for it."""

PARENTS = Fraction(2, 5)
"""The part of the price of noise for the parents; a unit moves the counts of children by more."""

Cells = tuple[ValueCells, ...]
FoundValues = tuple[tuple[Key, ...], ...]
"""The values of each column without declared ones: those of the parents, then of the children."""


@frozen(kw_only=True)
class RelatedPlan:
    """What is counted, what is measured, and what it costs. All of it is public."""

    rows: JoinedRows
    parents_plan: BoundedPlan
    children_plan: BoundedPlan
    keys_plans: tuple[BoundedPlan, ...]
    price: SynthesisPrice
    by: tuple[int, ...] | None
    """The parents' columns that children depend on, if they are not chosen privately."""

    @property
    def loss(self) -> PrivacyLoss:
        """What is charged."""
        return self.price.charged

    def with_values(self, found: Sequence[Sequence[Key]]) -> tuple[Cells, Cells]:
        """Return the cells of both tables, with the values that were found for some columns."""
        left = iter(found)
        parents, children = (
            tuple(evolve(one, keys=tuple(next(left))) if one.is_open else one for one in cells)
            for cells in (self.rows.parent_cells, self.rows.child_cells)
        )
        return parents, children

    def parents_mechanism(self, parents: Cells) -> MarginalMechanism:
        """Return what measures parents with these cells."""
        return MarginalMechanism(
            columns=self.counted_parents(parents),
            rows_per_unit=1,
            price=self.price.of_noise * PARENTS,
        )

    def counted_parents(self, parents: Cells) -> tuple[CountedColumn, ...]:
        """Return the parents' columns as they are counted, with the number of children."""
        return tuple(one.counted() for one in (*parents, self.rows.number))

    def children_mechanism(self, children: Cells) -> ChildMechanism:
        """Return what measures children with these cells."""
        return ChildMechanism(
            columns=tuple(one.counted() for one in children),
            parents=len(self.rows.parent_cells) + 1,
            rows_per_unit=self.rows.rows_per_unit,
            price=self.price.of_noise * (1 - PARENTS),
            by=self.by,
        )

    def parent_values(self, parents: Cells, measured: MeasuredMarginals) -> ParentValues:
        """Return what is public of the parents when children are measured."""
        return ParentValues(
            measured=measured,
            columns=self.counted_parents(parents),
            numbers=middles(self.rows.number),
        )

    def require_possible(self) -> None:
        """Refuse what could fail after the charge: with few values found, and with many."""
        for count in (0, MOST_KEYS):
            parents, children = self.with_values(self._all_values(count))
            self.parents_mechanism(parents).require_possible()
            self.children_mechanism(children).require_possible()

    def name(self) -> str:
        """Return the name under which it is stored: equal for what is equal."""
        cells = (*self.rows.parent_cells, *self.rows.child_cells, self.rows.number)
        measured = self.parents_mechanism(self.rows.parent_cells)
        return digest(
            {
                "related": VERSION,
                "parents": self.parents_plan.to_json(),
                "children": self.children_plan.to_json(),
                "keys": [plan.to_json() for plan in self.keys_plans],
                "cells": [one.to_json() for one in cells],
                "price": self.price.event.to_json(),
                "most": [measured.most_values, measured.most_cells],
                "by": None if self.by is None else list(self.by),
            }
        )

    def passage(self) -> Passage:
        """Return what goes through the gate."""
        self.require_possible()
        rows = self.rows
        return Passage(
            name=self.name(),
            loss=self.loss,
            legs=(self._leg(()),),
            size=self.largest_release,
            description={
                KIND: RELATED,
                "sql": self.in_words(),
                "columns": {
                    rows.parent.name: [one.column.name for one in rows.parent_cells],
                    rows.child.name: [one.column.name for one in rows.child_cells],
                },
                "event": self.price.event.to_json(),
            },
        )

    def in_words(self) -> str:
        """Say what it is."""
        rows = self.rows
        return (
            f"synthetic rows of {rows.parent.name} with {rows.child.name}"
            f" ({_names(rows.parent_cells)}; {_names(rows.child_cells)})"
        )

    def counted(self) -> tuple[str, str]:
        """Return digests of the plans that count parents and children."""
        return digest(self.parents_plan.to_json()), digest(self.children_plan.to_json())

    def counting_parents(self) -> CountingPlan:
        """Return what is counted of the parents, without their number of children."""
        rows = self.rows
        return CountingPlan(rows.parent, rows.parent_cells, 1, self.parents_plan)

    def tables(self) -> tuple[UnitTable, UnitTable]:
        """Return both tables as they are known by their rows."""
        return unit_table(self.rows.parent), unit_table(self.rows.child)

    def largest_release(self) -> ReleaseSize:
        """Return the most that can be stored."""
        parents, children = self.with_values(self._all_values(MOST_KEYS))
        own = sum(one.size for one in (*parents, self.rows.number))
        cells = 4 * own + self.parents_mechanism(parents).most_measured()
        cells += 3 * self.children_mechanism(children).most_measured()
        # Values that are found stand there twice: by themselves, and in the cells.
        texts = 2 * len(self.keys_plans) * MOST_KEYS * LONGEST_KEY * 4
        declared = len(json.dumps([one.to_json() for one in (*parents, *children)]))
        return ReleaseSize(bytes=24 * cells + texts + declared + 100_000, cells=cells)

    def _all_values(self, count: int) -> FoundValues:
        return (("",) * count,) * len(self.keys_plans)

    def _leg(self, found: FoundValues) -> Leg:
        """Return the leg that finds the next column's values, or else the one of the parents."""
        number = len(found)
        if number == len(self.keys_plans):
            return Leg(
                plan=self.parents_plan,
                published=partial(self._parents_published, found),
                following=(self.children_plan,),
            )

        def published(exact: ExactAggregates, rng: Rng) -> Leg:
            rows, _, _ = exact.select(self.price.keys[number], rng, most=MOST_KEYS)
            return self._leg((*found, tuple(key for (key,) in rows if key is not None)))

        following = (*self.keys_plans[number + 1 :], self.parents_plan, self.children_plan)
        return Leg(plan=self.keys_plans[number], published=published, following=following)

    def _parents_published(self, found: FoundValues, exact: ExactAggregates, rng: Rng) -> Leg:
        parents, _ = self.with_values(found)
        mechanism = self.parents_mechanism(parents)
        measured = exact.measure(0, _MeasuringParents((*parents, self.rows.number), mechanism), rng)
        published = partial(self._children_published, found, measured)
        return Leg(plan=self.children_plan, published=published)

    def _children_published(
        self,
        found: FoundValues,
        of_parents: MeasuredMarginals,
        exact: ExactAggregates,
        rng: Rng,
    ) -> StoredBody:
        parents, children = self.with_values(found)
        measuring = _MeasuringChildren(
            (*children, *parents, self.rows.number),
            self.children_mechanism(children),
            self.parent_values(parents, of_parents),
        )
        return {
            KIND: "related marginals",
            "version": VERSION,
            "bounding": BOUNDING,
            "cost": self.loss.to_json(),
            "tables": [one.to_json() for one in self.tables()],
            "parent_cells": [one.to_json() for one in (*parents, self.rows.number)],
            "child_cells": [one.to_json() for one in children],
            "counted": list(self.counted()),
            "rows_per_unit": self.rows.rows_per_unit,
            "keys": [list(keys) for keys in found],
            "parents": of_parents.to_json(),
            "children": exact.measure(0, measuring, rng),
        }


@frozen
class _MeasuringParents:
    """Hands what an engine found to the parents' mechanism, as counted rows."""

    cells: Cells
    mechanism: MarginalMechanism

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> MeasuredMarginals:
        return self.mechanism.release(rows_in_cells(keys, counts, self.cells), rng)


@frozen
class _MeasuringChildren:
    """Hands what an engine found to the children's mechanism, as counted rows."""

    cells: Cells
    mechanism: ChildMechanism
    parents: ParentValues

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> dict[str, Any]:
        rows = rows_in_cells(keys, counts, self.cells)
        measured, links = self.mechanism.release(rows, self.parents, rng)
        return measured.to_json() | {"links": None if links is None else links.to_json()}


def unit_table(table: Table) -> UnitTable:
    """Return a declared table with the one column that names its unit."""
    assert table.unit.column is not None
    return UnitTable(table.name, table.column(table.unit.column))


def _names(cells: Cells) -> str:
    return ", ".join(one.column.name for one in cells)
