"""Possible keys: of the public keys of a question, those that its WHERE leaves.

A group that the text of the query rules out is no group of the answer, as in SQL: it must not be
the least of a list, nor count in a mean of the groups. Rows do not matter for that, and privacy
does not either: it is decided by declarations and the query, and the plan stays as it is.
"""

import datetime
import operator
from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from discreet.core.numbers import exact
from discreet.tables.column import ColumnType, DateRange, Key
from discreet.tables.expression import Call, Expression, FieldValue, Literal, fields_in
from discreet.tables.functions.conditions import typed_conjuncts
from discreet.tables.functions.public_values import Enumeration, public_keys
from discreet.tables.relations.relation import Field, Filter, Relation

MOST_DAYS = 10_000
"""How many days of a range are looked at."""

PossibleKeys = tuple[frozenset[Key] | None, ...]
"""For each grouped expression the keys that are left, or None if all are."""


def possible_keys(
    keys: Sequence[Expression], relation: Relation, enumeration: Enumeration
) -> PossibleKeys:
    """Return the keys that conditions on the rows leave, as far as they can be told.

    What is looked at are conditions on one field by itself. Of each value that its declaration
    allows it is worked out whether a condition is false; what is not known to be, is left.
    """
    conditions: list[Expression] = []
    while isinstance(relation, Filter):
        conditions += typed_conjuncts(relation.condition)
        relation = relation.source
    fields = relation.fields()
    return tuple(_left(key, conditions, fields, enumeration) for key in keys)


def _left(
    key: Expression,
    conditions: Sequence[Expression],
    fields: Sequence[Field],
    enumeration: Enumeration,
) -> frozenset[Key] | None:
    used = fields_in(key)
    if len(used) != 1:
        return None
    (place,) = used
    known = fields[place]
    about = [one for one in conditions if fields_in(one) == used]
    narrowed = _narrowed(known, about) if about else None
    if narrowed is None:
        return None
    if isinstance(narrowed, Field):
        others = [narrowed if i == place else one for i, one in enumerate(fields)]
        found = public_keys(key, others, enumeration) if narrowed.keys != () else ()
    elif isinstance(key, Call) and key.function in _PARTS:
        found = tuple({_PARTS[key.function](day) for day in narrowed})
    else:
        dates = DateRange(first=narrowed[0], last=narrowed[-1])
        others = [evolve(one, dates=dates) if i == place else one for i, one in enumerate(fields)]
        found = public_keys(key, others, enumeration)
    return None if found is None else frozenset(found)


_PARTS: dict[str, Callable[[datetime.date], int]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
}
"""Parts of a day that are worked out here."""


def _narrowed(known: Field, conditions: Sequence[Expression]) -> Field | list[datetime.date] | None:
    """Return a field with the keys that are left, or the days, if they are fewer."""
    if known.keys is not None:
        left = [value for value in known.keys if _is_possible(conditions, value)]
        return evolve(known, keys=tuple(left)) if len(left) < len(known.keys) else None
    if known.type is ColumnType.BOOLEAN:
        left = [value for value in (False, True) if _is_possible(conditions, value)]
        return evolve(known, keys=tuple(left)) if len(left) < 2 else None
    if known.dates is None or known.dates.days > MOST_DAYS:
        return None
    is_left = _on_some_moment if known.type is ColumnType.TIMESTAMP else _is_possible
    first = known.dates.first
    days = [first + datetime.timedelta(days=i) for i in range(known.dates.days)]
    left_days = [day for day in days if is_left(conditions, day)]
    if not left_days:
        return evolve(known, keys=())
    return left_days if len(left_days) < len(days) else None


def _is_possible(conditions: Sequence[Expression], value: Key) -> bool:
    """Tell whether a row with this value may be left: no condition is false for it, or NULL."""
    return all(_value(condition, value) in (True, _UNKNOWN) for condition in conditions)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _on_some_moment(conditions: Sequence[Expression], day: datetime.date) -> bool:
    """Tell whether conditions may hold on a day: those that order moments, at one of its ends."""
    first = datetime.datetime.combine(day, datetime.time())
    last = datetime.datetime.combine(day, datetime.time.max)
    return not any(
        isinstance(one, Call)
        and one.function in _ORDERS
        and _value(one, first) is False
        and _value(one, last) is False
        for one in conditions
    )


class _NotWorkedOut:
    """What is not worked out here; it is true, false or NULL, or any value."""


_UNKNOWN = _NotWorkedOut()


def _value(expression: Expression, value: Key) -> Any:
    """Return what an expression is where its one field has a value, if that is known here."""
    if isinstance(expression, FieldValue):
        return value
    if isinstance(expression, Literal):
        is_number = expression.type is ColumnType.REAL and expression.value is not None
        return exact(str(expression.value)) if is_number else expression.value
    if not isinstance(expression, Call):
        return _UNKNOWN
    found = [_value(argument, value) for argument in expression.arguments]
    return _of(expression.function, found)


def _of(function: str, values: Sequence[Any]) -> Any:
    """Return the value of a function, as SQL has it: NULL is None."""
    if function == "and":
        return _all(values, False)
    if function == "or":
        return _all(values, True)
    if any(one is _UNKNOWN for one in values):
        return _UNKNOWN
    if function == "is_null":
        return values[0] is None
    if function == "in":
        return _among(values[0], values[1:])
    work = _PARTS.get(function) or _COMPARED.get(function)
    if work is None:
        return _UNKNOWN
    return None if any(one is None for one in values) else work(*values)


_COMPARED: dict[str, Callable[..., Any]] = _ORDERS | {
    "=": operator.eq,
    "<>": operator.ne,
    "not": operator.not_,
}


def _all(values: Sequence[Any], deciding: bool) -> Any:
    """Return AND or OR: one that decides does so whatever the others are."""
    if any(one is deciding for one in values):
        return deciding
    if any(one is _UNKNOWN for one in values):
        return _UNKNOWN
    return None if None in values else not deciding


def _among(value: Any, listed: Sequence[Any]) -> Any:
    if value is None:
        return None
    if any(one == value for one in listed if one is not None):
        return True
    return None if None in listed else False
