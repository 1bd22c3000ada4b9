"""How many rows are up to each cell, by an estimate: all intervals are differences of two."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.synthesis.hierarchy.nearest_counts import LARGEST_TOTAL, nearest_counts


@frozen(eq=False)
class PrefixCounts:
    """Estimated counts of the rows in the first cells: of none, of one, ... of all. Public.

    Example:
        >>> counts = PrefixCounts.of(np.array([3.0, -1.0, 5.0]))
        >>> counts.count(1, 2)
        4.0
        >>> counts.whole_counts().tolist()
        [3, 0, 4]
    """

    up_to: NDArray[np.float64] = field(repr=False)

    @staticmethod
    def of(counts: NDArray[np.float64]) -> "PrefixCounts":
        """Return the sums of the estimated counts of cells."""
        return PrefixCounts(np.concatenate([[0.0], np.cumsum(counts)]))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.up_to.size - 1

    def count(self, first: int, last: int) -> float:
        """Return the estimated number of rows in the cells from one to another."""
        start, end = require_run(first, last, self.cells)
        return float(self.up_to[end + 1] - self.up_to[start])

    def whole_counts(self) -> IntArray:
        """Return whole numbers of rows in each cell, none below 0, with the estimated sum."""
        total = round(min(max(float(self.up_to[-1]), 0.0), LARGEST_TOTAL))
        return nearest_counts(np.diff(self.up_to), total)


def require_run(first: int, last: int, cells: int) -> tuple[int, int]:
    """Return the ends of a run of cells; refuse one that is not there."""
    start, end = check.whole(first), check.whole(last)
    if not 0 <= start <= end < cells:
        raise InvalidArgument(
            "There is no such run of cells",
            must=f"begin and end at cells 0 to {cells - 1}",
            got=f"{first} to {last}",
        )
    return start, end
