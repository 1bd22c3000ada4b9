"""Choices that can be replayed: what a random case is made of."""

from collections.abc import Sequence
from typing import TypeVar

from tests.support.statistics.numbered_rng import NumberedRng

T = TypeVar("T")

_AT_ONCE = 512


class Dice:
    """Small choices from a numbered stream.

    Example:
        >>> [Dice(3).below(10) for _ in range(2)] == [Dice(3).below(10)] * 2
        True
    """

    def __init__(self, number: int, *, label: str = "dice") -> None:
        self.number = number
        self._rng = NumberedRng(number, label=label)
        self._words: list[int] = []

    def below(self, limit: int) -> int:
        """Return a number from 0 up to below ``limit`` (as good as uniform)."""
        if not self._words:
            self._words = self._rng.words(_AT_ONCE).tolist()
        return self._words.pop() % limit

    def between(self, low: int, high: int) -> int:
        """Return a number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """Return True so many times in a hundred."""
        return self.below(100) < percent

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], most: int) -> list[T]:
        """Return one to ``most`` different options, in a random order."""
        left = list(options)
        count = self.between(1, min(most, len(left)))
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return all options, in a random order."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """Return one of the options, each as often as its weight says."""
        place = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            if place < weight:
                return option
            place -= weight
        raise AssertionError("the weights add up")
