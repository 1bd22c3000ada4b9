"""Divisions of the values of a column: what two of them have in common, and both together.

If one table counts by decades and another by the cells of a model, then sums over the *blocks* that
both divisions refine are what both of them know.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.counted.counted_rows import Integers


def blocks(first: Integers, second: Integers) -> Integers:
    """Return the number of the block of each value, by the parts that it has in two divisions.

    Two values are in one block if they are in one part of either division, or are joined by others
    that are (the components of a graph).

    Example:
        >>> blocks(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3])).tolist()
        [0, 0, 0, 0, 1]
    """
    found = np.arange(len(first))
    while True:
        before = found
        for parts in (first, second):
            found = _least(parts, found)
        if np.array_equal(before, found):
            return np.unique(found, return_inverse=True)[1].astype(np.int64)


def refined(first: Integers, second: Integers) -> Integers:
    """Return the coarsest division that refines two divisions of the same values.

    Example:
        >>> refined(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 1])).tolist()
        [0, 1, 2, 2, 3]
    """
    both = first * (int(second.max(initial=0)) + 1) + second
    found: Integers = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return found


def _least(parts: Integers, numbers: Integers) -> Integers:
    """Return for each value the least number that one of its part has."""
    least = np.full(int(parts.max(initial=-1)) + 1, len(numbers), dtype=np.int64)
    np.minimum.at(least, parts, numbers)
    found: Integers = least[parts]
    return found


def block_of(parts: Integers, numbers: Integers) -> Integers:
    """Return the block that each part is in, from those of the values."""
    found = np.zeros(int(parts.max(initial=-1)) + 1, dtype=np.int64)
    found[parts] = numbers
    return found


def product_parts(axes: list[Integers], sizes: list[int]) -> NDArray[np.int64]:
    """Return for each cell of a table the number of its combination of blocks.

    Example:
        >>> product_parts([np.array([0, 1]), np.array([0, 0, 1])], [2, 2]).tolist()
        [[0, 0, 1], [2, 2, 3]]
    """
    found = np.zeros((), dtype=np.int64)
    for numbers, size in zip(axes, sizes, strict=True):
        found = found[..., None] * size + numbers
    return found
