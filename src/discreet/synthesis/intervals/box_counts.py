"""Boxes with measured counts: what a search publishes, and all that can be asked of it."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.synthesis.counted.integer_noise import MOST_CELLS, IntegerNoise


@frozen(eq=False)
class BoxCounts:
    """Boxes that do not overlap, with a noisy count of rows each. All of it is public.

    Within a box rows are taken to be spread evenly. A box of one cell has no within.

    Example:
        >>> from discreet import DiscreteLaplace
        >>> measured = np.array([[0, 3, 40], [4, 4, 100], [5, 9, 41]])
        >>> runs = BoxCounts(measured, DiscreteLaplace(scale=2))
        >>> runs.count([2], [4])
        120.0
        >>> runs.error([2], [4], "0.05")
        Fraction(54, 1)
    """

    measured: IntArray = field(repr=False)
    """A row for each box: its first cell on each axis, its last cells, and its noisy count."""
    noise: IntegerNoise
    """The noise of the counts."""

    def __attrs_post_init__(self) -> None:
        """Refuse what is no list of boxes."""
        if self.measured.ndim != 2 or self.measured.shape[1] % 2 == 0 or not self.measured.size:
            raise InvalidArgument("Boxes have a first and a last cell on each axis, and a count")
        if (self.first > self.last).any():
            raise InvalidArgument("A box begins where it ends, or before")

    @property
    def axes(self) -> int:
        """How many axes there are."""
        return int(self.measured.shape[1]) // 2

    @property
    def first(self) -> IntArray:
        """The first cell of each box on each axis."""
        return self.measured[:, : self.axes]

    @property
    def last(self) -> IntArray:
        """The last cell of each box on each axis."""
        return self.measured[:, self.axes : -1]

    @property
    def counts(self) -> IntArray:
        """The noisy count of each box; it may be below 0."""
        return self.measured[:, -1]

    @property
    def total(self) -> int:
        """The noisy number of all rows."""
        return int(self.counts.sum())

    def count(self, first: Sequence[int], last: Sequence[int]) -> float:
        """Return how many rows are in the cells from ``first`` to ``last``, on each axis."""
        shares = self._shares(first, last)
        inside = shares == 1
        cut = np.maximum(self.counts, 0) * np.where(inside, 0.0, shares)
        return float(self.counts[inside].sum() + cut.sum())

    def error(self, first: Sequence[int], last: Sequence[int], beta: Number) -> Fraction:
        r"""Return a bound on the error of one count that fails with at most ``beta``.

        Boxes inside have the error of a sum of noises. Of a box that is cut, any part of its rows
        may be inside, and so any part of its noisy count is off by no more than the larger of the
        two: :math:`\max(0, a) + t` if the noise is at most :math:`t`.
        """
        level = check.level(beta)
        shares = self._shares(first, last)
        inside, cut = int((shares == 1).sum()), (shares > 0) & (shares < 1)
        cuts = int(cut.sum())
        parts = (1 if inside else 0) + cuts
        if not parts:
            return Fraction(0)
        bound = Fraction(0)
        if inside:
            bound += self.noise.sum_error_quantile(level / parts, cells=inside)
        if cuts:
            bound += cuts * self.noise.error_quantile(level / parts)
            bound += int(np.maximum(self.counts[cut], 0).sum())
        return bound

    def points(self) -> IntArray:
        """Return cells of made-up rows, as many in each box as its count, spread evenly over it.

        Boxes with a count of 0 or below have none. In a box the rows are along its diagonal: only
        how many are in it was measured, not how they lie within.
        """
        found = []
        for first, last, count in zip(self.first, self.last, self.counts.tolist(), strict=True):
            rows = max(0, count)
            shares = (2 * np.arange(rows, dtype=np.float64) + 1) / (2 * max(rows, 1))
            found.append(first + np.floor(shares[:, None] * (last - first + 1)).astype(np.int64))
        return np.concatenate(found)

    def _shares(self, first: Sequence[int], last: Sequence[int]) -> NDArray[np.float64]:
        """Return which share of each box a query covers."""
        if len(first) != self.axes or len(last) != self.axes:
            raise InvalidArgument(
                "A query has a first and a last cell on each axis",
                must=f"give {self.axes} of each",
                got=f"{len(first)} and {len(last)}",
            )
        # Far beyond all cells is as good as any place beyond them, and fits into 64 bits.
        reach = [[min(max(check.whole(c), -1), MOST_CELLS) for c in ends] for ends in (first, last)]
        low = np.maximum(self.first, np.array(reach[0], dtype=np.int64))
        high = np.minimum(self.last, np.array(reach[1], dtype=np.int64))
        covered = np.maximum(high - low + 1, 0)
        whole = (covered == self.last - self.first + 1).all(axis=1)
        shares = (covered / (self.last - self.first + 1)).prod(axis=1)
        return np.where(whole, 1.0, np.minimum(shares, np.nextafter(1.0, 0.0)))
