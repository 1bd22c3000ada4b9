"""Intervals through the gate: a tree of counts, or prefix sums, over the cells of one column."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.intervals.prefix_counts import PrefixCounts
from discreet.synthesis.intervals.prefix_sums import PrefixSums
from discreet.synthesis.intervals.tree_counts import TreeCounts
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    Reals,
    declared_cells,
    noise_words,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.tables.column import Column, ColumnType

MOST_AXIS = 4_096
"""Into how many cells an axis can be divided at most."""

USUAL_AXIS = 1_024

_UNORDERED = (ColumnType.TEXT, ColumnType.BOOLEAN)


def axis_cells(column: Column, most: int) -> ValueCells:
    """Return the cells of a column whose values have an order."""
    if not 2 <= most <= MOST_AXIS:
        raise InvalidArgument(
            "cells is out of range", must=f"lie between 2 and {MOST_AXIS:,}", got=str(most)
        )
    cells = declared_cells(column, most)
    if column.type in _UNORDERED:
        raise InvalidArgument(
            f"'{column.name}' has no intervals",
            must="be a number, a date or a time",
            got=column.type.value,
            next="Nothing was charged. The methods tables, contrasts and one-way are for values "
            "without an order",
        )
    return cells


def axis_note(cells: ValueCells) -> str:
    """Say how a column is divided, and what is left out."""
    told = f"'{cells.column.name}' is counted in {len(cells.grouped_by()):,} cells"
    if cells.keys is None:
        told += "; values beyond its declared range are in the first or the last of them"
    if cells.is_wide:
        told += "; each has several values, and a run is counted in whole cells"
    if cells.column.nullable:
        told += ", and rows without a value in it are left out"
    return told


@frozen(kw_only=True)
class AxisMethod(PublishingMethod):
    """Methods for one column whose values have an order."""

    has_null: ClassVar[bool] = False
    cells: int = field(default=USUAL_AXIS, converter=check.whole)
    """Into how many cells the column's range is divided at most; its steps if there are fewer."""

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column."""
        if len(columns) != 1:
            raise InvalidArgument(
                f"The method '{self.name}' is for one column",
                must="be given one",
                got=f"{len(columns)}",
                next="Nothing was charged. The method boxes is for several",
            )
        return (axis_cells(columns[0], self.cells),)


@frozen(kw_only=True)
class TreeIntervals(AxisMethod):
    """A tree of noisy counts over the cells of a column: all intervals, for an ε or a ρ."""

    name: ClassVar[str] = "tree"
    summary: ClassVar[str] = "counts of all intervals of one column, best for an ε"
    branching: int | None = field(default=None, converter=check.optional_whole)
    """How many places are below each; the best number if it is not given."""

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"cells": self.cells, "branching": self.branching}

    def ready(self, offered: OfferedNoise) -> "ReadyTree":
        """Return the method with its noise."""
        tree = TreeCounts.calibrate(
            cells=offered.sizes[0],
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
            branching=self.branching,
        )
        return ReadyTree(offered=offered, tree=tree)


@frozen(kw_only=True)
class PrefixIntervals(AxisMethod):
    """Prefix sums by a factorised matrix: all intervals with the smallest error, for a ρ."""

    name: ClassVar[str] = "prefix"
    summary: ClassVar[str] = "counts of all intervals of one column, best for a ρ"

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"cells": self.cells}

    def ready(self, offered: OfferedNoise) -> "ReadyPrefix":
        """Return the method with its noise."""
        if not isinstance(offered.noise, Zcdp):
            raise Unsupported(
                "Prefix sums have Gaussian noise, and an ε alone buys none",
                must="be a ρ, or an ε with a δ",
                got=str(offered.whole),
                next="Nothing was charged. Take the method tree, or give delta=",
            )
        sums = PrefixSums.calibrate(
            cells=offered.sizes[0], loss=offered.noise, rows_per_unit=offered.rows_per_unit
        )
        return ReadyPrefix(offered=offered, sums=sums)


def interval_lines(
    offered: OfferedNoise, answer: PrefixCounts, deviations: Reals
) -> PublishedLines:
    """Return a line for each cell."""
    return PublishedLines(
        headings=offered.names,
        labels=[(label,) for label in offered.labels(0)],
        values=np.diff(answer.up_to),
        deviations=deviations,
    )


def _expected(cells: int, deviation: Any) -> list[tuple[str, str]]:
    half = (cells // 4, max(cells // 4, 3 * cells // 4 - 1))
    one, run = deviation(cells // 2, cells // 2), deviation(*half)
    return [
        ("Error", f"deviation {one:,.3g} of a cell in the middle, {run:,.3g} of the middle half")
    ]


@frozen(kw_only=True, eq=False, slots=False)
class ReadyTree:
    """A tree with its noise."""

    offered: OfferedNoise
    tree: TreeCounts

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.tree.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        sizes, noise = self.tree.levels.hierarchy.sizes[1:], self.tree.levels.noises[-1]
        levels = ", ".join(f"{size:,}" for size in sizes)
        return [
            ("Measures", f"levels of {levels} counts, each with {noise_words(noise)}"),
            *_expected(self.tree.cells, self.tree.deviation),
        ]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return sum(self.tree.levels.hierarchy.sizes[1:])

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        found = self.tree.measure(rows.table([0]), rng)
        return [level for level in found if level is not None]

    def estimate(self, measured: Measured) -> PrefixCounts:
        """Return what follows from the measured numbers."""
        return self.tree.estimate((None, *measured))

    @cached_property
    def _deviations(self) -> Reals:
        return np.array([self.tree.deviation(cell, cell) for cell in range(self.tree.cells)])

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        return interval_lines(self.offered, self.estimate(measured), self._deviations)

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        (run,) = runs
        about = self.estimate(measured).count(run.first, run.last)
        return AboutCount(about, self.tree.deviation(run.first, run.last))

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (axis_note(self.offered.cells[0]), _BELOW_ZERO)


_BELOW_ZERO = "a count may come out below 0; estimate.whole_counts() has whole numbers that do not"


@frozen(kw_only=True, eq=False, slots=False)
class ReadyPrefix:
    """Prefix sums with their noise."""

    offered: OfferedNoise
    sums: PrefixSums

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.sums.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        told = (
            f"{self.sums.cells:,} sums with whole weights, each with {noise_words(self.sums.noise)}"
        )
        return [("Measures", told), *_expected(self.sums.cells, self.sums.deviation)]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.sums.cells

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return [self.sums.measure(rows.table([0]), rng)]

    def estimate(self, measured: Measured) -> PrefixCounts:
        """Return what follows from the measured numbers."""
        return self.sums.estimate(measured[0])

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        return interval_lines(self.offered, self.estimate(measured), self.sums.cell_deviations())

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        (run,) = runs
        about = self.estimate(measured).count(run.first, run.last)
        return AboutCount(about, self.sums.deviation(run.first, run.last))

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (axis_note(self.offered.cells[0]), _BELOW_ZERO)
