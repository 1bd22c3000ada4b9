"""Whether two values are the same, in depth: types, order and missing numbers included."""

from typing import Any

import numpy as np


def same(first: Any, second: Any) -> bool:
    """Tell whether two values of any kind cannot be told apart.

    Example:
        >>> same([1, float("nan")], [1, float("nan")]), same(1, 1.0)
        (True, False)
    """
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return (
            first.dtype == second.dtype
            and first.shape == second.shape
            and _same_entries(first.ravel().tolist(), second.ravel().tolist())
        )
    if isinstance(first, dict):
        return list(first) == list(second) and _same_entries(first.values(), second.values())
    if isinstance(first, list | tuple):
        return len(first) == len(second) and _same_entries(first, second)
    return bool(first == second) or (first != first and second != second)


def _same_entries(first: Any, second: Any) -> bool:
    return all(same(one, other) for one, other in zip(first, second, strict=True))
