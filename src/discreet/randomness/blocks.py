"""Cut the integers into blocks, and weigh the pieces with directed rounding."""

from fractions import Fraction
from itertools import accumulate

from attrs import frozen

from discreet.core.numbers import exp_bounds
from discreet.randomness.law import Law
from discreet.randomness.settle import Interval

_BLOCKS_PER_UNIT = 64
_EXPONENT_OF_TAIL = 17


@frozen
class Blocks:
    """A law, the width of its blocks (a power of two) and how many of them each side has.

    On the positive side block ``m`` holds the distances ``m * width ..``; on the negative side,
    which does not hold 0 again, it holds ``m * width + 1 ..``. Blocks are numbered outwards,
    positive before negative.
    """

    law: Law
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


def cut(law: Law) -> Blocks:
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


def _falls_slowly(law: Law, width: int) -> bool:
    """Tell whether ``width`` is at most a 64th of the scale (of sigma, for a Gaussian)."""
    spread = _BLOCKS_PER_UNIT * width
    return law.linear * spread <= 1 and 2 * law.quadratic * spread * spread <= 1


def running_totals(blocks: Blocks, bits: int) -> list[Interval]:
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


def _weights(blocks: Blocks, bits: int) -> tuple[list[Interval], list[Interval]]:
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


def _progression(law: Law, start: int, step: int, count: int, bits: int) -> list[Interval]:
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


def _exp_minus(x: Fraction, bits: int) -> Interval:
    """Enclose ``e**-x`` in units of ``2**-bits``."""
    lower, upper = exp_bounds(-x, bits)
    one = 1 << bits
    low = lower.numerator * one // lower.denominator
    return low, -(-upper.numerator * one // upper.denominator)
