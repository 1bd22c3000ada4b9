"""Whole numbers as columns of bytes in reports, lowest first, as devices write them."""

import numpy as np

from discreet.core.protocols import IntArray
from discreet.local.scheme import Reports


def bytes_below(values: int) -> int:
    """Return how many bytes hold any number below ``values``.

    Example:
        >>> bytes_below(256), bytes_below(257)
        (1, 2)
    """
    return max(1, ((values - 1).bit_length() + 7) // 8)


def column_of(numbers: IntArray, size: int) -> Reports:
    """Return each number in ``size`` bytes."""
    return numbers.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :size].copy()


def number_of(column: Reports) -> IntArray:
    """Return the numbers that are written in up to seven bytes each."""
    wide = np.zeros((len(column), 8), dtype=np.uint8)
    wide[:, : column.shape[1]] = column
    return np.asarray(wide.view("<i8").ravel())
