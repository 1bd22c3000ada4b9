"""Uniform integers below a bound."""

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.size import Size, shape_of

_LARGEST = 1 << 63
_WORDS = 1 << 64


def uniform_integers(upper: Number, size: Size, rng: Rng) -> IntArray:
    """Return independent integers from 0 to ``upper - 1``, each with the same probability.

    Guarantee:
        Given ideal words the law is exactly uniform: words from the largest multiple of ``upper``
        below ``2**64`` on are thrown away, and of the others every remainder has equally many.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> uniform_integers(1, 3, SystemRng()).tolist()
        [0, 0, 0]
    """
    limit = check.whole(upper)
    if not 1 <= limit <= _LARGEST:
        raise InvalidArgument(
            "upper is out of range", must="be between 1 and 2**63", got=str(upper)
        )
    shape = shape_of(size)
    words = rng.words(math.prod(shape))
    thrown = _WORDS % limit
    if thrown:
        last = np.uint64(_WORDS - thrown - 1)
        again = np.flatnonzero(words > last)
        words = words.copy() if again.size else words
        while again.size:
            words[again] = rng.words(again.size)
            again = again[words[again] > last]
    divisor = np.uint64(limit)
    remainders: NDArray[np.uint64] = words - words // divisor * divisor
    return remainders.view(np.int64).reshape(shape)
