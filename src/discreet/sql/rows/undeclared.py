"""Values that nobody declared: what a row may have all the same, and which group it is in then."""

import datetime
from collections.abc import Mapping, Set
from typing import Any

from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Call, Expression, FieldValue
from discreet.tables.functions.on_rows import Elsewhere, Other, Outside, value_of
from discreet.tables.functions.rules import midnight
from discreet.tables.relations.relation import Field

Value = Key | Elsewhere | None

Cell = tuple[Value, Value]
"""A value; of a range of timestamps the first and the last moment of a day or an hour."""

_DAY = datetime.timedelta(days=1)
_TICK = datetime.timedelta(microseconds=1)


def beyond(known: Field, named: Mapping[ColumnType, Set[Key]]) -> list[Cell]:
    """Return what a field may have besides what is declared, in cells that conditions can tell.

    Where it has keys: what is ``named`` in the query, or declared for another field, and any value
    that is not. Where it has a range of days: what lies before, and what lies after.
    """
    if known.type is ColumnType.BOOLEAN:
        return [(value, value) for value in (False, True) if value not in (known.keys or (value,))]
    if known.keys is not None:
        values = named[known.type]
        others: list[Value] = [*(values - set(known.keys)), Other(frozenset(values))]
    elif known.dates is not None:
        first, last = known.dates.first, known.dates.last
        others = [Outside(first, is_after=False)] if first > datetime.date.min else []
        others += [Outside(last, is_after=True)] if last < datetime.date.max else []
    else:
        others = []
    return [(value, value) for value in others]


def group_of(key: Expression, row: Mapping[int, Value]) -> Any:
    """Return what a key is in a row, as :func:`value_of`; of days outside a range, the nearest.

    Where a key has each value in one stretch of time, only the stretch at an end of the range can
    go on outside of it, and it does so on the nearest day.
    """
    if _is_stretch(key):
        row = {place: _nearest(value, key, place) for place, value in row.items()}
    return value_of(key, row)


def _nearest(value: Value, key: Expression, place: int) -> Value:
    if not isinstance(value, Outside):
        return value
    if _type_of(key, place) is ColumnType.DATE:
        return value.day + _DAY if value.is_after else value.day - _DAY
    return midnight(value.day + _DAY) if value.is_after else midnight(value.day) - _TICK


def _type_of(expression: Expression, place: int) -> ColumnType:
    """Return the type of the field that a stretch of time is of."""
    while isinstance(expression, Call):
        expression = expression.arguments[-1]
    assert isinstance(expression, FieldValue)
    assert expression.index == place
    return expression.type


def _is_stretch(key: Expression) -> bool:
    """Tell whether each value of a key is one stretch of time, of one field."""
    if not isinstance(key, Call):
        return isinstance(key, FieldValue)
    is_cast = key.function == "cast" and key.type in (ColumnType.DATE, ColumnType.TIMESTAMP)
    if not is_cast and key.function not in ("date_trunc", "year"):
        return False
    return _is_stretch(key.arguments[-1])
