"""Noise on every cell of the whole table: consistent, and worse the smaller the table asked for."""

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.protocols import Rng
from discreet.synthesis.contingency.column_sets import ColumnSet, require_columns, sizes_of
from discreet.synthesis.contingency.table_noise import TableNoise, noise_for, variance
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.one_way_marginals.one_way_sums import (
    MOST_ROWS,
    Counts,
    require_measured,
    rows_of_unit,
)

MOST_CELLS = 1 << 24
"""How many cells a table may have if each of them gets noise."""


@frozen(kw_only=True)
class NoisyCells:
    r"""Measure each cell of the table of all columns.

    Guarantee:
        A unit of ``m`` rows moves the table by at most ``m`` in :math:`\ell_1`, so in
        :math:`\ell_2`: what ``noise`` costs at that distance, however many columns there are
        [BCD07, Section 1].

    Assumes:
        The values of each column are public; of a unit at most ``rows_per_unit`` rows are counted,
        by a rule that looks at no other unit. ``rng`` is unpredictable.

    Utility:
        All smaller tables are sums of this one, so they agree with each other. A cell of a table
        of columns ``W`` is a sum of :math:`K/K_W` noisy cells, with that many times the variance.

    Example:
        >>> cells = NoisyCells.calibrate([2, 2, 2], loss=Zcdp(rho="1/2"), rows_per_unit=3)
        >>> cells.noise, cells.deviation([0])
        (DiscreteGaussian(sigma_squared=Fraction(9, 1)), 6.0)
    """

    sizes: tuple[int, ...] = field(converter=sizes_of)
    noise: TableNoise

    def __attrs_post_init__(self) -> None:
        """Refuse a table that would not fit."""
        if math.prod(self.sizes) > MOST_CELLS:
            raise InvalidArgument(
                "The table of all columns is too large",
                must=f"have at most {MOST_CELLS:,} cells",
                got=f"{math.prod(self.sizes):,}",
                next="Measure smaller tables, or contrasts",
            )

    @classmethod
    def calibrate(
        cls, sizes: Sequence[int], *, loss: Pure | Zcdp, rows_per_unit: Number = 1
    ) -> Self:
        """Return the method that spends exactly ``loss``."""
        return cls(sizes=sizes, noise=noise_for(_moved(rows_per_unit), loss))

    def event(self, rows_per_unit: Number) -> Event:
        """Describe one use, where a unit has at most so many rows."""
        return self.noise.event(_moved(rows_per_unit))

    def measure(self, rows: CountedRows, rng: Rng) -> Integers:
        """Return the noisy cells: public. The gate already holds the loss."""
        if rows.sizes != self.sizes:
            raise InvalidArgument("These rows have other columns", must="be those of the table")
        table = rows.table(range(len(self.sizes)))
        return self.noise.release(np.minimum(table, MOST_ROWS), rng)

    def estimate(self, measured: Integers, columns: ColumnSet) -> Counts:
        """Return the table of some columns, unbiased: sums of noisy cells."""
        require_columns([tuple(columns)], self.sizes)
        require_measured([measured], [self.sizes])
        others = tuple(axis for axis in range(len(self.sizes)) if axis not in columns)
        found: Counts = np.asarray(measured, dtype=np.float64).sum(axis=others)
        return found

    def deviation(self, columns: Sequence[int]) -> float:
        """Return the standard deviation of a cell of the table of some columns."""
        summed = math.prod(size for column, size in enumerate(self.sizes) if column not in columns)
        return math.sqrt(summed * variance(self.noise))


def _moved(rows_per_unit: Number) -> Contribution:
    return Contribution(l1=rows_of_unit(rows_per_unit))
