"""Functions of the time of day, and of dates and timestamps that are made of numbers."""

import datetime
from fractions import Fraction
from functools import partial

from discreet.tables.column import ColumnType, DateRange
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    NOT_A_DATE,
    NOT_A_NUMBER,
    NOT_A_TEXT,
    OF_ROWS_ONLY,
    Arguments,
    DatePart,
    Function,
    PlainNode,
    Reach,
    Result,
    Without,
)
from discreet.tables.functions.rules import (
    convert,
    fixed,
    keys_from,
    midnight,
    of_each,
    span_from,
)
from discreet.tables.functions.work import guarded, if_made, plain

_INTEGER, _DATE = ColumnType.INTEGER, ColumnType.DATE
_TIMESTAMP, _TIME = ColumnType.TIMESTAMP, ColumnType.TIME

_clocked = partial(Function, work=plain, length=NOT_A_TEXT, between=OF_ROWS_ONLY)


def _part_of(upper: int, name: str, node: str) -> Function:
    """Return a part of a clock: all its numbers are keys."""
    return _clocked(
        name=name,
        usage=f"{name}(timestamp)",
        written=(PlainNode(node), DatePart(name)),
        build=fixed(name, [[_TIMESTAMP, _TIME]], _INTEGER),
        span=span_from(0, upper),
        dates=NOT_A_DATE,
        keys=keys_from(0, upper),
        on_keys=lambda _, time: getattr(time, name),
        guards=guarded(1),
    )


# ---- Intervals of constant length.


def _add_seconds(arguments: Arguments) -> Expression | None:
    if len(arguments) != 2 or arguments[0].type is _TIME:
        return None
    moment, count = convert(arguments[0], _TIMESTAMP), convert(arguments[1], _INTEGER)
    if moment is None or count is None:
        return None
    return Call(_TIMESTAMP, "add_seconds", (moment, count))


def _later(moment: datetime.datetime, seconds: int) -> datetime.datetime | None:
    try:
        return moment + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return None


_LAST_MOMENT = datetime.timedelta(days=1) - datetime.timedelta(microseconds=1)


def _later_dates(node: Call, reach: Reach) -> DateRange | None:
    days, counts = reach.dates(node.arguments[0]), _constants(node.arguments[1])
    if days is None or counts is None:
        return None
    first = _later(midnight(days.first), min(counts))
    last = _later(midnight(days.last) + _LAST_MOMENT, max(counts))
    if first is None or last is None:
        return None
    return DateRange(first=first.date(), last=last.date())


def _constants(count: Expression) -> list[int] | None:
    """Return the numbers that a count can be, if it is one of the query or a choice of them."""
    if isinstance(count, Literal):
        return [count.value] if isinstance(count.value, int) else None
    if not isinstance(count, Call) or count.function != "case":
        return None
    found = [_constants(value) for value in (*count.arguments[1::2], count.arguments[-1])]
    known = [numbers for numbers in found if numbers is not None]
    return [number for numbers in known for number in numbers] if known == found else None


# ---- Dates of numbers.


def _made_dates(node: Call, reach: Reach) -> DateRange | None:
    """Return all days of the years that the first number reaches."""
    years = reach.span(node.arguments[0])
    calendar = Fraction(datetime.MINYEAR), Fraction(datetime.MAXYEAR)
    if years is None or years.upper < calendar[0] or years.lower > calendar[1]:
        return None
    first, last = int(max(years.lower, calendar[0])), int(min(years.upper, calendar[1]))
    return DateRange(first=datetime.date(first, 1, 1), last=datetime.date(last, 12, 31))


def _made_date(_: Call, year: int, month: int, day: int) -> Result:
    try:
        return datetime.date(year, month, day)
    except (ValueError, OverflowError):
        return None


FUNCTIONS = (
    _part_of(23, "hour", "Hour"),
    _part_of(59, "minute", "Minute"),
    _part_of(59, "second", "Second"),
    _clocked(
        name="add_seconds",
        usage="timestamp + INTERVAL 90 MINUTE",
        written=Without("it is written as an interval that is added, with a reader of its own"),
        build=_add_seconds,
        span=NOT_A_NUMBER,
        dates=_later_dates,
        keys=of_each,
        on_keys=lambda _, moment, seconds: _later(moment, seconds),
        guards=guarded(3),
    ),
    _clocked(
        name="make_date",
        usage="make_date(year, month, day)",
        written=(PlainNode("DateFromParts", ("year", "month", "day")),),
        build=fixed("make_date", [[_INTEGER]] * 3, _DATE),
        span=NOT_A_NUMBER,
        dates=_made_dates,
        keys=of_each,
        on_keys=_made_date,
        guards=if_made,
    ),
)
