"""What a draw must be, word by word, in integers and decimals of any length.

A second reading of the design of :mod:`discreet.randomness.tables.blocks`: it shares the cut into
blocks with the package, and the way in which words are handed out, but no table and no arithmetic.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from discreet.core.protocols import Rng
from discreet.randomness.tables.blocks import Blocks
from tests.randomness.high_precision import binary_digits, exp_minus, shares, wedge_share


@cache
def _thresholds(blocks: Blocks) -> list[int]:
    return [binary_digits(share, 64) for share in shares(blocks)]


class RecordingRng:
    """Hands out the words of another generator, and keeps them."""

    def __init__(self, source: Rng) -> None:
        self.source = source
        self.taken: list[int] = []

    def words(self, count: int) -> NDArray[np.uint64]:
        words = self.source.words(count)
        self.taken += words.tolist()
        return words


def first_word(blocks: Blocks, prefix: int, offset: int) -> int:
    """The word from which a lookup takes ``prefix`` and the offset ``offset``."""
    if blocks.width == 1:
        return prefix
    return prefix << (16 if blocks.width <= 1 << 16 else 48) | offset


@define
class Judge:
    """Follows one draw; ``seen`` says by which ways it went."""

    blocks: Blocks
    open_prefixes: frozenset[int]
    words: Iterator[int]
    seen: list[str] = field(factory=list)

    def value(self) -> int:
        while True:
            found = self._once()
            if found is not None:
                return found

    def has_words_left(self) -> bool:
        return next(self.words, None) is not None

    def _once(self) -> int | None:
        """One proposal, or nothing if it is thrown away."""
        width, sides = self.blocks.width, self.blocks.sides
        count = self.blocks.per_side * sides
        prefix, offset = self._split(next(self.words))
        if prefix in self.open_prefixes:
            piece = self._piece(prefix << 48 | next(self.words) >> 16)
            way = "settled"
        else:
            first, last = self._piece(prefix << 48), self._piece((prefix + 1 << 48) - 1)
            assert first == last < count, "the lookup decided what 16 digits leave open"
            piece, way = first, "looked up"
        if piece >= count and (width == 1 or piece >= 2 * count):
            side = piece - (count if width == 1 else 2 * count)
            return self._tail(self.blocks.tail_starts()[side], (1, -1)[side])
        level, side = divmod(piece % count, sides)
        near = level * width + side
        distance = near + (width - 1 - offset if side else offset)
        if piece < count:
            self.seen.append(way)
            return -distance if side else distance
        rise, whole = self._rise(near, distance - near), self._rise(near, width - 1)
        is_kept = not self._is_below(wedge_share(rise, whole))
        self.seen.append("wedge kept" if is_kept else "wedge thrown")
        return (-distance if side else distance) if is_kept else None

    def _split(self, word: int) -> tuple[int, int]:
        width = self.blocks.width
        if width == 1:
            return word & 0xFFFF, 0
        if width <= 1 << 16:
            return word >> 16 & 0xFFFF, word & (width - 1)
        return word >> 48, word & (width - 1)

    def _piece(self, word: int) -> int:
        """How many shares are at most a uniform variable that begins with ``word``."""
        return bisect_right(_thresholds(self.blocks), word)

    def _rise(self, near: int, steps: int) -> Fraction:
        law = self.blocks.law
        end = near + steps
        return law.quadratic * (end**2 - near**2) + law.linear * (end - near)

    def _tail(self, start: int, sign: int) -> int | None:
        steps = self._geometric(self._rise(start, 1))
        law, distance = self.blocks.law, start + steps
        is_kept = law.length is None or distance < law.length
        excess = self._rise(start, steps) - steps * self._rise(start, 1)
        if is_kept and law.quadratic:
            is_kept = self._is_below(exp_minus(excess))
        self.seen.append(f"tail {'kept' if is_kept else 'thrown'}")
        return sign * distance if is_kept else None

    def _geometric(self, rate: Fraction) -> int:
        remainder = self._uniform(rate.denominator)
        while not self._is_below(exp_minus(Fraction(remainder, rate.denominator))):
            remainder = self._uniform(rate.denominator)
        wholes = 0
        while self._is_below(exp_minus(Fraction(1))):
            wholes += 1
        return (remainder + rate.denominator * wholes) // rate.numerator

    def _uniform(self, upper: int) -> int:
        bits = (upper - 1).bit_length()
        count = -(-bits // 64)
        while True:
            drawn = sum(next(self.words) << (64 * place) for place in range(count))
            if drawn >> (64 * count - bits) < upper:
                return drawn >> (64 * count - bits)

    def _is_below(self, share: Decimal) -> bool:
        """Whether a uniform variable is below ``share``; no script here brings a boundary word."""
        if share == 1:
            next(self.words)
            return True
        word, edge = next(self.words), binary_digits(share, 64)
        assert word != edge, "a boundary word"
        return word < edge


def judged(blocks: Blocks, open_prefixes: Iterable[int], words: list[int]) -> Judge:
    return Judge(blocks, frozenset(open_prefixes), iter(words))
