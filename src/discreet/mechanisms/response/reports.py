"""What people hold and what they report: small integers, checked without ever being quoted."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import uniform_integers


def answers(values: IntArray, categories: int) -> IntArray:
    """Return the values as an array, refusing anything outside ``0 .. categories - 1``.

    Example:
        >>> answers(np.array([0, 1]), 2).tolist()
        [0, 1]
    """
    array = np.asarray(values)
    if array.dtype != np.int64:
        raise InvalidArgument(
            "The answers have the wrong type", must="be 64-bit integers", got=str(array.dtype)
        )
    if array.size and (array.min() < 0 or array.max() >= categories):
        raise InvalidArgument(
            "An answer is out of range", must=f"be a whole number from 0 to {categories - 1}"
        )
    return array


def some(reports: IntArray, categories: int) -> IntArray:
    """Return the reports, refusing an empty array: nothing can be estimated from no reports."""
    array = answers(reports, categories)
    if not array.size:
        raise InvalidArgument("There are no reports", must="give at least one report")
    return array


def count(reports: int) -> int:
    """Return a number of reports, refusing one below 1."""
    if isinstance(reports, bool) or not isinstance(reports, int | np.integer) or reports < 1:
        raise InvalidArgument(
            "reports is out of range", must="be a whole number of at least 1", got=repr(reports)
        )
    return int(reports)


def truth_or_other(held: IntArray, tells: NDArray[np.bool_], categories: int, rng: Rng) -> IntArray:
    """Return what each person holds, or any of the other categories, all equally likely.

    An offset is drawn for everybody, so the words used depend on no value and on no coin.
    """
    others = uniform_integers(categories - 1, held.shape, rng) + 1
    return (held + np.where(tells, 0, others)) % categories
