"""The noisy maximum with Gumbel noise: the law of the exponential mechanism."""

from bisect import bisect_right
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.decay import Decay, decay, digit_weights, enclose
from discreet.randomness.scores import gaps_to_best
from discreet.randomness.settle import WORD_BITS, Interval, locate

_CHUNK = 1 << 14
_PART_BITS = 40
_PART = 2.0**_PART_BITS
_ERROR_BITS = 46


def gumbel_argmax(scores: IntArray, temperature: Number, rng: Rng) -> int:
    r"""Return index ``i`` with probability proportional to :math:`e^{scores_i / temperature}`.

    This is the law of the index that maximises :math:`scores_i + temperature \cdot Z_i` with
    independent standard Gumbel :math:`Z_i` (Yellott 1977), without drawing them: one uniform
    ``U`` is compared with the running shares of the weights.

    Guarantee:
        Given ideal words the law is exactly this one. With ``n`` the distance to the best score,
        the weight :math:`w = e^{-n/temperature}` is known within :math:`2^{-48} w + 2^{-980}`
        (:class:`discreet.randomness.decay.Decay`), and within :math:`2^{-80}` more after it is cut
        to 80 binary places. The running totals of the cut weights are exact integers, and the
        best weight is 1, so with ``N`` candidates every total is within
        :math:`E = 2^{-46} S + 4 N\,2^{-80}` of the truth, ``S`` the sum. The index is returned
        only if ``U S`` is surely in its interval; otherwise (a chance of about :math:`2^{-44} N`)
        :func:`~discreet.randomness.settle.locate` decides with integers of any length.

        Apart from that chance the work depends on the number of candidates alone.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> gumbel_argmax(np.array([0, 0, 10**6]), 1, SystemRng())
        2
    """
    table = decay(exact(temperature))
    gaps = gaps_to_best(scores)
    word = int(rng.words(1)[0])
    chosen = _choose(table, gaps, word)
    if chosen is None:
        chosen = locate(word, lambda bits: _running_totals(table, gaps, bits), rng)
    return chosen


def _choose(table: Decay, gaps: NDArray[np.uint64], word: int) -> int | None:
    """Return the index if 64 digits of ``U`` and machine arithmetic decide it."""
    starts = range(0, gaps.size, _CHUNK)
    chunks = (_cut(table, gaps[start : start + _CHUNK]) for start in starts)
    running = [0, *accumulate(_join(high.sum(), low.sum()) for high, low in chunks)]
    error = (running[-1] >> _ERROR_BITS) + 4 * gaps.size
    lowest = word * (running[-1] - error) >> WORD_BITS
    highest = ((word + 1) * (running[-1] + error) >> WORD_BITS) + 1
    chunk = min(bisect_right(running, lowest), len(starts)) - 1
    high, low = (part.cumsum() for part in _cut(table, gaps[chunk * _CHUNK :][:_CHUNK]))
    high += low >> _PART_BITS
    low &= (1 << _PART_BITS) - 1
    whole, rest = divmod(lowest - running[chunk], 1 << _PART_BITS)
    index = int(np.count_nonzero((high < whole) | ((high == whole) & (low <= rest))))
    if index == high.size:
        return None
    below = running[chunk] + (_join(high[index - 1], low[index - 1]) if index else 0)
    above = running[chunk] + _join(high[index], low[index])
    is_first, is_last = chunk == index == 0, chunk * _CHUNK + index == gaps.size - 1
    is_above = is_first or below + error <= lowest
    is_below = is_last or highest <= above - error
    return chunk * _CHUNK + index if is_above and is_below else None


def _cut(table: Decay, gaps: NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
    """Return the weights as integers: 40 binary places, and the 40 places after them."""
    scaled = table.weights(gaps) * _PART
    # Both parts of a float are exact, and below 2**41 they are integers of 64 bits exactly.
    whole = np.floor(scaled)
    return whole.astype(np.int64), ((scaled - whole) * _PART).astype(np.int64)


def _join(high: np.int64, low: np.int64) -> int:
    return (int(high) << _PART_BITS) + int(low)


def _running_totals(table: Decay, gaps: NDArray[np.uint64], bits: int) -> list[Interval]:
    """Enclose the running totals of the weights, in units of ``2**-bits``."""
    tables = digit_weights(table.scale, bits)
    distinct, places = np.unique(gaps, return_inverse=True)
    weights = [enclose(int(gap), tables, bits) for gap in distinct]
    each = [weights[place] for place in places]
    lows, highs = accumulate(low for low, _ in each), accumulate(high for _, high in each)
    return list(zip(lows, highs, strict=True))
