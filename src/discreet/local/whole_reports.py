"""Whole numbers as the bytes of reports, lowest byte first, for many people at once."""

import numpy as np

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.local.scheme import Reports


def bytes_for(values: int) -> int:
    """Return how many bytes hold any number below ``values``."""
    return max(1, ((values - 1).bit_length() + 7) // 8)


def as_reports(numbers: IntArray, values: int) -> Reports:
    """Return each number below ``values`` as the bytes of a report.

    Example:
        >>> as_reports(np.array([258, 7]), 300).tolist()
        [[2, 1], [7, 0]]
    """
    wide = numbers.astype("<i8").reshape(-1, 1).view(np.uint8)
    return np.ascontiguousarray(wide[:, : bytes_for(values)])


def from_reports(reports: Reports, values: int) -> IntArray:
    """Return the numbers of reports, refusing any that is not below ``values``."""
    wide = np.zeros((len(reports), 8), dtype=np.uint8)
    wide[:, : bytes_for(values)] = reports
    numbers: IntArray = wide.view("<i8").ravel()
    if numbers.size and numbers.max() >= values:
        raise InvalidArgument(
            "A report is none that this scheme makes", must=f"be below {values}", got="more"
        )
    return numbers
