"""The model that rows are drawn from: made of what is public, and nothing else."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.known_columns import KnownColumns
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts
from discreet.synthesis.marginals.draw_rows import draw_rows, draw_within
from discreet.synthesis.marginals.estimate import MOST_TOURS, Estimated, estimate
from discreet.synthesis.marginals.junction_tree import Columns, largest_clique
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.marginals.measurement import combined, settled
from discreet.synthesis.marginals.pair_tables import pair_tables
from discreet.synthesis.marginals.value_blocks import refined
from discreet.synthesis.public_facts import PublicFacts
from discreet.synthesis.published_table import PublishedTable

Allowed = NDArray[np.bool_]
"""For each cell of a column, whether rows may have it."""

MOST_ROWS = 100_000_000

MOST_VALUES = 64
"""How many values a column may have in the model for the sake of what was published before."""

STILL = 0.002
"""With tables that were published before, a search ends when a tour changes cells by no more than
this share of their noise."""

USUAL = Fraction(1, 20)
"""How likely it is at most that noise put any number of a table farther off than is usual."""

MOST_CELLS = 1_000_000
"""How many cells a clique may have with tables that were published before."""


@frozen(kw_only=True, eq=False, slots=False)
class SyntheticModel:
    """A distribution over the cells of all columns.

    Tables of several columns are of coarse values. Within one of these, a column does not depend
    on any other: its values have the shares that they have in the column's own counts.
    """

    cells: tuple[ValueCells, ...]
    measured: MeasuredMarginals
    published: tuple[PublishedTable, ...] = ()
    """What was published before and agrees with the model as well as with noise it can."""
    facts: PublicFacts
    """What is asserted to be public: rows hold to it."""
    left_out: tuple[Columns, ...] = ()
    """Measured tables with which the model could not be worked out."""
    values: tuple[CoarseValues, ...] = field(repr=False)
    """The values that the model has for each column."""
    estimated: Estimated
    tours: int = MOST_TOURS
    """How many tours the search for it may take."""

    @staticmethod
    def of(
        cells: tuple[ValueCells, ...],
        measured: MeasuredMarginals,
        published: Sequence[PublishedTable] = (),
        facts: PublicFacts | None = None,
        tours: int = MOST_TOURS,
    ) -> "SyntheticModel":
        """Return the model that agrees best with all that is known. It costs nothing.

        The search for it takes at most so many ``tours``, and says whether it has found it by then.

        Tables are left out with which it could not be worked out: of those that were published
        before, and where some combinations cannot be also of those that were measured.
        """
        held = PublicFacts(sizes=measured.sizes) if facts is None else facts
        values = _values(measured, published, held)
        sizes = [one.size for one in values]
        room = _Room(sizes, held.groups, MOST_CELLS if held.groups else None)
        own = measured.measurements(values)
        measurements = [one for one in own if room.takes(one.columns)]
        room = evolve(room, most=max(MOST_CELLS, room.largest()))
        used = []
        for table in published:
            known = table.measurement(values)
            if known is not None and room.takes(table.columns):
                measurements.append(known)
                used.append(table)
        is_mixed = bool(used) or not held.is_empty
        if is_mixed:
            measurements = settled(combined([*measurements, *held.measurements(values)]))
        return SyntheticModel(
            cells=cells,
            measured=measured,
            published=tuple(used),
            values=values,
            facts=held,
            left_out=tuple(one.columns for one in own if one.columns not in room.groups),
            estimated=estimate(
                sizes,
                measurements,
                impossible=held.masks(values),
                still=STILL if is_mixed else 0.0,
                most_tours=tours,
            ),
            tours=tours,
        )

    @property
    def is_final(self) -> bool:
        """Whether a longer search would find the very same model."""
        # Beside published tables and public facts, it would go on with what is known to a row.
        return self.estimated.is_found and not self.published and self.facts.is_empty

    def with_tours(self, tours: int) -> "SyntheticModel":
        """Return the model after a search that may take so many tours."""
        return SyntheticModel.of(self.cells, self.measured, self.published, self.facts, tours)

    def to_json(self) -> dict[str, Any]:
        """Return all that it is made of as plain values: what was measured, and what is public."""
        return {
            "cells": [one.to_json() for one in self.cells],
            "measured": self.measured.to_json(),
            "published": [one.to_json() for one in self.published],
            "facts": self.facts.to_json(),
            "tours": self.tours,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "SyntheticModel":
        """Estimate the model again of what :meth:`to_json` wrote."""
        return SyntheticModel.of(
            tuple(map(ValueCells.from_json, data["cells"])),
            MeasuredMarginals.from_json(data["measured"]),
            [PublishedTable.from_json(one) for one in data.get("published", ())],
            PublicFacts.from_json(data["facts"]) if "facts" in data else None,
            data.get("tours", MOST_TOURS),
        )

    @property
    def known(self) -> KnownColumns:
        """What is known of each column, and of which there is a table, measured now or before."""
        names = [one.column.name for one in self.cells]
        found = [*self.measured.together, *(one.columns for one in self.published)]
        grouped = [
            name for name, one in zip(names, self.values, strict=True) if one.members().max() > 1
        ]
        return KnownColumns(
            cells=self.cells,
            together=[[names[at] for at in one] for one in found if one not in self.left_out],
            grouped=grouped,
            noisy=[name for at, name in enumerate(names) if self._is_noise(at)],
        )

    def _is_noise(self, column: int) -> bool:
        """Tell whether the sizes of the noise in a column's counts add up to more than the rows.

        Then the model has rows where noise is above 0, and takes them for true when it is drawn
        anew. The size of noise is about 0.8 deviations; a table is summed over its other columns.
        """
        if any(one.column == column for one in self.facts.totals):
            return False
        _, precise = self._counts_one_way(column)
        if self.measured.coarse[column].members().max() == 1:
            for one in self.measured.tables:
                if column in one.columns and len(one.columns) > 1:
                    precise = precise + one.values.shape[one.columns.index(column)] / (
                        max(one.variance, 1e-9) * one.values.size
                    )
        return 0.8 * float((precise**-0.5).sum()) > max(self.estimated.total, 1.0)

    @property
    def rows(self) -> int:
        """How many rows there are, by what is known."""
        if self.facts.rows is not None:
            return self.facts.rows
        known = [sum(count for _, count in one.counts) for one in self.facts.totals]
        return max(1, round(self.estimated.total), *known)

    def farthest(self, table: PublishedTable) -> tuple[float, float]:
        r"""Return how far the model is from a published table at most, and how far that is usual.

        Both are numbers of rows of one block of cells. What is usual is how far the truth itself is
        from what was published: a number with noise is farther than its quantile for
        :math:`\beta/k` with a chance of at most :math:`\beta/k`, so of all :math:`k` noisy numbers
        none is with one of at least :math:`1 - \beta = 0.95`, and a sum of :math:`j` of them is
        within :math:`j` such quantiles. One row is added, as rows are whole. A model that is
        farther disagrees with what was published by more than noise explains: the search was
        stopped too soon, or tables contradict each other. Rows that are drawn of it are farther
        by what rounding adds, which is less than one row for each cell in each group that is drawn.
        """
        each = float(table.noise.error_quantile(USUAL / int(max(1, table.members.sum()))))
        shares = self.grouped(table.columns, table.groups)
        away = np.abs(self.estimated.total * shares - table.values)
        known = table.is_measured
        excess = np.where(known, away - each * table.members, -np.inf)
        place = np.unravel_index(int(np.argmax(excess)), excess.shape)
        return float(away[place]), 1.0 + each * float(table.members[place])

    def shares(self, column: int) -> Counts:
        """Return the share of each cell of a column, in the model."""
        return self.table((column,))

    def table(self, columns: Columns) -> Counts:
        """Return the shares of the cells of some columns, in the model."""
        return self.grouped(columns, [np.arange(self.measured.sizes[one]) for one in columns])

    def coarse_table(self, columns: Columns) -> Counts:
        """Return the shares of the coarse values of some columns, as they were measured."""
        return self._in_coarse(columns, self.estimated.model.marginal(columns))

    @cached_property
    def coarse_pairs(self) -> dict[Columns, Counts]:
        """The same for each pair of columns."""
        found = pair_tables(self.estimated.model)
        return {pair: self._in_coarse(pair, table) for pair, table in found.items()}

    def _in_coarse(self, columns: Columns, found: Counts) -> Counts:
        coarse = [self.measured.coarse[one] for one in columns]
        if all(self.values[one] is known for one, known in zip(columns, coarse, strict=True)):
            return found
        return self._in_groups(columns, found, [one.numbers for one in coarse])

    def grouped(self, columns: Columns, groups: Sequence[Integers]) -> Counts:
        """Return shares of groups of cells: for each column, the group of each of its cells."""
        return self._in_groups(columns, self.estimated.model.marginal(columns), groups)

    def _in_groups(self, columns: Columns, found: Counts, groups: Sequence[Integers]) -> Counts:
        for column, numbers in zip(columns, groups, strict=True):
            each = np.zeros((self.values[column].size, int(numbers.max()) + 1))
            np.add.at(each, (self.values[column].numbers, numbers), self.within[column])
            # The first axis is summed over, and comes back as the last.
            found = np.tensordot(found, each, axes=(0, 0))
        return found

    def sample(self, rows: int, rng: Rng, allowed: Mapping[int, Allowed] | None = None) -> Integers:
        """Return the numbers of the cells of so many rows.

        Totals hold if these are as many as there are; else there are as large shares. With
        ``allowed`` they have the law of those rows of the model in which some columns have allowed
        cells only, and no totals.
        """
        if not 0 <= rows <= MOST_ROWS:
            raise InvalidArgument(
                "The number of rows is out of range",
                must=f"lie between 0 and {MOST_ROWS:,}",
                got=str(rows),
                next="Draw fewer with sample(n)",
            )
        totals = {
            one.column: self.facts.wanted(one, self.values[one.column]) for one in self.facts.totals
        }
        model, within = self.estimated.model, list(self.within)
        for column, cells in (allowed or {}).items():
            within[column] = np.where(cells, within[column], 0.0)
        if allowed:
            weights = {column: self.values[column].sums(within[column]) for column in allowed}
            model = model.weighted(weights)
        holds = rows == self.rows and not allowed
        drawn = draw_rows(model, rows, rng, totals if holds else {})
        for column, values in enumerate(self.values):
            drawn[:, column] = draw_within(drawn[:, column], values.numbers, within[column], rng)
        return drawn

    @cached_property
    def within(self) -> tuple[Counts, ...]:
        """The share of each cell of each column within its value in the model."""
        return tuple(one.shares(self.one_way(column)) for column, one in enumerate(self.values))

    def one_way(self, column: int) -> Counts:
        """Return the counts of a column by all that is known of its cells one by one.

        Each number is weighted by the inverse of its variance.
        """
        sums, weights = self._counts_one_way(column)
        found: Counts = sums / weights
        return found

    def _counts_one_way(self, column: int) -> tuple[Counts, Counts]:
        """Return the weighted sums of all that is known of a column's cells, and the weights."""
        measured, variance = self.measured.one_way(column)
        sums, weights = measured / variance, np.full(len(measured), 1 / variance)
        for table in self.published:
            if table.columns == (column,):
                for cell, count, spread in table.cell_by_cell():
                    sums[cell] += count / spread
                    weights[cell] += 1 / spread
        return sums, weights

    def to_arrow(self, numbers: Integers, rng: Rng) -> Any:
        """Return rows of cells as an Arrow table of values."""
        arrow = optional.load("pyarrow")
        columns = [one.draw(numbers[:, place], rng) for place, one in enumerate(self.cells)]
        return arrow.table(columns, names=[one.column.name for one in self.cells])


