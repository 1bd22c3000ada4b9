"""A hierarchy: places within places, one at the top. It is public."""

from collections.abc import Hashable, Sequence
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.synthesis.counted.counted_rows import sum_integers


@frozen(eq=False)
class Hierarchy:
    """Levels of places: each place of a level lies in one place of the level above.

    The first level has one place, in which everything lies. The names come from a declaration,
    never from the rows: a district without anyone in it is there too.

    Example:
        >>> nation = Hierarchy.of([("north", "n1"), ("north", "n2"), ("south", "s1")])
        >>> nation.sizes
        (1, 2, 3)
        >>> [level.tolist() for level in nation.sums(np.array([5, 0, 7]))]
        [[12], [5, 7], [5, 0, 7]]
    """

    above: tuple[IntArray, ...] = field(repr=False)
    """For each level but the first: the place above each of its places."""
    names: tuple[tuple[Hashable, ...], ...] = field(default=(), repr=False)
    """The names of the places of each level but the first, as paths, if they have names."""

    def __attrs_post_init__(self) -> None:
        """Refuse a level that leaves a place above it empty, or points beyond it."""
        size = 1
        for places in self.above:
            if not np.array_equal(np.unique(places), np.arange(size)):
                raise InvalidArgument(
                    "The levels do not fit together",
                    must="have at least one place below each place of the level above",
                )
            size = len(places)
        if not self.above:
            raise InvalidArgument("A hierarchy has at least two levels")

    @classmethod
    def of(cls, paths: Sequence[Sequence[Hashable]]) -> Self:
        """Return the hierarchy of the lowest places, each given by its path from the top."""
        depths = {len(path) for path in paths}
        if len(depths) != 1 or not min(depths):
            raise InvalidArgument("All paths of a hierarchy are of one length, at least 1")
        above: list[IntArray] = []
        names: list[tuple[Hashable, ...]] = []
        upper: dict[tuple[Hashable, ...], int] = {(): 0}
        for depth in range(1, depths.pop() + 1):
            here = dict.fromkeys(tuple(path[:depth]) for path in paths)
            above.append(np.array([upper[path[:-1]] for path in here], dtype=np.int64))
            names.append(tuple(here))
            upper = {path: place for place, path in enumerate(here)}
        if len(upper) != len(paths):
            raise InvalidArgument("Two of the lowest places have the same path")
        return cls(tuple(above), tuple(names))

    @classmethod
    def uniform(cls, cells: int, branching: int) -> Self:
        """Return the tree over a row of cells in which each place has ``branching`` below it.

        Example:
            >>> Hierarchy.uniform(10, 4).sizes
            (1, 3, 10)
        """
        size, width = check.whole(cells), check.whole(branching)
        if size < 2 or width < 2:
            raise InvalidArgument(
                "No tree has this shape",
                must="have at least 2 cells, and at least 2 below each place",
                got=f"{cells} cells, {branching} below each",
            )
        width = min(width, size)
        above: list[IntArray] = []
        while size > 1:
            above.append(np.arange(size, dtype=np.int64) // width)
            size = -(-size // width)
        return cls(tuple(reversed(above)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many places each level has."""
        return (1, *(len(places) for places in self.above))

    def sums(self, lowest: IntArray) -> list[IntArray]:
        """Return the counts of each level, in whole numbers; ``lowest`` are those of the last."""
        counts = np.asarray(lowest)
        if counts.shape != (self.sizes[-1],) or counts.dtype != np.int64:
            raise InvalidArgument(
                "The counts do not fit the hierarchy",
                must=f"be {self.sizes[-1]} whole numbers of 64 bits",
            )
        found = [counts]
        for places, size in zip(reversed(self.above), reversed(self.sizes[:-1]), strict=True):
            found.append(sum_integers(places, found[-1], size))
        return found[::-1]


def fitted(
    hierarchy: Hierarchy,
    counts: Sequence[NDArray[np.float64]],
    variances: Sequence[NDArray[np.float64]],
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    r"""Return for each place the best guess from itself and all below it, and its variance.

    Going up, a place has two unbiased guesses: its own count :math:`y` with variance :math:`v`, and
    the sum :math:`s` of the guesses below with variance :math:`w`. Their errors are independent, so
    :math:`(y/v + s/w)/(1/v + 1/w)` is the best of all weighted means, with variance
    :math:`1/(1/v + 1/w)` [HRMS10, Theorem 3]. A place that was not measured has variance
    :math:`\infty`, one that is known has 0.
    """
    best, spread = [counts[-1]], [variances[-1]]
    for level in range(len(counts) - 2, -1, -1):
        places, size = hierarchy.above[level], hierarchy.sizes[level]
        below = np.bincount(places, weights=best[-1], minlength=size)
        around = np.bincount(places, weights=spread[-1], minlength=size)
        own, mine = counts[level], variances[level]
        unknown = np.isinf(mine)
        sure = mine + around == 0
        weight = np.where(unknown, 0.0, around / np.where(unknown | sure, 1.0, mine + around))
        weight = np.where(sure, 1.0, weight)
        best.append(below + weight * (np.where(unknown, 0.0, own) - below))
        spread.append(np.where(unknown, around, np.where(unknown, 0.0, mine) * weight))
    return best[::-1], spread[::-1]


def consistent(
    hierarchy: Hierarchy,
    counts: Sequence[NDArray[np.float64]],
    variances: Sequence[NDArray[np.float64]],
) -> list[NDArray[np.float64]]:
    r"""Return the counts of least weighted squared error that agree on all levels.

    Going down, what a place has more or less than those below it is divided among them by their
    variances. The result is the best linear unbiased estimate of all counts [HRMS10, Theorem 4].
    """
    best, spread = fitted(hierarchy, counts, variances)
    found = [best[0]]
    for level, places in enumerate(hierarchy.above):
        size = hierarchy.sizes[level]
        lacking = found[-1] - np.bincount(places, weights=best[level + 1], minlength=size)
        around = np.bincount(places, weights=spread[level + 1], minlength=size)
        share = spread[level + 1] / np.where(around > 0, around, 1.0)[places]
        found.append(best[level + 1] + share * lacking[places])
    return found
