"""Whether two values of any kind can be told apart, by what they are made of."""

from collections.abc import Iterable
from dataclasses import fields as data_fields
from dataclasses import is_dataclass
from types import FunctionType, MethodType
from typing import Any

import attrs
import numpy as np


def same(first: Any, second: Any, *, unseen: bool = False) -> bool:
    """Tell whether two values of any kind cannot be told apart.

    Containers, records, data frames, functions and plain objects are compared by what is in them.
    ``unseen`` is the answer for two objects of one type whose inside cannot be seen, such as two
    locks.

    Example:
        >>> same([1, float("nan")], [1, float("nan")]), same(1, 1.0)
        (True, False)
        >>> same(lambda: 1, lambda: 2)
        False
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return (
            first.dtype == second.dtype
            and first.shape == second.shape
            and _same_entries(first.ravel().tolist(), second.ravel().tolist(), unseen)
        )
    if isinstance(first, dict):
        return _same_entries(first, second, unseen) and _same_entries(
            first.values(), second.values(), unseen
        )
    if isinstance(first, list | tuple):
        return _same_entries(first, second, unseen)
    return _equal(first, second) or _made_alike(first, second, unseen)


def _same_entries(first: Iterable[Any], second: Iterable[Any], unseen: bool) -> bool:
    one, other = list(first), list(second)
    return len(one) == len(other) and all(map(lambda a, b: same(a, b, unseen=unseen), one, other))


def _equal(first: Any, second: Any) -> bool:
    """Ask the objects themselves, where they have a notion of being equal."""
    try:
        if callable(getattr(first, "equals", None)):  # data frames, whose == is a frame
            return bool(first.equals(second))
        return bool(first == second) or (first != first and second != second)
    except Exception:  # records of arrays, for example, whose == is an array
        return False


def _made_alike(first: Any, second: Any, unseen: bool) -> bool:
    try:
        one, other = _parts(first), _parts(second)
        if one is None or other is None:
            return unseen and _is_plain(first)
        return same(one, other, unseen=unseen)
    except RecursionError:  # an object that leads back to itself
        return unseen


def _parts(value: Any) -> Any:
    """Return what a record, a function or an object without an equality of its own is made of."""
    if attrs.has(type(value)):
        return [getattr(value, part.name, None) for part in attrs.fields(type(value)) if part.eq]
    if is_dataclass(value):
        return [getattr(value, part.name, None) for part in data_fields(value) if part.compare]
    if isinstance(value, FunctionType):
        closure = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, closure, value.__defaults__, value.__kwdefaults__]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if not _is_plain(value):
        return None
    slots = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())]
    held = {name: getattr(value, name, None) for name in slots} | getattr(value, "__dict__", {})
    return held if slots or hasattr(value, "__dict__") else None


def _is_plain(value: Any) -> bool:
    """Tell whether a value is equal to nothing but itself."""
    return all("__eq__" not in vars(base) for base in type(value).__mro__ if base is not object)
