r"""The report of a synthesis: where its rows can be trusted, by what was measured. It is free.

For a pair of columns that was measured, the report says how far the model is from the noisy table,
and how far noise alone would put it. For every pair it says how far the model can be from the
truth. With :math:`x` the table of the pair in coarse values, :math:`e` what columns that do not
depend on each other would give, and :math:`\mu` the model's table,

.. math:: \lVert x - \mu \rVert_1 \le \lVert x - e \rVert_1 + \lVert e - \mu \rVert_1 ,

and the first term is the score of the pair, which was released with noise; its upper end is
taken. If the owner has the model judged (:mod:`discreet.synthesis.judge`), the left side itself was
released with noise, and its upper end is taken if that is less. So is, for a measured table
:math:`y`, :math:`\lVert x - y \rVert_1 + \lVert y - \mu \rVert_1`.

Within coarse values of several values nothing bounds how the truth :math:`p` differs from the model
:math:`q`. There a cell :math:`B` adds at most :math:`p(B) + q(B) \le |p(B) - q(B)| + 2 q(B)`, so
the share of such cells in the model is added to half of the sum.
"""

import io
import json
import math
from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.accounting.picture import ACCENT, INK, QUIET
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_notes, html_table
from discreet.core.terminal_text import one_line, text_table
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.coarse_values import Counts
from discreet.synthesis.marginals.measure import expected_table
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.synthetic_model import SyntheticModel

_BETA = (1 - CONFIDENCE) / 3
"""How often each of three bounds fails; the least of them fails three times as often at most."""

_GAUSSIAN, _LAPLACE = 1.96, 2.12
"""How many deviations are 95 % of noise; of Laplace noise, and of two of them, at least."""

_WIDE, _TALL = 6.4, 2.2
_MOST_LABELS = 12


@frozen(kw_only=True)
class PairReport:
    """How far the model's table of two columns can be from the truth."""

    columns: tuple[str, str]
    is_measured: bool
    distance: float | None
    """Of a measured table: half the sum of what the model is off from it, as a share of rows."""
    noise: float | None
    """Of a measured table: what the distance would be if the model were the truth."""
    at_most: float | None
    """The most that the model is off from the truth, 95 % of the time; None if unknown."""
    of_groups: float | None
    """The same of values as they stand together in tables, whatever is within."""
    put_together: float
    """The share of rows with a value that stands together with others: how these depend on the
    other column is not known."""


