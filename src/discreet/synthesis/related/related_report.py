r"""The report of two related tables: where their rows can be trusted, by what was measured.

Each table has the report of one table (:mod:`discreet.synthesis.report`). Children are drawn for
drawn parents, so they can be farther from the children's model than rows of one table are: by
:attr:`~discreet.synthesis.related.joined_tables.JoinedTables.shift`, which is added to each bound.

A pair of a child's and a parent's column was measured as far as the parent's column makes
clusters: the noisy table of the child's column with the cluster is summed over all other columns of
the cluster, and what its noise adds up to bounds how far the sums are from the truth. For any pair
there is a score, if nobody named what children depend on: with :math:`x` the pair's table in coarse
values, :math:`e` what columns that do not depend on each other would give, and :math:`\mu` the
expected table of the drawn rows,

.. math:: \lVert x - \mu \rVert_1 \le \lVert x - e \rVert_1 + \lVert e - \mu \rVert_1 ,

where the first term was released with noise. If the owner has the rows judged, the left side itself
was, of the coarse values in which each table was measured. Of all bounds the lowest one is taken.
"""

import math
from collections.abc import Iterator
from functools import cached_property
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.core.errors import UnknownTable
from discreet.core.html_text import html_notes
from discreet.synthesis.judgement import Judgement
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts
from discreet.synthesis.marginals.measure import expected_table
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.pair_report import (
    MEANINGS,
    PairReport,
    is_lost,
    least_certain_first,
    noise_sum,
    put_together,
    score_bound,
)
from discreet.synthesis.related.clusters import (
    SCORED,
    MeasuredLinks,
    ParentValues,
    coarse_column,
)
from discreet.synthesis.related.draw_related import RelatedModel
from discreet.synthesis.related.joined_rows import middles
from discreet.synthesis.related.joined_tables import JoinedTables
from discreet.synthesis.report import (
    SyntheticReport,
    pairs_html,
    pairs_text,
    report_page,
    write_report,
)

_JOINED = "Columns of both tables, the least certain first"


@frozen(kw_only=True, eq=False)
class RelatedJudgement:
    """Noisy distances from the models: of all pairs of each table, and of both."""

    parents: Judgement
    children: Judgement
    """Of all pairs of the children's model, and then of each child's column with each parents'."""


