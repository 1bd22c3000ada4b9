"""Heavy sets through the gate: a table of all columns, from tables of half of them."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.synthesis.contingency.column_sets import ColumnSet
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.heavy_sets.heavy_sets import HalvedTables, HeavySets, JoinedTable
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    noise_words,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.synthesis.published.table_methods import (
    cells_in,
    names_of_tables,
    require_stored,
    table_lines,
    tables_asked,
)

MOST_COINS = 1 << 22
"""How many cells of halves are worked out at most: some ten seconds."""


def _names(given: Any) -> tuple[str, ...] | None:
    if isinstance(given, str):
        given = given.split("+")
    tables = names_of_tables(None if given is None else [given])
    return None if tables is None else tables[0]


@frozen(kw_only=True)
class HeavyHalves(PublishingMethod):
    """The tables of two sets of columns on random halves of the rows, and what they tell together.

    No table of both sets is ever measured: it follows from how the two rise and fall together
    [DN04]. It is for where only tables of a few columns may be released.
    """

    name: ClassVar[str] = "heavy-sets"
    summary: ClassVar[str] = "a table of all columns from tables of two sets of them, on halves"
    left: tuple[str, ...] | None = field(default=None, converter=_names)
    """The columns of the first set, by name; those of the second are all others."""
    halves: int = field(default=1_000, converter=check.whole)
    """On how many random halves the two tables are measured."""

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"left": None if self.left is None else list(self.left), "halves": self.halves}

    def ready(self, offered: OfferedNoise) -> "ReadyHeavy":
        """Return the method with its noise."""
        left, right = self._sides(offered)
        everything = tuple(range(len(offered.sizes)))
        cells = cells_in(offered, [everything])
        if self.halves * cells > MOST_COINS:
            raise InvalidArgument(
                "So many halves of so many cells take too long",
                must=f"be at most {MOST_COINS:,} together, halves times cells",
                got=f"{self.halves:,} times {cells:,}",
                next="Nothing was charged. Take fewer halves, or leave out a column",
            )
        require_stored(self.halves * cells_in(offered, [left, right]), "Take fewer halves")
        sets = HeavySets.calibrate(
            offered.sizes,
            left,
            right,
            halves=self.halves,
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
        )
        require_drawable([sets.noise])
        return ReadyHeavy(offered=offered, sets=sets)

    def _sides(self, offered: OfferedNoise) -> tuple[ColumnSet, ColumnSet]:
        count = len(offered.names)
        named = self.left or offered.names[: count // 2]
        if count < 2 or len(named) >= count:
            raise InvalidArgument(
                "Both sets need columns of their own",
                must="be at least two columns, of which left names some and not all",
                got=f"{count} columns, and left = {', '.join(named) or 'none'}",
                next="Nothing was charged. For one column take the method one-way",
            )
        (left,) = tables_asked(offered, (named,), order=1)
        return left, tuple(column for column in range(count) if column not in left)


@frozen(kw_only=True, eq=False)
class ReadyHeavy:
    """Tables on halves with their noise."""

    offered: OfferedNoise
    sets: HeavySets

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.sets.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        sets, sizes = self.sets, self.offered.sizes
        left, right = (
            1 / math.prod(sizes[column] for column in side) for side in (sets.left, sets.right)
        )
        shown = [
            (f"{rows:,} rows", f"a standard error of about {error:,.3g} of an average cell")
            for rows in (1_000, 10_000, 100_000)
            for error in [sets.standard_error(rows=rows, left=left, right=right, both=left * right)]
        ]
        told = f"two tables on each of {sets.halves:,} halves, {noise_words(sets.noise)}"
        instead = f"the table itself would have the deviation {sets.direct_error():,.3g} (cells)"
        return [("Measures", told), *shown, ("Instead", instead)]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.sets.halves * cells_in(self.offered, [self.sets.left, self.sets.right])

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        found = self.sets.measure(rows, rng)
        return [found.left, found.right]

    def estimate(self, measured: Measured) -> JoinedTable:
        """Return the table of all columns, first those of ``left``, and its standard errors."""
        left, right = measured
        return self.sets.estimate(HalvedTables(left=left, right=right))

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        joined = self.estimate(measured)
        axes = (*self.sets.left, *self.sets.right)
        lines = table_lines(self.offered, [axes], lambda _: joined.counts, None)
        return evolve(lines, deviations=joined.standard_error.ravel())

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        axes = (*self.sets.left, *self.sets.right)
        place = tuple(slice(runs[axis].first, runs[axis].last + 1) for axis in axes)
        found = self.estimate(measured).counts[place]
        return AboutCount(float(np.sum(found)))

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (
            (
                "no table of all columns was measured: the counts follow from how tables of some"
                " rise and fall together on random halves, and their deviation is an estimate"
            ),
            "the method cells measures the table itself, with far less noise for the same price",
        )
