"""Bernoulli variables whose probability is a power of 1/e."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.coins import toss
from discreet.randomness.decay import Decay, decay
from discreet.randomness.settle import is_below
from discreet.randomness.size import Size

_CHUNK = 1 << 14
_TOLERANCE = 2.0**-46
_WORDS = 2.0**64


def bernoulli_exp(x: Number, size: Size, rng: Rng) -> NDArray[np.bool_]:
    """Return independent coins that are true with probability ``e**-x``, for ``x >= 0``.

    Guarantee:
        Given ideal words the probability is exactly ``e**-x`` (proof:
        :func:`discreet.randomness.coins.toss`; the enclosure is
        :func:`discreet.core.numbers.exp_bounds`).

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> bernoulli_exp(0, 2, SystemRng()).tolist()
        [True, True]
    """
    exponent = exact(x)
    if exponent < 0:
        raise InvalidArgument("x is out of range", must="be at least 0", got=str(x))
    return toss(lambda bits: exp_bounds(-exponent, bits), size, rng)


def bernoulli_exp_each(
    distances: IntArray | NDArray[np.uint64], scale: Number, rng: Rng
) -> NDArray[np.bool_]:
    """Return a coin for each ``n`` of ``distances``, true with probability ``e**(-n/scale)``.

    The work does not depend on the entries, except with probability ``2**-44`` an entry.

    Guarantee:
        Given ideal words each probability is exactly the stated one. The probability is known as
        a float ``p`` within ``2**-48 p + 2**-980`` (:class:`discreet.randomness.decay.Decay`). A
        word ``w`` means a uniform ``U`` in ``[w, w + 1) / 2**64``; the comparison of ``w`` with
        ``2**64 p`` is trusted only if they differ by more than ``2**-46 * 2**64 p + 2``, which is
        more than the errors of ``p`` and of rounding ``w`` to a float. The rest are settled by
        :func:`~discreet.randomness.settle.is_below`.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> bernoulli_exp_each(np.array([0, 10**9]), 1, SystemRng()).tolist()
        [True, False]
    """
    table = decay(exact(scale))
    flat = _distances(distances).reshape(-1)
    coins = np.empty(flat.size, dtype=np.bool_)
    for start in range(0, flat.size, _CHUNK):
        coins[start : start + _CHUNK] = _toss_chunk(table, flat[start : start + _CHUNK], rng)
    return coins.reshape(distances.shape)


def _toss_chunk(table: Decay, distances: NDArray[np.uint64], rng: Rng) -> NDArray[np.bool_]:
    words = rng.words(distances.size)
    limit = table.weights(distances) * _WORDS
    drawn = words.astype(np.float64)
    coins: NDArray[np.bool_] = drawn < limit
    for i in np.flatnonzero(np.abs(drawn - limit) <= _TOLERANCE * limit + 2.0):
        exponent = int(distances[i]) / table.scale
        coins[i] = is_below(int(words[i]), lambda bits: exp_bounds(-exponent, bits), rng)  # noqa: B023
    return coins


def _distances(distances: IntArray | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the entries as unsigned words. The errors quote no entry: they may be private."""
    if distances.dtype == np.uint64:
        return distances.astype(np.uint64, copy=False)
    if distances.dtype != np.int64:
        raise InvalidArgument(
            "The distances have the wrong type", must="be int64 or uint64", got=str(distances.dtype)
        )
    if distances.size and int(distances.min()) < 0:
        raise InvalidArgument("A distance is negative", must="be at least 0")
    return (
        distances.view(np.uint64) if distances.flags.c_contiguous else distances.astype(np.uint64)
    )
