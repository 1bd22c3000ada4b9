"""Pictures of a loss, for people who look rather than read. They need matplotlib."""

import warnings
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting.accounting_question import account
from discreet.accounting.meaning import DEPLOYMENTS, Meaning
from discreet.accounting.tradeoff import trade_off
from discreet.core import optional
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate

INK, ACCENT, QUIET = "#22313f", "#0b7285", "#adb5bd"
OTHERS = ("#868e96", "#e8590c", "#5f3dc4", "#2b8a3e", "#c2255c")
_KINDS = ("png", "svg", "pdf")


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of ``path``."""
    require_kind(path)
    try:
        draw_into(figure, path, dpi=150)
    except OSError as cause:
        raise InvalidArgument(
            "The picture cannot be written there",
            must="be a file in a folder that exists",
            got=f"{path}: {cause.strerror}",
        ) from cause


def draw_into(figure: Any, target: Any, **said: Any) -> None:
    """Write a figure into a file or a buffer, as matplotlib is told.

    A letter that no font of matplotlib has becomes a box, which says as much as a warning would. In
    SVG text stays text, so whoever shows it draws such a letter.
    """
    rc_context = optional.load("matplotlib").rc_context
    with rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(target, **said)


def require_kind(path: Path) -> None:
    """Refuse a file whose ending is of no kind of picture that we write."""
    if path.suffix.lower().lstrip(".") not in _KINDS:
        raise InvalidArgument(
            "That is not a kind of picture that we write",
            must=f"end in .{', .'.join(_KINDS)}",
            got=path.name,
        )


def new_figure(width: float = 7, height: float = 4.2) -> Any:
    """Return an empty figure of this size in inches."""
    figure = optional.load("matplotlib.figure").Figure(figsize=(width, height))
    figure.set_layout_engine("constrained")
    return figure


def tidy(axes: Any, *, title: str, x: str, y: str) -> None:
    """Give axes their title and labels, in the colours of all our pictures."""
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.grid(color=QUIET, alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def curve_picture(event: ComposedEvent, exponents: Sequence[int] = range(-12, 0)) -> Any:
    """Draw ε at every δ, by each way of accounting that applies."""
    figure = new_figure()
    axes = figure.subplots()
    lines: dict[str, list[tuple[float, float]]] = {}
    for exponent in exponents:
        delta = Fraction(10) ** exponent
        try:
            result = account(event, delta=delta)
        except Unsupported:
            continue
        for found in (result, *result.others):
            assert isinstance(found.loss, Approximate)
            lines.setdefault(found.method, []).append((float(delta), float(found.loss.epsilon)))
    least = {method: min(point[1] for point in points) for method, points in lines.items()}
    for rank, method in enumerate(sorted(lines, key=least.__getitem__)):
        xs, ys = zip(*lines[method], strict=True)
        first = rank == 0
        axes.plot(
            xs,
            ys,
            label=method,
            color=ACCENT if first else OTHERS[rank % len(OTHERS)],
            linewidth=2.4 if first else 1.2,
            linestyle="-" if first else "--",
        )
    axes.set_xscale("log")
    axes.legend(frameon=False, title="accounted by")
    tidy(axes, title="What was spent: the lowest line counts", x="δ", y="ε (certified)")
    return figure


def tradeoff_picture(event: ComposedEvent) -> Any:
    """Draw how well any test can tell two neighbours apart: misses against false alarms."""
    figure = new_figure(5.2, 4.6)
    axes = figure.subplots()
    alphas, lows, highs = zip(*trade_off(event).points(), strict=True)
    axes.plot([0, 1], [1, 0], color=QUIET, linewidth=1, label="guessing")
    axes.fill_between(alphas, lows, highs, color=ACCENT, alpha=0.3)
    axes.plot(alphas, lows, color=ACCENT, linewidth=2.2, label="the best test")
    axes.legend(frameon=False)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    tidy(axes, title="Two neighbours, told apart", x="false alarms", y="misses, at least")
    return figure


def meaning_picture(meaning: Meaning) -> Any:
    """Draw what a loss lets others find out, and the losses that others published."""
    figure = new_figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    rates = [Fraction(i, 200) for i in range(1, 200)]
    left.plot([0, 1], [0, 1], color=QUIET, linewidth=1, label="guessing")
    found = [float(meaning.detection(rate)) for rate in rates]
    left.plot([float(r) for r in rates], found, color=ACCENT, linewidth=2.4, label="the best test")
    left.fill_between([float(r) for r in rates], found, color=ACCENT, alpha=0.08)
    left.legend(frameon=False, loc="lower right")
    left.set_xlim(0, 1)
    left.set_ylim(0, 1)
    tidy(
        left,
        title="Is this person in the data?",
        x="wrongly pointed at (of those who are not)",
        y="found at most (of those who are)",
    )
    _draw_deployments(right, float(meaning.loss.epsilon))
    return figure


def _draw_deployments(axes: Any, epsilon: float) -> None:
    known = [(d.epsilon, d.label) for d in DEPLOYMENTS if d.epsilon is not None]
    bars = sorted([*known, (epsilon, "this loss")], reverse=True)
    names, values = [name for _, name in bars], [value for value, _ in bars]
    colours = [ACCENT if name == "this loss" else QUIET for name in names]
    axes.barh(names, values, color=colours)
    axes.set_xscale("log")
    axes.tick_params(axis="y", labelsize=7)
    tidy(axes, title="Published losses (units differ)", x="ε (log scale)", y="")
