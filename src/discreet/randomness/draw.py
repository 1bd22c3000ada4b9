"""Draw an array of values from a law, through its tables."""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import IntArray, Rng
from discreet.randomness.block_table import OPEN, BlockTable, block_table
from discreet.randomness.blocks import running_totals
from discreet.randomness.law import Law
from discreet.randomness.settle import locate
from discreet.randomness.size import Size, shape_of
from discreet.randomness.tail import draw_beyond
from discreet.randomness.wedge import under_weight

_CHUNK = 1 << 14
_FURTHEST = 1 << 62
_ONE = np.uint64(1)


def draw(law: Law, size: Size, rng: Rng) -> IntArray:
    """Return independent values of ``law``, exactly (see :mod:`discreet.randomness.block_table`).

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
