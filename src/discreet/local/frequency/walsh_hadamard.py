"""The fast Walsh-Hadamard transform of integers, and linear maps between bits."""

from collections.abc import Iterable

import numpy as np

from discreet.core.protocols import IntArray

_FOLDS = (16, 8, 4, 2, 1)


def walsh_hadamard(values: IntArray) -> IntArray:
    r"""Return :math:`\sum_w (-1)^{\langle w, x \rangle} v_w` for all :math:`x`, exactly.

    The last axis must have a power of two entries; it takes the logarithm of that number of passes,
    each of them adding and subtracting halves. Sums stay below the sum of all absolute values.

    Example:
        >>> walsh_hadamard(np.array([1, 2, 3, 4])).tolist()
        [10, -2, -4, 0]
    """
    found = np.array(values, dtype=np.int64)
    width = found.shape[-1]
    half = 1
    while half < width:
        pairs = found.reshape(-1, 2, half)
        first, second = pairs[:, 0], pairs[:, 1]
        difference = first - second
        first += second
        second[:] = difference
        half *= 2
    return found


def parity(numbers: IntArray) -> IntArray:
    """Return 1 for each number below 2**32 that has an odd number of bits, else 0."""
    folded = numbers
    for fold in _FOLDS:
        folded = folded ^ (folded >> fold)
    return folded & 1


def mapped(rows: Iterable[IntArray | int], values: IntArray) -> IntArray:
    """Return where linear maps take values: a bit a row, the parity of the bits they share."""
    found = np.zeros(values.shape, dtype=np.int64)
    for place, row in enumerate(rows):
        found |= parity(values & row) << place
    return found
