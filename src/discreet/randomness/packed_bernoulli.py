"""Many coins of one rational probability, 64 to a word."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng

_CHUNK = 1 << 14
"""Words that are settled together: they stay in a near cache."""

_FIRST_DIGITS = 7
_FURTHER_DIGITS = 2
_ALL = np.uint64(2**64 - 1)


def packed_bernoulli(p: Number, words: int, rng: Rng) -> NDArray[np.uint64]:
    r"""Return ``64 * words`` independent coins, true with probability ``p``, as the bits of words.

    About 8 words are drawn for each word that is returned, where a coin at a time would take 64.

    Guarantee:
        Given ideal words the probability is exactly ``p``, and coins are independent. Lane
        :math:`i` compares a uniform :math:`U = 0.u_1 u_2 \dots`, whose digits are the bits
        :math:`i` of the words that are drawn one after another, with :math:`p = 0.b_1 b_2 \dots`,
        and is true if and only if :math:`U < p`. The first digit in which they differ settles it:
        :math:`u_j < b_j` if and only if :math:`b_j = 1`. While a lane is unsettled all its digits
        are those of :math:`p`. If no digit of :math:`p` but zeros is left, then :math:`U \ge p`
        whatever follows, and it is false; a threshold in units of :math:`2^{-52}` is there after
        52 digits. Else the lane goes on, and is unsettled after :math:`j` digits with probability
        :math:`2^{-j}`. A lane uses its own bits alone, so lanes are independent; bits that are
        drawn for lanes that are settled are thrown away.

    Example:
        >>> from discreet import SystemRng
        >>> packed_bernoulli(1, 2, SystemRng()).tolist() == [2**64 - 1] * 2
        True
    """
    probability, count = exact(p), check.whole(words)
    if not 0 <= probability <= 1:
        raise InvalidArgument("p is out of range", must="lie between 0 and 1", got=str(p))
    if count < 0:
        raise InvalidArgument("words is out of range", must="be at least 0", got=str(words))
    if probability == 1:
        return np.full(count, _ALL, dtype=np.uint64)
    coins = np.empty(count, dtype=np.uint64)
    for start in range(0, count, _CHUNK):
        part = coins[start : start + _CHUNK]
        lanes = np.full(part.size, _ALL, dtype=np.uint64)
        part[:] = _settle(probability, lanes, _FIRST_DIGITS, rng)
    return coins


def _settle(rest: Fraction, lanes: NDArray[np.uint64], digits: int, rng: Rng) -> NDArray[np.uint64]:
    """Return coins of probability ``rest < 1`` in the ``lanes`` that are set, and zeros elsewhere.

    Words in which no lane is left are not drawn for again.
    """
    coins = np.zeros(lanes.size, dtype=np.uint64)
    for _ in range(digits):
        if not rest:
            return coins
        drawn, rest = rng.words(lanes.size), 2 * rest
        if rest >= 1:
            rest -= 1
            coins |= lanes & ~drawn
            lanes &= drawn
        else:
            lanes &= ~drawn
    left = np.flatnonzero(lanes)
    if left.size:
        coins[left] |= _settle(rest, lanes[left], _FURTHER_DIGITS, rng)
    return coins
