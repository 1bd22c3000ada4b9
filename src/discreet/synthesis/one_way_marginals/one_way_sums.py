r"""The whole numbers that a release of one-way marginals is about, and what a unit moves in them.

[Ste16, Chapter 4] has ``n`` rows of ±1, a public ``n``, and means that a changed row moves by
:math:`2/n`. Here units come and go, with up to ``m`` rows each, and ``n`` is private. So the means
are restated as sums: of a column with two values, the rows with the second one less the rows with
the first one (the sum of ±1); of a column with more, the rows with each; and the number of all
rows, which the means need too.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.synthesis.counted.counted_rows import CountedRows, Integers

MOST_ROWS = 1 << 60
"""A count beyond this is moved there, so that sums and noise fit in 64 bits."""

MOST_WEIGHT = 1 << 20

Counts = NDArray[np.float64]


def rows_of_unit(rows_per_unit: Number) -> int:
    """Return how many rows a unit has at most; refuse what is not a number from 1.

    Example:
        >>> rows_of_unit(3)
        3
    """
    rows = check.whole(rows_per_unit)
    if rows < 1:
        raise InvalidArgument("rows_per_unit is out of range", must="be at least 1", got=str(rows))
    return rows


def require_measured(measured: Sequence[Integers], shapes: Sequence[tuple[int, ...]]) -> None:
    """Refuse arrays that a method cannot have measured: of another shape, or not whole numbers."""
    found = [np.asarray(one) for one in measured]
    is_whole = all(np.issubdtype(one.dtype, np.integer) for one in found)
    if [one.shape for one in found] != list(shapes) or not is_whole:
        raise InvalidArgument(
            "These are other measurements",
            must=f"be whole numbers in the shapes {', '.join(map(str, shapes[:6]))}"
            + (", ..." if len(shapes) > 6 else ""),
        )


def _sizes(values: Sequence[int]) -> tuple[int, ...]:
    return tuple(check.whole(value) for value in values)


@frozen(kw_only=True)
class OneWaySums:
    r"""One number for a column of two values, one for each value of a larger one, and all rows.

    The number of all rows is multiplied by ``total_weight`` before noise is added, because each
    count of a two-valued column needs it: :math:`(n + s)/2`. With a weight of 0 it is not measured.

    Guarantee:
        Adding a unit of at most ``m`` rows moves the numbers as ``contribution(m)`` says: each by
        at most ``m`` (the last by ``m`` times its weight ``w``), those of one column by at most
        ``m`` together. *Proof.* Each row adds 1 to one count of each column, or ±1 to its sum, and
        ``w`` to the last number. So over ``d`` columns :math:`\|v\|_1 \le (d + w)m`, and
        :math:`\|v\|_2^2 \le (d + w^2)m^2`, because :math:`\|u\|_2 \le \|u\|_1 \le m` in a column.
        Moving a count beyond :math:`2^{60}` back to it moves two counts no further apart.

    Example:
        >>> sums = OneWaySums(sizes=[2, 2, 5])
        >>> sums.dimension
        8
        >>> sums.contribution(3)
        Contribution(l0=None, linf=3, l1=12, l2_squared=36, metric=add_remove)
    """

    sizes: tuple[int, ...] = field(converter=_sizes, validator=check.non_empty)
    total_weight: int = field(default=1, converter=check.whole, validator=check.non_negative)

    def __attrs_post_init__(self) -> None:
        """Refuse a column that has nothing to measure, and a weight that leaves no room."""
        if min(self.sizes) < 2:
            raise InvalidArgument(
                "A column has too few values",
                must="have at least 2",
                got=str(min(self.sizes)),
                next="Leave that column out: all of its rows have the same value",
            )
        if self.total_weight > MOST_WEIGHT:
            raise InvalidArgument(
                "total_weight is out of range",
                must=f"be at most {MOST_WEIGHT}",
                got=str(self.total_weight),
            )

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.sizes)

    @property
    def dimension(self) -> int:
        """How many numbers are measured."""
        return sum(_numbers(size) for size in self.sizes) + (self.total_weight > 0)

    def contribution(self, rows_per_unit: Number) -> Contribution:
        """Return what one unit with at most so many rows can move."""
        rows, weight = rows_of_unit(rows_per_unit), self.total_weight
        return Contribution(
            linf=rows * max(1, weight),
            l1=rows * (self.columns + weight),
            l2_squared=rows**2 * (self.columns + weight**2),
        )

    def of(self, rows: CountedRows) -> Integers:
        """Return the exact numbers: **private**."""
        if rows.sizes != self.sizes:
            raise InvalidArgument(
                "These rows have other columns",
                must=f"have {list(self.sizes)} values",
                got=str(list(rows.sizes)),
            )
        parts = [self._column(rows.table([column])) for column in range(self.columns)]
        if self.total_weight:
            all_rows = np.minimum(rows.table([]), MOST_ROWS // self.total_weight)
            parts.append(all_rows.reshape(1) * self.total_weight)
        return np.concatenate(parts)

    def estimate(self, measured: Integers, *, rows: Number | None = None) -> tuple[Counts, ...]:
        r"""Return how many rows have each value of each column, from the measured numbers alone.

        Counts are moved between 0 and the number of all rows. Where every measured number is
        within ``t`` of the truth, so is every count of a value here. *Proof.* A count of two values
        is :math:`(n + s)/2`: half of two errors. A count below 0 is moved nearer; one above the
        measured :math:`\hat n` is moved to it, which is nearer unless the true count is above
        :math:`\hat n`, and then its error is at most :math:`n - \hat n`.

        Args:
            measured: what was measured.
            rows: the number of all rows, if it is public and was not measured.
        """
        values = np.asarray(measured)
        require_measured([values], [(self.dimension,)])
        total = max(0.0, self._total(values, rows))
        found, place = [], 0
        for size in self.sizes:
            part = values[place : place + _numbers(size)].astype(np.float64)
            place += _numbers(size)
            counts = np.array([total - part[0], total + part[0]]) / 2 if size == 2 else part
            found.append(np.clip(counts, 0.0, total))
        return tuple(found)

    def _total(self, values: Integers, rows: Number | None) -> float:
        if (rows is None) == (self.total_weight == 0):
            raise InvalidArgument(
                "The number of all rows must be known, and from one place",
                must="be given exactly where it was not measured",
            )
        return float(
            Fraction(int(values[-1]), self.total_weight) if rows is None else Fraction(rows)
        )

    @staticmethod
    def _column(table: Integers) -> Integers:
        counts = np.minimum(table, MOST_ROWS)
        return counts[1:] - counts[:1] if len(counts) == 2 else counts


def _numbers(size: int) -> int:
    """Return how many numbers a column of so many values has."""
    return 1 if size == 2 else size
