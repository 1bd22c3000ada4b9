"""Integer tables that draw from a law: exact, and one lookup for almost every value.

The design. Cut the support into blocks of ``width`` integers, a power of two. Under the law's
weight lie, for each block, a rectangle as high as the lightest integer, and above it a wedge; the
far tail lies under a geometric envelope. Choose one of these pieces with probability proportional
to its size, and a point in it uniformly; keep the integer below if the point is under the weight,
otherwise start again. A point of a rectangle is always kept, so nearly every value is ``base +
offset`` with the base of the rectangle and a uniform offset: no rejection, no arithmetic on reals.

The lookup. A piece is chosen by comparing a uniform ``U`` with the running shares of the pieces.
The first 16 binary digits of ``U`` decide in all but a few of the 65,536 intervals; there one
lookup gives the base. Elsewhere 48 more digits are drawn and compared with the table of 64-bit
thresholds; if these leave a doubt, :func:`~discreet.randomness.tables.boundary.locate` draws more.

Why it is exact. Rejection is exact for any pieces that cover the weight (von Neumann 1951). A
threshold is ``t = floor(2**64 * lower)`` of an enclosure of the true share, and the table is built
only if ``floor(2**64 * upper) <= t + 1``. So a word below ``t`` is surely below the share, a word
above ``t + 1`` surely is not, and the words ``t`` and ``t + 1`` are settled exactly.

How far it reaches. A block is at most a 64th of the scale wide, ``2**44``, so an offset is made of
the 48 digits of a word that are not used for the lookup; and the blocks end where the exponent of
the weight passes 17, below ``17 * 2**50 + 2**44 < 2**55``. A base and an offset, also that of an
interval left open, ``2**62``, are added as signed 64-bit integers without rounding or wrapping.
Tables of a law that is wider are refused.

What it does not hide. The work does not depend on data, for there is none here; but it does depend
on the noise: a lookup touches memory at a secret place, and the few values that need more digits,
a wedge or the tail take longer. Whoever can watch the caches of this machine is not kept out.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds
from discreet.core.protocols import IntArray
from discreet.randomness.tables.boundary import WORD_BITS, WordInterval
from discreet.randomness.tables.law import NoiseLaw

_BLOCKS_PER_UNIT = 64
_EXPONENT_OF_TAIL = 17


@frozen
class Blocks:
    """A law, the width of its blocks (a power of two) and how many of them each side has.

    On the positive side block ``m`` holds the distances ``m * width ..``; on the negative side,
    which does not hold 0 again, it holds ``m * width + 1 ..``. Blocks are numbered outwards,
    positive before negative.
    """

    law: NoiseLaw
    width: int
    per_side: int

    @property
    def sides(self) -> int:
        """Return the number of sides, one or two."""
        return 2 if self.law.two_sided else 1

    @property
    def has_tail(self) -> bool:
        """Tell whether some of the support is beyond the blocks."""
        return self.law.length is None or self.per_side * self.width < self.law.length

    def near(self, block: int) -> int:
        """Return the distance from 0 of the block's heaviest integer."""
        level, side = divmod(block, self.sides)
        return level * self.width + side

    def tail_starts(self) -> list[int]:
        """Return, for each side with a tail, the distance at which the tail begins."""
        return [self.per_side * self.width + side for side in range(self.sides * self.has_tail)]


