r"""Make drawn rows have exactly the totals that a column is known to have.

Systematic sampling gives a cell the floor or the ceiling of what it expects, so over all groups a
value has a few rows too many or too few. Such rows are moved: a row with a value of which there are
too many gets one of which there are too few, if a row of its group can have it; else by way of
other values. That is a flow from values to values along paths that add to it, so totals are reached
whenever the groups as they are drawn leave any way.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import Rng
from discreet.synthesis.marginals.graphical_model import Table

Integers = NDArray[np.int64]


def hold_totals(
    values: Integers, group: Integers, table: Table, wanted: Mapping[int, int], rng: Rng
) -> Integers:
    """Return the values of rows with so many of each one that is wanted, as far as there is a way.

    ``table`` has for each group of rows what its values weigh: 0 is impossible.
    """
    found = values.copy()
    while True:
        held = np.bincount(found, minlength=table.shape[1])
        path = _path(held, found, group, table, wanted)
        if path is None:
            return found
        count = _most(held, path, wanted)
        for before, after in reversed(list(pairwise(path))):
            rows = _movable(found, group, table, before, after, rng)
            found[rows[:count]] = after


def _most(held: Integers, path: list[int], wanted: Mapping[int, int]) -> int:
    """Return how many rows may go a path: a longer one is gone by one row at a time."""
    if len(path) > 2:
        return 1
    ends = [abs(int(held[one]) - wanted[one]) for one in (path[0], path[-1]) if one in wanted]
    return max(1, min(ends))


def _path(
    held: Integers, found: Integers, group: Integers, table: Table, wanted: Mapping[int, int]
) -> list[int] | None:
    """Return values along which a row can be moved: from one too many to one too few."""
    over = [one for one, count in wanted.items() if held[one] > count]
    under = [one for one, count in wanted.items() if held[one] < count]
    others = [one for one in range(len(held)) if one not in wanted]
    if not over and not under:
        return None
    starts = over or [one for one in others if held[one]]
    ends = {*under, *(others if over else ())}
    there = np.zeros(table.shape, dtype=np.float32)
    there[group, found] = 1
    ways = there.T @ (table > 0).astype(np.float32) > 0
    came_from: dict[int, int | None] = dict.fromkeys(starts)
    waiting = list(starts)
    while waiting:
        here = waiting.pop(0)
        if here in ends:
            return _back(came_from, here)
        for after in np.flatnonzero(ways[here]).tolist():
            if after not in came_from:
                came_from[after] = here
                waiting.append(after)
    return None


def _back(came_from: Mapping[int, int | None], end: int) -> list[int]:
    path, here = [end], came_from[end]
    while here is not None:
        path.append(here)
        here = came_from[here]
    return path[::-1]


def _movable(
    found: Integers, group: Integers, table: Table, before: int, after: int, rng: Rng
) -> Integers:
    """Return the rows that can be moved, in random order: the likelier a move is the sooner."""
    rows = np.flatnonzero((found == before) & (table[group, after] > 0))
    chances = (rng.words(len(rows)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    weights = table[group[rows], after] / np.maximum(table[group[rows], before], 1e-300)
    # The largest log(u) / weight come first: a weighted draw without putting back.
    order: Integers = np.argsort(-np.log(np.maximum(chances, 1e-300)) / weights)
    found_rows: Integers = rows[order]
    return found_rows
