"""Private integers: the exact answers, which only a mechanism may look at."""

from typing import Never

import numpy as np

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Mechanism, Rng


class ExactAggregates:
    """The exact integers of each aggregate, one for each key. Private: never shown, never stored.

    There is no accessor: :meth:`randomise` hands an array to a mechanism and returns what comes
    out. No repr of values, no length, no iteration, no pickle, no copy.
    """

    __slots__ = ("__columns",)

    def __init__(self, columns: tuple[IntArray, ...]) -> None:
        for column in columns:
            if column.dtype != np.int64 or column.ndim != 1:
                raise InvalidArgument("Exact aggregates are one-dimensional 64-bit integers")
        self.__columns = columns

    def randomise(self, index: int, mechanism: Mechanism, rng: Rng) -> IntArray:
        """Return the aggregate at ``index`` after ``mechanism``."""
        return mechanism.release(self.__columns[index], rng)

    def __repr__(self) -> str:
        """Say that it is private, and nothing else."""
        return "ExactAggregates(private)"

    def __reduce__(self) -> Never:
        """Refuse to be pickled or copied."""
        raise TypeError("exact aggregates are private and cannot be stored or copied")
