"""A choice among candidates that count several times: the exponential mechanism over intervals."""

from bisect import bisect_right
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.decay import Decay, decay, digit_weights, enclose
from discreet.randomness.settle import WORD_BITS, Interval, locate

_CHUNK = 1 << 14
_PART_BITS = 40
_PART = 2.0**_PART_BITS
_ERROR_BITS = 46


def weighted_argmax(scores: IntArray, counts: IntArray, temperature: Number, rng: Rng) -> int:
    r"""Return ``i`` with probability proportional to :math:`counts_i\, e^{scores_i/temperature}`.

    It is :func:`~discreet.randomness.gumbel_argmax.gumbel_argmax` on a list in which candidate
    ``i`` stands ``counts[i]`` times, without writing that list: a count may be :math:`2^{62}`. A
    count of 0 is a candidate that is not there.

    Guarantee:
        Given ideal words the law is exactly this one. Let ``n`` be the distance to the best score
        that is there, :math:`w = e^{-n/temperature}`, and ``c`` the count. The float of ``c`` and
        its product with the float of ``w`` each add a relative error of at most :math:`2^{-53}` to
        the :math:`2^{-48}` (and :math:`2^{-980}`) of
        :class:`discreet.randomness.decay.Decay`. All products are divided by the same power of
        two, so that the largest is between 1/2 and 1, and cut to 80 binary places. Their running
        totals are exact integers, and with ``N`` candidates each is within
        :math:`E = 2^{-46} S + 4N\,2^{-80}` of the truth, ``S`` the sum. The index is returned only
        if ``U S`` is surely in its interval; otherwise (a chance of about :math:`2^{-44} N`)
        :func:`~discreet.randomness.settle.locate` decides with integers of any length.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> weighted_argmax(np.array([9, 5, 0]), np.array([0, 2**62, 1]), 1, SystemRng())
        1
    """
    table = decay(exact(temperature))
    gaps = _gaps(scores, counts)
    word = int(rng.words(1)[0])
    chosen = _choose(table, gaps, counts, word)
    if chosen is None:
        chosen = locate(word, lambda bits: running_totals(table.scale, gaps, counts, bits), rng)
    return chosen


def running_totals(
    scale: Number, gaps: NDArray[np.uint64], counts: IntArray, bits: int
) -> list[Interval]:
    """Enclose the running totals of ``counts * exp(-gaps / scale)``, in units of ``2**-bits``."""
    tables = digit_weights(exact(scale), bits)
    distinct, places = np.unique(gaps, return_inverse=True)
    weights = [enclose(int(gap), tables, bits) for gap in distinct]
    pairs = list(zip(places.tolist(), counts.tolist(), strict=True))
    lows = accumulate(count * weights[place][0] for place, count in pairs)
    highs = accumulate(count * weights[place][1] for place, count in pairs)
    return list(zip(lows, highs, strict=True))


def _gaps(scores: IntArray, counts: IntArray) -> NDArray[np.uint64]:
    """Return how far each score is below the best one that is there. No error quotes an entry."""
    for name, array in (("scores", scores), ("counts", counts)):
        if array.dtype != np.int64:
            raise InvalidArgument(
                f"The {name} have the wrong type", must="be int64", got=str(array.dtype)
            )
    if scores.ndim != 1 or scores.shape != counts.shape:
        raise InvalidArgument(
            "The scores and counts have the wrong shape", must="be two rows of the same length"
        )
    is_there = counts > 0
    if (counts < 0).any() or not is_there.any():
        raise InvalidArgument(
            "The counts are out of range", must="be at least 0, and one of them above 0"
        )
    best = scores.max(where=is_there, initial=np.iinfo(np.int64).min)
    held = np.where(is_there, scores, best)
    gaps: NDArray[np.uint64] = best.view(np.uint64) - held.view(np.uint64)
    return gaps


def _choose(table: Decay, gaps: NDArray[np.uint64], counts: IntArray, word: int) -> int | None:
    """Return the index if 64 digits of ``U`` and machine arithmetic decide it."""
    high, low = _cut(table, gaps, counts)
    starts = range(0, gaps.size, _CHUNK)
    sums = (_join(high[s : s + _CHUNK].sum(), low[s : s + _CHUNK].sum()) for s in starts)
    running = [0, *accumulate(sums)]
    error = (running[-1] >> _ERROR_BITS) + 4 * gaps.size
    lowest = word * (running[-1] - error) >> WORD_BITS
    highest = ((word + 1) * (running[-1] + error) >> WORD_BITS) + 1
    chunk = min(bisect_right(running, lowest), len(starts)) - 1
    within = slice(chunk * _CHUNK, (chunk + 1) * _CHUNK)
    highs, lows = high[within].cumsum(), low[within].cumsum()
    highs += lows >> _PART_BITS
    lows &= (1 << _PART_BITS) - 1
    whole, rest = divmod(lowest - running[chunk], 1 << _PART_BITS)
    index = int(np.count_nonzero((highs < whole) | ((highs == whole) & (lows <= rest))))
    if index == highs.size:
        return None
    below = running[chunk] + (_join(highs[index - 1], lows[index - 1]) if index else 0)
    above = running[chunk] + _join(highs[index], lows[index])
    chosen = chunk * _CHUNK + index
    is_above = chosen == 0 or below + error <= lowest
    is_below = chosen == gaps.size - 1 or highest <= above - error
    return chosen if is_above and is_below else None


def _cut(table: Decay, gaps: NDArray[np.uint64], counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the weights over a power of two, as 40 binary places and the 40 places after them."""
    products = np.empty(gaps.size, dtype=np.float64)
    for start in range(0, gaps.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        products[part] = table.weights(gaps[part]) * counts[part].astype(np.float64)
    _, exponent = np.frexp(products.max())
    scaled = np.ldexp(products, _PART_BITS - int(exponent))
    # Both parts of a float are exact, and below 2**41 they are integers of 64 bits exactly.
    whole = np.floor(scaled)
    return whole.astype(np.int64), ((scaled - whole) * _PART).astype(np.int64)


def _join(high: np.int64, low: np.int64) -> int:
    return (int(high) << _PART_BITS) + int(low)
