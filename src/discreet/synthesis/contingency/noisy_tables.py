"""Noise on each table that is asked for: a small error, and tables that do not agree."""

import math
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.protocols import Rng
from discreet.synthesis.contingency.column_sets import (
    ColumnSet,
    column_sets,
    require_columns,
    sizes_of,
)
from discreet.synthesis.contingency.table_noise import TableNoise, noise_for, variance
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.one_way_marginals.one_way_sums import (
    MOST_ROWS,
    Counts,
    require_measured,
    rows_of_unit,
)


@frozen(kw_only=True)
class NoisyTables:
    r"""Measure the table of each of some sets of columns.

    Guarantee:
        A unit of ``m`` rows moves each of ``t`` tables by at most ``m`` in :math:`\ell_1`, hence
        all of them by at most ``tm`` in :math:`\ell_1` and :math:`tm^2` in the square of
        :math:`\ell_2`.

    Assumes:
        The values of each column are public; of a unit at most ``rows_per_unit`` rows are counted,
        by a rule that looks at no other unit. ``rng`` is unpredictable.

    Utility:
        The noise grows with the number of tables, and not with that of their cells. Two tables
        with a common column say different things about it.

    Example:
        >>> tables = NoisyTables.calibrate([2, 2, 2], [[0, 1], [1, 2]], loss=Pure(1))
        >>> tables.noise
        DiscreteLaplace(scale=Fraction(2, 1))
    """

    sizes: tuple[int, ...] = field(converter=sizes_of)
    sets: tuple[ColumnSet, ...] = field(converter=column_sets)
    noise: TableNoise

    def __attrs_post_init__(self) -> None:
        """Refuse a set with a column that is not there."""
        require_columns(self.sets, self.sizes)

    @classmethod
    def calibrate(
        cls,
        sizes: Sequence[int],
        sets: Iterable[Iterable[int]],
        *,
        loss: Pure | Zcdp,
        rows_per_unit: Number = 1,
    ) -> Self:
        """Return the method that spends exactly ``loss``."""
        wanted = column_sets(sets)
        noise = noise_for(_moved(len(wanted), rows_per_unit), loss)
        return cls(sizes=sizes, sets=wanted, noise=noise)

    def event(self, rows_per_unit: Number) -> Event:
        """Describe one use, where a unit has at most so many rows."""
        return self.noise.event(_moved(len(self.sets), rows_per_unit))

    def measure(self, rows: CountedRows, rng: Rng) -> tuple[Integers, ...]:
        """Return the noisy tables: public. The gate already holds the loss."""
        if rows.sizes != self.sizes:
            raise InvalidArgument("These rows have other columns", must="be those of the tables")
        tables = (np.minimum(rows.table(one), MOST_ROWS) for one in self.sets)
        return tuple(self.noise.release(table, rng) for table in tables)

    def estimate(self, measured: Sequence[Integers], columns: ColumnSet) -> Counts:
        """Return the table of some columns, unbiased: summed from the smallest that has them."""
        place = self._home(columns)
        require_measured(measured, [tuple(self.sizes[c] for c in one) for one in self.sets])
        axes = tuple(axis for axis, one in enumerate(self.sets[place]) if one not in columns)
        found: Counts = np.asarray(measured[place], dtype=np.float64).sum(axis=axes)
        return found

    def deviation(self, columns: Sequence[int]) -> float:
        """Return the standard deviation of a cell of the table of some columns."""
        home = self.sets[self._home(columns)]
        summed = math.prod(self.sizes[one] for one in home if one not in columns)
        return math.sqrt(summed * variance(self.noise))

    def _home(self, columns: Sequence[int]) -> int:
        fitting = [
            (math.prod(self.sizes[column] for column in one), place)
            for place, one in enumerate(self.sets)
            if set(columns) <= set(one)
        ]
        if not fitting:
            raise InvalidArgument("No measured table has these columns", got=str(list(columns)))
        return min(fitting)[1]


def _moved(tables: int, rows_per_unit: Number) -> Contribution:
    rows = rows_of_unit(rows_per_unit)
    return Contribution(linf=rows, l1=tables * rows, l2_squared=tables * rows**2)
