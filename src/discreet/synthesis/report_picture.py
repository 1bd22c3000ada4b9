"""Pictures of a report: one column, or two together, over the band of what was measured."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.accounting.picture import ACCENT, INK, OTHERS, QUIET, draw_into
from discreet.core import optional
from discreet.core.terminal_text import one_line
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts

WIDE, TALL = 6.4, 2.2
_MOST_LABELS = 12
_LONGEST = 24
_COLOURS = (ACCENT, *OTHERS[1:])
"""One for each line that is drawn of a table."""


@frozen(kw_only=True, eq=False)
class DrawnShares:
    """Shares of the rows by one column, or two: those of the model, and those measured."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    """For each column, what its values are called."""
    model: Counts = field(repr=False)
    measured: Counts = field(repr=False)
    band: float
    """The half-width of what was measured, at 95 %."""

    def draw(self, axes: Any) -> None:
        """Draw bars for one column, and lines for two."""
        if len(self.names) == 1:
            self._bars(axes)
        else:
            self._lines(axes)
        axes.set_title(plain(" with ".join(self.names)), loc="left", color=INK, fontsize=11)
        axes.set_ylabel("% of rows", color=INK)
        axes.grid(axis="y", color=QUIET, alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)

    def _bars(self, axes: Any) -> None:
        places, (low, high) = np.arange(len(self.model)), self._ends(self.measured)
        axes.bar(places, 100 * self.model, width=0.9, color=ACCENT, alpha=0.55, label="model")
        axes.vlines(places, low, high, color=INK, linewidth=1, label="measured, 95 %")
        _name(axes, self.labels[0])

    def _lines(self, axes: Any) -> None:
        """Draw a line of the model for each of the most frequent values of the shorter column."""
        along = 0 if self.model.shape[0] >= self.model.shape[1] else 1
        model, measured = (one if along == 0 else one.T for one in (self.model, self.measured))
        shown = sorted(np.argsort(-model.sum(axis=0), kind="stable")[: len(_COLOURS)].tolist())
        places = np.arange(len(model))
        for colour, line in zip(_COLOURS, shown, strict=False):
            low, high = self._ends(measured[:, line])
            said = plain(f"{self.names[1 - along]}: {shortened(self.labels[1 - along][line])}")
            axes.plot(places, 100 * model[:, line], color=colour, marker="o", ms=3, label=said)
            axes.vlines(places, low, high, color=colour, linewidth=4, alpha=0.25)
        axes.set_xlabel(plain(self.names[along]), color=INK)
        _name(axes, self.labels[along])

    def _ends(self, measured: Counts) -> tuple[Counts, Counts]:
        low, high = (100 * np.maximum(measured + by, 0.0) for by in (-self.band, self.band))
        return low, high


def coarse_labels(cells: ValueCells, coarse: CoarseValues) -> tuple[str, ...]:
    """Return what coarse values are called: by the first and last of their values, or how many."""
    labels, has_order = cells.labels(), cells.counted().has_order
    found = []
    for number in range(coarse.size):
        first, *others = np.flatnonzero(coarse.numbers == number).tolist()
        if not others:
            found.append(labels[first])
        elif has_order:
            found.append(cells.label_of_run(first, others[-1]))
        else:
            found.append(f"{labels[first]} and {len(others)} more")
    return tuple(found)


def svg(draw: Callable[[Any], None], *, tall: float = TALL) -> str:
    """Return a picture as SVG, to stand in a page.

    Its texts are texts, which a browser has letters for in any script; that the font by which
    they are placed here has not is nothing to warn of.
    """
    figure = optional.load("matplotlib.figure").Figure(figsize=(WIDE, tall), layout="constrained")
    draw(figure.subplots())
    target = io.StringIO()
    draw_into(figure, target, format="svg", metadata={"Date": None})
    return target.getvalue().partition("<svg")[2].join(("<svg", ""))


def new_axes() -> Any:
    """Return axes of a new figure."""
    plots = optional.load("matplotlib.pyplot")
    return plots.subplots(figsize=(WIDE, TALL), layout="constrained")[1]


def plain(text: str) -> str:
    """Return a text that a picture takes for nothing but a text."""
    return one_line(text).replace("$", r"\$")


def shortened(label: str) -> str:
    """Return a label that has room beside others, and says if something was cut off."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _name(axes: Any, labels: Sequence[str]) -> None:
    every = -(-len(labels) // _MOST_LABELS)
    shown, last = [*range(0, len(labels), every)], len(labels) - 1
    if labels[last] == "NULL" and last not in shown:
        shown = [*(one for one in shown if last - one > every // 2), last]
    texts = [plain(shortened(labels[one])) for one in shown]
    axes.set_xticks(shown, texts, rotation=30, ha="right")
