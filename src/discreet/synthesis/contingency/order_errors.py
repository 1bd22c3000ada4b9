"""How large the error of a cell is, by how many columns its table has, and how that is made."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.synthesis.contingency.column_sets import sets_of_order, sizes_of
from discreet.synthesis.contingency.noisy_cells import NoisyCells
from discreet.synthesis.contingency.noisy_contrasts import NoisyContrasts
from discreet.synthesis.contingency.noisy_tables import NoisyTables

INK, QUIET = "#22313f", "#adb5bd"
COLOURS = {"cells": "#868e96", "tables": "#e8590c", "contrasts": "#0b7285"}
WORDS = {
    "cells": "noise on all cells, summed",
    "tables": "noise on each table",
    "contrasts": "noise on contrasts",
}


@frozen
class OrderErrors:
    """For each way and each order, the deviation of a cell if all tables of that order are made."""

    orders: tuple[int, ...]
    deviations: Mapping[str, tuple[float, ...]]


def order_errors(
    sizes: Sequence[int], *, loss: Pure | Zcdp, orders: Sequence[int], rows_per_unit: Number = 1
) -> OrderErrors:
    """Return what to expect of each way to release all tables of 1, 2, ... columns.

    Example:
        >>> found = order_errors([2] * 8, loss=Zcdp(rho="0.1"), orders=[1, 2])
        >>> [[round(one, 1) for one in line] for line in found.deviations.values()]
        [[25.3, 17.9], [6.3, 11.8], [4.3, 5.8]]
    """
    columns = sizes_of(sizes)
    everything = NoisyCells.calibrate(columns, loss=loss, rows_per_unit=rows_per_unit)
    found: dict[str, list[float]] = {name: [] for name in WORDS}
    for order in orders:
        sets = sets_of_order(len(columns), order)
        tables = NoisyTables.calibrate(columns, sets, loss=loss, rows_per_unit=rows_per_unit)
        contrasts = NoisyContrasts.calibrate(columns, sets, loss=loss, rows_per_unit=rows_per_unit)
        for name, method in (("cells", everything), ("tables", tables), ("contrasts", contrasts)):
            found[name].append(_mean(method, sets))
    return OrderErrors(tuple(orders), {name: tuple(line) for name, line in found.items()})


def _mean(method: Any, sets: Sequence[Sequence[int]]) -> float:
    squares = [method.deviation(one) ** 2 for one in sets]
    return float((sum(squares) / len(squares)) ** 0.5)


def order_picture(errors: OrderErrors, *, seen: Mapping[int, float] | None = None) -> Any:
    """Draw the errors against the order; ``seen`` are errors of fitted tables, to be compared."""
    figure = optional.load("matplotlib.figure").Figure(figsize=(7, 4.2))
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    for name, line in errors.deviations.items():
        axes.plot(
            errors.orders,
            line,
            label=WORDS[name],
            color=COLOURS[name],
            linewidth=2.4 if name == "contrasts" else 1.6,
            marker="o",
            markersize=4,
        )
    if seen:
        axes.plot(
            list(seen),
            list(seen.values()),
            label="contrasts, fitted by whole numbers from 0",
            color=INK,
            linestyle="none",
            marker="x",
        )
    axes.set_yscale("log")
    for ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        ticks(optional.load("matplotlib.ticker").StrMethodFormatter("{x:g}"))
    axes.set_xticks(errors.orders)
    axes.set_title("Contrasts have the smallest error", loc="left", color=INK, fontsize=11)
    axes.set_xlabel("columns in each table, if all tables of that many are released", color=INK)
    axes.set_ylabel("error of a cell (rows)", color=INK)
    axes.grid(color=QUIET, alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    return figure
