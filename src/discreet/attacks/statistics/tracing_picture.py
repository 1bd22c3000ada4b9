"""Pictures of tracing: scores of candidates, and what a threshold trades. They need matplotlib."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.picture import ACCENT, OTHERS, QUIET, new_figure, tidy
from discreet.attacks.statistics.attribute_counts import RocCurve
from discreet.attacks.statistics.sign_data import Floats
from discreet.attacks.statistics.tracing import Tracing


def score_picture(found: Tracing, inside: NDArray[np.bool_] | None = None) -> Any:
    """Draw how candidates score, by who is accused or, where that is known, by who is in."""
    figure = new_figure()
    axes = figure.subplots()
    split, names = (found.accused, ("accused", "not accused"))
    if inside is not None:
        split, names = (inside, ("in the data", "not in the data"))
    bins = np.linspace(found.scores.min(), found.scores.max() + 1e-9, 40)
    axes.hist(found.scores[~split], bins, label=names[1], color=QUIET)
    axes.hist(found.scores[split], bins, label=names[0], color=OTHERS[1], alpha=0.8)
    axes.legend(frameon=False)
    tidy(axes, title="How much candidates agree with the release", x="score", y="candidates")
    return figure


def roc_picture(curves: dict[str, RocCurve], *, epsilon: float | None = None) -> Any:
    """Draw curves of power against false alarms, and what an ε allows at most."""
    figure = new_figure(5.2, 4.6)
    axes = figure.subplots()
    for place, (name, curve) in enumerate(curves.items()):
        colour = ACCENT if place == 0 else OTHERS[place % len(OTHERS)]
        label = f"{name} (area {curve.area:.2f})"
        axes.plot(curve.false_alarms, curve.power, color=colour, label=label)
    level: Floats = np.linspace(0, 1, 101)
    axes.plot(level, level, "--", color=QUIET, label="chance")
    if epsilon is not None:
        top = np.minimum(np.exp(epsilon) * level, 1 - (1 - level) * np.exp(-epsilon))
        axes.plot(level, top, ":", color="black", label=f"ceiling at ε = {epsilon:g}")
    axes.legend(frameon=False, loc="lower right")
    tidy(axes, title="Who is traced, and who is accused", x="strangers accused", y="members traced")
    return figure
