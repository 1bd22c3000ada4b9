"""Tables of several columns through the gate: noise on cells, on tables, or on contrasts."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.synthesis.contingency.column_sets import ColumnSet, sets_of_order
from discreet.synthesis.contingency.fit_table import FittedTable, fit_table
from discreet.synthesis.contingency.noisy_cells import NoisyCells
from discreet.synthesis.contingency.noisy_contrasts import NoisyContrasts
from discreet.synthesis.contingency.noisy_tables import NoisyTables
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    LinearTable,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    Reals,
    noise_words,
    refuse_runs,
)
from discreet.synthesis.published.runs_of_cells import CellRun

MOST_STORED = 1 << 20
"""How many noisy numbers a release may have."""

Names = tuple[tuple[str, ...], ...]


def names_of_tables(given: Any) -> Names | None:
    """Return the columns of each table, by name."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InvalidArgument("tables is not a list", must="be lists of names of columns")
    if any(isinstance(one, str) or not isinstance(one, Sequence) or not one for one in given):
        raise InvalidArgument("A table is a list of columns", must='be such as ["age", "clinic"]')
    return tuple(tuple(str(name) for name in one) for one in given)


def tables_asked(offered: OfferedNoise, named: Names | None, *, order: int) -> list[ColumnSet]:
    """Return the columns of each table, by their places; all of that order if none are named."""
    if named is None:
        return list(sets_of_order(len(offered.names), min(order, len(offered.names))))
    places = {name.lower(): place for place, name in enumerate(offered.names)}
    for one in named:
        for name in one:
            if name.lower() not in places:
                raise InvalidArgument(
                    f"'{name}' is not one of the columns",
                    must=f"be among {', '.join(offered.names)}",
                )
    return [tuple(sorted({places[name.lower()] for name in one})) for one in named]


def require_stored(numbers: int, advice: str) -> None:
    """Refuse tables that have more cells than a release may."""
    if numbers > MOST_STORED:
        raise InvalidArgument(
            "The tables have too many cells",
            must=f"have at most {MOST_STORED:,} together",
            got=f"{numbers:,}",
            next=f"Nothing was charged. {advice}",
        )


def cells_in(offered: OfferedNoise, sets: Sequence[ColumnSet]) -> int:
    """Return how many cells tables have together."""
    return sum(math.prod(offered.sizes[column] for column in one) for one in sets)


def table_lines(
    offered: OfferedNoise,
    sets: Sequence[ColumnSet],
    table: Callable[[ColumnSet], Reals],
    deviation: Callable[[ColumnSet], float] | None,
    *,
    called: str = "count",
) -> PublishedLines:
    """Return a line for each cell of each table; a column that is not in one is None there."""
    labels: list[tuple[str | None, ...]] = []
    values: list[Reals] = []
    deviations: list[Reals] = []
    for one in sets:
        found = np.asarray(table(one), dtype=np.float64)
        names = {column: offered.labels(column) for column in one}
        for place in np.ndindex(found.shape):
            at = dict(zip(one, place, strict=True))
            labels.append(
                tuple(
                    names[column][at[column]] if column in at else None
                    for column in range(len(offered.names))
                )
            )
        values.append(found.ravel())
        if deviation is not None:
            deviations.append(np.full(found.size, deviation(one)))
    return PublishedLines(
        headings=offered.names,
        labels=labels,
        values=np.concatenate(values),
        deviations=np.concatenate(deviations) if deviations else None,
        called=called,
    )


@frozen(kw_only=True)
class TableMethod(PublishingMethod):
    """Methods that publish tables of some of the columns."""

    tables: Names | None = field(default=None, converter=names_of_tables)
    """The columns of each table, by name."""

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"tables": None if self.tables is None else [list(one) for one in self.tables]}


_FEWER = "Leave out a column, or name smaller tables"


@frozen(kw_only=True)
class CellTables(TableMethod):
    """Noise on each cell of the table of all columns: best for that table itself."""

    name: ClassVar[str] = "cells"
    summary: ClassVar[str] = "the table of all columns, with noise on each cell"

    def ready(self, offered: OfferedNoise) -> "ReadyTables":
        """Return the method with its noise."""
        everything = tuple(range(len(offered.sizes)))
        require_stored(cells_in(offered, [everything]), "Leave out a column, or measure contrasts")
        sets = tables_asked(offered, self.tables, order=len(offered.sizes))
        method = NoisyCells.calibrate(
            offered.sizes, loss=offered.noise, rows_per_unit=offered.rows_per_unit
        )
        require_drawable([method.noise])
        return ReadyTables(offered=offered, name=self.name, method=method, sets=tuple(sets))


