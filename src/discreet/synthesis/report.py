r"""The report of a synthesis: where its rows can be trusted, by what was measured. It is free.

For a pair of columns that was measured, the report says how far the model is from the noisy table,
and how far noise alone would put it. For every pair it says how far the model can be from the
truth. With :math:`x` the table of the pair in coarse values, :math:`e` what columns that do not
depend on each other would give, and :math:`\mu` the model's table,

.. math:: \lVert x - \mu \rVert_1 \le \lVert x - e \rVert_1 + \lVert e - \mu \rVert_1 ,

and the first term is the score of the pair, which was released with noise; its upper end is
taken. If the owner has the model judged (:mod:`discreet.synthesis.judge`), the left side itself was
released with noise, and its upper end is taken if that is less. So is, for a measured table
:math:`y`, :math:`\lVert x - y \rVert_1 + \lVert y - \mu \rVert_1`. Of one that was measured
twice :math:`y` is the mean, weighted by the inverse variances, as it is for the model.

Within coarse values of several values nothing bounds how the truth :math:`p` differs from the model
:math:`q`. There a cell :math:`B` adds at most :math:`p(B) + q(B) \le |p(B) - q(B)| + 2 q(B)`, so
the share of such cells in the model is added to half of the sum.

Rows that are not drawn from the model as it is, such as children of drawn parents, are farther from
the truth by as much as they can be from the model: the ``shift`` is added to each bound.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_notes, html_table
from discreet.core.terminal_text import text_table
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import Noise
from discreet.synthesis.judgement import Judgement
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.coarse_values import Counts
from discreet.synthesis.marginals.junction_tree import Columns
from discreet.synthesis.marginals.measure import expected_table
from discreet.synthesis.pair_report import (
    HEADINGS,
    MEANINGS,
    PairReport,
    is_lost,
    least_certain_first,
    noise_sum,
    put_together,
    score_bound,
)
from discreet.synthesis.report_picture import DrawnShares, coarse_labels, new_axes, svg
from discreet.synthesis.synthetic_model import SyntheticModel

_GAUSSIAN, _LAPLACE = 1.96, 2.12
"""How many deviations are 95 % of noise; of Laplace noise, and of two of them, at least."""

MOST_DRAWN = 12
"""Of how many tables a page has pictures."""


@frozen(kw_only=True, eq=False)
class SyntheticReport:
    """What is known of how good a synthetic table is."""

    title: str
    model: SyntheticModel = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    judged: Judgement | None = field(default=None, repr=False)
    """Noisy distances of all pairs from the model, if the owner paid for them."""
    shift: float = 0.0
    """How far rows can be from the model, as a share of them."""

    @cached_property
    def pairs(self) -> tuple[PairReport, ...]:
        """All pairs of columns, the least certain ones first."""
        found = [
            self._pair(number, pair) for number, pair in enumerate(all_pairs(len(self.model.cells)))
        ]
        return least_certain_first(found)

    def _pair(self, number: int, pair: Columns) -> PairReport:
        names = tuple(self.model.cells[column].column.name for column in pair)
        total = max(self.model.estimated.total, 1.0)
        shares = self.model.coarse_pairs[pair]
        model = total * shares
        bounds = [*self._by_score(number, pair, model), *self._by_judgement(number, model)]
        distance = noise = None
        if is_measured := pair in self.model.measured.together:
            counts, variance = self.model.measured.mean(pair)
            off = float(np.abs(counts - model).sum())
            distance = off / total / 2
            noise = counts.size * math.sqrt(2 * variance / math.pi) / total / 2
            bounds.append(off + noise_sum(counts.size, variance))
        coarse = [self.model.measured.coarse[column] for column in pair]
        within = put_together(coarse, shares)
        most = min(bounds) / total / 2 + self.shift if bounds and not is_lost(coarse) else None
        return PairReport(
            columns=(names[0], names[1]),
            is_measured=is_measured,
            distance=distance,
            noise=noise,
            at_most=None if most is None else min(1.0, most + within),
            of_groups=None if most is None else min(1.0, most),
            put_together=within,
        )

    def _by_score(self, number: int, pair: Columns, model: Counts) -> list[float]:
        scores = self.model.measured.scores
        if scores is None:
            return []
        first = expected_table(self.model.measured.first, self.model.measured.coarse, pair)
        return [score_bound(scores, number, first, model)]

    def _by_judgement(self, number: int, model: Counts) -> list[float]:
        return [] if self.judged is None else [self.judged.bound(number, model)]

    def column(self, place: int) -> tuple[Counts, Counts, float]:
        """Return the model's shares of a column's cells, the measured ones, and their ± at 95 %."""
        total = max(self.model.estimated.total, 1.0)
        counts, variance = self.model.measured.one_way(place)
        band = _band(self.model.measured.first[place].noise, variance)
        return self.model.shares(place), counts / total, band / total

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "title": self.title,
            "rows": self.model.rows,
            "converged": self.model.estimated.is_found,
            "columns": [self._column_json(place) for place in range(len(self.model.cells))],
            "pairs": [one.to_json() for one in self.pairs],
            "shift": self.shift,
            "judged": self.judged is not None,
            "notes": list(self.notes),
        }

    def _column_json(self, place: int) -> dict[str, Any]:
        model, measured, band = self.column(place)
        cells = self.model.cells[place]
        return {
            "name": cells.column.name,
            "values": list(cells.labels()),
            "model": [round(float(one), 6) for one in model],
            "measured": [round(float(one), 6) for one in measured],
            "error": band,
        }

    def __str__(self) -> str:
        """Show the pairs, the least certain ones first."""
        lines = [self.title, "", pairs_text(self.pairs), ""]
        return "\n".join([*lines, *(f"- {note}" for note in (*MEANINGS, *self.notes))])

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return one page of HTML: a picture of each column, and a line for each pair."""
        return report_page(
            self.title,
            html_notes(self.notes),
            "<h2>Pairs of columns, the least certain first</h2>",
            pairs_html(self.pairs),
            html_notes(MEANINGS),
            "<h2>Columns by themselves</h2>",
            self.pictures(),
            "<h2>Columns together, as they were measured</h2>",
            self.pair_pictures(),
        )

    def pictures(self) -> str:
        """Return a picture of each column, as SVG."""
        return "".join(svg(self._shares(place).draw) for place in range(len(self.model.cells)))

    def pair_pictures(self) -> str:
        """Return a picture of each of the first tables of two columns, as SVG."""
        found = "".join(svg(self._pair_shares(one).draw, tall=3.0) for one in self._drawn())
        return found or "<p>None were measured.</p>"

    def _drawn(self) -> Sequence[Columns]:
        return [one for one in self.model.measured.together if len(one) == 2][:MOST_DRAWN]

    def _shares(self, place: int) -> DrawnShares:
        model, measured, band = self.column(place)
        cells = self.model.cells[place]
        return DrawnShares(
            names=(cells.column.name,),
            labels=(cells.labels(),),
            model=model,
            measured=measured,
            band=band,
        )

    def _pair_shares(self, columns: Columns) -> DrawnShares:
        """Return the shares of two columns that were measured together, of coarse values."""
        total = max(self.model.estimated.total, 1.0)
        counts, variance = self.model.measured.mean(columns)
        noise = next(one.noise for one in self.model.measured.tables if one.columns == columns)
        cells = [self.model.cells[column] for column in columns]
        coarse = [self.model.measured.coarse[column] for column in columns]
        return DrawnShares(
            names=tuple(one.column.name for one in cells),
            labels=tuple(coarse_labels(one, part) for one, part in zip(cells, coarse, strict=True)),
            model=self.model.coarse_table(columns),
            measured=counts / total,
            band=_band(noise, variance) / total,
        )

    def write(self, path: str | Path) -> Path:
        """Write the report to a file, as HTML or JSON."""
        return write_report(path, self.html, self.to_json)

    def plot(self, column: str, axes: Any = None) -> Any:
        """Draw the shares of a column's cells in the model, over the band of what was measured."""
        names = [one.column.name for one in self.model.cells]
        if column not in names:
            raise InvalidArgument(
                f"'{column}' is not one of the columns", must=f"be one of {', '.join(names)}"
            )
        found = new_axes() if axes is None else axes
        self._shares(names.index(column)).draw(found)
        return found

    def plot_pair(self, first: str, second: str, axes: Any = None) -> Any:
        """Draw the shares of two columns that were measured together, over the measured bands."""
        names = [one.column.name for one in self.model.cells]
        for columns in self.model.measured.together:
            if {names[column] for column in columns} == {first, second}:
                found = new_axes() if axes is None else axes
                self._pair_shares(columns).draw(found)
                return found
        raise InvalidArgument(
            f"'{first}' and '{second}' were not measured together",
            must="be a pair of columns that the report says was",
        )


