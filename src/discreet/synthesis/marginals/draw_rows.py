r"""Rows of a model, drawn down its tree.

Guarantee:
    Post-processing: the model is all that is looked at.

Utility:
    Each row by itself has the law of the model. All together they follow it far more closely than
    independent rows would: of :math:`k` rows that agree in what a clique shares with the one above
    it, a cell of probability :math:`p` gets :math:`\lfloor kp \rfloor` or :math:`\lceil kp \rceil`
    rows. They are taken at :math:`(u + i)/k` for one uniform :math:`u` (systematic sampling
    [Mad49]), after the :math:`k` rows were put in random order: without that, columns of two
    branches would depend on each other beyond what they share.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import Rng
from discreet.synthesis.marginals.graphical_model import GraphicalModel, Table
from discreet.synthesis.marginals.hold_totals import hold_totals
from discreet.synthesis.marginals.junction_tree import Branch

Totals = Mapping[int, Mapping[int, int]]
"""For some columns, how many rows some of their values have."""

Rows = NDArray[np.int64]
"""One row for each row, one column for each column: the numbers of values."""


def draw_rows(
    model: GraphicalModel, count: int, rng: Rng, totals: Totals = MappingProxyType({})
) -> Rows:
    """Return ``count`` rows of the model, in random order.

    Each clique puts the rows of a group in an order of its own, so where a row stands says nothing.
    ``totals`` has for some columns how many rows some of their values have, which hold exactly.
    """
    sizes = model.tree.sizes
    rows = np.zeros((len(sizes), count), dtype=np.int64).T  # columns are looked at one by one
    for branch, belief in zip(model.tree.branches, model.beliefs, strict=True):
        _draw_branch(rows, branch, np.exp(belief), sizes, rng)
        for column in branch.columns:
            if column in totals and column not in branch.shared:
                _hold(rows, branch, np.exp(belief), column, totals[column], rng)
    return rows[np.argsort(rng.words(count))] if totals else rows


def _hold(
    rows: Rows,
    branch: Branch,
    probabilities: Table,
    column: int,
    wanted: Mapping[int, int],
    rng: Rng,
) -> None:
    """Let a column have its totals; all other columns of the clique stay as they are drawn."""
    others = tuple(one for one in branch.columns if one != column)
    axis = branch.columns.index(column)
    table = np.moveaxis(probabilities, axis, -1)
    group = _numbers(rows, others, list(table.shape[:-1]))
    flat = table.reshape(-1, table.shape[-1])
    rows[:, column] = hold_totals(rows[:, column], group, flat, wanted, rng)


def draw_within(
    coarse: NDArray[np.int64], numbers: NDArray[np.int64], shares: Table, rng: Rng
) -> NDArray[np.int64]:
    """Return a value for each coarse one: of those that it has, by their ``shares`` in it.

    ``numbers`` are the coarse values of all values.
    """
    order = np.argsort(numbers, kind="stable")
    sizes = np.bincount(numbers)
    if sizes.max() == 1:  # each is one value alone
        return order[coarse]
    table = np.zeros((len(sizes), int(sizes.max())))
    places = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table[numbers[order], places] = shares[order]
    values = np.zeros(table.shape, dtype=np.int64)
    values[numbers[order], places] = order
    found: NDArray[np.int64] = values[coarse, _systematic(table, coarse, rng)]
    return found


def _draw_branch(
    rows: Rows, branch: Branch, probabilities: Table, sizes: tuple[int, ...], rng: Rng
) -> None:
    """Draw the columns of a clique that the ones before it lack, given those that they have."""
    new = [column for column in branch.columns if column not in branch.shared]
    axes = [branch.columns.index(column) for column in (*branch.shared, *new)]
    shared = [sizes[column] for column in branch.shared]
    table = probabilities.transpose(axes).reshape(int(np.prod(shared, dtype=np.int64)), -1)
    group = _numbers(rows, branch.shared, shared)
    chosen = _systematic(table, group, rng)
    added = np.unravel_index(chosen, [sizes[column] for column in new])
    for column, values in zip(new, added, strict=True):
        rows[:, column] = values


def _numbers(rows: Rows, columns: tuple[int, ...], sizes: list[int]) -> NDArray[np.int64]:
    """Return the number of the group of each row: its values in some columns, as one number."""
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    parts = tuple(rows[:, column] for column in columns)
    return np.ravel_multi_index(parts, sizes).astype(np.int64)


def _systematic(table: Table, group: NDArray[np.int64], rng: Rng) -> NDArray[np.int64]:
    """Return a cell for each row, by the probabilities of its group, as evenly as can be."""
    count, width = len(group), table.shape[1]
    order = _shuffled(group, len(table), rng)
    sizes = np.bincount(group, minlength=len(table))
    first = np.cumsum(sizes) - sizes
    # From here on rows are in that order, so that neighbours look up neighbours.
    own = group[order]
    place = (np.arange(count) - first[own] + _uniform(len(table), rng)[own]) / sizes[own]
    sums = np.cumsum(table, axis=1)
    totals = sums[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(totals > 0, sums / totals, 1.0)
    # All groups at once: group g has the numbers between g and g + 1.
    ends = (np.arange(len(table))[:, None] + np.minimum(shares, 1.0)).ravel()
    found = np.searchsorted(ends, own + np.minimum(place, 1 - 2.0**-40), side="right")
    chosen = np.empty(count, dtype=np.int64)
    chosen[order] = _possible(np.minimum(found - own * width, width - 1), table, own)
    return chosen


def _shuffled(group: NDArray[np.int64], groups: int, rng: Rng) -> NDArray[np.int64]:
    """Return the places of rows by their groups, and in random order within each."""
    words = rng.words(len(group))
    if groups == 1:
        return np.argsort(words)
    bits = np.uint64(groups.bit_length())
    return np.argsort(group.astype(np.uint64) << (np.uint64(64) - bits) | words >> bits)


def _possible(cell: NDArray[np.int64], table: Table, group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move what rounding has put on a cell that cannot be to the likeliest one of its group."""
    likeliest = table.argmax(axis=1)
    return np.where(table[group, cell] > 0, cell, likeliest[group])


def _uniform(count: int, rng: Rng) -> NDArray[np.float64]:
    """Return numbers between 0 and 1; they decide on rows that are made up, and on no privacy."""
    return (rng.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
