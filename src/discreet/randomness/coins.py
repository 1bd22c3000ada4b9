"""Coins of one given probability, as an array."""

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import Rng
from discreet.randomness.settle import WORD_BITS, Bounds, is_below
from discreet.randomness.size import Size, shape_of

_CHUNK = 1 << 14
_FIRST_PRECISION = 2 * WORD_BITS


def toss(bounds: Bounds, size: Size, rng: Rng) -> NDArray[np.bool_]:
    """Return independent coins that are true with the probability that ``bounds`` enclose.

    Guarantee:
        Given ideal words the probability is exactly that number ``c``, which must lie in [0, 1].
        Let ``t = floor(2**64 * lower)``, with ``floor(2**64 * upper) <= t + 1``: a word below
        ``t`` begins a uniform ``U < c``, a word above ``t + 1`` one with ``U > c``, and the words
        ``t`` and ``t + 1`` are settled by :func:`~discreet.randomness.settle.is_below`.
    """
    shape = shape_of(size)
    coins = np.empty(math.prod(shape), dtype=np.bool_)
    threshold = _threshold(bounds)
    for start in range(0, coins.size, _CHUNK):
        part = coins[start : start + _CHUNK]
        words = rng.words(part.size)
        np.less(words, threshold, out=part)
        for i in np.flatnonzero(words - threshold <= np.uint64(1)):
            part[i] = is_below(int(words[i]), bounds, rng)
    return coins.reshape(shape)


def _threshold(bounds: Bounds) -> np.uint64:
    bits = _FIRST_PRECISION
    while True:
        lower, upper = bounds(bits)
        floor = (lower.numerator << WORD_BITS) // lower.denominator
        if (upper.numerator << WORD_BITS) < (floor + 2) * upper.denominator:
            return np.uint64(min(floor, (1 << WORD_BITS) - 1))
        bits *= 2