def _values(
    measured: MeasuredMarginals, published: Sequence[PublishedTable], facts: PublicFacts
) -> tuple[CoarseValues, ...]:
    """Return the values of a model: coarse ones, divided where more is known.

    What is asserted always divides them. What was published does, unless a column would have too
    many values then, or what was measured no room.
    """
    found = [
        one if not numbers.any() else CoarseValues(refined(one.numbers, numbers))
        for one, numbers in zip(measured.coarse, facts.divisions, strict=True)
    ]
    groups = [*(one.columns for one in measured.tables), *facts.groups]
    for table in published:
        for column, numbers in zip(table.columns, table.groups, strict=True):
            finer = CoarseValues(refined(found[column].numbers, numbers))
            tried = [*found[:column], finer, *found[column + 1 :]]
            is_small = found[column].size < finer.size <= MOST_VALUES
            if is_small and largest_clique([one.size for one in tried], groups) <= MOST_CELLS:
                found = tried
    return tuple(found)


@frozen
class _Room:
    """Which tables a model can hold: its cliques have no more than so many cells, if it is said."""

    sizes: Sequence[int]
    held: tuple[Columns, ...]
    most: int | None
    groups: list[Columns] = field(factory=list)

    def largest(self) -> int:
        """Return how many cells the largest clique has so far."""
        return largest_clique(self.sizes, [*self.held, *self.groups])

    def takes(self, columns: Columns) -> bool:
        """Take a table if there is room for it, and tell whether."""
        tried = evolve(self, groups=[*self.groups, columns])
        if self.most is not None and tried.largest() > self.most:
            return False
        self.groups.append(columns)
        return True
