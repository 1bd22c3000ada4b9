"""Junction trees: which columns are looked at together, so that a model of many stays computable.

Columns are numbers. Groups of them must each lie in one *clique*; cliques are joined to a tree in
which the cliques that have a column are connected. Then inference is exact and takes time in the
cells of the cliques, instead of in those of the whole universe [KF09, Section 10].
"""

import math
from collections.abc import Iterable, Sequence

from attrs import frozen

from discreet.core.errors import InvalidArgument

Columns = tuple[int, ...]
"""Some columns, by their numbers, in rising order."""

MOST_CELLS = 10_000_000
"""How many cells one clique may have."""


@frozen
class Branch:
    """A clique, the place of the one above it in the tree, and the columns that they share."""

    columns: Columns
    above: int | None
    shared: Columns


@frozen
class JunctionTree:
    """Cliques in an order in which each comes after the one above it; the first is the root."""

    sizes: tuple[int, ...]
    """How many values each column has."""
    branches: tuple[Branch, ...]

    def cells(self) -> int:
        """Return how many cells all cliques have together."""
        return sum(cells(self.sizes, branch.columns) for branch in self.branches)

    def home(self, columns: Columns) -> int | None:
        """Return the place of the smallest clique that has all of the columns, if one has."""
        wanted = set(columns)
        fitting = [
            (cells(self.sizes, branch.columns), place)
            for place, branch in enumerate(self.branches)
            if wanted <= set(branch.columns)
        ]
        return min(fitting)[1] if fitting else None

    def shape(self, place: int) -> tuple[int, ...]:
        """Return how many values the columns of a clique have."""
        return tuple(self.sizes[column] for column in self.branches[place].columns)


def cells(sizes: Sequence[int], columns: Iterable[int]) -> int:
    """Return how many cells the table of some columns has."""
    return math.prod(sizes[column] for column in columns)


def junction_tree(
    sizes: Sequence[int], groups: Iterable[Iterable[int]], *, most_cells: int = MOST_CELLS
) -> JunctionTree:
    """Return a tree in which each group of columns lies in one clique, and each column in some.

    Columns are eliminated one after the other, always the one whose clique has the fewest cells.
    Which order is best cannot be found out quickly; this one is exact where the groups make a tree.
    """
    found = _maximal(_eliminated(sizes, groups))
    largest = _largest(sizes, found)
    if largest > most_cells:
        raise InvalidArgument(
            "The tables overlap too much to be put together",
            must=f"need at most {most_cells:,} cells at once",
            got=f"{largest:,}",
            next="Take fewer tables, fewer columns in each, or coarser values",
        )
    return JunctionTree(tuple(sizes), _joined(found))


def largest_clique(sizes: Sequence[int], groups: Iterable[Iterable[int]]) -> int:
    """Return how many cells the largest clique of the tree of some groups has."""
    return _largest(sizes, _eliminated(sizes, groups))


def _largest(sizes: Sequence[int], cliques: Iterable[Iterable[int]]) -> int:
    return max((cells(sizes, clique) for clique in cliques), default=1)


def _eliminated(sizes: Sequence[int], groups: Iterable[Iterable[int]]) -> list[set[int]]:
    near: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for group in groups:
        members = set(group)
        for column in members:
            near[column] |= members - {column}
    found = []
    while near:
        column = min(near, key=lambda one: (sizes[one] * cells(sizes, near[one]), one))
        neighbours = near.pop(column)
        found.append({column, *neighbours})
        for one in neighbours:
            near[one] |= neighbours - {one}
            near[one].discard(column)
    return found


def _maximal(cliques: list[set[int]]) -> list[Columns]:
    """Return the cliques that lie in no other."""
    kept: list[set[int]] = []
    for clique in sorted(cliques, key=len, reverse=True):
        if not any(clique <= other for other in kept):
            kept.append(clique)
    return [tuple(sorted(clique)) for clique in kept]


def _joined(cliques: list[Columns]) -> tuple[Branch, ...]:
    """Join the cliques by the columns that they share, the most first.

    For the cliques of a chordal graph a spanning tree of the largest intersections is a junction
    tree [KF09, Theorem 10.6 and Exercise 10.14].
    """
    if not cliques:
        return ()
    branches = [Branch(cliques[0], None, ())]
    best = {place: (_shared(cliques[0], one), 0) for place, one in enumerate(cliques) if place}
    while best:
        place = max(best, key=lambda one: (len(best[one][0]), -one))
        shared, above = best.pop(place)
        branches.append(Branch(cliques[place], above, shared))
        for other, (known, _) in best.items():
            more = _shared(cliques[place], cliques[other])
            if len(more) > len(known):
                best[other] = (more, len(branches) - 1)
    return tuple(branches)


def _shared(one: Columns, other: Columns) -> Columns:
    return tuple(sorted(set(one) & set(other)))
