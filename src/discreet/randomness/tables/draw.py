"""Draw an array of values from a law, through its tables."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.core.numbers import exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.tables.blocks import OPEN, Blocks, BlockTable, block_table, running_totals
from discreet.randomness.tables.boundary import WORD_BITS, Enclosing, is_below, locate
from discreet.randomness.tables.law import ArraySize, NoiseLaw, shape_of


def draw_beyond(law: NoiseLaw, start: int, rng: Rng) -> int | None:
    r"""Propose a distance ``start + k`` from the tail's envelope; ``None`` means it was rejected.

    Guarantee:
        ``k`` is geometric with ratio :math:`e^{-r}`, :math:`r = h(start + 1) - h(start)`, which
        lies above the law's tail because ``h`` is convex; it is kept with probability
        :math:`e^{-(h(start + k) - h(start) - k r)} = e^{-q k (k - 1)}`. So each distance of the
        support is kept with its weight :math:`e^{-h(x)}`, in units of the envelope's total.
    """
    steps = _geometric(law.rise(start, 1), rng)
    distance = start + steps
    if law.length is not None and distance >= law.length:
        return None
    if law.quadratic and not flip(law.quadratic * steps * (steps - 1), rng):
        return None
    return distance


def flip(x: Fraction, rng: Rng) -> bool:
    """Return true with probability ``e**-x`` exactly, for ``x >= 0``."""
    return is_below(int(rng.words(1)[0]), lambda bits: exp_bounds(-x, bits), rng)


def _geometric(rate: Fraction, rng: Rng) -> int:
    r"""Return ``k`` with :math:`P(k \ge j) = e^{-j\,rate}` ([CKS20], Algorithm 2).

    With ``rate = n / d``: the integer ``u + d v`` with ``u`` below ``d`` kept with probability
    :math:`e^{-u/d}`, and ``v`` the number of flips of :math:`e^{-1}` that succeed before one
    fails, is geometric with rate ``1 / d``; its quotient by ``n`` has rate ``n / d``.
    """
    while True:
        remainder = _uniform(rate.denominator, rng)
        if flip(Fraction(remainder, rate.denominator), rng):
            break
    wholes = 0
    while flip(Fraction(1), rng):
        wholes += 1
    return (remainder + rate.denominator * wholes) // rate.numerator


def _uniform(upper: int, rng: Rng) -> int:
    """Return an integer below ``upper``, each with the same probability, by rejection."""
    bits = (upper - 1).bit_length()
    words = -(-bits // WORD_BITS)
    while True:
        drawn = int.from_bytes(rng.words(words).tobytes(), "little") >> (words * WORD_BITS - bits)
        if drawn < upper:
            return drawn


_TERMS = 14
_TOLERANCE = 2.0**-44
_TINY = 2.0**-900
_WORD = 2.0**-64

_Floats = NDArray[np.float64]


def under_weight(
    blocks: Blocks, block: NDArray[np.intp], values: IntArray, rng: Rng
) -> NDArray[np.bool_]:
    r"""Keep ``values`` of the wedges of ``block`` with the probability that the weight asks for.

    Guarantee:
        Let ``t`` and ``T`` be the rises of ``h`` from the block's heaviest integer to the value
        and to the lightest integer. The weight is above the rectangle by the fraction
        :math:`1 - \frac{1 - e^{-t}}{1 - e^{-T}}` of the wedge's height, so the value is kept when
        a fresh uniform ``V`` has :math:`V (1 - e^{-T}) \ge 1 - e^{-t}`.

        Both sides are computed in binary64 with sums, products and quotients alone, which
        IEEE 754 rounds correctly (``u = 2**-53``), as it does the conversion of an integer. So
        ``t`` and ``T`` carry at most six roundings (:func:`_rise`), however large the integers,
        and as :math:`1 - e^{-t}` has no larger relative error than ``t``, these move it by at most
        ``6u`` of itself. :math:`1 - e^{-t} = t(1 - \frac t2(1 - \frac t3(\dots)))` with every
        bracket in [7/8, 1] since ``t <= 1/4``: a bracket inherits at most a quarter of the next
        one's error and adds four roundings, in all at most ``6u``; what is cut after 14 terms is
        below ``2**-60`` of it. With the last product each side has ``13u``, and with the
        conversion of ``V`` and its product two more on one: together they are off by less than
        ``32u = 2**-48`` of :math:`1 - e^{-T}`, which also covers the digits of ``V`` after the
        64th. The comparison is trusted only beyond ``2**-44`` of it; the others, about one in
        ``2**43``, are settled exactly. So are all wedges lower than ``2**-900``, where numbers
        too small for binary64 could lose more than a rounding.
    """
    level, side = np.divmod(block, blocks.sides)
    near = level * blocks.width + side
    steps = np.abs(values) - near
    height = _one_minus_exp(_rise(blocks.law, near, np.full_like(near, blocks.width - 1)))
    above = _one_minus_exp(_rise(blocks.law, near, steps))
    words = rng.words(block.size)
    point = words.astype(np.float64) * _WORD * height
    kept: NDArray[np.bool_] = point >= above
    is_close = np.abs(point - above) <= _TOLERANCE * height
    for i in np.flatnonzero(is_close | (height < _TINY)):
        share = _share(blocks, int(near[i]), int(steps[i]))
        kept[i] = not is_below(int(words[i]), share, rng)
    return kept


def _rise(law: NoiseLaw, near: IntArray, steps: IntArray) -> _Floats:
    """Return ``h(near + steps) - h(near)``, with at most six roundings.

    These are of the quadratic part, of the sum of integers as a float, of their product, of the
    sum with the linear part (which was rounded once itself; nothing is negative, so a sum inherits
    no more than the larger error of its parts), of the steps as a float, and of the last product.
    At a scale of ``2**50`` the integers reach ``2**56``; below ``2**53`` they are not rounded, and
    the steps, which are below ``2**48``, never are.
    """
    quadratic, linear = float(law.quadratic), float(law.linear)
    doubled: _Floats = (2 * near + steps).astype(np.float64)
    return steps.astype(np.float64) * (quadratic * doubled + linear)


def _one_minus_exp(t: _Floats) -> _Floats:
    """Return ``1 - e**-t`` for ``0 <= t <= 1/4`` by its nested series."""
    bracket: _Floats = np.ones_like(t)
    for k in range(_TERMS, 1, -1):
        bracket = 1.0 - t / k * bracket
    return t * bracket


def _share(blocks: Blocks, near: int, steps: int) -> Enclosing:
    """Return enclosures of ``(1 - e**-t) / (1 - e**-T)``."""
    rise = blocks.law.rise(near, steps)
    whole_rise = blocks.law.rise(near, blocks.width - 1)

    def bounds(bits: int) -> tuple[Fraction, Fraction]:
        low, high = exp_bounds(-rise, bits)
        whole_low, whole_high = exp_bounds(-whole_rise, bits)
        if whole_high >= 1:
            return Fraction(0), Fraction(1)
        return (1 - high) / (1 - whole_low), (1 - low) / (1 - whole_high)

    return bounds


_CHUNK = 1 << 14
_FURTHEST = 1 << 62
_ONE = np.uint64(1)


def draw(law: NoiseLaw, size: ArraySize, rng: Rng) -> IntArray:
    """Return independent values of ``law``, exactly (see :mod:`discreet.randomness.tables.blocks`).

    A value further than ``2**62`` from 0 is moved to ``2**62``.
    """
    shape = shape_of(size)
    values = np.empty(math.prod(shape), dtype=np.int64)
    fill(block_table(law), values, rng)
    return values.reshape(shape)


def fill(table: BlockTable, values: IntArray, rng: Rng) -> None:
    """Fill a flat array by one lookup a value, then settle what the lookup left open."""
    width = table.blocks.width
    index = np.empty(min(_CHUNK, values.size), dtype=np.intp)
    where, prefixes = [], []
    for start in range(0, values.size, _CHUNK):
        part = values[start : start + _CHUNK]
        chosen = index[: part.size]
        offset = _split(width, chosen, rng)
        np.take(table.guide, chosen, out=part, mode="clip")
        if offset is not None:
            np.add(part, offset, out=part)
        found = np.flatnonzero(part >= OPEN)
        if found.size:
            prefixes.append(chosen[found].astype(np.uint64))
            where.append(found + start)
    if not where:
        return
    positions = np.concatenate(where)
    settled, kept = _settle(table, np.concatenate(prefixes), values[positions] - OPEN, rng)
    values[positions] = settled
    if not kept.all():
        again = np.empty(kept.size - np.count_nonzero(kept), dtype=np.int64)
        fill(table, again, rng)
        values[positions[~kept]] = again


def _split(width: int, index: NDArray[np.intp], rng: Rng) -> IntArray | None:
    """Write 16 digits each into ``index``; return offsets below ``width`` from other digits.

    The offsets are signed, like the bases that they are added to: NumPy computes the sum of a
    signed and an unsigned word in binary64, which would drop the low bits beside ``OPEN``. Both
    conversions are exact, because an offset is below ``2**48``.
    """
    count = index.size
    if width == 1:
        index[:] = rng.words(-(-count // 4)).view(np.uint16)[:count]
        return None
    if width <= 1 << 16:
        halves = rng.words(-(-count // 2)).view(np.uint32)[:count]
        index[:] = halves >> np.uint32(16)
        return (halves & np.uint32(width - 1)).astype(np.int64)
    words = rng.words(count)
    np.right_shift(words, np.uint64(48), out=index.view(np.uint64))
    return (words & np.uint64(width - 1)).view(np.int64)


def _settle(
    table: BlockTable, prefixes: NDArray[np.uint64], offsets: IntArray, rng: Rng
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Choose the pieces by 64 digits; return the values, and whether each is kept."""
    blocks, count = table.blocks, table.bases.size
    words = (prefixes << np.uint64(48)) | (rng.words(prefixes.size) >> np.uint64(16))
    piece = np.searchsorted(table.thresholds, words, side="right")
    last = table.thresholds[np.maximum(piece - 1, 0)]
    for i in np.flatnonzero((piece > 0) & (words - last <= _ONE)):
        piece[i] = locate(int(words[i]), partial(running_totals, blocks), rng)
    kept = np.ones(piece.size, dtype=np.bool_)
    values = table.bases[piece % count] + offsets
    if blocks.width > 1:
        wedges = np.flatnonzero((piece >= count) & (piece < 2 * count))
        kept[wedges] = under_weight(blocks, piece[wedges] - count, values[wedges], rng)
    first_tail = 2 * count if blocks.width > 1 else count
    for i in np.flatnonzero(piece >= first_tail):
        side = int(piece[i]) - first_tail
        distance = draw_beyond(blocks.law, blocks.tail_starts()[side], rng)
        kept[i] = distance is not None
        values[i] = (1, -1)[side] * min(distance or 0, _FURTHEST)
    return values, kept
