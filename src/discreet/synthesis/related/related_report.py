r"""The report of two related tables: where their rows can be trusted, by what was measured.

Each table has the report of one table (:mod:`discreet.synthesis.report`). Children are drawn for
drawn parents, so they can be farther from the children's model than rows of one table are: by
:attr:`~discreet.synthesis.related.joined_tables.JoinedTables.shift`, which is added to each bound.

Of a pair of a child's and a parent's column no table was measured. Its score was, if nobody named
what children depend on: with :math:`x` the pair's table in coarse values, :math:`e` what columns
that do not depend on each other would give, and :math:`\mu` the expected table of the drawn rows,

.. math:: \lVert x - \mu \rVert_1 \le \lVert x - e \rVert_1 + \lVert e - \mu \rVert_1 ,

where the first term was released with noise. If the owner has the rows judged, the left side itself
was, of the coarse values in which each table was measured. Of both bounds the lower one is taken.
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
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.marginals.measure import expected_table
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.pair_report import (
    MEANINGS,
    PairReport,
    is_lost,
    judged_bound,
    least_certain_first,
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

    parents: MeasuredTable
    children: MeasuredTable
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
        found = [*self._by_score(number, child, parent), *self._by_judgement(number, child, parent)]
        known = min(found, key=sum, default=None)
        names = (
            f"{self.model.child.name}.{self.model.own_cells[child].column.name}",
            f"{self.model.parent.name}.{self.model.parents.cells[parent].column.name}",
        )
        return PairReport(
            columns=names,
            is_measured=False,
            distance=None,
            noise=None,
            at_most=None if known is None else min(1.0, sum(known)),
            of_groups=None if known is None else min(1.0, known[0]),
            put_together=1.0 if known is None else known[1],
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
            bound = judged_bound(self.judged.children, before + number, model)
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
                f"columns of both tables were measured by clusters alone; rows of {child} are drawn"
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
