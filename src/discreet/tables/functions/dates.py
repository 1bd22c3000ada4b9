"""Functions of dates and timestamps, in the years 1 to 9999; any other gives NULL.

There is no clock here and no time zone: a date is a day of the calendar, and a timestamp is what
calendar and clock on one wall show. So a day has 24 hours, also where clocks are changed.
"""

import datetime
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType, DateRange
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    BINARY,
    BY_FORM,
    NOT_A_DATE,
    NOT_A_NUMBER,
    NOT_A_TEXT,
    OF_ROWS_ONLY,
    Alias,
    Arguments,
    DatePart,
    Function,
    KeyFunction,
    Keys,
    KeysRule,
    Listing,
    PlainNode,
    Reach,
    SpanRule,
    Way,
    Without,
)
from discreet.tables.functions.rules import (
    MOST_LISTED,
    call_of,
    constant_integer,
    constant_text,
    convert,
    first_fit,
    fixed,
    keys_from,
    listed,
    midnight,
    of_each,
    span_from,
)
from discreet.tables.functions.span import ONE, Span, days_between
from discreet.tables.functions.work import guarded, plain

_TEXT, _INTEGER, _DATE = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.DATE
_TIMESTAMP, _TIME = ColumnType.TIMESTAMP, ColumnType.TIME

TRUNCATIONS = ("day", "week", "month", "quarter", "year")
DIFFERENCES = ("day", "month", "quarter", "year")

CLOCK = ("hour", "minute", "second")
"""Where a timestamp can be cut besides."""

A_DAY = {"hour": 24, "minute": 1_440, "second": 86_400, "millisecond": 86_400_000}
"""How many of each a day of the calendar has; timestamps and times differ by these too."""

CALENDAR = (_DATE, _TIMESTAMP)
"""What falls on a day of the calendar."""

MOST_MONTHS = 12 * 9_999
"""The most months that can be added to a date."""


def _unit(argument: Expression, what: str, units: tuple[str, ...]) -> Literal:
    unit = constant_text(argument, f"unit of {what}").lower()
    if unit not in units:
        raise RefusedQuery(
            f"{what} does not know this unit",
            must=f"be {', '.join(units)}",
            got=unit[:20],
            next=_INSTEAD.get((what, unit), ""),
        )
    return Literal(_TEXT, unit)


_INSTEAD = {
    ("date_diff", "week"): "Write date_diff('day', date_trunc('week', a), date_trunc('week', b))"
    " // 7, which counts the Mondays between, as DuckDB does; date_diff('day', a, b) // 7"
    " counts spans of seven days"
}


def _truncate(arguments: Arguments) -> Expression | None:
    if len(arguments) != 2:
        return None
    value = first_fit(arguments[1], CALENDAR)
    kind = _DATE if value is None else value.type
    units = TRUNCATIONS if kind is _DATE else (*CLOCK, *TRUNCATIONS)
    return call_of("date_trunc", kind, [_unit(arguments[0], "date_trunc", units), value])


def _difference(arguments: Arguments) -> Expression | None:
    if len(arguments) != 3:
        return None
    kind = next((a.type for a in arguments[1:] if a.type in (_TIMESTAMP, _TIME)), _DATE)
    unit = _unit(arguments[0], "date_diff", _DIFFERENCES[kind])
    first, last = (convert(argument, kind) for argument in arguments[1:])
    return call_of("date_diff", _INTEGER, [unit, first, last])


_DIFFERENCES = {_DATE: DIFFERENCES, _TIMESTAMP: (*A_DAY, *DIFFERENCES), _TIME: tuple(A_DAY)}


def _add_months(arguments: Arguments) -> Expression | None:
    if len(arguments) != 2:
        return None
    constant_integer(arguments[1], "number of months", least=-MOST_MONTHS, most=MOST_MONTHS)
    day = first_fit(arguments[0], CALENDAR)
    return None if day is None else Call(day.type, "add_months", (day, arguments[1]))


# ---- Periods.


