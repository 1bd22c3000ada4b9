"""Reports that are one number each, in as few bytes as hold any of them."""

import numpy as np

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.local.scheme import Reports

_WIDE = 8


def bytes_below(numbers: int) -> int:
    """Return how many bytes hold any number below ``numbers``, at least one."""
    return max(1, ((numbers - 1).bit_length() + 7) // 8)


def as_reports(told: IntArray, numbers: int) -> Reports:
    """Return numbers below ``numbers`` as reports, lowest byte first."""
    wide = told.astype("<i8").view(np.uint8).reshape(-1, _WIDE)
    return wide[:, : bytes_below(numbers)].copy()


def as_numbers(reports: Reports, numbers: int) -> IntArray:
    """Return what reports tell, refusing what is not below ``numbers``."""
    wide = np.zeros((len(reports), _WIDE), dtype=np.uint8)
    wide[:, : bytes_below(numbers)] = reports
    told = wide.view("<i8").ravel().astype(np.int64, copy=False)
    if told.size and not 0 <= told.min() <= told.max() < numbers:
        raise InvalidArgument(
            "A report is none of this scheme", must=f"hold a number below {numbers}", got="more"
        )
    return told