@frozen(kw_only=True, eq=False)
class RelatedReport:
    """What is known of how good the rows of two related tables are."""

    title: str
    model: RelatedModel = field(repr=False)
    links: MeasuredLinks | None = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    judged: RelatedJudgement | None = field(default=None, repr=False)

    @cached_property
    def joined(self) -> JoinedTables:
        """The expected tables of a child's column with a parent's."""
        return JoinedTables(self.model)

    @cached_property
    def parents(self) -> SyntheticReport:
        """The report of the parents, with their number of children."""
        return SyntheticReport(
            title=self.model.parent.name,
            model=self.model.parents,
            notes=(),
            judged=None if self.judged is None else self.judged.parents,
        )

    @cached_property
    def children(self) -> SyntheticReport:
        """The report of the children, with their cluster."""
        return SyntheticReport(
            title=self.model.child.name,
            model=self.model.children,
            notes=(),
            judged=None if self.judged is None else self.judged.children,
            shift=self.joined.shift,
        )

    @cached_property
    def pairs(self) -> tuple[PairReport, ...]:
        """All pairs of a child's and a parent's column, the least certain ones first."""
        places = product(range(len(self.model.own_cells)), range(len(self.model.parents.cells)))
        return least_certain_first(self._pair(number, *at) for number, at in enumerate(places))

    def _pair(self, number: int, child: int, parent: int) -> PairReport:
        measured = self._measured(child, parent)
        found = [*self._by_score(number, child, parent), *self._by_judgement(number, child, parent)]
        if measured is not None and not is_lost(measured.coarse):
            within = put_together(measured.coarse, measured.model / self._total)
            found.append((self._share(measured.off + measured.most), within))
        known = min(found, key=sum, default=None)
        names = (
            f"{self.model.child.name}.{self.model.own_cells[child].column.name}",
            f"{self.model.parent.name}.{self.model.parents.cells[parent].column.name}",
        )
        return PairReport(
            columns=names,
            is_measured=measured is not None,
            distance=None if measured is None else self._share(measured.off),
            noise=None if measured is None else self._share(measured.noise),
            at_most=None if known is None else min(1.0, sum(known)),
            of_groups=None if known is None else min(1.0, known[0]),
            put_together=1.0 if known is None else known[1],
        )

    def _measured(self, child: int, parent: int) -> "_ByClusters | None":
        """Return what was measured of a pair by clusters, if the parents' column makes some."""
        cluster, children = self.model.cluster, self.model.children.measured
        last = len(self.model.own_cells)
        tables = [one for one in children.tables if one.columns == (child, last)]
        if parent not in cluster.columns or cluster.size == 1 or not tables:
            return None
        groups = children.coarse[last].numbers
        if children.coarse[last].size < cluster.size:
            return None  # clusters stand together that differ in this column
        place, sizes = cluster.columns.index(parent), [one.size for one in cluster.coarse]
        parts = np.unravel_index(np.arange(cluster.size), sizes)[place]
        found = np.zeros((len(tables[0].values), sizes[place]))
        np.add.at(found.T, parts, tables[0].values[:, groups].T)
        coarse = (children.coarse[child], cluster.coarse[place])
        return _ByClusters(
            measured=found,
            model=self.joined.table(child, parent, (coarse[0].numbers, coarse[1].numbers)),
            coarse=coarse,
            table=tables[0],
        )

    def _by_score(self, number: int, child: int, parent: int) -> Iterator[tuple[float, float]]:
        """Yield how far groups are off at most, and the share of rows within several values."""
        if self.links is None:
            return
        own, others = self._scored
        coarse = (own[child], others[parent])
        first = (*self.links.children, *self.links.parents)
        every = [*own, *(CoarseValues(np.arange(one.size)) for one in others)]
        expected = expected_table(first, every, (child, len(own) + parent))
        model = self.joined.table(child, parent, (coarse[0].numbers, coarse[1].numbers))
        if not is_lost(coarse):
            bound = score_bound(self.links.scores, number, expected, model)
            yield self._share(bound), put_together(coarse, model / self._total)

    def _by_judgement(self, number: int, child: int, parent: int) -> Iterator[tuple[float, float]]:
        """Yield the same of the coarse values in which both tables were measured."""
        if self.judged is None:
            return
        coarse = (
            self.model.children.measured.coarse[child],
            self.model.parents.measured.coarse[parent],
        )
        before = math.comb(len(self.model.children.cells), 2)
        model = self.joined.table(child, parent, (coarse[0].numbers, coarse[1].numbers))
        if not is_lost(coarse):
            bound = self.judged.children.bound(before + number, model)
            yield self._share(bound), put_together(coarse, model / self._total)

    @property
    def _total(self) -> float:
        return max(self.joined.total, 1.0)

    def _share(self, bound: float) -> float:
        return bound / self._total / 2

    @cached_property
    def _scored(self) -> tuple[list[CoarseValues], tuple[CoarseValues, ...]]:
        """The coarse values of children's and of parents' columns in which they were scored."""
        assert self.links is not None
        own = [
            coarse_column(
                cells.counted(), one.values.astype(float), math.sqrt(one.variance), SCORED
            )
            for cells, one in zip(self.model.own_cells, self.links.children, strict=True)
        ]
        parents = self.model.parents
        values = ParentValues(
            measured=parents.measured,
            columns=tuple(one.counted() for one in parents.cells),
            numbers=middles(self.model.number),
        )
        return own, values.coarse(SCORED)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "title": self.title,
            "tables": {
                report.title: {
                    name: value
                    for name, value in report.to_json().items()
                    if name not in ("title", "notes")
                }
                for report in (self.parents, self.children)
            },
            "joined": [one.to_json() for one in self.pairs],
            "judged": self.judged is not None,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Show the pairs of both tables and of each, the least certain ones first."""
        lines = [self.title, "", _JOINED, "", pairs_text(self.pairs), ""]
        for report in (self.parents, self.children):
            lines += [f"Columns of {report.title}", "", pairs_text(report.pairs), ""]
        return "\n".join([*lines, *(f"- {note}" for note in (*MEANINGS, *self._all_notes()))])

    def _all_notes(self) -> tuple[str, ...]:
        child, shift = self.model.child.name, 100 * self.joined.shift
        return (
            *self.notes,
            (
                f"columns of both tables are measured by clusters alone; rows of {child} are drawn"
                f" for drawn rows of {self.model.parent.name}, which moves them by up to"
                f" {shift:.1f} % from what was measured of {child}, and each bound has that in it"
            ),
        )

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return one page of HTML: a picture of each column, and a line for each pair."""
        parts = [html_notes(self._all_notes()), f"<h2>{_JOINED}</h2>", pairs_html(self.pairs)]
        parts.append(html_notes(MEANINGS))
        for report in (self.parents, self.children):
            name = escape(report.title)
            parts += [
                f"<h2>Pairs of columns of {name}, the least certain first</h2>",
                pairs_html(report.pairs),
                f"<h2>Columns of {name} by themselves</h2>",
                report.pictures(),
                f"<h2>Columns of {name} together, as they were measured</h2>",
                report.pair_pictures(),
            ]
        return report_page(self.title, *parts)

    def write(self, path: str | Path) -> Path:
        """Write the report to a file, as HTML or JSON."""
        return write_report(path, self.html, self.to_json)

    def plot(self, table: str, column: str, axes: Any = None) -> Any:
        """Draw the shares of a column's cells in the model, over the band of what was measured."""
        for report in (self.parents, self.children):
            if report.title == table:
                return report.plot(column, axes)
        raise UnknownTable(
            "This report has no such table",
            must=f"be {self.parents.title} or {self.children.title}",
        )


@frozen(kw_only=True, eq=False)
class _ByClusters:
    """The table of a child's column with one that makes clusters, as it was measured."""

    measured: Counts
    model: Counts
    """What is expected of drawn rows."""
    coarse: tuple[CoarseValues, CoarseValues]
    table: MeasuredTable
    """That with the cluster, of which it has the sums."""

    @property
    def off(self) -> float:
        """How far the model is from it, in rows."""
        return float(np.abs(self.measured - self.model).sum())

    @property
    def noise(self) -> float:
        """How far it would be if the model were the truth."""
        each = self.table.values.size / self.measured.size * self.table.variance
        return self.measured.size * math.sqrt(2 * each / math.pi)

    @property
    def most(self) -> float:
        """How far it is from the truth, but for one time in 60: no more than all of its noise."""
        return noise_sum(self.table.values.size, self.table.variance)
