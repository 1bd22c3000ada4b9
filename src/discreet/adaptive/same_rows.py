"""Whether rows that should be other people's are those of a holdout: it finds mistakes."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

LOOKED_AT = 64
"""So many of the other rows are looked for."""

_HARDLY_EVER = Fraction(1, 10**6)

_BY_CHANCE = Fraction(2, 5)

_Marks = NDArray[np.uint64]


@frozen(eq=False)
class MarkedRows:
    r"""The rows of a holdout, as marks: rows that are equal have equal ones.

    An independent row equals *exactly one* of :math:`n` others with a chance of at most
    :math:`(1 - 1/n)^{n-1}`, about 0.37, whatever the population is: that is the largest value of
    :math:`np(1 - p)^{n-1}`. If nearly all do, they are no independent rows.
    """

    single: _Marks | None = field(repr=False)
    """The marks that one row alone has, in order; None if rows cannot be compared."""

    @classmethod
    def of(cls, rows: Any) -> "MarkedRows":
        """Return the marks of rows."""
        marks = _marks(rows)
        if marks is None:
            return cls(None)
        found, counts = np.unique(marks, return_counts=True)
        return cls(found[counts == 1])

    def are_met_by(self, others: Any) -> bool:
        """Tell whether other rows are these, as far as that can be seen.

        Example:
            >>> rows = np.arange(500.0).reshape(100, 5)
            >>> known = MarkedRows.of(rows)
            >>> known.are_met_by(rows[::3].copy()), known.are_met_by(rows + 1000)
            (True, False)
            >>> MarkedRows.of(np.zeros((100, 5))).are_met_by(np.zeros((50, 5)))
            False
        """
        marks = None if self.single is None else _marks(_some(others))
        if self.single is None or marks is None or not len(self.single) or not len(marks):
            return False
        places = np.minimum(np.searchsorted(self.single, marks), len(self.single) - 1)
        met = int(np.count_nonzero(self.single[places] == marks))
        return _chance_of(met, len(marks)) < _HARDLY_EVER


def _chance_of(met: int, looked: int) -> Fraction:
    """Return how likely so many rows are met by chance, or more."""
    one, none = _BY_CHANCE, 1 - _BY_CHANCE
    terms = (math.comb(looked, k) * one**k * none ** (looked - k) for k in range(met, looked + 1))
    return sum(terms, Fraction(0))


def _some(rows: Any) -> Any:
    """Return some rows, from all over."""
    count = len(rows)
    places = sorted({(count - 1) * step // (LOOKED_AT - 1) for step in range(LOOKED_AT)})
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    return rows[places] if isinstance(rows, np.ndarray) else [rows[place] for place in places]


def _marks(rows: Any) -> _Marks | None:
    """Return a number for each row; None if rows cannot be compared."""
    if hasattr(rows, "iloc"):  # a frame or a series of pandas
        rows = rows.to_numpy()
    try:
        numbers = np.asarray(rows)
    except ValueError:  # rows of several lengths
        numbers = np.empty(0, dtype=object)
    if numbers.dtype.kind in "biuf" and len(numbers):
        return _of_numbers(numbers.reshape(len(numbers), -1).astype(np.float64))
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, Sequence):
        return None
    try:
        found = [hash(tuple(row)) if isinstance(row, list) else hash(row) for row in rows]
    except TypeError:
        return None
    return np.array(found, dtype=np.int64).view(np.uint64)


def _of_numbers(rows: NDArray[np.float64]) -> _Marks:
    # Adding 0 makes -0 and 0 the same. The upper half of a float has most of what it says.
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)
    bits = bits ^ (bits >> np.uint64(31))
    odd = np.arange(1, 2 * bits.shape[1], 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = bits * odd
    return np.asarray((mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64))
