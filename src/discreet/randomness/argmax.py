"""The noisy maximum: one of many by its score, with exponential or Gumbel noise, exactly."""

from bisect import bisect_right
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli_exp_each, uniform_integers
from discreet.randomness.tables.boundary import WORD_BITS, WordInterval, locate
from discreet.randomness.tables.decay import Decay, decay, digit_weights, enclose


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


def exponential_argmax(scores: IntArray, temperature: Number, rng: Rng) -> int:
    r"""Return the index of the largest :math:`scores_i + temperature \cdot E_i`.

    The :math:`E_i` are independent standard exponential variables, which are not drawn: each
    candidate tosses a coin of probability :math:`e^{-(best - scores_i)/temperature}`, and one of
    the candidates whose coin is true is chosen uniformly.

    Guarantee:
        Given ideal words the law is exactly that of the real numbers. Proof. The coin is the event
        that candidate ``i`` reaches the best score, :math:`scores_i + temperature \cdot E_i \ge
        best`. It is certain for the best candidate, so the largest is among those that reach it.
        Exponential variables forget: given that they reach it, the excesses over the best score
        are independent and alike, so each of them is equally likely to be the largest. This is
        permute-and-flip (McKenna and Sheldon, arXiv:2010.12603; Ding et al., arXiv:2105.07260).
        The coins (:func:`~discreet.randomness.samplers.bernoulli_exp_each`) and the choice
        (:func:`~discreet.randomness.samplers.uniform_integers`) are exact.

    Example:
        >>> from discreet import SystemRng
        >>> exponential_argmax(np.array([0, 0, 10**6]), 1, SystemRng())
        2
    """
    reach = np.flatnonzero(bernoulli_exp_each(gaps_to_best(scores), temperature, rng))
    return int(reach[uniform_integers(int(reach.size), 1, rng)[0]])


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
        (:class:`~discreet.randomness.tables.decay.Decay`), and within :math:`2^{-80}` more after
        it is cut to 80 binary places. The running totals of the cut weights are exact integers, and
        the best weight is 1, so with ``N`` candidates every total is within :math:`E = 2^{-46} S +
        4 N\,2^{-80}` of the truth, ``S`` the sum. The index is returned only if ``U S`` is surely
        in its interval; otherwise (a chance of about :math:`2^{-44} N`)
        :func:`~discreet.randomness.tables.boundary.locate` decides with integers of any length.

        Apart from that chance the work depends on the number of candidates alone.

    Example:
        >>> from discreet import SystemRng
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
    only = _cut(table, gaps) if len(starts) == 1 else None
    chunks = (only or _cut(table, gaps[start : start + _CHUNK]) for start in starts)
    running = [0, *accumulate(_join(high.sum(), low.sum()) for high, low in chunks)]
    error = (running[-1] >> _ERROR_BITS) + 4 * gaps.size
    lowest = word * (running[-1] - error) >> WORD_BITS
    highest = ((word + 1) * (running[-1] + error) >> WORD_BITS) + 1
    chunk = min(bisect_right(running, lowest), len(starts)) - 1
    chosen = only or _cut(table, gaps[chunk * _CHUNK :][:_CHUNK])
    high, low = (part.cumsum() for part in chosen)
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
    return _in_two_parts(table.weights(gaps) * _PART)


def _in_two_parts(scaled: NDArray[np.float64]) -> tuple[IntArray, IntArray]:
    # Both parts of a float are exact, and below 2**41 they are integers of 64 bits exactly.
    whole = np.floor(scaled)
    return whole.astype(np.int64), ((scaled - whole) * _PART).astype(np.int64)


def _join(high: np.int64, low: np.int64) -> int:
    return (int(high) << _PART_BITS) + int(low)


def _running_totals(table: Decay, gaps: NDArray[np.uint64], bits: int) -> list[WordInterval]:
    """Enclose the running totals of the weights, in units of ``2**-bits``."""
    tables = digit_weights(table.scale, bits)
    distinct, places = np.unique(gaps, return_inverse=True)
    weights = [enclose(int(gap), tables, bits) for gap in distinct]
    each = [weights[place] for place in places]
    lows, highs = accumulate(low for low, _ in each), accumulate(high for _, high in each)
    return list(zip(lows, highs, strict=True))


def weighted_argmax(scores: IntArray, counts: IntArray, temperature: Number, rng: Rng) -> int:
    r"""Return ``i`` with probability proportional to :math:`counts_i\, e^{scores_i/temperature}`.

    It is :func:`~discreet.randomness.argmax.gumbel_argmax` on a list in which candidate
    ``i`` stands ``counts[i]`` times, without writing that list: a count may be :math:`2^{62}`. A
    count of 0 is a candidate that is not there.

    Guarantee:
        Given ideal words the law is exactly this one. Let ``n`` be the distance to the best score
        that is there, :math:`w = e^{-n/temperature}`, and ``c`` the count. The float of ``c`` and
        its product with the float of ``w`` each add a relative error of at most :math:`2^{-53}` to
        the :math:`2^{-48}` (and :math:`2^{-980}`) of
        :class:`~discreet.randomness.tables.decay.Decay`. All products are divided by the same power
        of two, so that the largest is between 1/2 and 1, and cut to 80 binary places. Their running
        totals are exact integers, and with ``N`` candidates each is within
        :math:`E = 2^{-46} S + 4N\,2^{-80}` of the truth, ``S`` the sum. The index is returned only
        if ``U S`` is surely in its interval; otherwise (a chance of about :math:`2^{-44} N`)
        :func:`~discreet.randomness.tables.boundary.locate` decides with integers of any length.

    Example:
        >>> from discreet import SystemRng
        >>> weighted_argmax(np.array([9, 5, 0]), np.array([0, 2**62, 1]), 1, SystemRng())
        1
    """
    table = decay(exact(temperature))
    gaps = _gaps(scores, counts)
    word = int(rng.words(1)[0])
    chosen = _choose_weighted(table, gaps, counts, word)
    if chosen is None:
        chosen = locate(word, lambda bits: weighted_totals(table.scale, gaps, counts, bits), rng)
    return chosen


def weighted_totals(
    scale: Number, gaps: NDArray[np.uint64], counts: IntArray, bits: int
) -> list[WordInterval]:
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


def _choose_weighted(
    table: Decay, gaps: NDArray[np.uint64], counts: IntArray, word: int
) -> int | None:
    """Return the index if 64 digits of ``U`` and machine arithmetic decide it."""
    high, low = _cut_weighted(table, gaps, counts)
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


def _cut_weighted(
    table: Decay, gaps: NDArray[np.uint64], counts: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the weights over a power of two, as 40 binary places and the 40 places after them."""
    products = np.empty(gaps.size, dtype=np.float64)
    for start in range(0, gaps.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        products[part] = table.weights(gaps[part]) * counts[part].astype(np.float64)
    _, exponent = np.frexp(products.max())
    return _in_two_parts(np.ldexp(products, _PART_BITS - int(exponent)))
