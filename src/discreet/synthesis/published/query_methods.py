"""Query release through the gate: many counts from few measurements, or a tiny data set."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.mwem import Mwem, MwemRelease
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.synthesis.contingency.column_sets import ColumnSet
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    Reals,
    noise_words,
    refuse_runs,
    rows_within,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.synthesis.published.table_methods import (
    Names,
    names_of_tables,
    table_lines,
    tables_asked,
)

MOST_COEFFICIENTS = 1 << 24
"""How many numbers a list of queries may have: queries times cells of the universe."""

MOST_STEPS = 200_000
"""How often weights may be moved: some ten seconds, with up to a thousand cells."""


def universe(offered: OfferedNoise) -> int:
    """Return how many kinds of rows there can be."""
    return math.prod(offered.sizes)


def table_queries(offered: OfferedNoise, sets: Sequence[ColumnSet]) -> LinearQueries:
    """Return the cells of some tables as queries over all kinds of rows; refuse too many."""
    cells = universe(offered)
    count = sum(math.prod(offered.sizes[column] for column in one) for one in sets)
    if cells * count > MOST_COEFFICIENTS:
        raise InvalidArgument(
            "The universe of these columns is too large for a list of queries",
            must=f"have at most {MOST_COEFFICIENTS // max(1, count):,} cells for {count:,} queries",
            got=f"{cells:,} cells",
            next="Nothing was charged. Leave out a column, name fewer tables, or measure contrasts",
        )
    codes = np.indices(offered.sizes).reshape(len(offered.sizes), -1)
    parts = []
    for one in sets:
        shape = [offered.sizes[column] for column in one]
        places = np.ravel_multi_index(tuple(codes[list(one)]), shape) if one else codes[0] * 0
        parts.append(places == np.arange(math.prod(shape))[:, np.newaxis])
    return LinearQueries(np.concatenate(parts).astype(np.int64))


def unit_rows(offered: OfferedNoise) -> Contribution:
    """Return how far one unit moves the histogram of all kinds of rows: by as many as it keeps."""
    return Contribution(l1=offered.rows_per_unit)


def _histogram(rows: CountedRows) -> IntArray:
    return rows.table(range(len(rows.sizes))).ravel()


@frozen(kw_only=True)
class WorstQueriesFirst(PublishingMethod):
    """MWEM: measure the cell that a public guess has most wrong, learn from it, and go on."""

    name: ClassVar[str] = "mwem"
    summary: ClassVar[str] = "many tables from few measurements (multiplicative weights)"
    tables: Names | None = field(default=None, converter=names_of_tables)
    rounds: int = field(default=10, converter=check.whole, validator=check.positive)
    rows: int | None = field(default=None, converter=check.optional_whole)
    """How many rows there are, if the owner declares that to be public; else it is measured."""
    passes: int = field(default=10, converter=check.whole, validator=check.non_negative)

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {
            "tables": None if self.tables is None else [list(one) for one in self.tables],
            "rounds": self.rounds,
            "rows": self.rows,
            "passes": self.passes,
        }

    def ready(self, offered: OfferedNoise) -> "ReadyMwem":
        """Return the method with its noise."""
        sets = tables_asked(offered, self.tables, order=2)
        queries = table_queries(offered, sets)
        require_little_work(self.rounds, self.passes, universe(offered))
        mechanism = Mwem.calibrate(
            queries=queries,
            rounds=self.rounds,
            d_in=unit_rows(offered),
            loss=offered.noise,
            rows=self.rows,
            passes=self.passes,
        )
        return ReadyMwem(offered=offered, mechanism=mechanism, sets=tuple(sets))


def require_little_work(rounds: int, passes: int, cells: int) -> None:
    """Refuse what takes minutes behind the gate: each round learns from all before it anew."""
    steps = rounds * (rounds + 1) // 2 * max(1, passes)
    if steps > MOST_STEPS or steps * cells > MOST_STEPS * 1_000:
        most = min(MOST_STEPS, MOST_STEPS * 1_000 // cells)
        raise InvalidArgument(
            "So many rounds take too long",
            must=f"need at most {most:,} steps for {cells:,} cells",
            got=f"{steps:,}, half of rounds² times passes",
            next="Take fewer rounds or passes; each round has less of the price anyway",
        )


def measured_rounds(mechanism: Mwem, rows: CountedRows, rng: Rng) -> list[IntArray]:
    """Return what MWEM measured, as it is stored: the total, the choices, their values."""
    found = mechanism.release(_histogram(rows), rng)
    parts = ([found.total], found.chosen, found.values)
    return [np.array(part, dtype=np.int64) for part in parts]


def mwem_release(mechanism: Mwem, measured: Measured) -> MwemRelease:
    """Read what :func:`measured_rounds` stored."""
    total, chosen, values = (part.tolist() for part in measured)
    return MwemRelease(
        queries=mechanism.queries,
        total=total[0],
        passes=mechanism.passes,
        chosen=tuple(chosen),
        values=tuple(values),
    )


@frozen(kw_only=True, eq=False)
class ReadyMwem:
    """MWEM with its noise."""

    offered: OfferedNoise
    mechanism: Mwem
    sets: tuple[ColumnSet, ...]

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.mechanism.event(unit_rows(self.offered))

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        mechanism = self.mechanism
        worst = mechanism.choice.error_quantile("0.05", candidates=mechanism.queries.count)
        noise = rows_within(mechanism.noise.error_quantile("0.05"))
        return [
            (
                "Measures",
                f"{mechanism.rounds} of {mechanism.queries.count:,} counts, the worst first",
            ),
            ("Noise", f"{noise_words(mechanism.noise)} of each count"),
            (
                "Error",
                f"± {noise} of a measured count at 95 %; the worst but for {rows_within(worst)}",
            ),
        ]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return 2 * self.mechanism.rounds + 1

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return measured_rounds(self.mechanism, rows, rng)

    def estimate(self, measured: Measured) -> MwemRelease:
        """Return what follows from the measured numbers."""
        return mwem_release(self.mechanism, measured)

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        guess = self.estimate(measured).latest.reshape(self.offered.sizes)
        return table_lines(self.offered, self.sets, lambda one: summed(guess, one), None)

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        guess = self.estimate(measured).latest.reshape(self.offered.sizes)
        within = guess[tuple(slice(run.first, run.last + 1) for run in runs)]
        return AboutCount(float(within.sum()))

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (
            (
                f"only {self.mechanism.rounds} counts were measured; all others are guessed from"
                " them, and no error bar is known for a guess"
            ),
        )


def summed(table: Reals, columns: ColumnSet) -> Reals:
    """Return the table of some columns of a table of all."""
    others = tuple(axis for axis in range(table.ndim) if axis not in columns)
    found: Reals = table.sum(axis=others)
    return found


@frozen(kw_only=True)
class SmallDataSet(PublishingMethod):
    """SmallDB: one data set of a few rows whose shares are near the true ones."""

    name: ClassVar[str] = "small-database"
    summary: ClassVar[str] = "a data set of a few rows, for a handful of cells"
    tables: Names | None = field(default=None, converter=names_of_tables)
    accuracy: Fraction = field(default=Fraction(1, 10), converter=exact)
    """How far the best small data set may be off, as a share of all rows."""

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {
            "tables": None if self.tables is None else [list(one) for one in self.tables],
            "accuracy": str(self.accuracy),
        }

    def ready(self, offered: OfferedNoise) -> "ReadySmallDataSet":
        """Return the method with its noise."""
        sets = tables_asked(offered, self.tables, order=2)
        mechanism = SmallDatabase.calibrate(
            queries=table_queries(offered, sets),
            accuracy=self.accuracy,
            d_in=unit_rows(offered),
            loss=offered.noise,
        )
        return ReadySmallDataSet(offered=offered, mechanism=mechanism, sets=tuple(sets))


@frozen(kw_only=True, eq=False)
class ReadySmallDataSet:
    """SmallDB with its scale."""

    offered: OfferedNoise
    mechanism: SmallDatabase
    sets: tuple[ColumnSet, ...]

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.mechanism.event(unit_rows(self.offered))

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        shown = [
            (f"{rows:,} rows", f"± {float(self._share(rows)):.1%} of them at 95 %")
            for rows in (1_000, 10_000, 100_000)
        ]
        told = (
            f"one data set of {self.mechanism.size} rows over {self.mechanism.queries.cells} cells"
        )
        return [("Chooses", told), *shown]

    def _share(self, rows: int) -> Fraction:
        return self.mechanism.error_quantile("0.05", rows=rows) / rows

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.mechanism.queries.cells

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return [self.mechanism.release(_histogram(rows), rng)]

    def estimate(self, measured: Measured) -> Reals:
        """Return what follows from the measured numbers."""
        shares: Reals = (measured[0] / self.mechanism.size).reshape(self.offered.sizes)
        return shares

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        shares = self.estimate(measured)
        return table_lines(
            self.offered, self.sets, lambda one: summed(shares, one), None, called="share"
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are looked up."""
        raise refuse_runs(SmallDataSet.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (
            f"shares of {self.mechanism.size} made-up rows: how many rows there are is not told",
        )
