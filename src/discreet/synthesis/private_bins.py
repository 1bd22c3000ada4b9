"""Private bins: a range divided where the rows are, for columns of which most values are close by.

Of an income up to a million most rows are below a twentieth of that, so equal parts of the range
put nearly everybody into a few cells. Here a small part of the price finds where rows are.
"""

import heapq
from fractions import Fraction

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import sum_integers
from discreet.synthesis.counted.value_cells import MOST_CELLS, FineGrid, ValueCells, value_cells
from discreet.synthesis.intervals.prefix_counts import PrefixCounts
from discreet.synthesis.intervals.tree_counts import TreeCounts
from discreet.tables.column import Column
from discreet.tables.plans.engine import FoundKeys

BINS = Fraction(1, 10)
"""The part of the price for noise that finds the bins of all columns that want them."""

MOST_FINE = 1 << 20
"""Into how many fine cells a range is divided, of which bins are made."""

_BRANCHING = 16
_FEW = 8
"""One of so many bins at most ends at an equal part of the range, wherever rows are."""
_DEVIATIONS = 2.0
"""So many deviations of a noisy rank a bin has at least."""


@frozen(kw_only=True)
class PrivateBins:
    r"""Choose where bins of a range end, so that about equally many rows are in many of them.

    Noisy counts of the fine cells, and of runs of them, give noisy ranks. Up to half of the bins
    end at equal steps of these: as many as noise can tell apart. Then those are halved, again and
    again, that are the widest for the rows that they have; so where few rows are, bins are about
    as wide as they are far away. Within a bin all values are drawn alike.

    Guarantee:
        A unit with at most :math:`m` kept rows moves each level of the tree by at most :math:`m`,
        which is what :class:`TreeCounts` pays for. Where bins end follows from its noisy counts.

    Assumes:
        The fine cells are public. ``rng`` is unpredictable.

    Utility:
        A bin that ends at a rank has the rows that it should have, but for the noise of two ranks;
        it is expected to have at least twice the deviation of one. A value that so many rows share
        has a bin of its own, as far as fine cells tell it apart. There are never more than ``most``
        bins, whatever the rows are.

    Example:
        >>> from discreet import SystemRng
        >>> bins = PrivateBins(cells=1000, rows_per_unit=1, price=Pure(1), most=8)
        >>> rows = np.zeros(1000, dtype=np.int64)
        >>> rows[:10] = 100_000
        >>> ends = bins.ends(rows, SystemRng())
        >>> len(ends) <= 8, ends[-1], sum(end < 10 for end in ends) >= 3
        (True, 999, True)
    """

    cells: int
    rows_per_unit: int
    price: Pure | Zcdp
    most: int = MOST_CELLS

    @property
    def tree(self) -> TreeCounts:
        """The counts that are measured."""
        return TreeCounts.calibrate(
            cells=self.cells,
            loss=self.price,
            rows_per_unit=self.rows_per_unit,
            branching=_BRANCHING,
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a rank in the middle."""
        return self.tree.deviation(0, self.cells // 2)

    def event(self) -> ComposedEvent:
        """Describe it for the accountants."""
        return self.tree.event(self.rows_per_unit)

    def ends(self, counts: IntArray, rng: Rng) -> tuple[int, ...]:
        """Return the last fine cell of each bin. ``counts`` are private, and seen here alone."""
        tree = self.tree
        found = tree.estimate(tree.measure(counts, rng))
        return self.divided(found, tree.deviation(0, self.cells // 2))

    def divided(self, found: PrefixCounts, deviation: float) -> tuple[int, ...]:
        """Return the last fine cell of each bin, by noisy ranks with such a deviation."""
        at_ranks = self._at_ranks(found.up_to, _DEVIATIONS * deviation)
        few = self.most // _FEW
        evenly = {self.cells * (one + 1) // few - 1 for one in range(few)} - {-1}
        return self._halved(found.up_to, sorted({*at_ranks, *evenly}), deviation)

    def _at_ranks(self, up_to: NDArray[np.float64], least: float) -> set[int]:
        """Return where bins of about equally many rows end, but the last one."""
        rising = _rising(up_to)
        total, room = float(rising[-1]), self.most // 2
        count = int(min(room, total / least))
        if count < 2:
            return set()
        ranks = total * np.arange(1, count) / count
        found = np.unique(np.searchsorted(rising[1:], ranks)).tolist()
        sizes = np.diff(rising)
        shared = [cell - 1 for cell in found if cell > 0 and sizes[cell] >= total / count]
        return {*found, *shared[: room - len(found)]}

    def _halved(self, up_to: NDArray[np.float64], ends: list[int], least: float) -> tuple[int, ...]:
        """Halve bins that are wide and have many rows, until there are as many as may be.

        What would be gained is the rows of a bin times its width. One in which there may be nobody
        is left as it is.
        """
        bins = [(first + 1, last) for first, last in zip([-1, *ends[:-1]], ends, strict=True)]
        heap = [(-_rows(up_to, one) * (one[1] - one[0]), one) for one in bins]
        heapq.heapify(heap)
        found = set(ends)
        while heap and len(found) < self.most:
            _, (first, last) = heapq.heappop(heap)
            if first == last or _rows(up_to, (first, last)) <= least:
                continue
            middle = (first + last) // 2
            found.add(middle)
            for one in ((first, middle), (middle + 1, last)):
                heapq.heappush(heap, (-_rows(up_to, one) * (one[1] - one[0]), one))
        return tuple(sorted(found))


def _rows(up_to: NDArray[np.float64], run: tuple[int, int]) -> float:
    """Return about how many rows are in fine cells from one to another."""
    return float(up_to[run[1] + 1] - up_to[run[0]])


def _rising(up_to: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return noisy ranks that never fall, no farther off than the worst of them."""
    from_below = np.maximum.accumulate(up_to)
    from_above = np.minimum.accumulate(up_to[::-1])[::-1]
    found: NDArray[np.float64] = np.maximum((from_below + from_above) / 2, 0.0)
    return found


def binned_cells(column: Column) -> ValueCells:
    """Return the cells of a column whose bins are still to be found; refuse one without a range."""
    fine = value_cells(column, MOST_FINE)
    if fine.keys is not None:
        raise InvalidArgument(
            f"'{column.name}' cannot be divided by quantiles",
            must="be a number, a date or a time with a declared range",
            next="Nothing was charged. Leave it out of quantiles",
        )
    first, last = fine.first, fine.ends[-1]
    if last - first < MOST_CELLS:
        raise InvalidArgument(
            f"'{column.name}' need not be divided by quantiles",
            must=f"have more than {MOST_CELLS} steps",
            got=f"{last - first + 1}, each of which is a cell anyway",
            next="Nothing was charged. Leave it out of quantiles",
        )
    return evolve(fine, ends=(), fine=FineGrid(fine.ends[0] - first + 1, last))


@frozen
class Dividing:
    """Hands what an engine found to the mechanism, as counts of fine cells."""

    cells: ValueCells
    bins: PrivateBins

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> tuple[int, ...]:
        """Return the last step of each bin."""
        places = keys.places(0, range(self.bins.cells))
        is_inside = places >= 0
        exact = sum_integers(places[is_inside], counts[is_inside], self.bins.cells)
        return _last_steps(self.cells, self.bins.ends(exact, rng))


def dividing(cells: ValueCells, *, rows_per_unit: int, price: Pure | Zcdp) -> Dividing:
    """Return what finds the bins of a column for a price."""
    grid = _grid(cells)
    fine = grid.cells(cells.first)
    return Dividing(cells, PrivateBins(cells=fine, rows_per_unit=rows_per_unit, price=price))


def _last_steps(cells: ValueCells, fine_ends: tuple[int, ...]) -> tuple[int, ...]:
    grid = _grid(cells)
    return tuple(min(cells.first + (end + 1) * grid.width - 1, grid.last) for end in fine_ends)


def _grid(cells: ValueCells) -> FineGrid:
    assert cells.fine is not None
    return cells.fine