@frozen(kw_only=True, eq=False)
class SyntheticReport:
    """What is known of how good a synthetic table is."""

    title: str
    model: SyntheticModel = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    judged: MeasuredTable | None = field(default=None, repr=False)
    """Noisy distances of all pairs from the model, if the owner paid for them."""

    @cached_property
    def pairs(self) -> tuple[PairReport, ...]:
        """All pairs of columns, the least certain ones first."""
        measured = {one.columns: one for one in self.model.measured.tables}
        found = [
            self._pair(number, pair, measured.get(pair))
            for number, pair in enumerate(all_pairs(len(self.model.cells)))
        ]
        return tuple(
            sorted(found, key=lambda one: -(math.inf if one.of_groups is None else one.of_groups))
        )

    def _pair(
        self, number: int, pair: tuple[int, ...], measured: MeasuredTable | None
    ) -> PairReport:
        names = tuple(self.model.cells[column].column.name for column in pair)
        total = max(self.model.estimated.total, 1.0)
        shares = self.model.coarse_pairs[pair]
        distance = noise = None
        if measured is not None:
            distance = float(np.abs(measured.values / total - shares).sum() / 2)
            size = measured.values.size
            noise = size * math.sqrt(2 * measured.variance / math.pi) / total / 2
        model = total * shares
        bounds = [*self._by_score(number, pair, model), *self._by_judgement(number, model)]
        if measured is not None:
            bounds.append(float(np.abs(measured.values - model).sum()) + _most(measured))
        is_known = bool(bounds) and not self._is_lost(pair)
        within = self._put_together(pair, shares)
        return PairReport(
            columns=(names[0], names[1]),
            is_measured=measured is not None,
            distance=distance,
            noise=noise,
            at_most=min(1.0, min(bounds) / total / 2 + within) if is_known else None,
            of_groups=min(1.0, min(bounds) / total / 2) if is_known else None,
            put_together=within,
        )

    def _is_lost(self, pair: tuple[int, ...]) -> bool:
        """Tell whether all values of a column stand together, so that nothing is known of them."""
        coarse = [self.model.measured.coarse[column] for column in pair]
        return any(one.size == 1 < len(one.numbers) for one in coarse)

    def _put_together(self, pair: tuple[int, ...], shares: Counts) -> float:
        single = [self.model.measured.coarse[column].members() == 1 for column in pair]
        return max(0.0, 1 - float(shares[np.ix_(*single)].sum()))

    def _by_score(self, number: int, pair: tuple[int, ...], model: Counts) -> list[float]:
        scores = self.model.measured.scores
        if scores is None:
            return []
        first = expected_table(self.model.measured.first, self.model.measured.coarse, pair)
        upper = float(scores.values[number]) + float(error_of(scores.noise, _BETA))
        return [max(upper, 0.0) + float(np.abs(first - model).sum())]

    def _by_judgement(self, number: int, model: Counts) -> list[float]:
        if self.judged is None:
            return []
        upper = int(self.judged.values[number]) + error_of(self.judged.noise, _BETA)
        # The model was judged in whole numbers.
        return [max(float(upper), 0.0) + float(np.abs(model - np.rint(model)).sum())]

    def column(self, place: int) -> tuple[Counts, Counts, float]:
        """Return the model's shares of a column's cells, the measured ones, and their ± at 95 %."""
        total = max(self.model.estimated.total, 1.0)
        counts, variance = self.model.measured.one_way(place)
        is_laplace = isinstance(self.model.measured.first[place].noise, DiscreteLaplace)
        band = (_LAPLACE if is_laplace else _GAUSSIAN) * math.sqrt(variance)
        return self.model.shares(place), counts / total, band / total

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "title": self.title,
            "rows": self.model.rows,
            "converged": self.model.estimated.is_found,
            "columns": [self._column_json(place) for place in range(len(self.model.cells))],
            "pairs": [
                {
                    "columns": list(one.columns),
                    "measured": one.is_measured,
                    "distance": one.distance,
                    "noise": one.noise,
                    "at_most": one.at_most,
                    "of_groups": one.of_groups,
                    "put_together": round(one.put_together, 6),
                }
                for one in self.pairs
            ],
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
        lines = [self.title, "", text_table(_HEADINGS, self._lines()), ""]
        return "\n".join([*lines, *(f"- {note}" for note in (*_MEANINGS, *self.notes))])

    def _lines(self) -> list[list[str]]:
        return [
            [
                " with ".join(one.columns),
                "yes" if one.is_measured else "no",
                "" if one.distance is None else _percent(one.distance),
                "" if one.noise is None else _percent(one.noise),
                "unknown" if one.at_most is None else _percent(one.at_most),
                "unknown" if one.of_groups is None else _percent(one.of_groups),
                _percent(one.put_together) if one.put_together > 5e-4 else "",
            ]
            for one in self.pairs
        ]

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return one page of HTML: a picture of each column, and a line for each pair."""
        pictures = "".join(self._picture(place) for place in range(len(self.model.cells)))
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head><body>"
            f"<h1>{escape(self.title)}</h1>{html_notes(self.notes)}"
            f"<h2>Pairs of columns, the least certain first</h2>"
            f"{html_table(_HEADINGS, self._lines())}{html_notes(_MEANINGS)}"
            f"<h2>Columns by themselves</h2>{pictures}</body></html>"
        )

    def write(self, path: str | Path) -> Path:
        """Write the report to a file, as HTML or JSON."""
        place = report_place(path)
        text = self.html() if place.suffix == ".html" else json.dumps(self.to_json(), indent=2)
        place.write_text(text + "\n", encoding="utf-8")
        return place

    def plot(self, column: str, axes: Any = None) -> Any:
        """Draw the shares of a column's cells in the model, over the band of what was measured."""
        names = [one.column.name for one in self.model.cells]
        if column not in names:
            raise InvalidArgument(
                f"'{column}' is not one of the columns", must=f"be one of {', '.join(names)}"
            )
        if axes is None:
            _, axes = optional.load("matplotlib.pyplot").subplots(figsize=(_WIDE, _TALL))
        self._draw(names.index(column), axes)
        return axes

    def _draw(self, place: int, axes: Any) -> None:
        model, measured, band = self.column(place)
        cells = self.model.cells[place]
        places = np.arange(len(model))
        low = np.maximum(measured - band, 0.0)
        high = np.maximum(measured + band, 0.0)
        axes.bar(places, 100 * model, width=0.9, color=ACCENT, alpha=0.55, label="model")
        axes.vlines(places, 100 * low, 100 * high, color=INK, linewidth=1, label="measured, 95 %")
        axes.set_title(_plain(cells.column.name), loc="left", color=INK, fontsize=11)
        axes.set_ylabel("% of rows", color=INK)
        axes.grid(axis="y", color=QUIET, alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(bottom=0)
        shown = _ticks(len(model))
        labels = cells.labels()
        axes.set_xticks(shown, [_plain(labels[one][:18]) for one in shown], rotation=30, ha="right")
        axes.legend(frameon=False, fontsize=8)

    def _picture(self, place: int) -> str:
        figure = optional.load("matplotlib.figure").Figure(
            figsize=(_WIDE, _TALL), layout="constrained"
        )
        self._draw(place, figure.subplots())
        target = io.StringIO()
        figure.savefig(target, format="svg", metadata={"Date": None})
        return target.getvalue().partition("<svg")[2].join(("<svg", ""))


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


def _most(measured: MeasuredTable) -> float:
    r"""Return what the sizes of a table's noise add up to, but for one time in 60.

    Of one cell with variance :math:`\sigma^2` the size has a mean of at most :math:`0.8\sigma` and
    a variance of at most :math:`\sigma^2/2`, for both kinds of noise if they are not far below 1.
    Cells are independent, so by Cantelli's inequality the sum is above its mean by
    :math:`\sqrt{59}` deviations at most one time in 60.
    """
    size, variance = measured.values.size, measured.variance
    return 0.8 * size * math.sqrt(variance) + math.sqrt(59 * size * variance / 2)


def _plain(text: str) -> str:
    """Return a text that a picture takes for nothing but a text."""
    return one_line(text).replace("$", r"\$")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.995 else "100 %"


def _ticks(cells: int) -> Sequence[int]:
    return range(0, cells, -(-cells // _MOST_LABELS))


_HEADINGS = (
    "columns",
    "measured",
    "model is off by",
    "noise alone",
    "off from truth at most",
    "in groups at most",
    "put together",
)

_MEANINGS = (
    "off: the share of rows that would have to move to make both tables equal",
    "at most: 95 % of the time; unknown where all values of a column stand together",
    "in groups: the same of values as they stand together in tables, neighbours or rare ones",
    (
        "put together: the share of rows with a value that stands together with others; how these"
        " depend on the other column is not known"
    ),
)

_STYLE = (
    "body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }"
    " table { border-collapse: collapse } td, th { padding: 0.2em 0.8em; border-bottom: 1px solid"
    " #ccc } svg { max-width: 100%; height: auto; display: block }"
)
