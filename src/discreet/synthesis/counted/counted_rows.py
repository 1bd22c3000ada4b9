"""The exact numbers that every method measures: how many kept rows have which values.

An engine counts the rows of each combination of values, under a limit of rows for each unit, and
only the combinations that are there come back. All tables of some of the columns follow from it.
These numbers are **private**: only the measuring part of a method, behind the gate, may hold them.
"""

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.tables.column import Key
from discreet.tables.plans.engine import FoundKeys

Integers = NDArray[np.int64]

MOST_KEPT = 1024
"""How many cells a table has at most that is kept: 60 columns have 1,770 pairs."""


@frozen
class CountedColumn:
    """What is public of a column that is counted."""

    size: int
    """How many values it has; NULL is the last of them, if it can be."""
    has_order: bool
    has_null: bool
    most: int | None = None
    """How many coarse values it has at most in tables of several columns; None: as all others."""


@frozen(eq=False, repr=False)
class CountedRows:
    r"""How many rows have each combination of values; values are places in a public list.

    Adding a unit that has at most :math:`m` kept rows adds at most :math:`m` to the sum of all
    counts and takes nothing away. So each table over some of the columns moves by at most
    :math:`m` in :math:`\ell_1`, in :math:`\ell_2` and in :math:`\ell_\infty`.
    """

    sizes: tuple[int, ...]
    """How many values each column has: public."""
    codes: Integers = field(repr=False)
    """A row for each combination that is there, a column for each column, which lie together."""
    counts: Integers = field(repr=False)
    keeps_pairs: bool = False
    """Whether small tables of two columns are kept: they are scored first, and measured later."""
    _pairs: dict[tuple[int, ...], Integers] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse what no engine may return."""
        if self.codes.shape != (len(self.counts), len(self.sizes)):
            raise InvalidArgument("Counted rows have a value for each column")
        inside = (self.codes >= 0) & (self.codes < np.array(self.sizes, dtype=np.int64))
        if not inside.all() or (self.counts < 0).any():
            raise InvalidArgument("Counted rows have values that were declared, and counts")

    @staticmethod
    def found(
        keys: FoundKeys, counts: IntArray, values: Sequence[tuple[Sequence[Key], bool]]
    ) -> "CountedRows":
        """Return what an engine found: for each column its values, and whether it can be NULL.

        What is not among the values is taken for NULL. A row that has such a thing where there is
        no NULL is left out: that looks at the row alone.
        """
        places = [keys.places(field, known) for field, (known, _) in enumerate(values)]
        kept = np.ones(len(counts), dtype=bool)
        for place, (known, has_null) in zip(places, values, strict=True):
            if has_null:
                place[place < 0] = len(known)
            else:
                kept &= place >= 0
        sizes = tuple(len(known) + has_null for known, has_null in values)
        if kept.all():
            return CountedRows(sizes, np.stack(places).T, counts)
        return CountedRows(sizes, np.stack([place[kept] for place in places]).T, counts[kept])

    def table(self, columns: Sequence[int]) -> Integers:
        """Return the number of rows in each cell of some columns, one axis for each."""
        known = self._pairs.get(tuple(columns))
        if known is not None:
            return known
        shape = tuple(self.sizes[column] for column in columns)
        cells = int(np.prod(shape, dtype=object)) if shape else 1
        places = np.zeros(len(self.counts), dtype=np.int64)
        for column, size in zip(columns, shape, strict=True):
            places = places * size + self.codes[:, column]
        found = sum_integers(places, self.counts, cells).reshape(shape)
        if self.keeps_pairs and len(shape) == 2 and cells <= MOST_KEPT:
            found.flags.writeable = False
            self._pairs[tuple(columns)] = found
        return found

    def grouped(self, numbers: Sequence[Integers]) -> "CountedRows":
        """Return the same rows with coarser values: for each column, that of each of its values."""
        sizes = tuple(int(one.max()) + 1 for one in numbers)
        codes = np.stack([one[self.codes[:, column]] for column, one in enumerate(numbers)])
        return CountedRows(sizes, codes.T, self.counts, keeps_pairs=True)


def sum_integers(places: Integers, values: Integers, cells: int) -> Integers:
    """Return the sum of the values at each place, in whole numbers.

    NumPy's ``bincount`` adds in floating point, which is exact while no sum can pass
    :math:`2^{53}`. Where one could, each half of 32 bits is added alone, at most :math:`2^{21}` of
    them at once.
    """
    largest = max(int(values.max(initial=0)), -int(values.min(initial=0)))
    if largest * len(values) < 1 << 53:
        return _added(places, values, cells)
    found = np.zeros(cells, dtype=np.int64)
    for start in range(0, len(values), 1 << 21):
        some, at = values[start : start + (1 << 21)], places[start : start + (1 << 21)]
        for half, shift in ((some & 0xFFFFFFFF, 0), (some >> 32, 32)):
            if half.any():
                found += _added(at, half, cells) << shift
    return found


def _added(places: Integers, values: Integers, cells: int) -> Integers:
    """Return the sums at each place, none of which passes what floating point tells apart."""
    sums = np.bincount(places, weights=values.astype(np.float64), minlength=cells)
    return sums.astype(np.int64)
