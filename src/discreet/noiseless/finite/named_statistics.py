"""Exact statistics of rows that a model file can name."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidArgument

RowStatistic = Callable[[Sequence[Any]], Hashable]
"""A function of all rows."""


def _numbers(rows: Sequence[Any]) -> list[Fraction]:
    if any(not isinstance(row, int | Fraction) for row in rows):
        raise InvalidArgument(
            "This statistic is of numbers", must="have a universe of numbers, and no texts"
        )
    return [Fraction(row) for row in rows]


def _short(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def total(rows: Sequence[Any]) -> int | Fraction:
    """Return the sum.

    Example:
        >>> total([1, 2])
        3
    """
    return _short(sum(_numbers(rows), Fraction(0)))


def mean(rows: Sequence[Any]) -> int | Fraction:
    """Return the mean."""
    return _short(sum(_numbers(rows), Fraction(0)) / len(rows))


def parity(rows: Sequence[Any]) -> int | Fraction:
    """Return the sum modulo 2.

    Example:
        >>> parity([1, 0, 1])
        0
    """
    return _short(sum(_numbers(rows), Fraction(0)) % 2)


def sign(rows: Sequence[Any]) -> int:
    """Return whether the sum is above, at or below 0: 1, 0 or -1."""
    value = sum(_numbers(rows), Fraction(0))
    return (value > 0) - (value < 0)


def histogram(rows: Sequence[Any]) -> tuple[tuple[Any, int], ...]:
    """Return how often each value occurs.

    Example:
        >>> histogram("aba")
        (('a', 2), ('b', 1))
    """
    return tuple(sorted(Counter(rows).items(), key=lambda item: repr(item[0])))


def largest(rows: Sequence[Any]) -> Hashable:
    """Return the largest value."""
    return _short(max(_numbers(rows)))


def smallest(rows: Sequence[Any]) -> Hashable:
    """Return the smallest value."""
    return _short(min(_numbers(rows)))


def count_of(value: Any) -> RowStatistic:
    """Return the statistic that counts rows with one value.

    Example:
        >>> count_of("a")("aba")
        2
    """
    return lambda rows: sum(row == value for row in rows)


STATISTICS: Mapping[str, RowStatistic] = {
    "sum": total,
    "mean": mean,
    "parity": parity,
    "sign": sign,
    "histogram": histogram,
    "maximum": largest,
    "minimum": smallest,
}
"""By name; ``count`` needs a value, and is made by ``count_of``."""
