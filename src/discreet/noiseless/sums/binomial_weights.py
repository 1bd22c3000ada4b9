"""Binomial laws in blocks: what is averaged over how many rows are hidden is certified by them."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from attrs import frozen

from discreet.core.rounding import dyadic_up, exp_up

_SCALE = 1200
_ONE = 1 << _SCALE
_LEAST = _ONE >> 1050
_BITS = 128
_WIDE = 4 * 10**6
_ROUGH = 38
_PARTS = 4


@frozen
class BinomialBlock:
    """Numbers of successes from ``first`` on, up to the next block, and their probability.

    Of a wide law: at least so much probability, together with all blocks before it.
    """

    first: int
    chance: Fraction


@lru_cache(maxsize=64)
def binomial_blocks(trials: int, chance: Fraction, blocks: int) -> tuple[BinomialBlock, ...]:
    r"""Return blocks of a binomial law, with which the mean of what falls is never too small.

    Guarantee:
        For a function :math:`f \le 1` that falls, :math:`E[f(M)]` is at most the sum of the chances
        times :math:`f` at the first numbers. Of most laws no chance is below that of its block.
        Weights go from the most likely number outwards, each the last one times :math:`(N - k) p /
        ((k + 1)(1 - p))`, rounded down and up in integers; what is beyond the last is bounded by a
        geometric series, since the ratios fall. A probability is a rounded-up weight over the sum
        of all rounded-down ones.

        Of a law with a variance above four million, the chances of the first blocks together are
        :math:`e^{-(\mu - m)^2 / 2\mu}`, Chernoff's bound of :math:`P[M < m]` for the first number
        m of the next block. Summed by parts, :math:`\sum_j (f(m_j) - f(m_{j+1})) P[M < m_{j+1}]`
        and the last value are a bound, and each factor of :math:`P` is at least 0.

    Example:
        >>> [(block.first, round(float(block.chance), 4)) for block in
        ...  binomial_blocks(3, Fraction(1, 2), 48)]
        [(0, 0.125), (1, 0.375), (2, 0.375), (3, 0.125)]
    """
    if chance in {0, 1}:
        return (BinomialBlock(trials if chance else 0, Fraction(1)),)
    if trials * chance * (1 - chance) > _WIDE:
        return tuple(_wide_blocks(trials, chance))
    peak = min(trials, int((trials + 1) * chance))
    odds = chance / (1 - chance)
    rising, beyond = _walk(peak, trials, odds)
    # Counted from the other end, the law is binomial again.
    falling, below = _walk(trials - peak, trials, 1 / odds)
    lows = [low for low, _ in reversed(falling)] + [_ONE] + [low for low, _ in rising]
    highs = [high for _, high in reversed(falling)] + [_ONE] + [high for _, high in rising]
    first, total = peak - len(falling), sum(lows)
    found = [BinomialBlock(0, dyadic_up(Fraction(below, total), _BITS))] if first else []
    for start, end in _edges(len(highs), peak - first, blocks, trials, chance):
        weight = sum(highs[start:end]) + (beyond if end == len(highs) else 0)
        found.append(BinomialBlock(first + start, dyadic_up(Fraction(weight, total), _BITS)))
    return tuple(found)


def _walk(peak: int, trials: int, odds: Fraction) -> tuple[list[tuple[int, int]], int]:
    """Return the weights above the peak, and a bound on the sum of those that are left out."""
    up, down = odds.numerator, odds.denominator
    shift = 256
    least, most = (up << shift) // down, -((-up << shift) // down)
    low = high = _ONE
    weights: list[tuple[int, int]] = []
    for k in range(peak, trials):
        low = (low * (trials - k) * least // (k + 1)) >> shift
        high = -((-high * (trials - k) * most // (k + 1)) >> shift)
        if high < _LEAST:
            # The ratios fall, so the rest is at most high / (1 - ratio).
            ratio = Fraction(trials - k, k + 1) * odds
            rest = high / (1 - ratio) if ratio < 1 else Fraction(_ONE)
            return weights, int(rest) + 1
        weights.append((low, high))
    return weights, 0


def _edges(
    length: int, peak: int, blocks: int, trials: int, chance: Fraction
) -> Iterator[tuple[int, int]]:
    """Yield blocks: fine ones around the peak and below it, coarser ones far from it."""
    deviation = isqrt(int(trials * chance * (1 - chance))) + 1
    near, far = max(0, peak - 9 * deviation), min(length, peak + 3 * deviation)
    width = max(1, -(-12 * deviation // blocks))
    coarse = max(width, -(-near // 8))
    cuts = [*range(0, near, coarse), *range(near, far, width), far, length]
    cuts = sorted({cut for cut in cuts if cut <= length})
    yield from itertools.pairwise(cuts)


def _wide_blocks(trials: int, chance: Fraction) -> Iterator[BinomialBlock]:
    """Yield blocks that end up to 38 square roots of the mean below it: e^-722 is left out."""
    mean = trials * chance
    root = isqrt(int(mean)) + 1
    ends = [int(mean) - root * step // _PARTS for step in range(_ROUGH * _PARTS, -1, -1)]
    first, before = 0, Fraction(0)
    for end in ends:
        if 0 < end < mean:
            until = min(Fraction(1), dyadic_up(exp_up(-((mean - end) ** 2) / (2 * mean)), _BITS))
            yield BinomialBlock(first, until - before)
            first, before = end, until
    yield BinomialBlock(first, 1 - before)
