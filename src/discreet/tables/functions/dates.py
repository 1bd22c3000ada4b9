"""Functions of dates, in the years 1 to 9999; any other date gives NULL.

There is no clock here and no time zone: a date is a day of the calendar.
"""

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.constants import constant_integer, constant_text
from discreet.tables.functions.convert import convert
from discreet.tables.functions.function import Arguments, Function, call_of, fixed, table

_TEXT, _INTEGER, _DATE = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.DATE

PARTS = (
    "year", "quarter", "month", "week", "day", "day_of_week", "iso_day_of_week", "day_of_year",
)  # fmt: skip
"""The parts of a date: ISO weeks; days of the week from Sunday 0 (ISO: Monday 1 to Sunday 7)."""

TRUNCATIONS = ("day", "week", "month", "quarter", "year")
DIFFERENCES = ("day", "month", "quarter", "year")

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
    unit = _unit(arguments[0], "date_trunc", TRUNCATIONS)
    return call_of("date_trunc", _DATE, [unit, convert(arguments[1], _DATE)])


def _difference(arguments: Arguments) -> Expression | None:
    if len(arguments) != 3:
        return None
    unit = _unit(arguments[0], "date_diff", DIFFERENCES)
    first, last = (convert(argument, _DATE) for argument in arguments[1:])
    return call_of("date_diff", _INTEGER, [unit, first, last])


def _add_months(arguments: Arguments) -> Expression | None:
    if len(arguments) != 2:
        return None
    constant_integer(arguments[1], "number of months", least=-MOST_MONTHS, most=MOST_MONTHS)
    day = convert(arguments[0], _DATE)
    return None if day is None else Call(_DATE, "add_months", (day, arguments[1]))


FUNCTIONS = table(
    *(fixed(part, f"{part}(date)", types=[[_DATE]], result=_INTEGER) for part in PARTS),
    Function(name="date_trunc", usage="date_trunc('month', date)", build=_truncate),
    Function(name="date_diff", usage="date_diff('day', date, date)", build=_difference),
    Function(name="add_months", usage="date + INTERVAL 3 MONTH", build=_add_months),
)
