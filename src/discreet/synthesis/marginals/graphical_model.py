r"""A graphical model: a distribution over many columns that is known by its cliques.

It is :math:`p(x) \propto \exp \sum_c \theta_c(x_c)` with one table :math:`\theta_c` for each clique
of a junction tree. All marginals of the cliques follow from two passes over the tree (Hugin's
algorithm [KF09, Section 10.3]), in logarithms, so that no product is too small to be told from 0.
A cell that cannot be has :math:`\theta = -\infty`.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.synthesis.marginals.junction_tree import MOST_CELLS, Columns, JunctionTree, cells

Table = NDArray[np.float64]
"""Numbers for the cells of some columns: one axis for each, in rising order."""


@frozen(eq=False)
class GraphicalModel:
    """The logarithms of the probabilities of each clique's cells; they add up to one."""

    tree: JunctionTree
    beliefs: tuple[Table, ...] = field(repr=False)
    log_total: float
    """The logarithm of what the potentials added up to."""

    @staticmethod
    def of(tree: JunctionTree, potentials: Sequence[Table]) -> "GraphicalModel":
        """Return the distribution with these potentials, one table for each clique."""
        upwards: list[Table | None] = [None] * len(tree.branches)
        gathered = [np.array(one, dtype=np.float64) for one in potentials]
        for place in range(len(tree.branches) - 1, 0, -1):
            branch = tree.branches[place]
            assert branch.above is not None
            upward = log_sum(gathered[place], _kept(branch.columns, branch.shared))
            upwards[place] = upward
            gathered[branch.above] += _spread(
                upward, branch.shared, tree.branches[branch.above].columns
            )
        log_total = float(log_sum(gathered[0], ()))
        if not np.isfinite(log_total):
            raise InvalidArgument(
                "No row can be as all the conditions say", must="leave some cell possible"
            )
        beliefs = [gathered[0] - log_total]
        for place, branch in enumerate(tree.branches[1:], start=1):
            assert branch.above is not None
            above = tree.branches[branch.above].columns
            message = upwards[place]
            assert message is not None
            shared = log_sum(beliefs[branch.above], _kept(above, branch.shared))
            # Where nothing can be, nothing comes from either side.
            factor = np.where(np.isneginf(message), 0.0, shared - _finite(message))
            beliefs.append(gathered[place] + _spread(factor, branch.shared, branch.columns))
        return GraphicalModel(tree, tuple(beliefs), log_total)

    def marginal(self, columns: Iterable[int], *, most_cells: int = MOST_CELLS) -> Table:
        """Return the probabilities of the cells of some columns, in their given order."""
        asked = tuple(columns)
        wanted = tuple(sorted(asked))
        home = self.tree.home(wanted)
        if home is None:
            logs = self._eliminated(wanted, most_cells)
        else:
            logs = log_sum(self.beliefs[home], _kept(self.tree.branches[home].columns, wanted))
        table: Table = np.exp(logs)
        return table.transpose([wanted.index(column) for column in asked])

    def given(self, evidence: dict[int, int]) -> "GraphicalModel":
        """Return the distribution of the rows in which some columns have given values."""
        return self.weighted(
            {
                column: (np.arange(self.tree.sizes[column]) == value).astype(np.float64)
                for column, value in evidence.items()
            }
        )

    def weighted(self, weights: Mapping[int, Table]) -> "GraphicalModel":
        """Return the distribution of rows that weigh as much as some columns' values say.

        ``log_total`` is the logarithm of what all rows weigh on average. A weight may be 0.
        """
        potentials = [np.array(one) for one in self._conditionals()]
        for column, each in weights.items():
            home = self.tree.home((column,))
            assert home is not None
            with np.errstate(divide="ignore"):
                logs = np.log(each)
            spread = _spread(logs, (column,), self.tree.branches[home].columns)
            potentials[home] = potentials[home] + spread
        return GraphicalModel.of(self.tree, potentials)

    def log_probability(self, rows: NDArray[np.int64]) -> Table:
        """Return the logarithm of the probability of each row (one column for each column)."""
        found = np.zeros(len(rows))
        for branch, table in zip(self.tree.branches, self._conditionals(), strict=True):
            found += table[tuple(rows[:, column] for column in branch.columns)]
        return found

    def _conditionals(self) -> list[Table]:
        """Return for each clique the probabilities of its cells given those shared with above."""
        found = []
        for branch, belief in zip(self.tree.branches, self.beliefs, strict=True):
            shared = _spread(
                log_sum(belief, _kept(branch.columns, branch.shared)), branch.shared, branch.columns
            )
            found.append(np.where(np.isneginf(belief), -np.inf, belief - _finite(shared)))
        return found

    def _eliminated(self, wanted: Columns, most_cells: int) -> Table:
        """Sum over all columns but some, always over the one that needs the fewest cells next."""
        sizes = self.tree.sizes
        factors = [
            (branch.columns, table)
            for branch, table in zip(self.tree.branches, self._conditionals(), strict=True)
        ]
        left = {column for columns, _ in factors for column in columns} - set(wanted)
        while True:
            costs = {column: _union(factors, column) for column in left}
            if not left:
                return _product(factors, wanted, sizes, most_cells)
            column = min(costs, key=lambda one: (cells(sizes, costs[one]), one))
            touched = [one for one in factors if column in one[0]]
            factors = [one for one in factors if column not in one[0]]
            joint = _product(touched, costs[column], sizes, most_cells)
            rest = tuple(one for one in costs[column] if one != column)
            factors.append((rest, log_sum(joint, _kept(costs[column], rest))))
            left.remove(column)


def log_sum(logs: Table, kept: Sequence[int]) -> Table:
    """Return the logarithm of the sum over all axes that are not kept."""
    axes = tuple(axis for axis in range(logs.ndim) if axis not in set(kept))
    if not axes:
        return logs
    most = _finite(logs.max(axis=axes, keepdims=True))
    with np.errstate(divide="ignore"):
        found: Table = np.log(np.exp(logs - most).sum(axis=axes, keepdims=True)) + most
    return found.reshape([logs.shape[axis] for axis in kept])


def _finite(logs: Table) -> Table:
    """Return 0 where nothing can be: there it must not be taken from what cannot be either."""
    return np.where(np.isneginf(logs), 0.0, logs)


def _kept(columns: Columns, some: Columns) -> list[int]:
    """Return the axes of some columns."""
    return [columns.index(column) for column in some]


def _spread(table: Table, columns: Columns, over: Columns) -> Table:
    """Return a table with one more axis of length 1 for each column that it lacks."""
    sizes = dict(zip(columns, table.shape, strict=True))
    return table.reshape([sizes.get(column, 1) for column in over])


def _union(factors: Sequence[tuple[Columns, Table]], column: int) -> Columns:
    return tuple(sorted({one for columns, _ in factors if column in columns for one in columns}))


def _product(
    factors: Sequence[tuple[Columns, Table]],
    columns: Columns,
    sizes: Sequence[int],
    most_cells: int,
) -> Table:
    if cells(sizes, columns) > most_cells:
        raise InvalidArgument(
            "This table has too many cells to be worked out",
            must=f"need at most {most_cells:,} at once",
            got=f"{cells(sizes, columns):,}",
            next="Ask for fewer columns, or draw rows and count",
        )
    found = np.zeros([sizes[column] for column in columns])
    for held, table in factors:
        found = found + _spread(table, held, columns)
    return found