def report_place(path: str | Path) -> Path:
    """Return where a report goes; its kind must be known by the ending."""
    place = Path(path)
    if place.suffix not in (".html", ".json"):
        raise InvalidArgument(
            "The kind of the report is not known",
            must="end in .html or .json",
            got=place.suffix or "no ending",
        )
    return place


def write_report(
    path: str | Path, html: Callable[[], str], data: Callable[[], dict[str, Any]]
) -> Path:
    """Write a report to a file, as HTML or JSON."""
    place = report_place(path)
    text = html() if place.suffix == ".html" else json.dumps(data(), indent=2)
    place.write_text(text + "\n", encoding="utf-8")
    return place


def _band(noise: Noise, variance: float) -> float:
    """Return the half-width at 95 % of numbers with this kind of noise."""
    is_laplace = isinstance(noise, DiscreteLaplace)
    return (_LAPLACE if is_laplace else _GAUSSIAN) * math.sqrt(variance)


def report_page(title: str, *parts: str) -> str:
    """Return one page of HTML."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>{''.join(parts)}</body></html>"
    )


def pairs_text(pairs: Sequence[PairReport]) -> str:
    """Return pairs as a table of text."""
    return text_table(HEADINGS, [one.line() for one in pairs])


def pairs_html(pairs: Sequence[PairReport]) -> str:
    """Return pairs as a table of HTML."""
    return html_table(HEADINGS, [one.line() for one in pairs])


_STYLE = (
    "body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }"
    " table { border-collapse: collapse } td, th { padding: 0.2em 0.8em; border-bottom: 1px solid"
    " #ccc } svg { max-width: 100%; height: auto; display: block }"
)
