"""What was measured of some tables: noisy whole numbers, and how they are stored. All is public."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import Noise, read_noise
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts
from discreet.synthesis.marginals.junction_tree import Columns
from discreet.synthesis.marginals.measurement import Measurement
from discreet.synthesis.marginals.value_blocks import block_of, product_parts


@frozen(eq=False)
class MeasuredTable:
    """The noisy counts of all cells of some columns."""

    columns: Columns
    noise: Noise
    values: Integers = field(repr=False)

    @property
    def variance(self) -> float:
        """The variance of the noise of one cell."""
        return noise_variance(self.noise)

    @staticmethod
    def from_json(data: dict[str, Any], sizes: Sequence[int] | None = None) -> "MeasuredTable":
        """Read what :meth:`to_json` wrote; ``sizes`` are how many values each column has."""
        columns = tuple(data["columns"])
        noise = read_noise(data["noise"])
        assert isinstance(noise, Noise)
        values = np.array(data["values"], dtype=np.int64)
        if sizes is not None:
            values = values.reshape([sizes[column] for column in columns])
        return MeasuredTable(columns, noise, values)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "columns": list(self.columns),
            "noise": self.noise.to_json(),
            "values": self.values.ravel().tolist(),
        }


def noise_variance(noise: Noise) -> float:
    r"""Return the variance of noise, or for a discrete Gaussian its bound :math:`\sigma^2`.

    Of discrete Laplace noise of scale :math:`b` it is :math:`2q/(1-q)^2` with :math:`q = e^{-1/b}`,
    which is :math:`1/(2\sinh^2(1/2b))`. What looks at it is post-processing, in floating point.
    """
    if isinstance(noise, DiscreteLaplace):
        half = min(0.5 / float(noise.scale), 350.0)
        return 0.5 / math.sinh(half) ** 2 if half > 1e-150 else math.inf
    return float(noise.sigma_squared)


@frozen(kw_only=True, eq=False)
class MeasuredMarginals:
    """All that a synthesis of marginals measured, in the order in which it was done."""

    sizes: tuple[int, ...]
    """How many values each column has."""
    first: tuple[MeasuredTable, ...]
    """The counts of each column by itself."""
    coarse: tuple[CoarseValues, ...] = field(repr=False)
    """Which values of a column stand together in the tables."""
    scores: MeasuredTable | None = None
    """How far the tables of all pairs are from columns that do not depend on each other."""
    tables: tuple[MeasuredTable, ...] = ()
    """The tables that were chosen, of coarse values; a column by itself once more of all values.
    With residuals, those of the first round are there twice."""
    residuals: MeasuredTable | None = None
    """How far the tables of all pairs are from a model of the first round, if that was asked."""

    @property
    def together(self) -> tuple[Columns, ...]:
        """The sets of several columns that were measured, each once."""
        return tuple(dict.fromkeys(one.columns for one in self.tables if len(one.columns) > 1))

    def one_way(self, column: int) -> tuple[Counts, float]:
        """Return the counts of one column by what was measured of it alone, and the variance."""
        return self.mean((column,))

    def mean(self, columns: Columns) -> tuple[Counts, float]:
        """Return the mean of what was measured of a table, weighted by the inverse variances."""
        found = [one for one in (*self.first, *self.tables) if one.columns == columns]
        weights = [1 / max(one.variance, 1e-9) for one in found]
        weighted = [weight * one.values for weight, one in zip(weights, found, strict=True)]
        return np.asarray(sum(weighted) / sum(weights)), 1 / sum(weights)

    def measurements(self, values: Sequence[CoarseValues] | None = None) -> list[Measurement]:
        """Return what was measured, of coarse values, or of others that are parts of these."""
        parts = self.coarse if values is None else values
        found = []
        for column, one in enumerate(parts):
            counts, variance = self.one_way(column)
            variances = variance * one.members().astype(np.float64)
            found.append(Measurement.of((column,), one.sums(counts), variances))
        coarse = [block_of(one.numbers, self.coarse[at].numbers) for at, one in enumerate(parts)]
        for columns in self.together:
            counts, variance = self.mean(columns)
            found.append(
                Measurement.of_parts(
                    columns,
                    counts.ravel(),
                    np.full(counts.size, variance),
                    np.ones(counts.size, dtype=bool),
                    product_parts([coarse[column] for column in columns], list(counts.shape)),
                )
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "sizes": list(self.sizes),
            "first": [one.to_json() for one in self.first],
            "coarse": [one.numbers.tolist() for one in self.coarse],
            "scores": None if self.scores is None else self.scores.to_json(),
            "residuals": None if self.residuals is None else self.residuals.to_json(),
            "tables": [one.to_json() for one in self.tables],
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "MeasuredMarginals":
        """Read what :meth:`to_json` wrote."""
        sizes = tuple(data["sizes"])
        coarse = tuple(CoarseValues(np.array(one, dtype=np.int64)) for one in data["coarse"])
        grouped = [one.size for one in coarse]
        scores, residuals = data["scores"], data.get("residuals")
        return MeasuredMarginals(
            sizes=sizes,
            first=tuple(MeasuredTable.from_json(one, sizes) for one in data["first"]),
            coarse=coarse,
            scores=None if scores is None else MeasuredTable.from_json(scores),
            residuals=None if residuals is None else MeasuredTable.from_json(residuals),
            tables=tuple(
                MeasuredTable.from_json(one, sizes if len(one["columns"]) == 1 else grouped)
                for one in data["tables"]
            ),
        )
