"""Points and planes through the gate: whole numbers of each kind of row, and sides of planes."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import variance_of
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.halfspaces.halfspace_answers import HalfspaceAnswers
from discreet.synthesis.halfspaces.halfspace_counts import HalfspaceCounts
from discreet.synthesis.halfspaces.halfspace_net import Space
from discreet.synthesis.microdata.points_with_sum import PointsWithSum
from discreet.synthesis.published.interval_methods import axis_cells, axis_note
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    noise_words,
    refuse_runs,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.synthesis.published.table_methods import require_stored, table_lines
from discreet.tables.column import Column

MOST_AXES = 4
"""Of so many columns at most nets of planes are small enough to be of use."""

USUAL_SIDE = 64


@frozen(kw_only=True)
class WholePoints(PublishingMethod):
    """How many rows of each kind there are: whole, not negative, with a noisy sum of their own."""

    name: ClassVar[str] = "points"
    summary: ClassVar[str] = "whole numbers of each kind of row, none below 0, with a good sum"

    def ready(self, offered: OfferedNoise) -> "ReadyPoints":
        """Return the method with its noise."""
        count = math.prod(offered.sizes)
        require_stored(count, "Leave out a column, or measure contrasts")
        method = PointsWithSum.calibrate(
            loss=offered.noise, points=count, rows_per_unit=offered.rows_per_unit
        )
        return ReadyPoints(offered=offered, method=method)


@frozen(kw_only=True, eq=False)
class ReadyPoints:
    """Points and their sum, with their noise."""

    offered: OfferedNoise
    method: PointsWithSum

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.method.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        point, whole = (
            math.sqrt(bound) for bound in (self.method.point_error(), self.method.sum_error())
        )
        return [
            (
                "Measures",
                f"{self.method.points:,} points and their sum, {noise_words(self._noise)}",
            ),
            ("Error", f"at most {point:,.3g} of a point and {whole:,.3g} of the sum, on average"),
        ]

    @property
    def _noise(self) -> Any:
        return self.method.noise

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.method.points + 1

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return [self.method.measure(rows.table(range(len(rows.sizes))).ravel(), rng)]

    def estimate(self, measured: Measured) -> IntArray:
        """Return how many rows of each kind are published, one axis for each column."""
        return self.method.estimate(measured[0]).reshape(self.offered.sizes)

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        found = self.estimate(measured).astype(np.float64)
        everything = tuple(range(len(self.offered.sizes)))
        return table_lines(self.offered, [everything], lambda _: found, None)

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Return how many rows are in a run of cells of each column."""
        found = self.estimate(measured)[tuple(slice(run.first, run.last + 1) for run in runs)]
        return AboutCount(float(found.sum()))

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (
            (
                "counts are whole, not negative, and have the noisy sum; where most kinds of rows"
                " are empty, those that are not lose what noise adds to the others"
            ),
        )


@frozen(kw_only=True)
class PlaneSides(PublishingMethod):
    """How many rows are on one side of a plane, for a net of directions."""

    name: ClassVar[str] = "halfspaces"
    summary: ClassVar[str] = "rows on one side of any line or plane, of a few columns"
    has_null: ClassVar[bool] = False
    resolution: int = field(default=4, converter=check.whole, validator=check.positive)
    """How fine the net is: in steps from the middle to the side of a cube."""
    cells: int = field(default=USUAL_SIDE, converter=check.whole)

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column."""
        if not 1 <= len(columns) <= MOST_AXES:
            raise InvalidArgument(
                "Halfspaces are for a few columns",
                must=f"be 1 to {MOST_AXES}",
                got=str(len(columns)),
                next="Nothing was charged. Leave some out",
            )
        return tuple(axis_cells(column, self.cells) for column in columns)

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"resolution": self.resolution, "cells": self.cells}

    def ready(self, offered: OfferedNoise) -> "ReadyPlanes":
        """Return the method with its noise."""
        method = HalfspaceCounts.calibrate(
            space=Space(sizes=offered.sizes, constant=max(offered.sizes)),
            resolution=self.resolution,
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
        )
        require_stored(method.net.size, "Take a smaller resolution")
        require_drawable([method.noise])
        return ReadyPlanes(offered=offered, method=method)


@frozen(kw_only=True, eq=False)
class ReadyPlanes:
    """A net of halfspaces with its noise."""

    offered: OfferedNoise
    method: HalfspaceCounts

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.method.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        near = float(self.method.net.directions.nearness)
        return [
            ("Measures", f"{self.method.net.size:,} halfspaces, {noise_words(self.method.noise)}"),
            (
                "Error",
                f"that of a halfspace whose angle to the one asked for has a sine of {near:.3g}",
            ),
        ]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.method.net.size

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return [self.method.measure(rows, rng)]

    def estimate(self, measured: Measured) -> HalfspaceAnswers:
        """Return what answers any halfspace."""
        return self.method.estimate(measured[0], rows_per_unit=self.offered.rows_per_unit)

    def lines(self, measured: Measured) -> PublishedLines:
        """Return a line for each direction of the net."""
        directions = self.method.net.directions.directions
        deviation = math.sqrt(variance_of(self.method.noise))
        return PublishedLines(
            headings=(*self.offered.names, "constant"),
            labels=[tuple(map(str, one)) for one in directions.tolist()],
            values=measured[0].ravel().astype(np.float64),
            deviations=np.full(len(directions), deviation),
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are asked for by directions."""
        raise refuse_runs(PlaneSides.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        told = (
            "estimate.count(direction) is about rows with a product of at least 0: cell c of s"
            " cells has the coordinate 2c - (s - 1), and the last coordinate is"
            f" {self.method.net.space.constant}"
        )
        return (*(axis_note(one) for one in self.offered.cells), told)
