"""Counting queries over an enumerated universe, and the exact histograms that they are asked of."""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import cmp_using, define, field
from numpy.typing import NDArray

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.mechanisms.noise.integers import integers

RealArray = NDArray[np.float64]
"""Public numbers that were computed from noisy ones. Nothing private is ever held in floats."""

LARGEST_COEFFICIENT = 1 << 20
"""Coefficients are at most this in size, so that answers of many rows are still exact integers."""

LARGEST_ANSWER = (1 << 61) - 1
"""Answers are at most this in size, and guesses too: their difference has room for noise."""

_HALF_BITS = 31


def _table(values: Any) -> IntArray:
    """Return a copy that nobody can write to, of one row for each query."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        given = np.empty(0, dtype=np.int64)
    if given.dtype != np.int64 or given.ndim != 2 or not given.size:
        raise InvalidArgument(
            "The queries have the wrong shape or type",
            must="be a table of 64-bit integers, one query a row and one cell a column",
            got=f"{given.dtype} of shape {given.shape}",
        )
    if given.min() < -LARGEST_COEFFICIENT or given.max() > LARGEST_COEFFICIENT:
        raise InvalidArgument(
            "A coefficient is too large", must=f"be at most {LARGEST_COEFFICIENT} in size"
        )
    table = given.copy()
    table.setflags(write=False)
    return table


@define(frozen=True, slots=False, repr=False)
class LinearQueries:
    r"""Many counting queries: one row for each, with what one row of data in each cell counts.

    The universe is public and enumerated: cell :math:`i` stands for one kind of row. The exact
    answer to query :math:`q` on a histogram :math:`x` is :math:`\sum_i q_i x_i`, an integer. A
    coefficient of 0 or 1 says whether such rows are counted; other small integers are allowed.

    Guarantee:
        If one unit moves the histogram by at most ``d_in.l1`` in all, it moves each answer by at
        most :math:`\max|q_i| \cdot l_1` (``one_answer``), by the triangle inequality. A unit with
        up to :math:`m` rows has :math:`l_1 = m`: a row is not a person.

    Example:
        >>> queries = LinearQueries(np.array([[1, 1, 0], [0, 1, 1]]))
        >>> queries
        LinearQueries(2 queries over 3 cells)
        >>> queries.one_answer(Contribution(l1=5)).linf
        Fraction(5, 1)
        >>> queries.answers(np.array([10, 20, 30])).tolist()
        [30, 50]
    """

    table: IntArray = field(converter=_table, eq=cmp_using(eq=np.array_equal))

    @property
    def count(self) -> int:
        """How many queries there are."""
        return int(self.table.shape[0])

    @property
    def cells(self) -> int:
        """How many cells the universe has."""
        return int(self.table.shape[1])

    @cached_property
    def largest(self) -> int:
        """The largest coefficient in size: what one row can move one answer by."""
        return int(np.abs(self.table).max())

    @cached_property
    def width(self) -> int:
        """How far the coefficients of one query are apart, at most."""
        return int((self.table.max(axis=1) - self.table.min(axis=1)).max())

    @cached_property
    def coefficients(self) -> RealArray:
        """The same table as floats, which small integers are exactly: for public guesses."""
        return self.table.astype(np.float64)

    def one_answer(self, d_in: Contribution) -> Contribution:
        """Return how far one unit moves the answer to one query, from how it moves the rows."""
        return answer_contribution(self.largest, d_in)

    def answers(self, histogram: IntArray) -> IntArray:
        """Return the exact answers. They are private: no noise is in them."""
        rows = histogram_of(histogram, cells=self.cells, largest=self.largest)
        answers: IntArray = self.table @ rows
        return answers

    def __repr__(self) -> str:
        return f"LinearQueries({self.count} queries over {self.cells} cells)"


def answer_contribution(largest: int, d_in: Contribution) -> Contribution:
    """Return how far one unit moves one answer, if no row counts more than ``largest`` in size."""
    return Contribution(l0=1, linf=largest * d_in.bound("l1"), metric=d_in.metric)


def histogram_of(values: Any, *, cells: int, largest: int) -> IntArray:
    """Return exact counts of rows, one for each cell; refuse other shapes, and counts below 0.

    ``largest`` is by how much one row counts: no answer may be too large for noise to be added.
    No error quotes a count.

    Example:
        >>> histogram_of(np.array([3, 0]), cells=2, largest=1).tolist()
        [3, 0]
    """
    counts = integers(np.asarray(values))
    if counts.shape != (cells,):
        raise InvalidArgument(
            "The histogram has another size",
            must=f"be one row of {cells} counts, one for each cell",
            got=f"shape {counts.shape}",
        )
    if counts.min() < 0:
        raise InvalidArgument("A count is out of range", must="be at least 0")
    if rows_of(counts) * max(1, largest) > LARGEST_ANSWER:
        raise InvalidArgument("There are too many rows", must="have answers below 2**61 in size")
    return counts


def rows_of(counts: IntArray) -> int:
    """Return how many rows a histogram has, exactly, however large its counts are.

    Example:
        >>> rows_of(np.array([2**62 - 1] * 4)) == 2**64 - 4
        True
    """
    high, low = (counts >> _HALF_BITS).sum(), (counts & ((1 << _HALF_BITS) - 1)).sum()
    return (int(high) << _HALF_BITS) + int(low)


def query_of(values: Any, *, cells: int, lower: int, upper: int) -> IntArray:
    """Return the coefficients of one query; refuse those outside the declared range.

    Sensitivity comes from that range, so a query that leaves it must not be answered.

    Example:
        >>> query_of([1, 0, 1], cells=3, lower=0, upper=1).tolist()
        [1, 0, 1]
    """
    query = integers(np.asarray(values))
    if query.shape != (cells,):
        raise InvalidArgument(
            "The query has another size",
            must=f"be one row of {cells} coefficients",
            got=f"shape {query.shape}",
        )
    if query.min() < lower or query.max() > upper:
        raise InvalidArgument(
            "A coefficient is out of range", must=f"lie between {lower} and {upper}"
        )
    return query
