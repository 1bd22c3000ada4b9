"""Reports as arrays of bytes, and the whole numbers in them, lowest byte first."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import IntArray

Reports = NDArray[np.uint8]
"""One report a row, each of as many bytes as its scheme says."""

_WIDE = 8


def bytes_below(numbers: int) -> int:
    """Return how many bytes hold any number below ``numbers``, at least one.

    Example:
        >>> bytes_below(256), bytes_below(257)
        (1, 2)
    """
    return max(1, ((numbers - 1).bit_length() + 7) // 8)


def as_reports(told: IntArray, numbers: int) -> Reports:
    """Return numbers below ``numbers`` as reports."""
    wide = told.astype("<i8").view(np.uint8).reshape(-1, _WIDE)
    return wide[:, : bytes_below(numbers)].copy()


def as_numbers(reports: Reports) -> IntArray:
    """Return the numbers that are written in up to seven bytes each."""
    wide = np.zeros((len(reports), _WIDE), dtype=np.uint8)
    wide[:, : reports.shape[1]] = reports
    return wide.view("<i8").ravel().astype(np.int64, copy=False)
