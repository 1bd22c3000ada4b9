"""Measurements: noisy numbers of rows for the cells of some columns. All of it is public."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.synthesis.marginals.graphical_model import Table
from discreet.synthesis.marginals.junction_tree import Columns


@frozen(eq=False)
class Measurement:
    """The noisy counts of some cells of a table."""

    columns: Columns
    counts: Table = field(repr=False)
    """One number for each cell; what stands at a cell that was not measured means nothing."""
    variances: Table = field(repr=False)
    """That of the noise of each cell."""
    is_measured: NDArray[np.bool_] = field(repr=False)
    """Which cells were measured."""
    parts: NDArray[np.int64] | None = field(default=None, repr=False)
    """If several cells were counted together, which of the numbers each cell of the table is in.
    The numbers are a list then; else they stand in a table, one for each cell."""

    @staticmethod
    def of(columns: Columns, counts: Table, variances: Table | float) -> "Measurement":
        """Return the measurement of a whole table; one variance can stand for all of its cells."""
        each = np.broadcast_to(np.asarray(variances, dtype=np.float64), counts.shape)
        return Measurement(columns, counts, each, np.ones(counts.shape, dtype=bool))

    @staticmethod
    def of_parts(
        columns: Columns,
        counts: Table,
        variances: Table,
        is_measured: NDArray[np.bool_],
        parts: NDArray[np.int64],
    ) -> "Measurement":
        """Return the measurement of parts of a table; a plain one, if these are cells."""
        cells = np.bincount(parts.ravel(), minlength=len(counts))
        if (cells[is_measured] > 1).any():
            return Measurement(columns, counts, variances, is_measured, parts)
        return Measurement(columns, counts[parts], variances[parts], is_measured[parts])

    def __attrs_post_init__(self) -> None:
        """Refuse what is no measurement."""
        if list(self.columns) != sorted(set(self.columns)):
            raise InvalidArgument("Columns of a measurement are in rising order")
        axes = self.counts.ndim if self.parts is None else self.parts.ndim
        if axes != len(self.columns) or self.counts.shape != self.is_measured.shape:
            raise InvalidArgument("A measurement has one axis for each column")
        if not (np.isfinite(self.counts).all() and (self.variances > 0).all()):
            raise InvalidArgument("Counts and variances are finite, and variances are not 0")

    @property
    def is_whole(self) -> bool:
        """Whether each cell of the table was measured, so that they add up to all rows."""
        return bool(self.is_measured.all())

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return self.counts.shape if self.parts is None else self.parts.shape

    def counted(self, table: Table) -> Table:
        """Return what would be counted in a table of the columns."""
        if self.parts is None:
            return table
        return np.bincount(
            self.parts.ravel(), weights=table.ravel(), minlength=len(self.counts)
        ).astype(np.float64)

    def spread(self, numbers: Table) -> Table:
        """Return for each cell of the columns the number of what it was counted in."""
        found: Table = numbers if self.parts is None else numbers[self.parts]
        return found


def combined(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Return one measurement for all of the same cells: their mean, weighted by inverse variances.

    It says just as much, and an estimate is found sooner than if it had to settle between them.
    """
    alike: dict[object, list[Measurement]] = {}
    for one in measurements:
        parts = None if one.parts is None else one.parts.tobytes()
        alike.setdefault((one.columns, parts), []).append(one)
    return [some[0] if len(some) == 1 else _mean(some) for some in alike.values()]


def _mean(alike: Sequence[Measurement]) -> Measurement:
    weights = [np.where(one.is_measured, 1 / one.variances, 0.0) for one in alike]
    total = np.sum(weights, axis=0)
    sums = np.sum([w * one.counts for w, one in zip(weights, alike, strict=True)], axis=0)
    is_measured = total > 0
    safe = np.where(is_measured, total, 1.0)
    return evolve(alike[0], counts=sums / safe, variances=1 / safe, is_measured=is_measured)


def settled(measurements: Sequence[Measurement]) -> list[Measurement]:
    r"""Return whole tables as the nearest ones with the same number of rows and nothing below 0.

    Where noise differs very much from cell to cell, what is below 0 would else be made up for by
    cells that are known exactly. The nearest in deviations of noise are :math:`\max(y + cv, 0)` for
    the one :math:`c` that gives the sum. There are at least as many rows as cells of one table have
    for sure (two deviations less than was counted).
    """
    mean, _ = total_rows(measurements)
    total = max(mean, *(_least_rows(one) for one in measurements))
    return [_above_zero(one, total) if one.is_whole else one for one in measurements]


def _least_rows(one: Measurement) -> float:
    least = np.maximum(one.counts - 2 * np.sqrt(one.variances), 0.0)
    return float(least[one.is_measured].sum())


