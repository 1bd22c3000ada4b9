r"""Measure children: what they depend on in their parents, and their marginals given that.

Children are counted by their own columns and by those of their parents, whose values are put
together before, by what was made public of the parents. In a first round each column is counted,
and each pair of a child's and a parents' column gets a score: how far its table is from what two
columns would give that do not depend on each other. The scores say which of the parents' columns
make the *cluster*. With the rest of the price the marginals of the children are measured as those
of any table (:mod:`discreet.synthesis.marginals.measure`), with the cluster as one more column.

Guarantee:
    Let a unit have at most :math:`m` children that count, and fix all that was made public before:
    the parents' numbers, and so their coarse values.

    *Counts.* Adding the unit adds at most :math:`m` rows, each to one cell of a table. So a table
    moves by at most :math:`m` in :math:`\ell_1` and in :math:`\ell_2`.

    *Scores.* A score is :math:`\sum_c |x_c - e_c|` with whole numbers :math:`e_c` that follow from
    noisy counts. It moves by at most :math:`m`, and the vector of :math:`P` scores by at most
    :math:`P m` in :math:`\ell_1` and :math:`\sqrt P\,m` in :math:`\ell_2`.

    *Marginals.* The cluster is a function of public numbers, and of a row of each child alone. So
    the children with it are a table in which a unit has at most :math:`m` rows, and what is
    measured of it costs its part of the price.

    The parts are fixed before and add up to the price, and each round may depend on what is public
    by then: adaptive composition, for :math:`\varepsilon` [DR14, Theorem 3.16] and for :math:`\rho`
    [BS16, Lemma 1.7].

Assumes:
    Of each unit at most ``rows_per_unit`` children are counted, with one and the same parent, by
    whatever rule that looks at no other unit.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.core.contribution import Contribution
from discreet.core.protocols import Rng
from discreet.mechanisms.noise_json import Noise
from discreet.project.noise import choose_noise
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows
from discreet.synthesis.marginals.choose_tables import shares_of
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.marginals.measure import MarginalMechanism, Price, expected_table
from discreet.synthesis.marginals.measured import (
    MeasuredMarginals,
    MeasuredTable,
    noise_variance,
)
from discreet.synthesis.related.clusters import (
    LEAST_CLUSTERS,
    MOST_AT_ALL,
    MOST_CLUSTERS,
    SCORED,
    Cluster,
    MeasuredLinks,
    ParentValues,
    chosen_columns,
    coarse_column,
    finest_cluster,
)

COUNTS = Fraction(6, 100)
"""The part of the price for counts before the scores."""
SCORES = Fraction(4, 100)
"""The part of the price for scores of children's columns with parents'."""

DEVIATIONS_A_CELL = 3
"""A cell of a cluster and a child's value has about so many deviations of its noise in rows."""

WORTH = 1 / 3
"""The noise of all cells of such a table is about so much of the dependence that it shows."""

USUAL_LINK = 0.2
"""The dependence that is expected where columns are named and not scored, as a share of rows."""

LEAST_VALUES, MOST_VALUES = 4, 32
"""About how many coarse values a child's column with an order has, at least and at most."""

_MOST_COARSE = 2 * SCORED + 2
"""How many coarse values a column has when it is scored, whatever its counts."""


