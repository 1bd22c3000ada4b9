"""Ratios: a column of exact numbers, worked out for all groups at once."""

import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.rounding import short_down

Integers = NDArray[Any]
"""Whole numbers: of 64 bits where they fit, and Python's own (``object``) where they do not."""
Mask = NDArray[np.bool_]

LARGEST = Fraction(10) ** 300
"""A number beyond this size is out of range, as it would be for a float."""
SURELY_KEPT = 900
"""A number of so many bits is below the largest, and whole numbers are quick to look at."""
KEPT = 512
"""Significant bits of what was shortened."""

_LONG = 1024
_SAFE = 1 << 62
_EXACT_FLOAT = 1 << 53


def kept(value: Fraction) -> Fraction | None:
    """Return a number of sensible length and size, or None if it is out of range.

    A long one is shortened, so that no query can make us work with endless numbers.
    """
    longest = max(value.numerator.bit_length(), value.denominator.bit_length())
    if longest <= SURELY_KEPT:
        return value
    if abs(value) > LARGEST:
        return None
    if longest <= _LONG:
        return value
    return Fraction(0) if abs(value) < 1 / LARGEST else short_down(value, KEPT)


@frozen(eq=False)
class Ratios:
    """Quotients ``tops / bottoms`` of whole numbers, with positive bottoms; not in lowest terms.

    Guarantee:
        All arithmetic is exact. Before each step the largest possible result is worked out; where
        64 bits might not hold it the step is done with Python's integers, which have no end. Only
        :meth:`kept` shortens a number.

    Example:
        >>> halves = Ratios.of([Fraction(1, 2), None, Fraction(3)])
        >>> halves.plus(halves).scalars()
        [Fraction(1, 1), None, Fraction(6, 1)]
    """

    tops: Integers
    bottoms: Integers
    known: Mask
    """Where there is a number; elsewhere it is 0/1, and means nothing."""

    @staticmethod
    def of(values: Sequence[Fraction | None]) -> "Ratios":
        """Return a column of these numbers; None stands for a missing one."""
        known = np.array([value is not None for value in values], dtype=np.bool_)
        tops = [0 if value is None else value.numerator for value in values]
        bottoms = [1 if value is None else value.denominator for value in values]
        return Ratios(whole(tops), whole(bottoms), known)

    @staticmethod
    def integers(values: Sequence[Any]) -> "Ratios":
        """Return a column of integers; None stands for a missing one."""
        known = np.array([value is not None for value in values], dtype=np.bool_)
        tops = whole([0 if value is None else value for value in values])
        return Ratios(tops, np.ones(len(tops), dtype=np.int64), known)

    @staticmethod
    def steps(values: Sequence[int], step: Fraction) -> "Ratios":
        """Return whole multiples of a step."""
        tops = times(whole(values), whole([step.numerator]))
        bottoms = np.broadcast_to(whole([step.denominator]), tops.shape)
        return Ratios(tops, bottoms, np.ones(len(tops), dtype=np.bool_))

    @staticmethod
    def constant(value: Fraction | None, size: int) -> "Ratios":
        """Return the same number everywhere."""
        one = Ratios.of([value])
        tops, bottoms, known = (
            np.broadcast_to(part, size) for part in (one.tops, one.bottoms, one.known)
        )
        return Ratios(tops, bottoms, known)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.known)

    def bits(self) -> int:
        """Return the length of the longest number in it."""
        return max(largest(self.tops), largest(self.bottoms)).bit_length()

    def lengths(self) -> list[int]:
        """Return how many bits each denominator has in lowest terms."""
        lowest = self.bottoms // np.gcd(self.tops, self.bottoms)
        return [bottom.bit_length() for bottom in lowest.tolist()]

    def pairs(self) -> Iterable[tuple[int, int, bool]]:
        """Return numerator, denominator and whether the number is known, row by row."""
        return zip(self.tops.tolist(), self.bottoms.tolist(), self.known.tolist(), strict=True)

    def scalars(self) -> list[Fraction | None]:
        """Return the numbers in lowest terms, one by one."""
        return [Fraction(top, bottom) if known else None for top, bottom, known in self.pairs()]

    def floats(self) -> NDArray[np.float64]:
        """Return the nearest floats: a quotient of exact floats is rounded correctly."""
        if max(largest(self.tops), largest(self.bottoms)) <= _EXACT_FLOAT:
            return np.asarray(self.tops.astype(np.float64) / self.bottoms.astype(np.float64))
        quotients = self.tops.astype(object) / self.bottoms.astype(object)
        return np.asarray(quotients, dtype=np.float64)

    def is_whole(self, unit: int = 1) -> bool:
        """Tell whether every number is an integer, in parts of which ``unit`` make a whole."""
        return bool((times(self.tops, whole([unit])) % self.bottoms == 0).all())

    def least_positive(self) -> Fraction | None:
        """Return the smallest number above 0, if there is one."""
        floats = np.where(self.known & (self.tops > 0), self.floats(), np.inf)
        least = floats.min(initial=np.inf)
        near = self.take(np.flatnonzero(np.isfinite(floats) & (floats <= least)))
        return min((number for number in set(near.scalars()) if number), default=None)

    def take(self, rows: NDArray[np.int64]) -> "Ratios":
        """Return the rows at these places, in this order."""
        return Ratios(self.tops[rows], self.bottoms[rows], self.known[rows])

    def where_known(self, mask: Mask) -> "Ratios":
        """Return the numbers, known only where the mask is true as well."""
        known = self.known & mask
        if known.all():
            return self
        one = np.ones((), dtype=np.int64)
        tops, bottoms = np.where(known, self.tops, 0 * one), np.where(known, self.bottoms, one)
        return Ratios(tops, bottoms, known)

    def kept(self) -> "Ratios":
        """Return numbers of sensible length and size; what is out of range is missing."""
        if self.bits() <= SURELY_KEPT:
            return self
        return Ratios.of([None if number is None else kept(number) for number in self.scalars()])

    def plus(self, other: "Ratios", sign: int = 1) -> "Ratios":
        """Return the sums, or the differences if ``sign`` is -1."""
        known = self.known & other.known
        if self.bottoms is other.bottoms or np.array_equal(self.bottoms, other.bottoms):
            return Ratios(add(self.tops, sign * other.tops), self.bottoms, known)
        first, second = times(self.tops, other.bottoms), times(other.tops, self.bottoms)
        return Ratios(add(first, sign * second), times(self.bottoms, other.bottoms), known)

    def minus(self, other: "Ratios") -> "Ratios":
        """Return the differences."""
        return self.plus(other, -1)

    def times(self, other: "Ratios") -> "Ratios":
        """Return the products."""
        tops, bottoms = times(self.tops, other.tops), times(self.bottoms, other.bottoms)
        return Ratios(tops, bottoms, self.known & other.known)

    def over(self, other: "Ratios") -> "Ratios":
        """Return the quotients; there is none by zero."""
        sign = np.where(other.tops < 0, -1, 1)
        tops = times(times(self.tops, other.bottoms), sign)
        bottoms = times(self.bottoms, np.where(other.tops == 0, 1, abs(other.tops)))
        found = Ratios(tops, bottoms, self.known)
        return found.where_known(other.known & (other.tops != 0))

    def negative(self) -> "Ratios":
        """Return the numbers with the other sign."""
        return Ratios(-self.tops, self.bottoms, self.known)

    def absolute(self) -> "Ratios":
        """Return the sizes."""
        return Ratios(abs(self.tops), self.bottoms, self.known)

    def compared(self, other: "Ratios", relation: Callable[[Any, Any], Any]) -> Mask:
        """Tell where a relation such as ``operator.lt`` holds; where one is missing, anything."""
        first, second = times(self.tops, other.bottoms), times(other.tops, self.bottoms)
        return np.asarray(relation(first, second), dtype=np.bool_)

    def rounded_down(self) -> Integers:
        """Return the largest integers that are not above."""
        return np.asarray(self.tops // self.bottoms)

    def truncated(self) -> "Ratios":
        """Return the integers towards 0."""
        tops = np.sign(self.tops) * (abs(self.tops) // self.bottoms)
        return Ratios(tops, np.ones(len(self), dtype=np.int64), self.known)


def choose(mask: Mask, first: Ratios, second: Ratios) -> Ratios:
    """Return the first where the mask is true, and the second elsewhere."""
    return Ratios(
        np.where(mask, first.tops, second.tops),
        np.where(mask, first.bottoms, second.bottoms),
        np.where(mask, first.known, second.known),
    )


def larger(first: Ratios, second: Ratios) -> Ratios:
    """Return the larger one, where both are known."""
    return choose(first.compared(second, operator.ge), first, second)


def smaller(first: Ratios, second: Ratios) -> Ratios:
    """Return the smaller one, where both are known."""
    return choose(first.compared(second, operator.le), first, second)


def within(values: Ratios, lower: Ratios, upper: Ratios) -> Ratios:
    """Return the values moved into a range."""
    return smaller(larger(values, lower), upper)


def whole(values: Sequence[int]) -> Integers:
    """Return integers as an array, of 64 bits if they fit."""
    if all(-_SAFE < value < _SAFE for value in values):
        return np.array(values, dtype=np.int64)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def largest(values: Integers) -> int:
    """Return the largest size of any number in it."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


def times(first: Integers, second: Integers) -> Integers:
    """Return the products, exactly."""
    return _exactly(np.multiply, first, second, largest(first) * largest(second))


def add(first: Integers, second: Integers) -> Integers:
    """Return the sums, exactly."""
    return _exactly(np.add, first, second, largest(first) + largest(second))


def _exactly(work: Callable[..., Any], first: Integers, second: Integers, bound: int) -> Integers:
    if bound < _SAFE:
        return np.asarray(work(first, second))
    return np.asarray(work(first.astype(object), second.astype(object)))
