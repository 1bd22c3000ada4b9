"""Sides of planes through the gate: nets of directions, in few dimensions or in projections."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Pure
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import variance_of
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.halfspaces.halfspace_answers import HalfspaceAnswers
from discreet.synthesis.halfspaces.halfspace_counts import HalfspaceCounts
from discreet.synthesis.halfspaces.halfspace_net import Signs, Space, draw_projections
from discreet.synthesis.halfspaces.paper_halfspaces import PaperHalfspaces
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
from discreet.synthesis.published.table_methods import require_stored
from discreet.tables.column import Column

MOST_AXES = 4
"""Of so many columns at most nets of planes are small enough to be of use."""

MOST_PROJECTED = 64
"""Of so many columns at most rows are projected."""

MOST_PROJECTIONS = 1_000

USUAL_SIDE = 64


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
        return (*(axis_note(one) for one in self.offered.cells), side_note(self.method))


def side_note(method: HalfspaceCounts) -> str:
    """Say how a direction is written."""
    return (
        "estimate.count(direction) is about rows with a product of at least 0: cell c of s"
        " cells has the coordinate 2c - (s - 1), and the last coordinate is"
        f" {method.net.space.constant}"
    )


@frozen(kw_only=True)
class ProjectedSides(PublishingMethod):
    """The same for more columns, in random projections to a few dimensions [BLR13].

    Without ``error``, ``failure`` and ``nearness`` it is in working mode: so many projections to
    so many dimensions as are given, of which nothing is promised. With them it is in the paper's
    mode, where the theorem says how many; and that cannot be built, which the refusal shows.
    """

    name: ClassVar[str] = "projected-halfspaces"
    summary: ClassVar[str] = "rows on one side of a plane of many columns, by projections"
    has_null: ClassVar[bool] = False
    projections: int = field(default=9, converter=check.whole, validator=check.positive)
    across: int = field(default=2, converter=check.whole, validator=check.positive)
    """The dimensions of a projection."""
    resolution: int = field(default=4, converter=check.whole, validator=check.positive)
    cells: int = field(default=USUAL_SIDE, converter=check.whole)
    error: Fraction | None = field(default=None, converter=check.optional_exact)
    failure: Fraction | None = field(default=None, converter=check.optional_exact)
    nearness: Fraction | None = field(default=None, converter=check.optional_exact)

    def cells_of(self, columns: Sequence[Column]) -> tuple[ValueCells, ...]:
        """Return the cells of each column."""
        if not 2 <= len(columns) <= MOST_PROJECTED:
            raise InvalidArgument(
                "Projections are for several columns",
                must=f"be 2 to {MOST_PROJECTED}",
                got=str(len(columns)),
                next="Nothing was charged. For one column take the method tree or prefix",
            )
        return tuple(axis_cells(column, self.cells) for column in columns)

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {
            "projections": self.projections,
            "across": self.across,
            "resolution": self.resolution,
            "cells": self.cells,
        }

    def ready(self, offered: OfferedNoise) -> "ReadyProjections":
        """Return the method with its noise."""
        space = Space(sizes=offered.sizes, constant=max(offered.sizes))
        self._require_buildable(offered, space)
        if self.projections > MOST_PROJECTIONS:
            raise InvalidArgument(
                "projections is out of range",
                must=f"be at most {MOST_PROJECTIONS:,}",
                got=str(self.projections),
            )
        if self.across >= space.dimension:
            raise InvalidArgument(
                "A projection has as many dimensions as the columns",
                must=f"have fewer than {space.dimension}, the columns and a constant",
                got=f"across = {self.across}",
                next="Nothing was charged. The method halfspaces has no projections",
            )
        plain: Signs = ((1,) * self.across,) * space.dimension
        method = HalfspaceCounts.calibrate(
            space=space,
            resolution=self.resolution,
            loss=offered.noise,
            rows_per_unit=offered.rows_per_unit,
            projections=(plain,) * self.projections,
        )
        require_stored(method.net.size, "Take a smaller resolution, or fewer projections")
        require_drawable([method.noise])
        return ReadyProjections(offered=offered, method=method)

    def _require_buildable(self, offered: OfferedNoise, space: Space) -> None:
        """Refuse the paper's mode, with the numbers that its theorem asks for."""
        given = [self.error, self.failure, self.nearness]
        if all(one is None for one in given):
            return
        if self.error is None or self.failure is None or self.nearness is None:
            raise InvalidArgument(
                "The paper's mode has an error, a failure and a nearness",
                must="be given all three, or none of them",
                next="Nothing was charged. Without them, give projections and across",
            )
        loss = offered.noise
        paper = PaperHalfspaces.of(
            error=float(self.error),
            failure=float(self.failure),
            nearness=float(self.nearness),
            bits=(max(offered.sizes) - 1).bit_length(),
            dimension=space.dimension,
            epsilon=float(loss.epsilon) if isinstance(loss, Pure) else math.sqrt(2 * loss.rho),
        )
        raise Unsupported(
            "What the theorem on halfspaces asks for cannot be built",
            must="have nets of a few dimensions",
            got=f"{paper.projections:,} projections to {paper.across:,} dimensions, each with a "
            f"net of about 10**{paper.log10_net:.0f} halfspaces, for about "
            f"10**{paper.log10_rows:.0f} rows",
            next="Nothing was charged. Leave error, failure and nearness out, and give projections "
            "and across; nothing is promised then",
        )


