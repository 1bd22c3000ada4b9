"""Random integers and coins, each of a stated law."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.tables.boundary import WORD_BITS, Enclosing, is_below
from discreet.randomness.tables.decay import Decay, decay
from discreet.randomness.tables.draw import draw
from discreet.randomness.tables.law import (
    ArraySize,
    NoiseLaw,
    exact_scale,
    exact_variance,
    shape_of,
)

_CHUNK = 1 << 14
_FIRST_PRECISION = 2 * WORD_BITS


def toss(bounds: Enclosing, size: ArraySize, rng: Rng) -> NDArray[np.bool_]:
    """Return independent coins that are true with the probability that ``bounds`` enclose.

    Guarantee:
        Given ideal words the probability is exactly that number ``c``, which must lie in [0, 1].
        Let ``t = floor(2**64 * lower)``, with ``floor(2**64 * upper) <= t + 1``: a word below
        ``t`` begins a uniform ``U < c``, a word above ``t + 1`` one with ``U > c``, and the words
        ``t`` and ``t + 1`` are settled by :func:`~discreet.randomness.tables.boundary.is_below`.
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


def _threshold(bounds: Enclosing) -> np.uint64:
    bits = _FIRST_PRECISION
    while True:
        lower, upper = bounds(bits)
        floor = (lower.numerator << WORD_BITS) // lower.denominator
        if (upper.numerator << WORD_BITS) < (floor + 2) * upper.denominator:
            return np.uint64(min(floor, (1 << WORD_BITS) - 1))
        bits *= 2


def bernoulli(p: Number, size: ArraySize, rng: Rng) -> NDArray[np.bool_]:
    """Return independent coins that are true with probability ``p``.

    Guarantee:
        Given ideal words the probability is exactly ``p`` (proof:
        :func:`discreet.randomness.samplers.toss`, with the enclosure ``[p, p]``).

    Example:
        >>> from discreet import SystemRng
        >>> bernoulli(1, 3, SystemRng()).tolist()
        [True, True, True]
    """
    probability = exact(p)
    if not 0 <= probability <= 1:
        raise InvalidArgument("p is out of range", must="lie between 0 and 1", got=str(p))
    return toss(lambda _: (probability, probability), size, rng)


_TOLERANCE = 2.0**-46
_WORDS_AS_FLOAT = 2.0**64


