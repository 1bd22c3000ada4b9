"""The order of rows by a column, exactly."""

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.estimates.column_functions import Column
from discreet.releases.estimates.ratios import Ratios


def sorted_rows(values: Column, *, descending: bool) -> NDArray[np.int64]:
    """Return the places of the rows in order. Equal ones stay; those without a value come last.

    Example:
        >>> sorted_rows(["b", None, "a", "b"], descending=True).tolist()
        [0, 3, 2, 1]
    """
    quick = _by_floats(values, descending) if isinstance(values, Ratios) else None
    return _one_by_one(values, descending) if quick is None else quick


def _by_floats(values: Ratios, descending: bool) -> NDArray[np.int64] | None:
    """Sort by the nearest floats, which never turn an order round; None if they hide one."""
    floats = -values.floats() if descending else values.floats()
    order = np.lexsort((floats, ~values.known)).astype(np.int64)
    shown = floats[order]
    ties = np.flatnonzero((shown[1:] == shown[:-1]) & values.known[order][1:])
    first, second = values.take(order[ties]), values.take(order[ties + 1])
    return None if first.compared(second, operator.ne).any() else order


def _one_by_one(values: Column, descending: bool) -> NDArray[np.int64]:
    plain = values.scalars() if isinstance(values, Ratios) else values

    def key(place: int) -> tuple[Any, ...]:
        value = plain[place]
        is_first = (value is not None) is descending
        return (is_first,) if value is None else (is_first, value)

    return np.array(sorted(range(len(plain)), key=key, reverse=descending), dtype=np.int64)
