"""A picture of the uncertainty principle: what each method does to points, and to their sum."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting.picture import ACCENT, INK, OTHERS, QUIET
from discreet.core import optional
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.microdata.clamped_points import ClampedPoints
from discreet.synthesis.microdata.points_with_sum import PointsWithSum
from discreet.synthesis.microdata.uncertainty import rehearsed_errors

_STYLES = ((OTHERS[1], "-"), (ACCENT, "-"), (OTHERS[1], "--"), (ACCENT, "--"), (OTHERS[2], ":"))


def easy_table(points: int) -> IntArray:
    """Return a table that no noise can empty: 1,000 at every point."""
    return np.full(points, 1000, dtype=np.int64)


def hard_table(points: int, epsilon: Number = 1) -> IntArray:
    r"""Return the table of the lower bound: :math:`\ln(d)/\varepsilon` at one point, 0 elsewhere.

    Example:
        >>> hard_table(5).tolist()
        [2, 0, 0, 0, 0]
    """
    table = np.zeros(points, dtype=np.int64)
    table[0] = round(math.log(points) / float(exact(epsilon)))
    return table


def five_methods(
    points: int, epsilon: Number, delta: Number = Fraction(1, 10**6)
) -> dict[str, ClampedPoints | PointsWithSum]:
    """Return the five methods for one row per unit, at ε, at ρ = ε²/2, and at (ε, δ)."""
    pure, gauss = Pure(epsilon), Zcdp(rho=exact(epsilon) ** 2 / 2)
    both = Approximate(epsilon, delta)
    return {
        "points, Laplace": ClampedPoints.calibrate(loss=pure, points=points, rows_per_unit=1),
        "with sum, Laplace": PointsWithSum.calibrate(loss=pure, points=points, rows_per_unit=1),
        "points, Gaussian": ClampedPoints.calibrate(loss=gauss, points=points, rows_per_unit=1),
        "with sum, Gaussian": PointsWithSum.calibrate(loss=gauss, points=points, rows_per_unit=1),
        "with sum, truncated": PointsWithSum.calibrate(loss=both, points=points, rows_per_unit=1),
    }


def uncertainty_picture(*, sizes: Sequence[int], draws: int, rng: Rng, epsilon: Number = 1) -> Any:
    """Draw the errors of points and of sums, on an easy and on a hard table. Needs matplotlib.

    The tables are made up: nothing private is looked at, and nothing is spent.
    """
    figure = optional.load("matplotlib.figure").Figure(figsize=(9, 6.4))
    figure.set_layout_engine("constrained")
    grid = figure.subplots(2, 2, sharex=True, sharey="row")
    easy = [easy_table(points) for points in sizes]
    hard = [hard_table(points, epsilon) for points in sizes]
    grid[0, 0].set_title("easy table: 1,000 at every point", loc="left", color=INK, fontsize=11)
    grid[0, 1].set_title("hard table: almost all empty", loc="left", color=INK, fontsize=11)
    for column, tables in enumerate((easy, hard)):
        _draw_errors(grid[:, column], tables, draws=draws, rng=rng, epsilon=epsilon)
    grid[0, 0].set_ylabel("worst point: squared error", color=INK)
    grid[1, 0].set_ylabel("sum: squared error", color=INK)
    for axes in grid.flat:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.grid(color=QUIET, alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    return figure


def _draw_errors(
    two: Sequence[Any], tables: Sequence[IntArray], *, draws: int, rng: Rng, epsilon: Number
) -> None:
    """Draw the errors of points into the first of two axes, those of sums into the second."""
    sizes = [table.size for table in tables]
    for place, name in enumerate(five_methods(2, epsilon)):
        errors = [
            rehearsed_errors(five_methods(one.size, epsilon)[name], one, draws=draws, rng=rng)
            for one in tables
        ]
        color, line = _STYLES[place]
        looks = {"color": color, "linestyle": line, "label": name, "linewidth": 1.8}
        two[0].plot(sizes, [one.per_query for one in errors], **looks)
        two[1].plot(sizes, [one.total for one in errors], **looks)
    two[1].set_xlabel("points", color=INK)
