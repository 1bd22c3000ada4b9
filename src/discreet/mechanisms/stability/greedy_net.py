"""Few points that are near all others: a net, found greedily."""

import numpy as np

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray


def greedy_net(points: IntArray, *, radius: int) -> IntArray:
    r"""Return some rows of ``points``, far from one another and near every row.

    Guarantee:
        Take the first row that is left, and drop all within ``radius`` of it, until none is left.
        Two rows that are taken are more than ``radius`` apart (a packing), for the later one was
        not dropped; and every row is within ``radius`` of the one that dropped it (a net)
        [Ste16, Lemma 2.7.2]. Distances are largest differences, in exact integers.

    Assumes:
        The points are public: all answers that *some* data could have, not those of the data.

    Example:
        >>> greedy_net(np.arange(10).reshape(-1, 1), radius=2).ravel().tolist()
        [0, 3, 6, 9]
    """
    left, reach = np.asarray(points), whole(radius)
    if left.dtype != np.int64 or left.ndim != 2 or not left.size:
        raise InvalidArgument(
            "The points have the wrong shape or type",
            must="be a table of 64-bit integers, one point a row",
            got=f"{left.dtype} of shape {left.shape}",
        )
    if reach < 0 or np.abs(left).max() >= 1 << 61 or left.min() == np.iinfo(np.int64).min:
        raise InvalidArgument(
            "The net is out of range",
            must="have a radius of at least 0 and points below 2**61 in size",
        )
    taken = []
    while left.size:
        taken.append(left[0])
        left = left[np.abs(left - left[0]).max(axis=1) > reach]
    return np.array(taken)
