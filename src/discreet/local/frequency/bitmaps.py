"""Reports that are a bit for each category, lowest first, and how many have each bit."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import IntArray
from discreet.local.report_numbers import Reports

_BYTES = 256
_BITS_OF_BYTES = (np.arange(_BYTES)[:, None] >> np.arange(8)) & 1


def bitmap_bytes(categories: int) -> int:
    """Return how many bytes hold a bit for each category."""
    return (categories + 7) // 8


def bits_set(bitmaps: Reports, categories: int) -> IntArray:
    """Return how many of the bitmaps have each bit.

    The values of each byte are counted, and what each counts for is looked up; no bit is unpacked.
    What is beyond the last category is left out.
    """
    found = np.empty((bitmaps.shape[1], 8), dtype=np.int64)
    for place in range(bitmaps.shape[1]):
        found[place] = np.bincount(bitmaps[:, place], minlength=_BYTES) @ _BITS_OF_BYTES
    counts = found.ravel()
    return counts[:categories]


def no_spare_bits(reports: Reports, bits: int) -> NDArray[np.bool_]:
    """Tell which reports have nothing after their last bit: a device never sets those."""
    spare = np.uint8(255 << (bits % 8) & 255) if bits % 8 else np.uint8(0)
    return np.asarray((reports[:, -1] & spare) == 0)


def bits_in_each(bitmaps: Reports) -> IntArray:
    """Return how many bits each of the bitmaps has."""
    counts: IntArray = _BITS_OF_BYTES.sum(axis=1)[bitmaps].sum(axis=1)
    return counts


def set_bits(bitmaps: Reports, people: IntArray, places: IntArray) -> None:
    """Set the bit of each place in the bitmap of each of the people, who must all be different."""
    bits = np.left_shift(np.uint8(1), (places % 8).astype(np.uint8))
    bitmaps[people, places // 8] |= bits
