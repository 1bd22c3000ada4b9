"""The pieces of a law to a hundred digits, with ``decimal``: shares nothing with the package."""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import accumulate

from discreet.randomness.tables.blocks import Blocks

DIGITS = 150


def decimal_of(x: Fraction | int) -> Decimal:
    x = Fraction(x)
    with localcontext(prec=DIGITS):
        return Decimal(x.numerator) / Decimal(x.denominator)


def exp_minus(x: Fraction) -> Decimal:
    with localcontext(prec=DIGITS):
        return (-decimal_of(x)).exp()


def binary_digits(x: Decimal, bits: int) -> int:
    """The first ``bits`` binary digits of ``x`` in [0, 1), as an integer."""
    with localcontext(prec=DIGITS):
        return int(x * (1 << bits))


def next_word(x: Decimal, known: int) -> int:
    """The 64 binary digits of ``x`` after the first ``known``."""
    return binary_digits(x, known + 64) & (2**64 - 1)


def share_of(part: list[Decimal], whole: list[Decimal]) -> Decimal:
    with localcontext(prec=DIGITS):
        return sum(part, Decimal(0)) / sum(whole, Decimal(0))


def wedge_share(t: Fraction, whole: Fraction) -> Decimal:
    with localcontext(prec=DIGITS):
        return (1 - exp_minus(t)) / (1 - exp_minus(whole))


def weight(blocks: Blocks, distance: int) -> Decimal:
    law = blocks.law
    return exp_minus(law.quadratic * distance**2 + law.linear * distance)


def pieces(blocks: Blocks) -> Iterator[Decimal]:
    """The sizes of rectangles, wedges and envelopes, from their definition."""
    sides = 2 if blocks.law.two_sided else 1
    near = [m * blocks.width + side for m in range(blocks.per_side) for side in range(sides)]
    tops = [weight(blocks, x) for x in near]
    bottoms = [weight(blocks, x + blocks.width - 1) for x in near]
    with localcontext(prec=DIGITS):
        yield from (blocks.width * bottom for bottom in bottoms)
        if blocks.width > 1:
            yield from (blocks.width * (a - b) for a, b in zip(tops, bottoms, strict=True))
        end = blocks.per_side * blocks.width
        if blocks.law.length is None or end < blocks.law.length:
            for side in range(sides):
                first, second = weight(blocks, end + side), weight(blocks, end + side + 1)
                yield first / (1 - second / first)


@cache
def shares(blocks: Blocks) -> list[Decimal]:
    """The running shares of the pieces; the last one, which is 1, is left out."""
    with localcontext(prec=DIGITS):
        totals = list(accumulate(pieces(blocks)))
        return [total / totals[-1] for total in totals[:-1]]
