"""Scores of candidates: exact integers, of which only the distance to the best one matters."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray


def gaps_to_best(scores: IntArray) -> NDArray[np.uint64]:
    """Return how far each score is below the best; no difference of int64 scores overflows.

    The errors quote no score: scores may be private.

    Example:
        >>> gaps_to_best(np.array([-(2**63), 2**63 - 1])).tolist()
        [18446744073709551615, 0]
    """
    if scores.dtype != np.int64:
        raise InvalidArgument(
            "The scores have the wrong type", must="be int64", got=str(scores.dtype)
        )
    if scores.ndim != 1 or scores.size == 0:
        raise InvalidArgument(
            "The scores have the wrong shape",
            must="be one row of at least one candidate",
            got=f"shape {scores.shape}",
        )
    words = np.ascontiguousarray(scores).view(np.uint64)
    gaps: NDArray[np.uint64] = scores.max().view(np.uint64) - words
    return gaps