@frozen(kw_only=True, eq=False)
class ReadyProjections:
    """Nets of halfspaces in projections that are not drawn yet: how many is all that counts."""

    offered: OfferedNoise
    method: HalfspaceCounts

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.method.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        count, each = self.method.net.shape
        across = self.method.net.directions.dimension
        return [
            (
                "Measures",
                f"{each:,} halfspaces in each of {count:,} projections to {across} dimensions",
            ),
            ("Noise", f"{noise_words(self.method.noise)} of each"),
            ("Error", "not known: no theorem says what few projections do to rows near a plane"),
        ]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        net = self.method.net
        return net.size + net.shape[0] * net.space.dimension * net.directions.dimension

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Draw the projections, which no row decides, and return what was measured in them."""
        net = self.method.net
        drawn = draw_projections(
            net.shape[0], dimension=net.space.dimension, across=net.directions.dimension, rng=rng
        )
        return [self._projected(drawn).measure(rows, rng), np.array(drawn, dtype=np.int64)]

    def _projected(self, drawn: tuple[Signs, ...]) -> HalfspaceCounts:
        return evolve(self.method, net=evolve(self.method.net, projections=drawn))

    def estimate(self, measured: Measured) -> HalfspaceAnswers:
        """Return what answers any halfspace, by the median of all projections."""
        counts, signs = measured
        drawn = tuple(tuple(tuple(row) for row in one) for one in signs.tolist())
        return self._projected(drawn).estimate(counts, rows_per_unit=self.offered.rows_per_unit)

    def lines(self, measured: Measured) -> PublishedLines:
        """Return a line for each direction in each projection."""
        count, each = self.method.net.shape
        directions = self.method.net.directions.directions.tolist()
        return PublishedLines(
            headings=("projection", *(f"towards_{axis + 1}" for axis in range(len(directions[0])))),
            labels=[
                (str(place + 1), *map(str, one)) for place in range(count) for one in directions
            ],
            values=measured[0].ravel().astype(np.float64),
            deviations=np.full(count * each, math.sqrt(variance_of(self.method.noise))),
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are asked for by directions."""
        raise refuse_runs(ProjectedSides.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        told = (
            "an answer of estimate.count(direction) is often off by a tenth of the rows or more:"
            " rehearsed_halfspaces measures by how much on rows that you make up. Nothing is"
            " promised"
        )
        return (*(axis_note(one) for one in self.offered.cells), side_note(self.method), told)
