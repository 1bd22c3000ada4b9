"""Noise on contrasts: just what the tables need, once; so they agree, with the smallest noise."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.protocols import Rng
from discreet.synthesis.contingency.column_sets import (
    ColumnSet,
    closure,
    column_sets,
    require_columns,
    sizes_of,
)
from discreet.synthesis.contingency.contrasts import (
    contrast_contribution,
    contrast_of,
    kept_variance,
    spread_out,
)
from discreet.synthesis.contingency.table_noise import TableNoise, noise_for, variance
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.one_way_marginals.one_way_sums import Counts, require_measured, rows_of_unit

_DENOMINATOR = 1 << 20


@frozen(kw_only=True)
class NoisyContrasts:
    r"""Measure the contrasts of all sets of columns that lie in a table that is asked for.

    Guarantee:
        Each contrast costs what its noise costs at
        :func:`~discreet.synthesis.contingency.contrasts.contrast_contribution`; together they
        compose. With two values in each column every contrast moves by at most ``m``, so ``F`` of
        them cost what Laplace noise of scale :math:`Fm/\varepsilon` on each costs [BCD07, Theorem
        8, there with factors of :math:`2^{-k/2}` on both sides, and for changed rows twice that].

    Assumes:
        The values of each column are public; of a unit at most ``rows_per_unit`` rows are counted,
        by a rule that looks at no other unit. ``rng`` is unpredictable.

    Utility:
        A cell of the table of ``W`` has the variance
        :math:`K_W^{-2} \sum_{S \subseteq W} \sigma_S^2 \prod_{j \in S, k_j > 2}(1 - 1/k_j)`. The
        shares of the price make the sum of these over all cells of all tables asked for as small
        as it can be: the share of ``S`` is the root (zCDP) or the third root (pure) of what it
        adds there for each unit of price.

    Example:
        >>> contrasts = NoisyContrasts.calibrate([2] * 10, [[0, 1], [1, 2]], loss=Zcdp(rho=1))
        >>> contrasts.sets
        ((), (0,), (1,), (2,), (0, 1), (1, 2))
        >>> round(contrasts.deviation([0, 1]), 2)
        0.85
    """

    sizes: tuple[int, ...] = field(converter=sizes_of)
    sets: tuple[ColumnSet, ...] = field(converter=column_sets)
    noises: tuple[TableNoise, ...]
    """The noise of each set's contrast."""

    def __attrs_post_init__(self) -> None:
        """Refuse sets that are not closed: a table would lack one of its contrasts."""
        require_columns(self.sets, self.sizes)
        if set(closure(self.sets)) != set(self.sets) or len(self.noises) != len(self.sets):
            raise InvalidArgument(
                "Some contrast is missing",
                must="have all subsets of each set, and a noise for each",
            )

    @classmethod
    def calibrate(
        cls,
        sizes: Sequence[int],
        sets: Iterable[Iterable[int]],
        *,
        loss: Pure | Zcdp,
        rows_per_unit: Number = 1,
    ) -> Self:
        """Return the method for these tables that spends ``loss``, or very little less."""
        columns, tables, rows = sizes_of(sizes), column_sets(sets), rows_of_unit(rows_per_unit)
        require_columns(tables, columns)
        wanted = closure(tables)
        shapes = [[columns[column] for column in one] for one in wanted]
        root = 1 / 3 if isinstance(loss, Pure) else 1 / 2
        norm = "l1" if isinstance(loss, Pure) else "l2_squared"
        weights = []
        for one, shape in zip(wanted, shapes, strict=True):
            moved = float(contrast_contribution(shape, 1).bound(norm))
            price = moved**2 if isinstance(loss, Pure) else moved
            cells = (
                math.prod(columns[column] for column in table)
                for table in tables
                if set(one) <= set(table)
            )
            in_tables = sum(1 / count for count in cells)
            weights.append((price * kept_variance(shape) * in_tables) ** root)
        noises = tuple(
            noise_for(contrast_contribution(shape, rows), loss * share)
            for shape, share in zip(shapes, _shares(weights), strict=True)
        )
        return cls(sizes=columns, sets=wanted, noises=noises)

    def event(self, rows_per_unit: Number) -> ComposedEvent:
        """Describe one use, where a unit has at most so many rows."""
        rows = rows_of_unit(rows_per_unit)
        return ComposedEvent.of(
            [
                noise.event(contrast_contribution(self.shape(one), rows))
                for one, noise in zip(self.sets, self.noises, strict=True)
            ]
        )

    def measure(self, rows: CountedRows, rng: Rng) -> tuple[Integers, ...]:
        """Return the noisy contrasts: public. The gate already holds the loss."""
        if rows.sizes != self.sizes:
            raise InvalidArgument("These rows have other columns", must="be those of the tables")
        return tuple(
            noise.release(contrast_of(rows, one), rng)
            for one, noise in zip(self.sets, self.noises, strict=True)
        )

    def estimate(self, measured: Sequence[Integers], columns: ColumnSet) -> Counts:
        """Return the table of some columns, unbiased; any two of them agree on what they share."""
        wanted = tuple(sorted(columns))
        self._require(wanted)
        self.require_measured(measured)
        found = np.zeros([self.sizes[column] for column in wanted])
        for one, contrast in zip(self.sets, measured, strict=True):
            if set(one) <= set(wanted):
                part = spread_out(np.asarray(contrast, dtype=np.float64), self.shape(one))
                at = [self.sizes[column] if column in one else 1 for column in wanted]
                found += part.reshape(at)
        return found / found.size

    def deviation(self, columns: Sequence[int]) -> float:
        """Return the standard deviation of a cell of the table of some columns."""
        self._require(tuple(sorted(columns)))
        parts = [
            variance(noise) * kept_variance(self.shape(one))
            for one, noise in zip(self.sets, self.noises, strict=True)
            if set(one) <= set(columns)
        ]
        return math.sqrt(sum(parts)) / math.prod(self.sizes[column] for column in columns)

    def shape(self, columns: ColumnSet) -> tuple[int, ...]:
        """Return how many values some of the columns have."""
        return tuple(self.sizes[column] for column in columns)

    def require_measured(self, measured: Sequence[Integers]) -> None:
        """Refuse arrays that this method cannot have measured."""
        shapes = [tuple(1 if size == 2 else size for size in self.shape(one)) for one in self.sets]
        require_measured(measured, shapes)

    def _require(self, columns: ColumnSet) -> None:
        if columns not in self.sets:
            raise InvalidArgument(
                "No contrast of these columns was measured", got=str(list(columns))
            )


def _shares(weights: Sequence[float]) -> list[Fraction]:
    """Return shares that add up to at most 1, in proportion to the weights."""
    total = math.fsum(weights)
    parts = [max(1, math.floor(weight / total * _DENOMINATOR)) for weight in weights]
    return [Fraction(part, sum(parts)) for part in parts]
