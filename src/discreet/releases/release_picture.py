"""A picture of an answer: one bar for each group, with what the noise may have done to it."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.accounting.picture import ACCENT, INK, QUIET, save
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.releases.cells import Cell, PlainEnds, PlainInterval

MOST_BARS = 100


def draw(
    path: Path,
    *,
    names: Sequence[str],
    values: Sequence[Cell],
    intervals: Sequence[PlainInterval | None],
    totals: Sequence[PlainEnds] | None = None,
    over: str,
    title: str,
) -> None:
    """Write bars with error bars to ``path``; its ending says in which kind of file.

    Groups without a value have no bar. Those without an interval have a hollow grey one, and the
    axis says that hollow is unknown.
    """
    if not 1 <= len(names) <= MOST_BARS:
        raise InvalidArgument(
            "The answer cannot be drawn",
            must=f"have from 1 to {MOST_BARS} rows",
            got=str(len(names)),
            next="Add ORDER BY and LIMIT to the query: they cost nothing",
        )
    has_days = any(isinstance(value, datetime.date) for value in values)
    numbers = [_number(value) for value in values]
    ends = [_number(end) for pair in (*intervals, *(totals or ())) for end in pair or ()]
    # Days have no zero to begin at.
    left = min([*numbers, *(end for end in ends if end)]) - 1 if has_days else 0.0
    height = min(1.4 + 0.32 * len(names), 30)
    figure = optional.load("matplotlib.figure").Figure(figsize=(7, height))
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    places = range(len(names))
    lengths = [number - left for number in numbers]
    bars = axes.barh(places, lengths, left=left, color=ACCENT, alpha=0.75, height=0.7)
    for bar, place, number, interval in zip(bars, places, numbers, intervals, strict=True):
        if interval is None:
            bar.set(facecolor="none", edgecolor=QUIET, linestyle="--", linewidth=1.2, alpha=1)
        else:
            low, high = map(_number, interval)
            sides = [[max(0.0, number - low)], [max(0.0, high - number)]]
            axes.errorbar(number, place, xerr=sides, color=INK, capsize=3, linewidth=1.2)
    if totals is not None:
        _draw_totals(axes, numbers, totals)
    axes.set_yticks(places, [name or "all" for name in names], color=INK)
    axes.invert_yaxis()  # the first row of the answer is on top
    axes.set_ylabel(over, color=INK)
    hollow = "; hollow: unknown" if None in intervals else ""
    thin = "" if totals is None else "; thin: with what limits left out, an arrow if without end"
    axes.set_xlabel(f"{title} (lines: 95 % of the noise{hollow}{thin})", color=INK)
    axes.axvline(left, color=INK, linewidth=0.8)
    if has_days:
        axes.xaxis_date()
    axes.grid(axis="x", color=QUIET, alpha=0.4, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    save(figure, path)


_EPOCH = datetime.date(1970, 1, 1)
"""From where matplotlib counts days."""


def _number(value: Cell) -> float:
    """Return a number, or the number of a day; 0 for what is neither."""
    if isinstance(value, datetime.date):
        return float((value - _EPOCH).days)
    return float(value) if isinstance(value, int | float) else 0.0


def _draw_totals(axes: Any, numbers: Sequence[float], totals: Sequence[PlainEnds]) -> None:
    """Draw a thin line below each bar's own, to the ends that are known, and an arrow if not."""
    widest = max(map(abs, numbers), default=1.0) or 1.0
    for place, (number, (low, high)) in enumerate(zip(numbers, totals, strict=True)):
        first = number if low is None else _number(low)
        last = number + 0.15 * widest if high is None else _number(high)
        axes.plot([first, last], [place + 0.22] * 2, color=INK, alpha=0.6, linewidth=0.8)
        if high is None:
            axes.plot([last], [place + 0.22], marker=">", color=INK, alpha=0.6, markersize=4)
