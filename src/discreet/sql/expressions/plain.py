"""Nodes that are one function of their parts, in order."""

from typing import Any

from discreet.sql.expressions.dated import compared
from discreet.sql.expressions.rule import Rule, Visit
from discreet.tables.expression import Expression
from discreet.tables.functions.call import call


def _plain(function: str, *parts: str, **expected: object) -> Rule:
    def read(node: Any, visit: Visit) -> Expression:
        values = [node.args.get(part) for part in parts]
        flat = [one for v in values if v is not None for one in (v if isinstance(v, list) else [v])]
        return call(function, [visit(one) for one in flat])

    return Rule(parts, read, expected)


def _comparison(function: str) -> Rule:
    def read(node: Any, visit: Visit) -> Expression:
        return compared(function, [visit(node.this), visit(node.expression)])

    return Rule(("this", "expression"), read)


def _unary(function: str) -> Rule:
    return _plain(function, "this")


def _binary(function: str, **expected: object) -> Rule:
    return _plain(function, "this", "expression", **expected)


PLAIN = {
    "EQ": _comparison("="),
    "NEQ": _comparison("<>"),
    "LT": _comparison("<"),
    "LTE": _comparison("<="),
    "GT": _comparison(">"),
    "GTE": _comparison(">="),
    "NullSafeNEQ": _comparison("is_distinct"),
    "Not": _unary("not"),
    "Mul": _binary("*"),
    "Div": _binary("/"),
    "SafeDivide": _binary("/"),
    "IntDiv": _binary("//"),
    "Mod": _binary("%"),
    "Neg": _unary("neg"),
    "Abs": _unary("abs"),
    "Round": _plain("round", "this", "decimals"),
    "Floor": _unary("floor"),
    "Ceil": _unary("ceil"),
    "Trunc": _unary("trunc"),
    "Sqrt": _unary("sqrt"),
    "Ln": _unary("ln"),
    "Exp": _unary("exp"),
    "Pow": _binary("power"),
    "Sign": _unary("sign"),
    "Greatest": _plain("greatest", "this", "expressions", ignore_nulls=True),
    "Least": _plain("least", "this", "expressions", ignore_nulls=True),
    "Coalesce": _plain("coalesce", "this", "expressions"),
    "Nullif": _binary("nullif"),
    "Lower": _unary("lower"),
    "Upper": _unary("upper"),
    "Length": _unary("length"),
    "Substring": _plain("substring", "this", "start", "length"),
    "Left": _binary("left"),
    "Right": _binary("right"),
    "Concat": _plain("concat", "expressions", safe=True, coalesce=True),
    "Replace": _plain("replace", "this", "expression", "replacement"),
    "StartsWith": _binary("starts_with"),
    "EndsWith": _binary("ends_with"),
    "Contains": _binary("contains"),
    "Year": _unary("year"),
    "Quarter": _unary("quarter"),
    "Month": _unary("month"),
    "Week": _unary("week"),
    "WeekOfYear": _unary("week"),
    "Day": _unary("day"),
    "DayOfMonth": _unary("day"),
    "DayOfWeek": _unary("day_of_week"),
    "DayOfWeekIso": _unary("iso_day_of_week"),
    "DayOfYear": _unary("day_of_year"),
    "AddMonths": _binary("add_months"),
    "WidthBucket": _plain("width_bucket", "this", "min_value", "max_value", "num_buckets"),
}