def truncate(unit: str, day: datetime.date) -> datetime.date:
    """Return the first day of the day's week, month, quarter or year.

    Of a timestamp it is the first moment of that day, or of an hour, minute or second.

    Example:
        >>> truncate("week", datetime.date(2024, 1, 3))
        datetime.date(2024, 1, 1)
        >>> truncate("hour", datetime.datetime(2024, 1, 3, 10, 30))
        datetime.datetime(2024, 1, 3, 10, 0)
    """
    if not isinstance(day, datetime.datetime):
        return _TRUNCATIONS[unit](day)
    if unit not in CLOCK:
        return midnight(_TRUNCATIONS[unit](day.date()))
    cut = day.replace(microsecond=0, second=day.second if unit == "second" else 0)
    return cut.replace(minute=0) if unit == "hour" else cut


_TRUNCATIONS: Mapping[str, Callable[[datetime.date], datetime.date]] = {
    "day": lambda day: day,
    "week": lambda day: day - datetime.timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=day.month - (day.month - 1) % 3, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


_LONGEST = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
"""The most days of each; so this many days after a first day is in the next one or at its start."""


def periods(unit: str, days: DateRange, *, most: int) -> tuple[datetime.date, ...] | None:
    """Return the first day of each period in order, or None if there are more than ``most``.

    Example:
        >>> days = DateRange(first=datetime.date(2024, 1, 31), last=datetime.date(2024, 3, 1))
        >>> [day.month for day in periods("month", days, most=10)]
        [1, 2, 3]
    """
    found = [truncate(unit, days.first)]
    step = datetime.timedelta(days=_LONGEST[unit])
    while len(found) <= most:
        if datetime.date.max - found[-1] < step:
            return tuple(found)
        following = truncate(unit, found[-1] + step)
        if following > days.last:
            return tuple(found)
        found.append(following)
    return None


def days_listed(unit: str, days: DateRange, known: Listing) -> Keys | None:
    """Return the first day of each period of a range as keys, or None if they are too many."""
    found = periods(unit, days, most=MOST_LISTED)
    return listed(found, known) if found else None


def moments_listed(unit: str, days: DateRange, known: Listing) -> Keys | None:
    """Return the first moment of each period, hour, minute or second of a range of days as keys."""
    if unit not in CLOCK:
        found = periods(unit, days, most=MOST_LISTED)
        return listed([midnight(day) for day in found], known) if found else None
    count = days.days * A_DAY[unit]
    if count > MOST_LISTED:
        return None
    first, step = midnight(days.first), datetime.timedelta(days=1) / A_DAY[unit]
    return listed([first + i * step for i in range(count)], known)


# ---- How far it reaches, and which keys it has.


def _year_span(node: Call, reach: Reach) -> Span | None:
    days = reach.dates(node.arguments[0])
    if days is None:
        return None
    return Span(Fraction(days.first.year), Fraction(days.last.year), ONE)


def _year_keys(node: Call, known: Listing) -> Keys | None:
    days = known.dates(node.arguments[0])
    if days is None:
        return of_each(node, known)
    return listed(range(days.first.year, days.last.year + 1), known)


def _truncated_dates(node: Call, reach: Reach) -> DateRange | None:
    unit, day = node.arguments
    days = reach.dates(day)
    if days is None or not isinstance(unit, Literal):
        return None
    name = str(unit.value)
    if name in CLOCK:
        return days
    return DateRange(first=truncate(name, days.first), last=truncate(name, days.last))


def _truncated_keys(node: Call, known: Listing) -> Keys | None:
    days, unit = known.dates(node.arguments[1]), node.arguments[0]
    if days is None or not isinstance(unit, Literal):
        return of_each(node, known)
    of_unit = days_listed if node.type is _DATE else moments_listed
    return of_unit(str(unit.value), days, known)


_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _difference_span(node: Call, reach: Reach) -> Span | None:
    unit, start, end = node.arguments
    each_day = A_DAY.get(str(unit.value)) if isinstance(unit, Literal) else None
    if start.type is _TIME and each_day is not None:
        return Span(Fraction(1 - each_day), Fraction(each_day - 1), ONE)
    first, last = reach.dates(start), reach.dates(end)
    if first is None or last is None or not isinstance(unit, Literal):
        return None
    if each_day is not None:
        days = days_between(last, first)
        return Span((days.lower - 1) * each_day + 1, (days.upper + 1) * each_day - 1, ONE)
    if unit.value == "day":
        return days_between(last, first)
    length = _MONTHS[str(unit.value)]
    lower_count = _count(last.first, length) - _count(first.last, length)
    upper_count = _count(last.last, length) - _count(first.first, length)
    return Span(Fraction(lower_count), Fraction(upper_count), ONE)


def _count(day: datetime.date, length: int) -> int:
    return (day.year * 12 + day.month - 1) // length


# ---- The parts of a date: ISO weeks; days of the week from Sunday 0 (ISO: Monday 1 to Sunday 7).

_dated = partial(Function, work=plain, length=NOT_A_TEXT, between=OF_ROWS_ONLY)


def _part(
    name: str,
    *written: Way,
    span: SpanRule,
    keys: KeysRule,
    on_keys: KeyFunction | Without,
) -> Function:
    return _dated(
        name=name,
        usage=f"{name}(date)",
        written=written,
        build=fixed(name, [CALENDAR], _INTEGER),
        span=span,
        dates=NOT_A_DATE,
        keys=keys,
        on_keys=on_keys,
        guards=guarded(1),
    )


def _part_of(
    lower: int, upper: int, of: Callable[[datetime.date], int], name: str, *written: Way
) -> Function:
    """Return a part with few numbers, all of which are keys."""
    return _part(
        name,
        *written,
        span=span_from(lower, upper),
        keys=keys_from(lower, upper),
        on_keys=lambda _, day: of(day),
    )


FUNCTIONS = (
    _part(
        "year",
        PlainNode("Year"),
        DatePart("year"),
        span=_year_span,
        keys=_year_keys,
        on_keys=lambda _, day: day.year,
    ),
    _part_of(
        1, 4, lambda day: (day.month + 2) // 3, "quarter", PlainNode("Quarter"), DatePart("quarter")
    ),
    _part_of(1, 12, lambda day: day.month, "month", PlainNode("Month"), DatePart("month")),
    _part_of(
        1,
        53,
        lambda day: day.isocalendar().week,
        "week",
        PlainNode("Week"),
        PlainNode("WeekOfYear"),
        DatePart("week"),
    ),
    _part_of(
        1,
        31,
        lambda day: day.day,
        "day",
        PlainNode("Day"),
        PlainNode("DayOfMonth"),
        DatePart("day"),
    ),
    _part_of(
        0,
        6,
        lambda day: day.isoweekday() % 7,
        "day_of_week",
        PlainNode("DayOfWeek"),
        Alias("weekday"),
        DatePart("dow"),
        DatePart("dayofweek"),
    ),
    _part_of(
        1,
        7,
        lambda day: day.isoweekday(),
        "iso_day_of_week",
        PlainNode("DayOfWeekIso"),
        DatePart("isodow"),
    ),
    _part_of(
        1,
        366,
        lambda day: day.timetuple().tm_yday,
        "day_of_year",
        PlainNode("DayOfYear"),
        DatePart("doy"),
        DatePart("dayofyear"),
    ),
    _dated(
        name="date_trunc",
        usage="date_trunc('month', date)",
        written=BY_FORM,
        build=_truncate,
        span=NOT_A_NUMBER,
        dates=_truncated_dates,
        keys=_truncated_keys,
        on_keys=lambda _, unit, day: truncate(unit, day),
        guards=guarded(1),
    ),
    _dated(
        name="date_diff",
        usage="date_diff('day', date, date)",
        written=BY_FORM,
        build=_difference,
        span=_difference_span,
        dates=NOT_A_DATE,
        keys=of_each,
        on_keys=Without("it is not worked out for keys"),
        guards=guarded(2),
    ),
    _dated(
        name="add_months",
        usage="date + INTERVAL 3 MONTH",
        written=(PlainNode("AddMonths", BINARY),),
        build=_add_months,
        span=NOT_A_NUMBER,
        dates=Without("no range of days is worked out for months"),
        keys=of_each,
        on_keys=Without("it is not worked out for keys"),
        guards=guarded(2),
    ),
)