@frozen(kw_only=True)
class SeparateTables(TableMethod):
    """Noise on each table that is asked for: a small error, and tables that do not agree."""

    name: ClassVar[str] = "tables"
    summary: ClassVar[str] = "tables of some of the columns, each with noise of its own"

    def ready(self, offered: OfferedNoise) -> "ReadyTables":
        """Return the method with its noise."""
        sets = tables_asked(offered, self.tables, order=2)
        require_stored(cells_in(offered, sets), _FEWER)
        method = NoisyTables.calibrate(
            offered.sizes, sets, loss=offered.noise, rows_per_unit=offered.rows_per_unit
        )
        require_drawable([method.noise])
        return ReadyTables(offered=offered, name=self.name, method=method, sets=tuple(sets))


@frozen(kw_only=True)
class ContrastTables(TableMethod):
    """Noise on contrasts: just what the tables need, once, so that they agree."""

    name: ClassVar[str] = "contrasts"
    summary: ClassVar[str] = "tables of some of the columns that agree, by noise on contrasts"

    def ready(self, offered: OfferedNoise) -> "ReadyTables":
        """Return the method with its noise."""
        sets = tables_asked(offered, self.tables, order=2)
        require_stored(2 * cells_in(offered, sets), _FEWER)
        method = NoisyContrasts.calibrate(
            offered.sizes, sets, loss=offered.noise, rows_per_unit=offered.rows_per_unit
        )
        require_drawable(method.noises)
        return ReadyTables(offered=offered, name=self.name, method=method, sets=tuple(sets))


@frozen(kw_only=True, eq=False)
class TableEstimate:
    """Tables of some of the columns, each made of what was measured when it is asked for."""

    names: tuple[str, ...]
    table_of: Callable[[ColumnSet], Reals] = field(repr=False)
    fit: Callable[[], FittedTable] | None = field(default=None, repr=False)

    def fitted(self) -> FittedTable:
        """Return whole numbers from 0 for all columns that fit noisy contrasts best, for nothing.

        A linear programme finds them, which needs SciPy. Cells and tables have none.
        """
        if self.fit is None:
            raise Unsupported(
                "A table is fitted to contrasts alone",
                must="be published by the method contrasts",
                next="The method points has whole numbers from 0 too",
            )
        return self.fit()

    def table(self, columns: Sequence[str]) -> Reals:
        """Return the estimated table of some columns, one axis for each, in the order given."""
        places = {name.lower(): place for place, name in enumerate(self.names)}
        missing = [name for name in columns if name.lower() not in places]
        if missing or len(set(columns)) < len(columns):
            raise InvalidArgument(
                "There is no such table", must=f"be of {', '.join(self.names)}, each at most once"
            )
        asked = [places[name.lower()] for name in columns]
        found = self.table_of(tuple(sorted(asked)))
        return np.transpose(found, [sorted(asked).index(column) for column in asked])


@frozen(kw_only=True, eq=False)
class ReadyTables:
    """One of the three ways to measure tables, with its noise."""

    offered: OfferedNoise
    name: str
    method: NoisyCells | NoisyTables | NoisyContrasts
    sets: tuple[ColumnSet, ...]

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.method.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        method = self.method
        if isinstance(method, NoisyContrasts):
            told = f"{len(method.sets):,} contrasts, which all tables share"
        elif isinstance(method, NoisyTables):
            told = f"{len(method.sets):,} tables, each cell with {noise_words(method.noise)}"
        else:
            told = f"{math.prod(method.sizes):,} cells, each with {noise_words(method.noise)}"
        shown = [
            (
                " with ".join(self.offered.names[column] for column in one),
                f"a cell has the deviation {method.deviation(one):,.3g}",
            )
            for one in self.sets[:12]
        ]
        return [("Measures", told), *shown]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        method = self.method
        if isinstance(method, NoisyCells):
            return math.prod(method.sizes)
        return cells_in(self.offered, method.sets)

    def linear(self) -> tuple[LinearTable, ...]:
        """Return the measured tables; contrasts are none."""
        method = self.method
        if isinstance(method, NoisyContrasts):
            return ()
        if isinstance(method, NoisyCells):
            return (LinearTable(tuple(range(len(method.sizes))), method.noise, 0),)
        return tuple(LinearTable(one, method.noise, at) for at, one in enumerate(method.sets))

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        found = self.method.measure(rows, rng)
        return [found] if isinstance(found, np.ndarray) else list(found)

    def _table(self, measured: Measured, columns: ColumnSet) -> Reals:
        if isinstance(self.method, NoisyCells):
            return self.method.estimate(measured[0], columns)
        return self.method.estimate(measured, columns)

    def estimate(self, measured: Measured) -> TableEstimate:
        """Return what follows from the measured numbers."""
        method = self.method
        fit = partial(fit_table, method, measured) if isinstance(method, NoisyContrasts) else None
        return TableEstimate(
            names=self.offered.names,
            table_of=lambda columns: self._table(measured, columns),
            fit=fit,
        )

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        return table_lines(
            self.offered, self.sets, lambda one: self._table(measured, one), self.method.deviation
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are looked up."""
        raise refuse_runs(self.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        if isinstance(self.method, NoisyTables) and len(self.sets) > 1:
            return ("each table has its own noise: two may differ about a column that they share",)
        return ("tables agree with each other on what they share; a count may be below 0",)