def bernoulli_exp(x: Number, size: ArraySize, rng: Rng) -> NDArray[np.bool_]:
    """Return independent coins that are true with probability ``e**-x``, for ``x >= 0``.

    Guarantee:
        Given ideal words the probability is exactly ``e**-x`` (proof:
        :func:`discreet.randomness.samplers.toss`; the enclosure is
        :func:`discreet.core.numbers.exp_bounds`).

    Example:
        >>> from discreet import SystemRng
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
        a float ``p`` within ``2**-48 p + 2**-980``
        (:class:`~discreet.randomness.tables.decay.Decay`). A word ``w`` means a uniform ``U`` in
        ``[w, w + 1) / 2**64``; the comparison of ``w`` with ``2**64 p`` is trusted only if they
        differ by more than ``2**-46 * 2**64 p + 2``, which is more than the errors of ``p`` and of
        rounding ``w`` to a float. The rest are settled by
        :func:`~discreet.randomness.tables.boundary.is_below`.

    Example:
        >>> from discreet import SystemRng
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
    limit = table.weights(distances) * _WORDS_AS_FLOAT
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


_LARGEST_UPPER = 1 << 63
_WORDS = 1 << 64


def uniform_integers(upper: Number, size: ArraySize, rng: Rng) -> IntArray:
    """Return independent integers from 0 to ``upper - 1``, each with the same probability.

    Guarantee:
        Given ideal words the law is exactly uniform: words from the largest multiple of ``upper``
        below ``2**64`` on are thrown away, and of the others every remainder has equally many.

    Example:
        >>> from discreet import SystemRng
        >>> uniform_integers(1, 3, SystemRng()).tolist()
        [0, 0, 0]
    """
    limit = check.whole(upper)
    if not 1 <= limit <= _LARGEST_UPPER:
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


def discrete_laplace(scale: Number, size: ArraySize, rng: Rng) -> IntArray:
    r"""Return independent integers with :math:`P(z) \propto e^{-|z|/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one, for every ``scale`` from 1/1000 to 2**50
        (proof: :mod:`discreet.randomness.tables.blocks`), except that a value beyond
        :math:`\pm 2^{62}` is moved there, which has a probability of less than
        :math:`2 e^{-2^{62}/scale}/(1 + e^{-1/scale}) \le 2 e^{-4096} < 2^{-5900}`.

    Example:
        >>> from discreet import SystemRng
        >>> discrete_laplace("7/2", (2, 3), SystemRng()).shape
        (2, 3)
    """
    return draw(NoiseLaw(Fraction(0), 1 / exact_scale(scale)), size, rng)


def discrete_gaussian(sigma_squared: Number, size: ArraySize, rng: Rng) -> IntArray:
    r"""Return independent integers with :math:`P(z) \propto e^{-z^2 / (2\sigma^2)}`.

    The parameter is :math:`\sigma^2`, because a calibrated :math:`\sigma` is often irrational; it
    is not quite the variance, which is smaller ([CKS20]_, Corollary 9).

    Guarantee:
        Given ideal words the law is exactly this one, for every :math:`\sigma` from 1/1000 to
        2**50 (proof: :mod:`discreet.randomness.tables.blocks`), except that a value beyond
        :math:`\pm 2^{62}` is moved there, which has a probability of at most
        :math:`2 e^{-2^{124}/(2\sigma^2)} \le 2 e^{-2^{23}} < 2^{-12000000}`.

    Example:
        >>> from discreet import SystemRng
        >>> discrete_gaussian("25/2", (2, 3), SystemRng()).shape
        (2, 3)
    """
    return draw(NoiseLaw(1 / (2 * exact_variance(sigma_squared)), Fraction(0)), size, rng)


def geometric(scale: Number, size: ArraySize, rng: Rng) -> IntArray:
    r"""Return independent integers from 0 on with :math:`P(G \ge k) = e^{-k/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one, for every ``scale`` from 1/1000 to 2**50
        (proof: :mod:`discreet.randomness.tables.blocks`), except that a value beyond :math:`2^{62}`
        is moved there, which has a probability of less than
        :math:`e^{-2^{62}/scale} \le e^{-4096} < 2^{-5900}`.

    Example:
        >>> from discreet import SystemRng
        >>> bool((geometric(5, 100, SystemRng()) >= 0).all())
        True
    """
    return draw(NoiseLaw(Fraction(0), 1 / exact_scale(scale), two_sided=False), size, rng)


_LARGEST_BOUND = 1 << 62


def clamped_discrete_laplace(scale: Number, bound: Number, size: ArraySize, rng: Rng) -> IntArray:
    r"""Return discrete Laplace integers, those beyond :math:`\pm bound` moved to :math:`\pm bound`.

    The mass beyond the bound is moved to it, not spread over the inside: for :math:`|z| < bound`
    :math:`P(z) = \frac{1 - q}{1 + q} q^{|z|}` and :math:`P(\pm bound) = \frac{q^{bound}}{1 + q}`
    with :math:`q = e^{-1/scale}`.

    Guarantee:
        Given ideal words the law is exactly this one: a function of an exact variable.

    Example:
        >>> from discreet import SystemRng
        >>> int(abs(clamped_discrete_laplace(100, 7, 1000, SystemRng())).max())
        7
    """
    limit = check.whole(bound)
    if not 0 <= limit <= _LARGEST_BOUND:
        raise InvalidArgument(
            "bound is out of range", must="be between 0 and 2**62", got=str(bound)
        )
    values = discrete_laplace(scale, size, rng)
    return np.clip(values, -limit, limit, out=values)
