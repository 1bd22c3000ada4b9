"""A picture of overfitting: how a fitted question departs from its truth. It needs matplotlib."""

from typing import Any

import numpy as np

from discreet.accounting.picture import ACCENT, OTHERS, new_figure, tidy
from discreet.attacks.statistics.overfitting import expected_excess


def excess_picture(people: int, queries: int, seen: float, *, scale: float) -> Any:
    """Draw the laws of exact answers and of those with Laplace noise, and what was seen."""
    figure = new_figure()
    axes = figure.subplots()
    asked = np.unique(np.linspace(1, queries, 60).astype(np.int64))
    for noise, name, colour in ((0.0, "exact", OTHERS[1]), (scale, "private", ACCENT)):
        law = [expected_excess(people, int(one), scale=noise) for one in asked]
        axes.plot(asked, law, color=colour, label=f"{name} answers, by their law")
    axes.plot([queries], [seen], "o", color=OTHERS[1], label="exact answers, as seen")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    tidy(
        axes,
        title=f"A question that is fitted to {people:,} rows",
        x="random questions",
        y="excess over its truth",
    )
    return figure
