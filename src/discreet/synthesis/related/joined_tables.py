r"""Tables of a child's column with a parent's, in the model of both: worked out, and not drawn.

A parent with the values :math:`v` has on average :math:`m(v)` children, and is in the cluster
:math:`k(v)`. Its children have the values :math:`x` with the probability :math:`q(x \mid k)`. So of
:math:`n` parents there are

.. math:: \sum_k q(x \mid k) \; C_k(a), \qquad
    C_k(a) = n \sum_{v :\, v_p = a,\, k(v) = k} P(v)\, m(v)

children with the value :math:`x` of parents that have the value :math:`a` in a column :math:`p`. A
cluster is a product of sets of values of a few columns, so :math:`C_k` follows from the parents'
model with weights on these columns, and its tables of two columns.

Guarantee:
    Post-processing: models of what was measured are all that is looked at.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts
from discreet.synthesis.marginals.pair_tables import tables_with
from discreet.synthesis.related.draw_related import RelatedModel
from discreet.synthesis.related.joined_rows import middles


@frozen(eq=False, slots=False)
class JoinedTables:
    """How many children there are by a column of theirs and one of their parents."""

    model: RelatedModel

    @cached_property
    def by_cluster(self) -> tuple[tuple[Counts, ...], ...]:
        """For each cluster and each parents' column, the children by the column's cells."""
        return tuple(self._of_cluster(number) for number in range(self.model.cluster.size))

    @cached_property
    def masses(self) -> Counts:
        """How many children each cluster has."""
        return np.array([columns[-1].sum() for columns in self.by_cluster])

    @property
    def total(self) -> float:
        """How many children there are."""
        return float(self.masses.sum())

    def table(self, child: int, parent: int, groups: tuple[Integers, Integers]) -> Counts:
        """Return the children by groups of the cells of a column of theirs and a parents' one."""
        own, others = groups
        shares = np.array([_summed(one[child], own) for one in self._given])
        counts = np.array([_summed(one[parent], others) for one in self.by_cluster])
        found: Counts = shares.T @ counts
        return found

    @cached_property
    def shift(self) -> float:
        r"""How far drawn children can be from the children's model, as a share of all of them.

        The model of children has masses of clusters of its own, by what was measured of children;
        drawn ones have those of their parents. Given its cluster a child is as in the model. So any
        table of children moves by half of what the masses of all clusters differ by, at most.
        """
        total = self.model.children.estimated.total
        masses, own = self.masses, np.array([total])
        if self.model.cluster.size > 1:
            column = len(self.model.children.cells) - 1
            coarse = self.model.children.measured.coarse[column]
            masses, own = coarse.sums(masses), total * self.model.children.coarse_table((column,))
        return float(np.abs(masses - own).sum()) / 2 / max(total, 1.0)

    @cached_property
    def _given(self) -> list[list[Counts]]:
        """For each cluster, the shares of the cells of each children's column."""
        column = len(self.model.own_cells)
        found: dict[int, list[Counts]] = {}
        numbers = [0] * self.model.cluster.size
        if self.model.cluster.size > 1:
            numbers = self.model.children.measured.coarse[column].numbers.tolist()
        for number in set(numbers):
            is_one = self.model.cluster.size == 1
            given = self.model.children if is_one else self.model.given(number)
            found[number] = [given.shares(place) for place in range(column)]
        return [found[number] for number in numbers]

    def _of_cluster(self, number: int) -> tuple[Counts, ...]:
        parents, cluster = self.model.parents, self.model.cluster
        sizes = [one.size for one in cluster.coarse]
        parts = np.unravel_index(number, sizes) if sizes else ()
        within = list(parents.within)
        for column, coarse, part in zip(cluster.columns, cluster.coarse, parts, strict=True):
            within[column] = np.where(coarse.numbers == part, within[column], 0.0)
        weights = [_summed(*one) for one in self._numbered(within)]
        try:
            model = parents.estimated.model.weighted({at: weights[at] for at in cluster.columns})
        except InvalidArgument:  # no parent is in it
            return tuple(np.zeros(len(one)) for one in within)
        last, rows = len(within) - 1, parents.rows * float(np.exp(model.log_total))
        shares = [_divided(one, weights[at], self._values(at)) for at, one in enumerate(within)]
        each = middles(self.model.number) * shares[last]
        children = _summed(each, self._values(last).numbers)
        found = dict(tables_with(model, last))
        counts = [
            (rows * (children @ found[at]))[self._values(at).numbers] * shares[at]
            for at in range(last)
        ]
        own = rows * model.marginal((last,))[self._values(last).numbers] * each
        return (*counts, own)

    def _values(self, column: int) -> CoarseValues:
        return self.model.parents.values[column]

    def _numbered(self, within: list[Counts]) -> Iterator[tuple[Counts, Integers]]:
        for column, one in enumerate(within):
            yield one, self._values(column).numbers


def _summed(counts: Counts, groups: Integers) -> Counts:
    """Return the sums over groups of cells."""
    return np.bincount(groups, weights=counts).astype(np.float64)


def _divided(within: Counts, weights: Counts, values: CoarseValues) -> Counts:
    """Return the shares of cells in their values, of those that a cluster has."""
    each = weights[values.numbers]
    return np.divide(within, each, out=np.zeros_like(within), where=each > 0)
