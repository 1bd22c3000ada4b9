"""Measured tables of a clique that take their steps together.

A step of an estimate looks at the sums of a table and multiplies all that was summed. What several
tables do, one after another, to the table of all their columns, they do to the whole clique; so the
clique, which is far larger, is summed and multiplied once for all of them.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from attrs import frozen

from discreet.synthesis.marginals.graphical_model import Table
from discreet.synthesis.marginals.junction_tree import Columns, cells
from discreet.synthesis.marginals.measurement import Measurement
from discreet.synthesis.marginals.summed import summed

ONE_ROW = 1.0
"""Cells with less noise are as good as known."""

SMALL = 16
"""Tables take their steps together in one that has so many times fewer cells than their clique."""
LEAST = 1000
"""In one of so many cells they do so anyway."""

LONGEST_STEP = 50.0
"""A cell is multiplied by no more than its exponential at once, nor divided by more. Of a longer
step this is a part, which raises the dual as well. What several tables do to a cell at once is then
a number for floats to hold, and so is what becomes of a cell that one tour empties and the next one
fills."""


@frozen(eq=False)
class AxesInside:
    """Where some columns are among those of a larger table."""

    others: tuple[int, ...]
    """The axes that they lack."""
    shape: tuple[int, ...]
    """The shape of their own table among all axes."""

    @staticmethod
    def of(some: Columns, columns: Columns, sizes: Sequence[int]) -> "AxesInside":
        """Return where some of the columns are."""
        return AxesInside(
            tuple(axis for axis, column in enumerate(columns) if column not in some),
            tuple(sizes[column] if column in some else 1 for column in columns),
        )


@frozen(eq=False, slots=False)
class SteppingTable:
    """A measured table among those beside it, and its multipliers so far."""

    table: Measurement
    inside: AxesInside
    """Where it is among the columns of those beside it."""
    multipliers: Table
    seen: Table
    """What the model had for it before the last step."""

    @cached_property
    def most_noise(self) -> float:
        """The largest deviation of noise among the measured cells."""
        variances = self.table.variances[self.table.is_measured]
        return float(np.sqrt(variances.max(initial=0.0)))

    def step(self, together: Table, smoothing: float, part: float) -> tuple[Table, float]:
        """Return what cells are multiplied by, and how far they are from the tour before."""
        table, weight = self.table, smoothing * self.table.variances
        counts = table.counted(summed(together, self.inside.others))
        steps = part * _best_steps(counts, table.counts - weight * self.multipliers, weight)
        steps = np.where(table.is_measured, steps, 0.0)
        self.multipliers[...] += steps
        factors = table.spread(np.exp(steps)).reshape(self.inside.shape)
        changed = np.where(table.is_measured, counts - self.seen, 0.0)
        self.seen[...] = counts
        return factors, float((changed**2 / np.maximum(table.variances, ONE_ROW)).sum())


@frozen(eq=False)
class TablesBeside:
    """Tables of a clique that take their steps together, in a small table of all their columns."""

    inside: AxesInside
    """Where their columns are in the clique."""
    tables: tuple[SteppingTable, ...]

    def step(
        self, counts: Table, smoothing: float, part: float, most_noise: float
    ) -> tuple[float, int]:
        """Take a step for each table with at most that noise in a cell, or a part of it.

        Return how far its cells are from where the tour before left them, as the sum of squares in
        deviations of noise, and how many they are.
        """
        tables = [one for one in self.tables if one.most_noise <= most_noise]
        if not tables:
            return 0.0, 0
        together = summed(counts, self.inside.others)
        factors, changed = np.ones(together.shape), 0.0
        for one in tables:
            found, far = one.step(together, smoothing, part)
            together *= found
            factors *= found
            changed += far
        counts *= factors.reshape(self.inside.shape)
        return changed, sum(one.table.counts.size for one in tables)


def tables_beside(
    columns: Columns, sizes: Sequence[int], measurements: Sequence[Measurement]
) -> tuple[TablesBeside, ...]:
    """Put the tables of a clique together as long as all their columns have a small table.

    They are left in their order: in another one, a search ends at a slightly different model.
    """
    most = max(cells(sizes, columns) // SMALL, LEAST)
    groups: list[tuple[set[int], list[Measurement]]] = []
    for one in measurements:
        if groups and cells(sizes, groups[-1][0].union(one.columns)) <= most:
            held, tables = groups[-1]
            held.update(one.columns)
            tables.append(one)
        else:
            groups.append((set(one.columns), [one]))
    found = []
    for held, tables in groups:
        own = tuple(column for column in columns if column in held)
        measured = (
            SteppingTable(one, AxesInside.of(one.columns, own, sizes), *_zeros(one))
            for one in tables
        )
        found.append(TablesBeside(AxesInside.of(own, columns, sizes), tuple(measured)))
    return tuple(found)


def _zeros(one: Measurement) -> tuple[Table, Table]:
    return np.zeros(one.counts.shape), np.zeros(one.counts.shape)


def _best_steps(counts: Table, wanted: Table, weight: Table) -> Table:
    r"""Return the roots of :math:`c e^{\Delta} + w \Delta = r`, for :math:`c \ge 0`, :math:`w > 0`.

    The left side rises and is convex, so from a place at the right of the root Newton's method
    comes nearer to it from the right, and never goes beyond. At the right is 0 where
    :math:`r \le c`, and :math:`\ln(r/c)` where it is not; and :math:`r/w` always is. Where the
    root is farther away than :data:`LONGEST_STEP`, that much is the step.
    """
    some = np.where(counts > 0, counts, 1.0)  # cells that nobody is in stay as they are
    logs = np.log(some)
    steps = np.minimum(np.log(np.maximum(wanted, some)) - logs, wanted / weight)
    for _ in range(60):
        rising = np.exp(logs + steps)
        change = (rising + weight * steps - wanted) / (rising + weight)
        steps -= change
        if np.abs(change).max(initial=0.0) < 1e-9:
            break
    return np.where(counts > 0, np.clip(steps, -LONGEST_STEP, LONGEST_STEP), 0.0)
