"""Clusters of parents: which of them have children alike. A public function of a few columns."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.synthesis.counted.counted_rows import CountedColumn, Integers
from discreet.synthesis.marginals.choose_tables import CHANCE
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts, coarse_values
from discreet.synthesis.marginals.measured import MeasuredMarginals, MeasuredTable

MOST_CLUSTERS = 32
"""How many clusters there are at most."""

MOST_AT_ALL = 512
"""How many cells clusters have at most where a few columns cannot be made coarse enough.

A column with an order has at most 8 values if about 3 are asked for, and one without at most 7.
"""

LEAST_CLUSTERS = 4
"""How many there may be at least, however much noise there is."""

MOST_COLUMNS = 3
"""How many columns of the parent say in which cluster it is, at most."""

SCORED = 4
"""About how many coarse values a column with an order has when links are scored."""

FINEST = range(16, 2, -1)
"""About how many coarse values a column with an order may have in clusters; the first that fits."""

LEAST_MASS = 0.5
"""A row of a table has at least so much of what a row has on an average to tell of a dependence."""

LEAST_LINK = 0.25
"""A further column is taken if children depend on it, beyond what others pass on to it, this much
of what they do on the first."""


@frozen(eq=False)
class Cluster:
    """The coarse values of a few columns of the parent; without any, all are in one cluster."""

    columns: tuple[int, ...]
    """Which of the parent's columns; behind the last of them is the number of children."""
    coarse: tuple[CoarseValues, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return math.prod(one.size for one in self.coarse)

    def numbers(self, codes: Integers) -> Integers:
        """Return the cluster of each row of all parents' columns."""
        found = np.zeros(len(codes), dtype=np.int64)
        for column, one in zip(self.columns, self.coarse, strict=True):
            found = found * one.size + one.numbers[codes[:, column]]
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        coarse = [one.numbers.tolist() for one in self.coarse]
        return {"columns": list(self.columns), "coarse": coarse}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Cluster":
        """Read what :meth:`to_json` wrote."""
        coarse = tuple(CoarseValues(np.array(one, dtype=np.int64)) for one in data["coarse"])
        return Cluster(tuple(data["columns"]), coarse)


@frozen(kw_only=True, eq=False)
class ParentValues:
    """What is public of the parents' columns; the last is the number of children."""

    measured: MeasuredMarginals = field(repr=False)
    columns: tuple[CountedColumn, ...]
    numbers: Counts
    """About how many children there are in each cell of the last column."""

    def children(self) -> float:
        """Return about how many children there are."""
        counts, _ = self.measured.one_way(len(self.columns) - 1)
        return max(1.0, float(counts @ self.numbers))

    def coarse(self, most: int) -> tuple[CoarseValues, ...]:
        """Return about so many coarse values of columns with an order, and twice as many of others.

        Numbers of children are put together by how many children, and not by how many parents.
        """
        last = len(self.columns) - 1
        found = []
        for place, column in enumerate(self.columns):
            counts, variance = self.measured.one_way(place)
            deviation = math.sqrt(variance)
            if place == last:
                counts = counts * self.numbers
                deviation *= float(np.sqrt(np.mean(self.numbers**2)))
            found.append(coarse_column(column, counts, deviation, most))
        return tuple(found)

    def passed_on(self, a: int, b: int) -> float:
        r"""Return how much of children's dependence on one column another may only pass on.

        If children depend on ``a`` alone, then
        :math:`\|p_{bx} - p_b p_x\|_1 \le \eta \|p_{ax} - p_a p_x\|_1` with the largest distance
        :math:`\eta` of two rows of :math:`p_{b \mid a}` (Dobrushin's coefficient). It is 0 where
        the two were not measured together. Rows in which few are tell of noise, and are left out.
        """
        found = [one for one in self.measured.tables if one.columns == tuple(sorted((a, b)))]
        if not found:
            return 0.0
        table = np.maximum(found[0].values.astype(np.float64), 0.0)
        table = (table if a < b else table.T) * self._children_each(a)[:, None]
        table = table * self._children_each(b)[None, :]
        masses = table.sum(axis=1)
        rows = table[masses > LEAST_MASS * masses.mean()]
        shares = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-9)
        distances = np.abs(shares[:, None, :] - shares[None, :, :]).sum(axis=2) / 2
        return float(distances.max(initial=0.0))

    def _children_each(self, column: int) -> Counts:
        """Return what rows of each coarse value weigh: children, if it is the number of them."""
        coarse = self.measured.coarse[column]
        if column < len(self.columns) - 1:
            return np.ones(coarse.size)
        return np.asarray(coarse.sums(self.numbers) / coarse.members())


