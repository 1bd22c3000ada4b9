"""The days that an expression of type date is thought to have."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch

from discreet.tables.column import DateRange
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.relations.relation import Field

Fields = Sequence[Field]


@singledispatch
def propose_dates(expression: Expression, fields: Fields) -> DateRange | None:
    """Return a range of days from declared ranges, or None. Nothing rests on it.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> day = datetime.date(2024, 5, 17)
        >>> month = Literal(ColumnType.TEXT, "month")
        >>> trunc = Call(ColumnType.DATE, "date_trunc", (month, Literal(ColumnType.DATE, day)))
        >>> propose_dates(trunc, []).first
        datetime.date(2024, 5, 1)
    """
    return None


@propose_dates.register
def _(expression: FieldValue, fields: Fields) -> DateRange | None:
    return fields[expression.index].dates


@propose_dates.register
def _(expression: Literal, fields: Fields) -> DateRange | None:
    day = expression.value
    return DateRange(first=day, last=day) if isinstance(day, datetime.date) else None


@propose_dates.register
def _(expression: Call, fields: Fields) -> DateRange | None:
    rule = _RULES.get(expression.function)
    return None if rule is None else rule(expression, fields)


def _choice(values: Sequence[Expression], fields: Fields) -> DateRange | None:
    """Return the range of one of the values; NULL is in none."""
    given = [v for v in values if not (isinstance(v, Literal) and v.value is None)]
    ranges = [r for value in given if (r := propose_dates(value, fields)) is not None]
    if not ranges or len(ranges) < len(given):
        return None
    return DateRange(first=min(r.first for r in ranges), last=max(r.last for r in ranges))


def _case(node: Call, fields: Fields) -> DateRange | None:
    return _choice((*node.arguments[1::2], node.arguments[-1]), fields)


def _all(node: Call, fields: Fields) -> DateRange | None:
    return _choice(node.arguments, fields)


def _first(node: Call, fields: Fields) -> DateRange | None:
    return propose_dates(node.arguments[0], fields)


def _truncate(node: Call, fields: Fields) -> DateRange | None:
    unit, day = node.arguments
    days = propose_dates(day, fields)
    if days is None or not isinstance(unit, Literal):
        return None
    name = str(unit.value)
    return DateRange(first=truncate(name, days.first), last=truncate(name, days.last))


def truncate(unit: str, day: datetime.date) -> datetime.date:
    """Return the first day of the day's week, month, quarter or year.

    Example:
        >>> truncate("week", datetime.date(2024, 1, 3))
        datetime.date(2024, 1, 1)
    """
    return _TRUNCATIONS[unit](day)


_TRUNCATIONS: Mapping[str, Callable[[datetime.date], datetime.date]] = {
    "day": lambda day: day,
    "week": lambda day: day - datetime.timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=day.month - (day.month - 1) % 3, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


def _shift(sign: int) -> Callable[[Call, Fields], DateRange | None]:
    def rule(node: Call, fields: Fields) -> DateRange | None:
        days, count = propose_dates(node.arguments[0], fields), node.arguments[1]
        if days is None or not isinstance(count, Literal) or not isinstance(count.value, int):
            return None
        try:
            moved = datetime.timedelta(days=sign * count.value)
            return DateRange(first=days.first + moved, last=days.last + moved)
        except OverflowError:
            return None

    return rule


_RULES: Mapping[str, Callable[[Call, Fields], DateRange | None]] = {
    "case": _case,
    "coalesce": _all,
    "greatest": _all,
    "least": _all,
    "nullif": _first,
    "date_trunc": _truncate,
    "+": _shift(1),
    "-": _shift(-1),
}
