"""Pictures of what attacks find, for people who look rather than read. They need matplotlib."""

import io
from pathlib import Path
from typing import Any

from discreet.accounting.picture import (
    ACCENT,
    INK,
    OTHERS,
    QUIET,
    draw_into,
    new_figure,
    require_kind,
    tidy,
)
from discreet.attacks.reconstruction.frontier import Frontier
from discreet.attacks.records.uniqueness import UniquenessReport

_MOST_BARS = 15


def picture_bytes(figure: Any, path: Path) -> bytes:
    """Return a figure as a file of this name holds it: what is written must be private."""
    require_kind(path)
    target = io.BytesIO()
    draw_into(figure, target, dpi=150, format=path.suffix.lower().lstrip("."))
    return target.getvalue()


def frontier_picture(frontier: Frontier) -> Any:
    """Draw the share of bits that is found, and what is expected, against the noise."""
    figure = new_figure()
    axes = figure.subplots()
    points = [one for one in frontier.points if one.noise > 0]
    noises = [float(one.noise) for one in points]
    axes.plot(noises, [one.expected for one in points], color=QUIET, label="expected")
    axes.plot(noises, [float(one.found) for one in points], "o", color=ACCENT, label="found")
    axes.axhline(0.5, color=INK, linewidth=0.8, linestyle=":", label="the toss of a coin")
    axes.set_xscale("log")
    axes.set_ylim(0.45, 1.02)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    title = f"Bits found from {frontier.queries:,} counts of {frontier.people:,} people"
    tidy(axes, title=title, x="deviation of the noise / √n", y="share of bits")
    axes.legend(frameon=False, fontsize=8)
    return figure


def uniqueness_picture(report: UniquenessReport) -> Any:
    """Draw which sets of columns single out most rows."""
    shares = report.shares[:_MOST_BARS][::-1]
    figure = new_figure(7, 1.2 + 0.26 * len(shares))
    axes = figure.subplots()
    names = [", ".join(one.columns) for one in shares]
    axes.barh(names, [float(one.share) for one in shares], color=OTHERS[1], height=0.6)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    tidy(axes, title="Who stands alone, by what is known of them", x="share of rows", y="")
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    return figure
