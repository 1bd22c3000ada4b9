"""Points through the gate: whole numbers of each kind of row, with a good sum or without one."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from discreet.core.event import Event
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.microdata.clamped_points import ClampedPoints
from discreet.synthesis.microdata.points_with_sum import PointsWithSum
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    LinearTable,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    noise_words,
)
from discreet.synthesis.published.runs_of_cells import CellRun
from discreet.synthesis.published.table_methods import require_stored, table_lines


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


@frozen(kw_only=True)
class ClampedKinds(PublishingMethod):
    """How many rows of each kind there are: whole, not negative, each moved up to 0 by itself."""

    name: ClassVar[str] = "clamped-points"
    summary: ClassVar[str] = "whole numbers of each kind of row, none below 0, best for each"

    def ready(self, offered: OfferedNoise) -> "ReadyPoints":
        """Return the method with its noise."""
        count = math.prod(offered.sizes)
        require_stored(count, "Leave out a column, or measure contrasts")
        method = ClampedPoints.calibrate(
            loss=offered.noise, points=count, rows_per_unit=offered.rows_per_unit
        )
        return ReadyPoints(offered=offered, method=method)


@frozen(kw_only=True, eq=False)
class ReadyPoints:
    """Points with their noise, and perhaps their sum."""

    offered: OfferedNoise
    method: PointsWithSum | ClampedPoints

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
                f"{self.method.points:,} points{self._with_sum}, {noise_words(self._noise)}",
            ),
            ("Error", f"at most {point:,.3g} of a point and {whole:,.3g} of the sum, on average"),
        ]

    @property
    def _with_sum(self) -> str:
        return " and their sum" if isinstance(self.method, PointsWithSum) else ""

    @property
    def _noise(self) -> Any:
        return self.method.noise

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.method.points + isinstance(self.method, PointsWithSum)

    def linear(self) -> tuple[LinearTable, ...]:
        """Return the measured points as a table."""
        noise = self.method.noise
        if isinstance(noise, TruncatedGeometric):
            return ()
        return (LinearTable(tuple(range(len(self.offered.sizes))), noise, 0),)

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
        if isinstance(self.method, PointsWithSum):
            return (
                (
                    "counts are whole, not negative, and have the noisy sum; where most kinds of"
                    " rows are empty, those that are not lose what noise adds to the others"
                ),
            )
        return (
            (
                "counts are whole and not negative, each by itself; so where most kinds of rows"
                " are empty, sums of many are far too large"
            ),
        )
