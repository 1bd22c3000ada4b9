"""Functions whose parts need a closer look: parts of dates, intervals, trims, logarithms."""

import re
from collections.abc import Mapping
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.rule import Rule, Visit
from discreet.sql.refusals import refused_function
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import FUNCTIONS, call

_PARTS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "day": "day",
    "dow": "day_of_week",
    "dayofweek": "day_of_week",
    "isodow": "iso_day_of_week",
    "doy": "day_of_year",
    "dayofyear": "day_of_year",
}


def _part(name: str, day: Expression) -> Expression:
    function = _PARTS.get(name.lower())
    if function is None:
        raise RefusedQuery(
            "This part of a date is not known", must=f"be {', '.join(_PARTS)}", got=name[:40]
        )
    return call(function, [day])


def _extract(node: Any, visit: Visit) -> Expression:
    return _part(node.this.name, visit(node.expression))


def _unit(node: Any) -> Literal:
    return Literal(ColumnType.TEXT, node.args["unit"].name.lower())


def _truncate(node: Any, visit: Visit) -> Expression:
    return call("date_trunc", [_unit(node), visit(node.this)])


def _difference(node: Any, visit: Visit) -> Expression:
    return call("date_diff", [_unit(node), visit(node.expression), visit(node.this)])


_DAYS = {"day": 1, "days": 1, "week": 7, "weeks": 7}
_MONTHS = {"month": 1, "months": 1, "quarter": 3, "quarters": 3, "year": 12, "years": 12}
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


def _sum(operator: str) -> Rule:
    """Return a rule for + or -, of numbers or of a date and an interval."""

    def read(node: Any, visit: Visit) -> Expression:
        left, right = node.this, node.expression
        if operator == "+" and _is_interval(left):
            left, right = right, left
        if _is_interval(right):
            return _shift(visit(left), operator, right, visit)
        return call(operator, [visit(left), visit(right)])

    return Rule(("this", "expression"), read)


def _is_interval(node: Any) -> bool:
    return type(node).__name__ == "Interval"


def _shift(day: Expression, operator: str, interval: Any, visit: Visit) -> Expression:
    unit = interval.args.get("unit")
    name = unit.name.lower() if unit is not None else ""
    if name not in _DAYS and name not in _MONTHS:
        raise RefusedQuery(
            "This interval is not supported",
            must="be days, weeks, months, quarters or years",
            next="Write d + INTERVAL 7 DAY",
        )
    count = _count(interval.this, visit)
    if name in _DAYS:
        length = Literal(ColumnType.INTEGER, _DAYS[name])
        return call(operator, [day, count if _DAYS[name] == 1 else call("*", [count, length])])
    if not isinstance(count, Literal) or not isinstance(count.value, int):
        raise RefusedQuery("The number of months or years is not a constant")
    sign = 1 if operator == "+" else -1
    months = Literal(ColumnType.INTEGER, sign * count.value * _MONTHS[name])
    return call("add_months", [day, months])


def _count(node: Any, visit: Visit) -> Expression:
    """Return how many units an interval has; sqlglot keeps a number there as a text."""
    count = visit(node)
    if isinstance(count, Literal) and isinstance(count.value, str):
        if not _WHOLE.fullmatch(count.value):
            raise RefusedQuery("The length of an interval is not a whole number")
        return Literal(ColumnType.INTEGER, int(count.value))
    return count


def _date_add(node: Any, visit: Visit) -> Expression:
    if not _is_interval(node.expression):
        raise RefusedQuery("date_add takes an interval", next="Write d + INTERVAL 7 DAY")
    return _shift(visit(node.this), "+", node.expression, visit)


_TRIMS = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def _trim(node: Any, visit: Visit) -> Expression:
    function = _TRIMS[str(node.args.get("position") or "").upper()]
    characters = node.args.get("expression")
    parts = [node.this] if characters is None else [node.this, characters]
    return call(function, [visit(part) for part in parts])


_LOGARITHMS: Mapping[Expression, str] = {
    Literal(ColumnType.INTEGER, 2): "log2",
    Literal(ColumnType.INTEGER, 10): "log10",
}


def _logarithm(node: Any, visit: Visit) -> Expression:
    if node.expression is None:
        return call("log10", [visit(node.this)])
    base = visit(node.this)
    function = _LOGARITHMS.get(base) if isinstance(base, Literal) else None
    if function is None:
        raise RefusedQuery(
            "This logarithm is not supported", must="be to base 2 or 10", next="Write ln(x) / ln(3)"
        )
    return call(function, [visit(node.expression)])


_NAMES: Mapping[str, str] = {
    "prefix": "starts_with",
    "suffix": "ends_with",
    "weekday": "day_of_week",
}


def _anonymous(node: Any, visit: Visit) -> Expression:
    """Read a function that sqlglot does not know by name."""
    written = str(node.this)
    name = written.lower()
    parts = node.expressions
    if name in ("date_part", "datepart") and len(parts) == 2 and parts[0].is_string:
        return _part(parts[0].name, visit(parts[1]))
    function = _NAMES.get(name, name)
    if function not in FUNCTIONS:
        raise refused_function(written)
    return call(function, [visit(part) for part in parts])


CALLS = {
    "Extract": Rule(("this", "expression"), _extract),
    "TimestampTrunc": Rule(("this", "unit"), _truncate),
    "DateTrunc": Rule(("this", "unit"), _truncate),
    "DateDiff": Rule(("this", "expression", "unit"), _difference, {"date_part_boundary": True}),
    "DateAdd": Rule(("this", "expression"), _date_add),
    "Add": _sum("+"),
    "Sub": _sum("-"),
    "Trim": Rule(("this", "expression", "position"), _trim),
    "Log": Rule(("this", "expression"), _logarithm),
    "Anonymous": Rule(("this", "expressions"), _anonymous),
}
