"""What an expression is of one row whose values are public keys, exactly as an engine has it."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from discreet.core.numbers import exact
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.function import UNKNOWN, Without


class NotTold:
    """What is not worked out here; it is any value, or NULL."""


NOT_TOLD = NotTold()


@frozen(eq=False)
class Other:
    """Any value that is not among some ``known`` ones: data may have what nobody declared."""

    known: frozenset[Key]

    def has(self, value: Any) -> bool:
        """Tell whether it may be this value."""
        return value not in self.known

    def order(self, _: Any) -> int | None:
        """Return nothing: other values may come before or after any."""


@frozen(eq=False)
class Outside:
    """Any moment before a day, or after it: what a declared range does not have."""

    day: datetime.date
    is_after: bool

    def has(self, value: Any) -> bool:
        """Tell whether it may be this date or timestamp."""
        day = value.date() if isinstance(value, datetime.datetime) else value
        return bool(day > self.day if self.is_after else day < self.day)

    def order(self, value: Any) -> int | None:
        """Return 1 if it is after a date or timestamp, -1 if before, None if that is not known."""
        return None if self.has(value) else 1 if self.is_after else -1


Elsewhere = Other | Outside
"""A value of a row that no declaration has: of some conditions it is known what they say of it."""


def value_of(expression: Expression, row: Mapping[int, Key | Elsewhere | None]) -> Any:
    """Return what an expression is where its fields have these values, if it is known here.

    NULL is None. A function that is not worked out for keys is NOT_TOLD, and so is what depends on
    one; and most of what is made of a value that is elsewhere.

    Example:
        >>> from discreet.tables.functions.call import call
        >>> clinic = FieldValue(ColumnType.TEXT, 0)
        >>> north = call("like", [clinic, Literal(ColumnType.TEXT, "n%")])
        >>> value_of(north, {0: "north"}), value_of(north, {0: "south"}), value_of(north, {0: None})
        (True, False, None)
    """
    if isinstance(expression, FieldValue):
        return row[expression.index]
    if isinstance(expression, Literal):
        is_number = expression.type is ColumnType.REAL and expression.value is not None
        return exact(str(expression.value)) if is_number else expression.value
    if not isinstance(expression, Call):
        return NOT_TOLD
    values = [value_of(argument, row) for argument in expression.arguments]
    rule = _RULES.get(expression.function)
    return _strict(expression, values) if rule is None else rule(values)


def _strict(call: Call, values: Sequence[Any]) -> Any:
    """Return a function that is NULL of NULL, as its record has it."""
    function = CALLED.get(call.function)
    if function is None or isinstance(function.on_keys, Without) or NOT_TOLD in values:
        return NOT_TOLD
    if call.function == "concat":
        values = ["" if value is None else value for value in values]
    if None in values:
        return None
    if any(isinstance(value, Elsewhere) for value in values):
        return _of_elsewhere(call, values)
    found = function.on_keys(call, *values)
    return NOT_TOLD if found is UNKNOWN else found


_CALENDAR = (ColumnType.DATE, ColumnType.TIMESTAMP)
_ORDERS: Mapping[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order < 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order > 0,
}


def _of_elsewhere(call: Call, values: Sequence[Any]) -> Any:
    """Return what is known of a function where an argument is elsewhere."""
    is_moved = call.function == "cast" and call.type in _CALENDAR
    if is_moved and call.arguments[0].type in _CALENDAR:
        return values[0]
    if call.function in ("=", "<>"):
        same = _is_same(*values)
        return same if same is NOT_TOLD else same is (call.function == "=")
    if call.function not in _ORDERS:
        return NOT_TOLD
    first, second = values
    if isinstance(first, Elsewhere):
        order = None if isinstance(second, Elsewhere) else first.order(second)
    else:
        order = second.order(first)
        order = None if order is None else -order
    return NOT_TOLD if order is None else _ORDERS[call.function](order)


def _is_same(first: Any, second: Any) -> Any:
    """Tell whether two values are the same, where neither is NULL."""
    if isinstance(second, Elsewhere):
        first, second = second, first
    if not isinstance(first, Elsewhere):
        return first == second
    return NOT_TOLD if isinstance(second, Elsewhere) or first.has(second) else False


def _all(deciding: bool) -> Callable[[Sequence[Any]], Any]:
    """Return AND or OR: one that decides does so whatever the others are."""

    def rule(values: Sequence[Any]) -> Any:
        if any(one is deciding for one in values):
            return deciding
        if NOT_TOLD in values:
            return NOT_TOLD
        return None if None in values else not deciding

    return rule


def _is_null(values: Sequence[Any]) -> Any:
    return NOT_TOLD if NOT_TOLD in values else values[0] is None


def _among(values: Sequence[Any]) -> Any:
    if NOT_TOLD in values:
        return NOT_TOLD
    value, *listed = values
    if value is None:
        return None
    return _all(True)([None if one is None else _is_same(value, one) for one in listed])


def _first(values: Sequence[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _case(values: Sequence[Any]) -> Any:
    for condition, value in zip(values[:-1:2], values[1::2], strict=True):
        if condition is True or condition is NOT_TOLD:
            return value if condition is True else NOT_TOLD
    return values[-1]


def _is_distinct(values: Sequence[Any]) -> Any:
    if NOT_TOLD in values:
        return NOT_TOLD
    if None in values:
        return values[0] is not values[1]
    same = _is_same(*values)
    return same if same is NOT_TOLD else not same


_RULES: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "and": _all(False),
    "or": _all(True),
    "is_null": _is_null,
    "is_distinct": _is_distinct,
    "in": _among,
    "coalesce": _first,
    "case": _case,
}
"""Functions that take NULL for a value of its own."""