@frozen(kw_only=True, eq=False)
class MeasuredChildren:
    """All that was measured of children."""

    cluster: Cluster
    measured: MeasuredMarginals = field(repr=False)
    """The last of its columns is the cluster, if there is more than one."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"cluster": self.cluster.to_json(), "measured": self.measured.to_json()}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "MeasuredChildren":
        """Read what :meth:`to_json` wrote; links may stand beside it."""
        return MeasuredChildren(
            cluster=Cluster.from_json(data["cluster"]),
            measured=MeasuredMarginals.from_json(data["measured"]),
        )


@frozen(kw_only=True)
class ChildMechanism:
    """Measures children for a price; all that it knows is public."""

    columns: tuple[CountedColumn, ...]
    """Those of the children."""
    parents: int
    """How many columns the parents have, the number of children included."""
    rows_per_unit: int
    price: Price
    by: tuple[int, ...] | None = None
    """The parents' columns that make the cluster, if it is not chosen privately."""

    @property
    def each(self) -> Contribution:
        """What a unit moves of one table, and of one score."""
        return Contribution(l1=self.rows_per_unit)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs that are scored, by the places of their columns in the counted rows."""
        children = len(self.columns)
        return tuple(product(range(children), range(children, children + self.parents)))

    def score_noise(self) -> Noise:
        """Return the noise of the scores of all pairs."""
        pairs, rows = len(self.pairs), self.rows_per_unit
        d_in = Contribution(l0=pairs, linf=rows, l1=pairs * rows, l2_squared=pairs * rows**2)
        return choose_noise(d_in, self.price * SCORES)

    def marginals(self, clusters: int, most: int = MOST_VALUES) -> MarginalMechanism:
        """Return what measures the children with so many clusters, in ``most`` coarse values."""
        own = [evolve(one, most=most) if one.has_order else one for one in self.columns]
        cluster = CountedColumn(clusters, has_order=False, has_null=False, most=clusters)
        return MarginalMechanism(
            columns=(*own, *([cluster] if clusters > 1 else [])),
            rows_per_unit=self.rows_per_unit,
            price=self.price * (1 if self.by is not None else 1 - COUNTS - SCORES),
        )

    def most_measured(self) -> int:
        """Return how many cells are measured at most, of all rounds."""
        own = sum(one.size for one in self.columns)
        links = own + self.parents * _MOST_COARSE + len(self.pairs)
        return links + 2 * (own + MOST_AT_ALL) + self.marginals(MOST_AT_ALL).most_measured()

    def require_possible(self) -> None:
        """Refuse noise that cannot be drawn, before the charge, whatever the clusters will be."""
        for clusters in (1, 2, MOST_AT_ALL):
            self.marginals(clusters).require_possible()
        if self.by is None:
            self.score_noise()
            sizes = [*(one.size for one in self.columns), *([_MOST_COARSE] * self.parents)]
            weights = sum(size ** (2 / 3) for size in sizes)
            for share in (Fraction(1), Fraction(1, math.ceil(weights))):
                choose_noise(self.each, self.price * COUNTS * share)

    def cells_worth(self, children: float, link: float) -> float:
        """Return how many cells a table of clusters and values may have to be worth its noise.

        There are about so many ``children``, and a table that shows how a column of theirs depends
        on their parents differs from independence by ``link`` rows.
        """
        part = self.marginals(MOST_CLUSTERS).rest * Fraction(1, len(self.columns) + 1)
        deviation = max(math.sqrt(noise_variance(choose_noise(self.each, part))), 1e-9)
        size = deviation * math.sqrt(2 / math.pi)
        return min(children / (DEVIATIONS_A_CELL * deviation), WORTH * link / size)

    def release(
        self, rows: CountedRows, parents: ParentValues, rng: Rng
    ) -> tuple[MeasuredChildren, MeasuredLinks | None]:
        """Return noisy counts of what is measured. ``rows`` are private, and seen here alone.

        Their columns are those of the children, then those of the ``parents``.
        """
        children, measured_links = parents.children(), None
        if self.by is not None:
            cells = self.cells_worth(children, USUAL_LINK * children)
            cluster = finest_cluster(self.by, parents, _clusters(cells))
        else:
            measured_links, values = self._links(rows, parents.coarse(SCORED), rng)
            links = measured_links.links(values)
            cells = self.cells_worth(children, float(links.max()))
            most = _between(cells / LEAST_VALUES, LEAST_CLUSTERS)
            chosen = chosen_columns(links.sum(axis=0), parents, most)
            cluster = finest_cluster(chosen, parents, _clusters(cells))
        most = MOST_VALUES if cluster.size == 1 else _between(cells / cluster.size, LEAST_VALUES)
        measured = self.marginals(cluster.size, most).release(self._clustered(rows, cluster), rng)
        if measured_links is not None:
            measured = evolve(measured, tables=(*measured.tables, *measured_links.children))
        return MeasuredChildren(cluster=cluster, measured=measured), measured_links

    def _clustered(self, rows: CountedRows, cluster: Cluster) -> CountedRows:
        """Return children with their cluster instead of all of their parents' columns."""
        width = len(self.columns)
        own = rows.codes[:, :width]
        if cluster.size == 1:
            return CountedRows(rows.sizes[:width], own, rows.counts)
        numbers = cluster.numbers(rows.codes[:, width:])
        codes = np.concatenate([own, numbers[:, None]], axis=1)
        return CountedRows((*rows.sizes[:width], cluster.size), codes, rows.counts)

    def _links(
        self, rows: CountedRows, coarse: Sequence[CoarseValues], rng: Rng
    ) -> tuple[MeasuredLinks, list[CoarseValues]]:
        width = len(self.columns)
        fine = [_all_values(one.size) for one in self.columns]
        known = rows.grouped([one.numbers for one in (*fine, *coarse)])
        first = self._counts(known, rng)
        values = [
            coarse_column(column, one.values.astype(float), math.sqrt(one.variance), SCORED)
            for column, one in zip(self.columns, first[:width], strict=True)
        ]
        every = [*values, *(_all_values(one.size) for one in coarse)]
        scored = known.grouped([one.numbers for one in every])
        exact = [
            int(np.abs(scored.table(pair) - expected_table(first, every, pair).astype(int)).sum())
            for pair in self.pairs
        ]
        noise = self.score_noise()
        scores = MeasuredTable((), noise, noise.release(np.array(exact, dtype=np.int64), rng))
        links = MeasuredLinks(children=first[:width], parents=first[width:], scores=scores)
        return links, values

    def _counts(self, rows: CountedRows, rng: Rng) -> tuple[MeasuredTable, ...]:
        part, found = self.price * COUNTS, []
        for column, share in enumerate(shares_of(rows.sizes)):
            noise = choose_noise(self.each, part * share)
            noisy = noise.release(rows.table((column,)), rng)
            found.append(MeasuredTable((column,), noise, noisy))
        return tuple(found)


def _clusters(cells: float) -> int:
    """Return how many clusters there may be, if a table of them may have so many cells."""
    return _between(math.sqrt(cells), LEAST_CLUSTERS)


def _between(count: float, least: int) -> int:
    return int(min(max(count, least), MOST_CLUSTERS))


def _all_values(size: int) -> CoarseValues:
    return CoarseValues(np.arange(size, dtype=np.int64))
