"""Functions of dates in DuckDB's SQL, each on dates of the years 1 to 9999 alone."""

from collections.abc import Mapping, Sequence

from discreet.engines.duckdb.render.let import Render, only_if, ordinary
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call

_PARTS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "day": "day",
    "day_of_week": "dayofweek",
    "iso_day_of_week": "isodow",
    "day_of_year": "dayofyear",
}

_MOST_DAYS = 9_999 * 366
"""More days than there are in the years 1 to 9999: a farther shift leaves them anyhow."""


def _part(name: str) -> Render:
    return lambda _, arguments: f"{name}({ordinary(arguments[0])})::BIGINT"


def _truncate(_: Call, arguments: Sequence[str]) -> str:
    return f"date_trunc({arguments[0]}, {ordinary(arguments[1])})::DATE"


def _difference(_: Call, arguments: Sequence[str]) -> str:
    unit, first, last = arguments
    return f"date_diff({unit}, {ordinary(first)}, {ordinary(last)})::BIGINT"


def _add_months(_: Call, arguments: Sequence[str]) -> str:
    day, months = arguments
    return ordinary(f"({ordinary(day)} + to_months({months}::INTEGER))::DATE")


def shift(operator: str) -> Render:
    """Return date + days, date - days or date - date."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        first, second = arguments
        if node.type is ColumnType.INTEGER:
            return f"({ordinary(first)} - {ordinary(second)})::BIGINT"
        days = only_if(second, f"v BETWEEN {-_MOST_DAYS} AND {_MOST_DAYS}")
        return ordinary(f"{ordinary(first)} {operator} {days}::INTEGER")

    return render


DATE_FUNCTIONS: Mapping[str, Render] = {
    **{name: _part(theirs) for name, theirs in _PARTS.items()},
    "date_trunc": _truncate,
    "date_diff": _difference,
    "add_months": _add_months,
}
