r"""Estimate a model from noisy tables: of all that agree with them, the least committal.

With measured cells :math:`y_m` of variance :math:`\sigma_m^2`, and a base :math:`q` of columns that
do not depend on each other, the estimated counts :math:`\mu` (one for each cell of the universe)
minimise

.. math:: D(\mu \Vert q) + \frac{1}{2\tau} \sum_m \Vert \mu_m - y_m \Vert^2 / \sigma_m^2 ,

where :math:`\mu_m` are their sums over the cells of a measured table and :math:`D` is the relative
entropy of counts. It is convex, and its dual has a multiplier for each measured cell:
:math:`\mu = q \exp(\sum_m \lambda_m)`, so :math:`\mu` is a graphical model whose cliques hold the
measured tables. The dual is climbed table by table. For one table, with all others as they are, the
best step :math:`\Delta` is known cell by cell:

.. math:: \mu_m e^{\Delta} + \tau \sigma_m^2 (\lambda_m + \Delta) = y_m .

With :math:`\tau = 0` that is iterative proportional fitting [DS40]. Tables of one clique need no
more than its own counts, so one tour over the tree, along which cliques hand on what they share,
takes a step for each of the tables.

Noise makes tables contradict each other in more than can be made to agree before. There the steps
of one tour undo each other, and it goes in a circle, in which whoever came last has it all. So the
steps themselves never say when to stop, and for that it is looked at where a tour *ends*. When it
ends where the one before it did, a few tours take parts of the steps: their circles are smaller,
and end nearer to the middle. A part of the best step raises the dual too, which is concave.

Cells are not below 0 in a model, but noisy counts are, so fitted counts add up to more rows than
there are. How many there are is known better: it is what all whole tables say together, without a
bias (:func:`~discreet.synthesis.marginals.measurement.total_rows`). That is the number of rows, to
which the counts are held, and these say only which shares of them the cells have. What was
published before may know its own cells far better than this number is known, and holding the counts
to it would spoil them; so beside such tables the number of rows is the fitted one.

Guarantee:
    Post-processing: nothing but measurements is looked at.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.synthesis.marginals.graphical_model import GraphicalModel, Table
from discreet.synthesis.marginals.junction_tree import (
    MOST_CELLS,
    Columns,
    JunctionTree,
    junction_tree,
)
from discreet.synthesis.marginals.measurement import Measurement, agreeing, total_rows
from discreet.synthesis.marginals.summed import summed
from discreet.synthesis.marginals.tables_beside import ONE_ROW, TablesBeside, tables_beside

T = TypeVar("T", bound=np.generic)

SMOOTHING = 0.01
"""How much the base weighs against the measurements: τ."""

MOST_TOURS = 100

CLOSE_ENOUGH = 0.02
"""An estimate is found when a tour leaves cells where the tour before did, up to this share of
their noise, or of a row if noise is less: the root of the mean square."""

SETTLING = (0.5, 0.25, 0.125)
"""The parts of their steps that tables take in the last tours."""


@frozen(kw_only=True, eq=False)
class Estimated:
    """A model of the rows, how many there are, and how well it was found."""

    model: GraphicalModel
    total: float
    """How many rows there are: what all whole tables say, or as fitted beside published ones."""
    tours: int
    """How many had whole steps."""
    is_found: bool
    """Whether the last of these changed next to nothing; if not, more tours would help."""
    last_change: float
    """How far that one left measured cells from where the one before did, in deviations of their
    noise."""


def estimate(
    sizes: Sequence[int],
    measurements: Sequence[Measurement],
    *,
    impossible: Sequence[tuple[tuple[int, ...], NDArray[np.bool_]]] = (),
    smoothing: float = SMOOTHING,
    close_enough: float = CLOSE_ENOUGH,
    still: float = 0.0,
    most_tours: int = MOST_TOURS,
    most_cells: int = MOST_CELLS,
) -> Estimated:
    """Return the model of some measurements of columns with so many values.

    ``impossible`` are tables of cells in which no row can be: columns, and True where it is so.
    The search ends when a tour leaves cells ``close_enough`` to where the one before did; who asks
    for less than usual has no use for the last tours either, which settle what is closer than that.
    Where noise differs very much from table to table, cells that are known well are few among all
    that change. So with ``still`` the search ends when a tour changes cells by no more than that
    share of their noise, and whole steps are the last ones: what is known well is not to be met in
    the middle. Where tables contradict each other, each tour leaves even these where the tables
    after them put them; so in the last tours only tables take steps that are known to a row, until
    these agree. Such steps raise the dual like any other.
    """
    groups = [*(one.columns for one in measurements), *(columns for columns, _ in impossible)]
    tree = junction_tree(sizes, groups, most_cells=most_cells)
    fit = _Fit.begin(tree, measurements, impossible, smoothing, holds_total=not still)
    tours, changed = 0, np.inf
    enough = still or close_enough
    while tours < most_tours and changed > enough:
        changed = fit.tour()
        tours += 1
    for part in () if still or close_enough > CLOSE_ENOUGH else SETTLING:
        fit.tour(part)
    for _ in range(most_tours if still else 0):
        if fit.tour(most_noise=ONE_ROW) <= still:
            break
    return Estimated(
        model=fit.model(),
        total=float(fit.counts[0].sum()),
        tours=tours,
        is_found=changed <= enough,
        last_change=changed,
    )


@frozen(eq=False)
class _Fit:
    """The counts of all cliques; what two of them share is the same in both after a tour."""

    tree: JunctionTree
    counts: list[Table]
    measured: tuple[tuple[TablesBeside, ...], ...]
    smoothing: float
    total: float | None
    """How many rows there are by all whole tables, if the counts are held to that."""

    @staticmethod
    def begin(
        tree: JunctionTree,
        measurements: Sequence[Measurement],
        impossible: Sequence[tuple[tuple[int, ...], NDArray[np.bool_]]],
        smoothing: float,
        *,
        holds_total: bool,
    ) -> "_Fit":
        total, known = None, None
        with suppress(InvalidArgument):  # without a whole table, it follows from the others
            total, _ = total_rows(measurements)
            known = total if holds_total else None
            measurements = agreeing(measurements)
        counts = [(total or 1.0) * shares for shares in _base(tree, measurements, impossible)]
        measured: list[list[Measurement]] = [[] for _ in tree.branches]
        for one in measurements:
            measured[_home(tree, one.columns)].append(one)
        beside = (
            tables_beside(tree.branches[place].columns, tree.sizes, tables)
            for place, tables in enumerate(measured)
        )
        return _Fit(tree, counts, tuple(beside), smoothing, known)

    def model(self) -> GraphicalModel:
        """Return the distribution of the counts, which agree after a tour."""
        total = float(self.counts[0].sum())
        with np.errstate(divide="ignore"):
            logs = [np.log(counts / total) for counts in self.counts]
        return GraphicalModel(self.tree, tuple(logs), float(np.log(total)))

    def tour(self, part: float = 1.0, most_noise: float = np.inf) -> float:
        """Take a step for each table with at most that noise in a cell, or a part of it.

        Return how far cells are from where the tour before left them, in deviations of noise.
        """
        changed, cells = 0.0, 0
        for place, neighbour in _around(self.tree):
            if neighbour is None:
                for beside in self.measured[place]:
                    far, stepped = beside.step(self.counts[place], self.smoothing, part, most_noise)
                    changed += far
                    cells += stepped
            else:
                self._hand_on(neighbour, place)
        if self.total is not None:
            ratio = self.total / float(self.counts[0].sum())
            for counts in self.counts:
                counts *= ratio
        return float(np.sqrt(changed / max(cells, 1)))

    def _hand_on(self, before: int, after: int) -> None:
        """Let a clique have the counts that the one before it has for what they share."""
        below = max(before, after)
        shared = self.tree.branches[below].shared
        wanted, found = (self._sum(place, shared) for place in (before, after))
        ratio = np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)
        self.counts[after] *= _spread_over(ratio, shared, self.tree, after)

    def _sum(self, place: int, columns: tuple[int, ...]) -> Table:
        held = self.tree.branches[place].columns
        others = tuple(i for i, column in enumerate(held) if column not in columns)
        return summed(self.counts[place], others)


def _around(tree: JunctionTree) -> Iterator[tuple[int, int | None]]:
    """Go around the tree: a clique to step in, or one that takes over from one beside it."""
    below: list[list[int]] = [[] for _ in tree.branches]
    for place, branch in enumerate(tree.branches):
        if branch.above is not None:
            below[branch.above].append(place)
    yield 0, None
    stack = [(0, iter(below[0]))]
    while stack:
        place, rest = stack[-1]
        lower = next(rest, None)
        if lower is not None:
            yield lower, place
            yield lower, None
            stack.append((lower, iter(below[lower])))
            continue
        stack.pop()
        if stack:
            yield stack[-1][0], place
    # Once more downwards, so that all cliques agree.
    for place, branch in enumerate(tree.branches):
        if branch.above is not None:
            yield place, branch.above


def _base(
    tree: JunctionTree,
    measurements: Sequence[Measurement],
    impossible: Sequence[tuple[tuple[int, ...], NDArray[np.bool_]]],
) -> list[Table]:
    """Return the shares of columns that do not depend on each other, by what was measured.

    What is impossible makes them depend, so then a model has to be worked out.
    """
    shares = [_one_way(column, size, measurements) for column, size in enumerate(tree.sizes)]
    if not impossible:
        return [_product(shares, branch.columns) for branch in tree.branches]
    logs = [np.zeros(tree.shape(place)) for place in range(len(tree.branches))]
    for column, known in enumerate(shares):
        home = _home(tree, (column,))
        logs[home] = logs[home] + _spread_over(np.log(known), (column,), tree, home)
    for columns, mask in impossible:
        home = _home(tree, columns)
        logs[home] = np.where(_spread_over(mask, columns, tree, home), -np.inf, logs[home])
    return [np.exp(belief) for belief in GraphicalModel.of(tree, logs).beliefs]


def _product(shares: Sequence[Table], columns: Columns) -> Table:
    found = np.ones(())
    for column in columns:
        found = found[..., None] * shares[column]
    return found


def _one_way(column: int, size: int, measurements: Sequence[Measurement]) -> Table:
    """Return the shares of the values of one column; none is 0, for noise cannot tell that.

    Each whole table with the column is summed over its other columns; of what was not measured
    whole, or not cell by cell, nothing is said, and all values are taken to be equally likely.
    """
    weights, sums = np.zeros(size), np.zeros(size)
    for one in measurements:
        if column in one.columns and one.is_whole and one.parts is None:
            axis = one.columns.index(column)
            others = tuple(i for i in range(one.counts.ndim) if i != axis)
            weight = 1 / one.variances.sum(axis=others)
            sums += weight * one.counts.sum(axis=others)
            weights += weight
    if not weights.any():
        return np.full(size, 1 / size)
    least = np.maximum(0.5, weights**-0.5 / 10)
    counts = np.maximum(sums / weights, least)
    shares: Table = counts / counts.sum()
    return shares


def _home(tree: JunctionTree, columns: tuple[int, ...]) -> int:
    home = tree.home(columns)
    assert home is not None
    return home


def _spread_over(
    table: NDArray[T], columns: tuple[int, ...], tree: JunctionTree, home: int
) -> NDArray[T]:
    """Return a table with one axis for each column of a clique."""
    sizes = dict(zip(columns, table.shape, strict=True))
    return table.reshape([sizes.get(column, 1) for column in tree.branches[home].columns])
