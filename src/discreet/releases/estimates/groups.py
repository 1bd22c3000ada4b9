"""The groups of an answer, column by column: what a reader computes with."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.releases.estimates.estimate import WindowOf
from discreet.tables.arithmetic.columns import Column
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Ratios, larger, smaller, within
from discreet.tables.column import Key

Rows = NDArray[np.int64]


Frame = tuple[int, int]
"""The first row that counts, and the one after the last."""


@frozen(eq=False)
class WindowPartition:
    """Rows of an answer that belong together, in the order of a window."""

    rows: Sequence[int]
    frames: Sequence[Frame]
    """For each row the places in ``rows`` that its value is made from."""


@frozen(kw_only=True, eq=False)
class WindowColumn:
    """The values of one window, and what its intervals are worked out from."""

    values: Column
    beside: "Groups"
    """All rows of the answer that HAVING left, which is what windows look at."""
    partitions: Sequence[WindowPartition]
    """How these are put together."""
    places: Rows
    """Where among them each row is."""
    looked_at: Rows
    """How many rows each value may depend on."""
    before: "Groups | None" = None
    """All rows before HAVING, if noisy numbers chose which of them it left."""
    left: Rows
    """Where among all rows each of those that HAVING left is."""

    def take(self, rows: Rows) -> "WindowColumn":
        """Return the values at these places, in this order; what is beside them stays."""
        return evolve(
            self,
            values=_taken(self.values, rows),
            places=self.places[rows],
            looked_at=self.looked_at[rows],
        )


@frozen(kw_only=True, eq=False)
class ValueEnds:
    """The interval of values that was drawn with a quantile, in each group."""

    lows: Ratios
    highs: Ratios
    lower: Fraction
    """The least value that there can be, to which values below it are moved."""
    upper: Fraction

    def around(self, values: Ratios, margin: Fraction) -> Intervals:
        """Return the intervals, widened to the values and by a margin, within the range."""
        lower, upper, far = (
            Ratios.constant(number, len(values)) for number in (self.lower, self.upper, margin)
        )
        lows, highs = smaller(self.lows, values).minus(far), larger(self.highs, values).plus(far)
        return Intervals(lows, highs).ends(lambda end: within(end, lower, upper))

    def take(self, rows: Rows) -> "ValueEnds":
        """Return the ends at these places, in this order."""
        return evolve(self, lows=self.lows.take(rows), highs=self.highs.take(rows))


@frozen(kw_only=True, eq=False)
class Groups:
    """All groups of a public body, or some of them, with exact numbers in the answer's units."""

    size: int
    keys: tuple[Sequence[Key | None], ...]
    """One column for each grouped field."""
    places: tuple[tuple[int, ...], ...]
    """For each grouping set, which of the grouped fields it has."""
    sets: NDArray[np.int64]
    """The grouping set of each group."""
    values: tuple[Ratios, ...]
    """The noisy numbers of each aggregate, times its step."""
    threshold: int | None = None
    """The least noisy number of units with which a group is shown, if they were chosen by it."""
    parts: frozenset[tuple[int, int]] = frozenset()
    """Pairs of counts (i, j) where what i counts is among what j counts, as all is among itself."""
    ends: Mapping[int, ValueEnds] = field(factory=dict)
    """The intervals that were drawn with quantiles, by the aggregate."""
    windows: Mapping[WindowOf, WindowColumn] = field(factory=dict)
    """The values of each window of the query, once they are worked out."""

    @staticmethod
    def one(
        values: Sequence[Fraction | int],
        *,
        keys: Sequence[Key | None] = (),
        places: Sequence[int] | None = None,
        threshold: int | None = None,
    ) -> "Groups":
        """Return a single group: columns of one row."""
        return Groups(
            size=1,
            keys=tuple([key] for key in keys),
            places=(tuple(range(len(keys)) if places is None else places),),
            sets=np.zeros(1, dtype=np.int64),
            values=tuple(Ratios.of([Fraction(value)]) for value in values),
            threshold=threshold,
        )

    def constant(self, value: Fraction | int | None) -> Ratios:
        """Return the same number for every group."""
        return Ratios.constant(None if value is None else Fraction(value), self.size)

    def take(self, rows: Rows) -> "Groups":
        """Return the groups at these places, in this order."""
        order = rows.tolist()
        return Groups(
            size=len(order),
            keys=tuple([column[row] for row in order] for column in self.keys),
            places=self.places,
            sets=self.sets[rows],
            values=tuple(column.take(rows) for column in self.values),
            threshold=self.threshold,
            parts=self.parts,
            ends={index: ends.take(rows) for index, ends in self.ends.items()},
            windows={window: column.take(rows) for window, column in self.windows.items()},
        )


def _taken(values: Column, rows: Rows) -> Column:
    return values.take(rows) if isinstance(values, Ratios) else [values[i] for i in rows.tolist()]