def cut(law: NoiseLaw) -> Blocks:
    """Choose blocks over which the weight falls by little, reaching to where little is left.

    The choice is for speed alone: any width and any number of blocks give the same law.
    """
    width = 1
    while _falls_slowly(law, 2 * width) and (law.length is None or 2 * width <= law.length):
        width *= 2
    enough = 1
    while law.exponent(enough * width) < _EXPONENT_OF_TAIL:
        enough *= 2
    low = enough // 2
    while enough - low > 1:
        middle = (low + enough) // 2
        if law.exponent(middle * width) < _EXPONENT_OF_TAIL:
            low = middle
        else:
            enough = middle
    if law.length is not None:
        enough = min(enough, law.length // width)
    return Blocks(law, width, enough)


def _falls_slowly(law: NoiseLaw, width: int) -> bool:
    """Tell whether ``width`` is at most a 64th of the scale (of sigma, for a Gaussian)."""
    spread = _BLOCKS_PER_UNIT * width
    return law.linear * spread <= 1 and 2 * law.quadratic * spread * spread <= 1


def running_totals(blocks: Blocks, bits: int) -> list[WordInterval]:
    """Enclose the running totals of the pieces' weights, in units of ``2**-bits``.

    The pieces, in order: for each block a *rectangle* (width times its lightest weight); if the
    blocks are wider than 1, for each block a *wedge* (width times the difference of its heaviest
    and lightest weight); for each tail its *envelope*, the geometric series that starts at the
    tail's first weight and falls by the tail's first ratio.
    """
    one = 1 << bits
    near, far = _weights(blocks, bits)
    pieces = [(blocks.width * low, blocks.width * high) for low, high in far]
    if blocks.width > 1:
        pieces += [
            (blocks.width * max(0, top[0] - bottom[1]), blocks.width * (top[1] - bottom[0]))
            for top, bottom in zip(near, far, strict=True)
        ]
    for start in blocks.tail_starts():
        low, high = _exp_minus(blocks.law.exponent(start), bits)
        ratio_low, ratio_high = _exp_minus(blocks.law.rise(start, 1), bits)
        pieces.append(
            ((low << bits) // (one - ratio_low), -((-high << bits) // (one - ratio_high)))
        )
    lows = accumulate(low for low, _ in pieces)
    highs = accumulate(high for _, high in pieces)
    return list(zip(lows, highs, strict=True))


def _weights(blocks: Blocks, bits: int) -> tuple[list[WordInterval], list[WordInterval]]:
    """Enclose the heaviest and the lightest weight of every block."""
    law, width, count = blocks.law, blocks.width, blocks.per_side
    tops = [_progression(law, side, width, count, bits) for side in range(blocks.sides)]
    if width == 1:
        bottoms = tops
    else:
        bottoms = [_progression(law, width - 1, width, count, bits)]
        if blocks.sides == 2:
            last = _exp_minus(law.exponent(count * width), bits)
            bottoms.append([*tops[0][1:], last])
    near = [weight for level in zip(*tops, strict=True) for weight in level]
    far = [weight for level in zip(*bottoms, strict=True) for weight in level]
    return near, far


def _progression(law: NoiseLaw, start: int, step: int, count: int, bits: int) -> list[WordInterval]:
    r"""Enclose :math:`e^{-h(x)}` at ``count`` distances from ``start`` on, ``step`` apart.

    The ratio of neighbours falls by the constant factor :math:`e^{-2 q\,step^2}`, so two products
    of enclosures, their ends rounded outwards, lead from one to the next.
    """
    low, high = _exp_minus(law.exponent(start), bits)
    ratio_low, ratio_high = _exp_minus(law.rise(start, step), bits)
    fall_low, fall_high = _exp_minus(2 * law.quadratic * step * step, bits)
    weights = []
    for _ in range(count):
        weights.append((low, high))
        low, high = low * ratio_low >> bits, -(-high * ratio_high >> bits)
        if law.quadratic:
            ratio_low, ratio_high = ratio_low * fall_low >> bits, -(-ratio_high * fall_high >> bits)
    return weights


def _exp_minus(x: Fraction, bits: int) -> WordInterval:
    """Enclose ``e**-x`` in units of ``2**-bits``."""
    lower, upper = exp_bounds(-x, bits)
    one = 1 << bits
    low = lower.numerator * one // lower.denominator
    return low, -(-upper.numerator * one // upper.denominator)


GUIDE_BITS = 16
WIDEST = 1 << (WORD_BITS - GUIDE_BITS)
"""The most integers of a block: an offset comes from the digits that the lookup leaves over."""

OPEN = np.int64(1 << 62)
"""The base of an interval that 16 digits leave open; no table reaches so far."""

_FIRST_PRECISION = 160


@frozen(eq=False)
class BlockTable:
    """The tables of one law: ``guide`` by 16 digits of ``U``, then ``thresholds`` by 64."""

    blocks: Blocks
    guide: IntArray
    thresholds: NDArray[np.uint64]
    bases: IntArray


@lru_cache(maxsize=32)
def block_table(law: NoiseLaw) -> BlockTable:
    """Return the tables of ``law``, built once and kept while they are in use."""
    return table_of(cut(law))


def table_of(blocks: Blocks) -> BlockTable:
    """Build the tables of a law that is cut into ``blocks``; any cut gives the same law."""
    if blocks.width > WIDEST or (blocks.per_side + 1) * blocks.width >= OPEN:
        raise InvalidArgument(
            "The law is too wide for tables of 64 bits",
            must=f"have blocks of at most {WIDEST} integers that end below {OPEN}",
        )
    thresholds = _thresholds(blocks)
    bases = _bases(blocks)
    guide = _guide(thresholds, bases)
    for array in (guide, thresholds, bases):
        array.flags.writeable = False
    return BlockTable(blocks, guide, thresholds, bases)


def _thresholds(blocks: Blocks) -> NDArray[np.uint64]:
    bits = _FIRST_PRECISION
    while True:
        *totals, (whole_low, whole_high) = running_totals(blocks, bits)
        floors = [(low << WORD_BITS) // whole_high for low, _ in totals]
        if all(
            high << WORD_BITS < (floor + 2) * whole_low
            for floor, (_, high) in zip(floors, totals, strict=True)
        ):
            return np.array(floors, dtype=np.uint64)
        bits *= 2


def _bases(blocks: Blocks) -> IntArray:
    """Return the lowest integer of each block."""
    near = np.arange(blocks.per_side, dtype=np.int64) * blocks.width
    if blocks.sides == 1:
        return near
    return np.stack([near, -(near + 1) - (blocks.width - 1)], axis=1).ravel()


def _guide(thresholds: NDArray[np.uint64], bases: IntArray) -> IntArray:
    shift = np.uint64(WORD_BITS - GUIDE_BITS)
    # A piece has the intervals that begin above the threshold before it, and not above its own.
    firsts = (thresholds >> shift).astype(np.int64) + 1  # at most 2**16
    ends = np.append(firsts, np.int64(1 << GUIDE_BITS))
    pieces = np.full(ends.size, OPEN)
    pieces[: bases.size] = bases[: ends.size]
    guide = np.repeat(pieces, np.diff(ends, prepend=np.int64(0)))
    # A threshold opens its own interval and, where t + 1 is the first word of the next, that too.
    guide[thresholds >> shift] = OPEN
    following = thresholds[thresholds < np.uint64(2**WORD_BITS - 1)] + np.uint64(1)
    guide[following >> shift] = OPEN
    return guide
