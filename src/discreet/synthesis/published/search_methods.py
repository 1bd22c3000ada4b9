"""Searches through the gate: runs and boxes of about equally many rows, with a noisy count each."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import variance_of
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.intervals.box_counts import BoxCounts
from discreet.synthesis.intervals.box_search import BoxSearch
from discreet.synthesis.intervals.interval_search import IntervalSearch, declared_target
from discreet.synthesis.published.interval_methods import USUAL_AXIS, axis_cells, axis_note
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    noise_words,
    rows_within,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.tables.column import Column

_BETA = Fraction(1, 20)


@frozen(kw_only=True)
class SearchedIntervals(PublishingMethod):
    """Boundaries found one after the other, each by a binary search: the method of the papers."""

    name: ClassVar[str] = "search"
    summary: ClassVar[str] = "runs of about equally many rows of one column, one after the other"
    has_null: ClassVar[bool] = False
    rows: int | None = field(default=None, converter=check.optional_whole)
    """About how many rows there are, as the owner declares: public, and never read from them."""
    error: Fraction = field(default=Fraction(1, 10), converter=exact)
    """Which share of the rows an interval may be off."""
    cells: int = field(default=USUAL_AXIS, converter=check.whole)

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column."""
        if len(columns) != 1:
            raise InvalidArgument(
                "A search for intervals is for one column",
                must="be given one",
                got=str(len(columns)),
                next="Nothing was charged. The method boxes is for several",
            )
        return (axis_cells(columns[0], self.cells),)

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"rows": self.rows, "error": str(self.error), "cells": self.cells}

    def ready(self, offered: OfferedNoise) -> "ReadySearch":
        """Return the method with its noise."""
        if self.rows is None:
            raise InvalidArgument(
                "The search needs to know how many rows a run shall have",
                must="have rows, a public number of about how many there are",
                next="Nothing was charged. Give rows= to SearchedIntervals (--option rows=10000), "
                "or take the method boxes",
            )
        target, pieces = declared_target(rows=self.rows, error=self.error)
        search = IntervalSearch.calibrate(
            cells=offered.sizes[0],
            target=target,
            most_pieces=pieces,
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
        )
        return ReadySearch(offered=offered, search=search, rows=self.rows)


@frozen(kw_only=True)
class SearchedBoxes(PublishingMethod):
    """Boxes of about equally many rows, halved at noisy medians, on one column after another."""

    name: ClassVar[str] = "boxes"
    summary: ClassVar[str] = "boxes of about equally many rows of several columns"
    has_null: ClassVar[bool] = False
    cells: int = field(default=USUAL_AXIS, converter=check.whole)
    depth: int = field(default=6, converter=check.whole)
    """How often boxes are halved."""
    search_share: Fraction = field(default=Fraction(1, 2), converter=exact)
    """Which part of the price finds where boxes end."""

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column."""
        return tuple(axis_cells(column, self.cells) for column in columns)

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"cells": self.cells, "depth": self.depth, "search_share": str(self.search_share)}

    def ready(self, offered: OfferedNoise) -> "ReadySearch":
        """Return the method with its noise."""
        search = BoxSearch.calibrate(
            sizes=offered.sizes,
            depth=self.depth,
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
            search_share=self.search_share,
        )
        return ReadySearch(offered=offered, search=search)


@frozen(kw_only=True, eq=False)
class ReadySearch:
    """A search with its noise."""

    offered: OfferedNoise
    search: IntervalSearch | BoxSearch
    rows: int = 0
    """About how many rows there are, as it was declared for a search of intervals."""

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.search.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        search = self.search
        if isinstance(search, BoxSearch):
            within = rows_within(search.count_noise.error_quantile(_BETA))
            return [
                (
                    "Measures",
                    f"at most {2**search.depth:,} boxes, found in {search.steps} noisy steps",
                ),
                (
                    "Noise",
                    f"{noise_words(search.count_noise)} of each box",
                ),
                (
                    "Error",
                    f"± {within} a box at 95 %; a box that is cut may be anywhere within",
                ),
            ]
        within = rows_within(search.noise.error_quantile(_BETA))
        return [
            ("Measures", f"at most {search.questions:,} counts for runs of {search.target:,} rows"),
            ("Noise", f"{noise_words(search.noise)} of each count"),
            (
                "Error",
                f"± {within} a count at 95 %; a run that is cut may be anywhere within",
            ),
            ("Useful", self._usefulness(search)),
        ]

    def _usefulness(self, search: IntervalSearch) -> str:
        """Say what is promised of all intervals at once, if there are as many rows as declared."""
        try:
            found = search.usefulness(rows=self.rows, beta=_BETA)
        except InvalidArgument:
            return f"nothing is promised of all intervals of {self.rows:,} rows at this price"
        share = f"no interval is off by more than {float(found.error):.3g} of {self.rows:,} rows"
        return f"{found}: {share}, at 95 %"

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        axes = len(self.offered.sizes)
        search = self.search
        pieces = 2**search.depth if isinstance(search, BoxSearch) else 2 * search.most_pieces
        return (2 * axes + 1) * pieces

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return [self.search.measure(rows, rng)]

    def estimate(self, measured: Measured) -> BoxCounts:
        """Return what follows from the measured numbers."""
        return self.search.estimate(measured[0])

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        boxes = self.estimate(measured)
        labels = []
        for first, last in zip(boxes.first.tolist(), boxes.last.tolist(), strict=True):
            ends = (
                (names[low], names[high])
                for names, low, high in zip(self._names(), first, last, strict=True)
            )
            labels.append(tuple(label for pair in ends for label in pair))
        deviation = variance_of(boxes.noise) ** 0.5
        return PublishedLines(
            headings=tuple(f"{name}_{end}" for name in self.offered.names for end in _ENDS),
            labels=labels,
            values=boxes.counts.astype(np.float64),
            deviations=np.full(len(labels), deviation),
        )

    def _names(self) -> list[tuple[str, ...]]:
        return [self.offered.labels(column) for column in range(len(self.offered.sizes))]

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        boxes = self.estimate(measured)
        ends = [run.first for run in runs], [run.last for run in runs]
        return AboutCount(boxes.count(*ends), within=boxes.error(*ends, _BETA))

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        spread = "within a run or a box, rows are taken to be spread evenly: nothing else is known"
        return (*(axis_note(one) for one in self.offered.cells), spread)


_ENDS = ("first", "last")
