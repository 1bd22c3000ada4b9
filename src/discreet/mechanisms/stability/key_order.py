"""One order for all keys, so that what is released says nothing by the order it comes in."""

import datetime
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

from discreet.core.errors import Unsupported


def in_key_order(keys: Iterable[Any]) -> list[Any]:
    """Return the keys sorted: ``None`` first, then by type and value, tuples entry by entry.

    The result depends on the *set* of keys alone. A float is refused: it may be no number, which
    has no place in an order; give such a column bins or a grid first. No error quotes a key.

    Example:
        >>> in_key_order([("b", 2), ("a", 10), ("a", None)])
        [('a', None), ('a', 10), ('b', 2)]
    """
    return sorted(keys, key=_place)


def _place(key: Any) -> tuple[Any, ...]:
    if key is None:
        return ("",)
    if isinstance(key, tuple):
        return ("tuple", *(_place(entry) for entry in key))
    if isinstance(key, bool):
        return ("bool", key)
    if isinstance(key, str):
        return ("text", key)
    if isinstance(key, bytes):
        return ("bytes", key)
    if isinstance(key, datetime.date | datetime.time):
        return (type(key).__name__, key.isoformat())
    if isinstance(key, int | Fraction):
        return ("number", key)
    if isinstance(key, Integral):
        return ("number", int(key))
    if isinstance(key, Decimal) and key.is_finite():
        return ("number", Fraction(key))
    raise Unsupported(
        "A key of this type has no place in the order",
        must="be None, text, bytes, a truth value, an exact number, a date or a tuple of these",
        got=type(key).__name__,
        next="Give a column of floats bins or a grid first",
    )
