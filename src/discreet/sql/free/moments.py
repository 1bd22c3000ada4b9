"""Keys of a timestamp that a statement asks for in parts: its months, its days, its hours.

A timestamp with a declared range of days has too many values to be listed, and its parts have few.
If a statement looks at nothing finer than days, one moment of each day has all of its values; if at
nothing finer than hours, one moment of each hour.
"""

from collections.abc import Iterator

from discreet.sql.syntax.nodes import Node, is_a, part
from discreet.tables.column import Column, ColumnType, DateRange, Key
from discreet.tables.expression import FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.dates import CLOCK, TRUNCATIONS
from discreet.tables.functions.public_values import public_keys
from discreet.tables.relations.relation import Field

_OF_DAYS = (
    "Year", "Quarter", "Month", "Week", "WeekOfYear", "Day", "DayOfMonth", "DayOfWeek",
    "DayOfWeekIso", "DayOfYear", "Monthname", "Dayname",
)  # fmt: skip
_PARTS = {*TRUNCATIONS, "dow", "isodow", "doy", "isoyear", "dayofweek", "dayofyear"}
_DAY_CODES, _HOUR_CODES = "YymdbBaAj", "HIp"
"""Of a pattern of strftime, what is about the day and what about the hour."""


def moments_of(select: Node, column: Column) -> tuple[Key, ...] | None:
    """Return moments with all values of what a statement asks of a timestamp, if they are few."""
    if column.type is not ColumnType.TIMESTAMP or column.dates is None:
        return None
    found = list(_finest(select, column.name))
    if not found or None in found:
        return None
    days = column.dates
    if set(found) == {"clock"}:
        days = DateRange(first=days.first, last=days.first)  # every day has the same hours
    unit = Literal(ColumnType.TEXT, "day" if set(found) == {"day"} else "hour")
    moment = FieldValue(ColumnType.TIMESTAMP, 0)
    known = Field(name=column.name, type=moment.type, dates=days)
    return public_keys(call("date_trunc", [unit, moment]), [known])


def _finest(select: Node, name: str) -> Iterator[str | None]:
    """Return for each place where a column stands how fine the part of it is that is looked at."""
    for node in select.walk():
        if is_a(node, "Column") and node.name.lower() == name.lower():
            yield _part_of(node.parent)


def _part_of(node: Node | None) -> str | None:
    """Return whether a function of a timestamp is about its day, its hour, or the hour alone."""
    if node is None:
        return None
    if is_a(node, *_OF_DAYS):
        return "day"
    if is_a(node, "Hour"):
        return "clock"
    if is_a(node, "TimestampTrunc", "DateTrunc"):
        unit = part(node, "unit")
        return _named("" if unit is None else unit.name.lower(), of_hour="hour")
    if is_a(node, "Extract"):
        return _named(node.this.name.lower(), of_hour="clock")
    if is_a(node, "Cast", "TryCast"):
        to = part(node, "to")
        return "day" if to is not None and getattr(to.this, "name", "") == "DATE" else None
    if is_a(node, "TimeToStr"):
        pattern = part(node, "format")
        return _written("" if pattern is None else pattern.name)
    return None


def _named(name: str, *, of_hour: str) -> str | None:
    if name in _PARTS:
        return "day"
    return of_hour if name == CLOCK[0] else None


def _written(pattern: str) -> str | None:
    codes = {after[:1] for after in pattern.split("%")[1:]}
    if codes <= {*_DAY_CODES}:
        return "day"
    return "hour" if codes <= {*_DAY_CODES, *_HOUR_CODES} else None
