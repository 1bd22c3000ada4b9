r"""Integer tables that draw from a law: exact, and one lookup for almost every value.

The design. Cut the support into blocks of ``width`` integers, a power of two. Under the law's
weight lie, for each block, a rectangle as high as the lightest integer, and above it a wedge; the
far tail lies under a geometric envelope. Choose one of these pieces with probability proportional
to its size, and a point in it uniformly; keep the integer below if the point is under the weight,
otherwise start again. A point of a rectangle is always kept, so nearly every value is ``base +
offset`` with the base of the rectangle and a uniform offset: no rejection, no arithmetic on reals.

The lookup. A piece is chosen by comparing a uniform ``U`` with the running shares of the pieces.
The first 16 binary digits of ``U`` decide in all but a few of the 65,536 intervals; there one
lookup gives the base. Elsewhere 48 more digits are drawn and compared with the table of 64-bit
thresholds; if these leave a doubt, :func:`~discreet.randomness.settle.locate` draws more.

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

from functools import lru_cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.randomness.blocks import Blocks, cut, running_totals
from discreet.randomness.law import Law
from discreet.randomness.settle import WORD_BITS

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
def block_table(law: Law) -> BlockTable:
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
    near = np.array([blocks.near(i) for i in range(blocks.per_side * blocks.sides)], dtype=np.int64)
    if blocks.sides == 2:
        near[1::2] = -near[1::2] - (blocks.width - 1)
    return near


def _guide(thresholds: NDArray[np.uint64], bases: IntArray) -> IntArray:
    shift = np.uint64(WORD_BITS - GUIDE_BITS)
    starts = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << shift
    piece = np.searchsorted(thresholds, starts, side="left")
    guide = np.full(starts.size, OPEN)
    is_rectangle = piece < bases.size
    guide[is_rectangle] = bases[piece[is_rectangle]]
    # A threshold opens its own interval and, where t + 1 is the first word of the next, that too.
    guide[thresholds >> shift] = OPEN
    following = thresholds[thresholds < np.uint64(2**WORD_BITS - 1)] + np.uint64(1)
    guide[following >> shift] = OPEN
    return guide
