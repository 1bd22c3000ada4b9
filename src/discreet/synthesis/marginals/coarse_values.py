"""Coarser values: which values of a column stand together in tables of several columns.

A table of two columns is measured with noise in each cell, so cells that nobody is in cost as much
as all others. So values of a column are put together before, by what its own noisy counts say:
neighbours, if the values have an order, and those that are rare, if they have none. How the rows
of a cell are divided among its values is known from the column's own counts.

All of this looks at noisy counts only.
"""

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.synthesis.counted.counted_rows import Integers

Counts = NDArray[np.float64]

LEAST_DEVIATIONS = 3.0
"""A cell is expected to have at least so many deviations of its column's noise."""


@frozen(eq=False)
class CoarseValues:
    """Which coarse value each value of a column belongs to; they are numbered without a gap."""

    numbers: Integers

    @property
    def size(self) -> int:
        """How many coarse values there are."""
        return int(self.numbers.max()) + 1

    def sums(self, counts: Counts) -> Counts:
        """Return the counts of the coarse values."""
        return np.bincount(self.numbers, weights=counts, minlength=self.size).astype(np.float64)

    def shares(self, counts: Counts) -> Counts:
        """Return the share of each value within its coarse one, by noisy counts of the values.

        The counts of a coarse value are moved to the nearest ones that are not negative and have
        the same sum. To cut off what is negative alone would give rows to all values that nobody
        has.
        """
        found = np.zeros(len(counts))
        for number in range(self.size):
            places = np.flatnonzero(self.numbers == number)
            found[places] = _nearest_shares(counts[places])
        return found

    def members(self) -> Integers:
        """Return how many values each coarse one has."""
        return np.bincount(self.numbers, minlength=self.size)


def coarse_values(
    counts: Counts, deviation: float, *, has_order: bool, has_null: bool, most: int
) -> CoarseValues:
    """Return the coarse values of a column with these noisy counts: at most ``most`` of them.

    The last value of a column that can be NULL is that; it stays by itself.
    """
    inner = counts[:-1] if has_null else counts
    least = max(LEAST_DEVIATIONS * deviation, 1.0)
    if has_order:
        numbers = _neighbours(inner, max(least, np.maximum(inner, 0).sum() / most))
    else:
        numbers = _without_rare(inner, least, most)
    if has_null:
        numbers = np.append(numbers, numbers.max(initial=-1) + 1)
    return CoarseValues(numbers)


def most_coarse(size: int, *, has_order: bool, has_null: bool, most: int) -> int:
    """Return how many coarse values a column of so many values has at most, whatever the counts.

    With an order, a group is closed when it has enough, or when the next value alone has. Counts
    above 0 add up to at most ``most`` times enough, so at most ``most`` groups have that much, and
    of each two neighbours that were closed the one or the other does; one more is the last.
    """
    inner = size - has_null
    return min(inner, 2 * most + 1 if has_order else most) + has_null


def _nearest_shares(counts: Counts) -> Counts:
    """Return the shares that are nearest to some counts; equal ones if they add up to nothing.

    What means of whole numbers that add up to 0 leave by rounding is nothing, too.
    """
    total = float(counts.sum())
    if total <= _ROUNDING * float(np.abs(counts).sum()) or len(counts) == 1:
        return np.full(len(counts), 1 / len(counts))
    falling = np.sort(counts)[::-1]
    too_much = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > too_much)[-1])
    found: Counts = np.maximum(counts - too_much[last], 0.0)
    shares: Counts = found / found.sum()
    return shares


_ROUNDING = 1e-9


def _neighbours(counts: Counts, least: float) -> Integers:
    """Put neighbours together until they have enough; the last ones join those before them."""
    numbers = np.zeros(len(counts), dtype=np.int64)
    number, held = 0, 0.0
    for place, count in enumerate(counts):
        if held >= least or (held > 0 and count >= least):
            number, held = number + 1, 0.0
        numbers[place] = number
        held += count
    if held < least and number > 0:
        numbers[numbers == number] = number - 1
    return numbers


def _without_rare(counts: Counts, least: float, most: int) -> Integers:
    """Give each value that is not rare a number of its own, and all rare ones the last."""
    order = np.argsort(-counts, kind="stable")
    frequent = [place for place in order[: most - 1] if counts[place] >= least]
    if len(frequent) + 1 >= len(counts):
        return np.arange(len(counts), dtype=np.int64)
    numbers = np.full(len(counts), len(frequent), dtype=np.int64)
    numbers[sorted(frequent)] = np.arange(len(frequent))
    return numbers