def _above_zero(one: Measurement, total: float) -> Measurement:
    counts, variances = one.counts.ravel(), one.variances.ravel()
    order = np.argsort(-counts / variances)
    ends = (-counts / variances)[order]
    added = (total - np.cumsum(counts[order])) / np.cumsum(variances[order])
    last = int(np.flatnonzero(added > ends)[-1])
    found = np.maximum(counts + added[last] * variances, 0.0)
    return evolve(one, counts=found.reshape(one.counts.shape))


def total_rows(measurements: Sequence[Measurement]) -> tuple[float, float]:
    """Return how many rows there are by all whole tables together, and its variance.

    Each sums up to that number, with a variance of its cells times that of one. They are weighted
    by the inverse of it, which is the best unbiased way. At least one row is said to be there.
    """
    whole = [one for one in measurements if one.is_whole]
    if not whole:
        raise InvalidArgument(
            "How many rows there are was not measured",
            must="have a table of all cells of its columns",
            next="Add a COUNT(*) of all rows, or say how many there are",
        )
    weights = np.array([1 / float(one.variances.sum()) for one in whole])
    sums = np.array([one.counts.sum() for one in whole])
    return max(float(weights @ sums / weights.sum()), 1.0), float(1 / weights.sum())


def agreeing(measurements: Sequence[Measurement]) -> list[Measurement]:
    r"""Return the measurements with whole tables that agree in what they share.

    Noise makes tables contradict each other: each has a sum of its own, and its own counts of a
    column that several of them have. All whole tables that have some columns are given one sum for
    each cell of these, and what a table has too little or too much there is shared among its cells
    by their variances.

    Guarantee:
        What is estimated stays the same. Let :math:`M` be the sums of a table :math:`y` over the
        cells of some columns, and :math:`U` those of its variances :math:`V`. For any counts
        :math:`\mu` with sums :math:`s`,

        .. math:: \sum (\mu - y)^2 / V = \sum (s - M)^2 / U + \sum (\mu - y - V (s - M) / U)^2 / V ,

        as the last summand is at right angles to what :math:`V` spreads. The second sum is the same
        for :math:`y + V (w - M) / U` with any :math:`w`; and the first ones of all tables together
        differ by a constant from what they are with the same :math:`w` for all, the mean of the
        :math:`M` by their :math:`1/U`. So every step here adds a constant to the sum of squares.
    """
    whole = [one for one in measurements if one.is_whole and one.parts is None]
    counts = [np.array(one.counts, dtype=np.float64) for one in whole]
    tables = list(enumerate(whole))
    shared = [
        [_Sums.of(place, one, columns) for place, one in tables if set(columns) <= {*one.columns}]
        for columns in _shared_columns(whole)
    ]
    for _ in range(_MOST_SWEEPS):
        if sum(_agree(counts, one) for one in shared) < _AGREED:
            break
    agreed = [evolve(one, counts=own) for one, own in zip(whole, counts, strict=True)]
    return [*agreed, *(one for one in measurements if not one.is_whole or one.parts is not None)]


_MOST_SWEEPS = 50
"""With variances that are alike in each table, one is enough."""
_AGREED = 1e-6
"""The sum of squared differences, in deviations, that is as good as none."""


@frozen(eq=False)
class _Sums:
    """The sums of a table over the axes that it has besides some shared columns."""

    place: int
    """Which table it is."""
    others: tuple[int, ...]
    variances: Table
    """Those of the sums."""
    spread: Table
    """How much of what a sum lacks each cell is given."""

    @staticmethod
    def of(place: int, table: Measurement, columns: Columns) -> "_Sums":
        others = tuple(axis for axis, own in enumerate(table.columns) if own not in columns)
        variances = table.variances.sum(axis=others, keepdims=True)
        return _Sums(place, others, variances, table.variances / variances)


def _agree(counts: list[Table], shared: Sequence[_Sums]) -> float:
    """Let tables have the same sums; return how far they were apart, in squared deviations."""
    found = [counts[one.place].sum(axis=one.others, keepdims=True) for one in shared]
    pairs = list(zip(shared, found, strict=True))
    weights = np.sum([1 / one.variances.ravel() for one in shared], axis=0)
    mean = np.sum([sums.ravel() / one.variances.ravel() for one, sums in pairs], axis=0) / weights
    apart = 0.0
    for one, sums in pairs:
        missing = mean.reshape(sums.shape) - sums
        apart += float((missing**2 / one.variances).sum())
        counts[one.place] += missing * one.spread
    return apart


def _shared_columns(whole: Sequence[Measurement]) -> list[Columns]:
    """Return all sets of columns that several tables have, small ones first."""
    found: set[Columns] = set()
    for first, second in combinations([one.columns for one in whole], 2):
        both = [column for column in first if column in second]
        found |= {some for size in range(len(both) + 1) for some in combinations(both, size)}
    return sorted(found, key=lambda one: (len(one), one))
