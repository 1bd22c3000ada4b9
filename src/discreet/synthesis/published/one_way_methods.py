"""One-way marginals through the gate: how many rows have each value, of each column by itself."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core.event import Event
from discreet.core.loss import Approximate, Pure
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.one_way_marginals.choose_one_way import OneWayChoice, choose_one_way
from discreet.synthesis.one_way_marginals.expected_error import OneWayError, one_way_error_of
from discreet.synthesis.one_way_marginals.one_way_marginals import OneWayNoise
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise
from discreet.synthesis.published.publishing_method import (
    AboutCount,
    Measured,
    OfferedNoise,
    PublishedLines,
    PublishingMethod,
    Reals,
    refuse_runs,
)
from discreet.synthesis.published.runs_of_cells import CellRun


@frozen(kw_only=True)
class OneWayCounts(PublishingMethod):
    """Counts of the values of each column, with the noise that errs least for the price."""

    name: ClassVar[str] = "one-way"
    summary: ClassVar[str] = "counts of the values of each column, with the best noise for them"
    error: OneWayError = field(default=OneWayError.MAX, converter=one_way_error_of)
    """What is to be small: the mean error (l1, l2), or the largest (linf, max)."""

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return {"error": self.error.value}

    def ready(self, offered: OfferedNoise) -> "ReadyOneWay":
        """Return the method with its noise."""
        losses = [offered.noise]
        if isinstance(offered.whole, Approximate):  # all of the ε may buy noise without a δ
            losses.append(Pure(offered.whole.epsilon))
        found = [
            choose_one_way(
                offered.sizes, loss=loss, error=self.error, rows_per_unit=offered.rows_per_unit
            )
            for loss in losses
        ]
        best = min(found, key=lambda one: one.error)
        _require_stages(best.method.noise)
        return ReadyOneWay(offered=offered, choice=best)


def _require_stages(noise: OneWayNoise) -> None:
    """Refuse two stages of which one cannot be drawn; of other noises the choice takes care."""
    if isinstance(noise, TwoStageNoise):
        variances = (noise.first_variance, noise.second_variance)
        stages = [DiscreteGaussian(sigma_squared=one) for one in variances]
        require_drawable([*stages, noise.temperature])


@frozen(kw_only=True, eq=False)
class ReadyOneWay:
    """The chosen noise, and what it is expected to do."""

    offered: OfferedNoise
    choice: OneWayChoice

    def event(self) -> Event:
        """Describe one use, on units with as many rows as they may have."""
        return self.choice.method.event(self.offered.rows_per_unit)

    def expected(self) -> list[tuple[str, str]]:
        """Say what is measured, with how much noise."""
        first, *rest = str(self.choice).splitlines()
        told = "; ".join(line.strip() for line in rest)
        return [("Noise", first), *([("Others", told)] if told else [])]

    def most_numbers(self) -> int:
        """Return how many whole numbers are stored at most."""
        return self.choice.method.sums.dimension

    def measure(self, rows: CountedRows, rng: Rng) -> list[IntArray]:
        """Return what was measured. The gate already holds the loss."""
        return [self.choice.method.measure(rows, rng)]

    def estimate(self, measured: Measured) -> tuple[Reals, ...]:
        """Return what follows from the measured numbers."""
        return self.choice.method.estimate(measured[0])

    def lines(self, measured: Measured) -> PublishedLines:
        """Return the estimate as a table."""
        parts = self.estimate(measured)
        names = self.offered.names
        return PublishedLines(
            headings=("column", "value"),
            labels=[
                (name, label)
                for column, name in enumerate(names)
                for label in self.offered.labels(column)
            ],
            values=np.concatenate(parts),
        )

    def count(self, measured: Measured, runs: Sequence[CellRun]) -> AboutCount:
        """Refuse: these counts are looked up."""
        raise refuse_runs(OneWayCounts.name)

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        return (
            (
                f"each column was counted by itself, with {self.choice.name}; counts are moved"
                " between 0 and the noisy number of all rows"
            ),
            *self.choice.warnings,
        )