def coarse_column(
    column: CountedColumn, counts: Counts, deviation: float, most: int
) -> CoarseValues:
    """Return about so many coarse values of a column, and twice as many if it has no order."""
    return coarse_values(
        counts,
        deviation,
        has_order=column.has_order,
        has_null=column.has_null,
        most=most if column.has_order else 2 * most,
    )


@frozen(kw_only=True, eq=False)
class MeasuredLinks:
    """How much children depend on each of their parents' columns, in noisy numbers."""

    children: tuple[MeasuredTable, ...]
    """The counts of each child's column by itself."""
    parents: tuple[MeasuredTable, ...]
    """The counts of children by each parents' column, of coarse values."""
    scores: MeasuredTable
    """For each child's column and each parents' one, how far their table is from independence."""

    def links(self, coarse: Sequence[CoarseValues]) -> NDArray[np.float64]:
        r"""Return how much each child's column depends on each parents', beyond noise and chance.

        ``coarse`` are the values of the children's columns in the tables that were scored. Of
        columns that do not depend on each other the score is what noise in the expected table adds,
        and about :math:`\sqrt{2nc/\pi}` for :math:`n` rows in :math:`c` cells. From each is taken
        what the noise of all scores stays within, but for a small chance, by its own tails.
        """
        scores = self.scores.values.reshape(len(self.children), len(self.parents))
        total = max(1.0, float(np.mean([one.values.sum() for one in self.parents])))
        margin = float(self.scores.noise.error_quantile(2 * CHANCE / scores.size))
        found = np.zeros(scores.shape)
        for x, (child, values) in enumerate(zip(self.children, coarse, strict=True)):
            for p, parent in enumerate(self.parents):
                cells = values.size * parent.values.size
                noise = _noise(child, values.size) + _noise(parent, parent.values.size)
                chance = math.sqrt(2 * total * cells / math.pi)
                found[x, p] = max(float(scores[x, p]) - noise - chance - margin, 0.0)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "children": [one.to_json() for one in self.children],
            "parents": [one.to_json() for one in self.parents],
            "scores": self.scores.to_json(),
        }


def read_links(data: dict[str, Any] | None) -> MeasuredLinks | None:
    """Read what :meth:`MeasuredLinks.to_json` wrote; None if nothing was."""
    if data is None:
        return None
    return MeasuredLinks(
        children=tuple(map(MeasuredTable.from_json, data["children"])),
        parents=tuple(map(MeasuredTable.from_json, data["parents"])),
        scores=MeasuredTable.from_json(data["scores"]),
    )


def _noise(table: MeasuredTable, size: int) -> float:
    """Return what the noise of so many coarse values of a column adds up to, as it is expected."""
    return math.sqrt(2 * table.variance * table.values.size * size / math.pi)


def chosen_columns(links: NDArray[np.float64], values: ParentValues, most: int) -> tuple[int, ...]:
    """Return the columns that children depend on most, in at most so many clusters; or none.

    ``links`` has how much they do, for each of the parents' columns. A column with a link that
    another one may only pass on to it is not taken.
    """
    taken: list[int] = []
    coarsest, scored = values.coarse(FINEST[-1]), values.coarse(SCORED)
    order = sorted(range(len(links)), key=lambda one: (-links[one], one))
    for place in order:
        passed_on = max([0.0, *(values.passed_on(one, place) * links[one] for one in taken)])
        is_linked = links[place] - passed_on > LEAST_LINK * links[order[0]]
        size = math.prod(coarsest[one].size for one in (*taken, place))
        if is_linked and scored[place].size > 1 and (size <= most or not taken):
            taken.append(place)
        if len(taken) == MOST_COLUMNS:
            break
    return tuple(sorted(taken))


def finest_cluster(columns: Sequence[int], values: ParentValues, most: int) -> Cluster:
    """Return the cluster of some columns, with the finest values that make no more than ``most``.

    If all make more, the coarsest are taken.
    """
    found = Cluster((), ())
    for fine in FINEST if columns else ():
        coarse = values.coarse(fine)
        found = Cluster(tuple(columns), tuple(coarse[one] for one in columns))
        if found.size <= most:
            break
    return found
