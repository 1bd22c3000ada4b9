"""What is refused by name, why, and what to write instead."""

from typing import Any

from discreet.core import optional
from discreet.core.errors import RefusedQuery
from discreet.tables.functions.call import unknown_function

_CLOCK = "An answer must not depend on when it is asked: write DATE '2024-01-31'"
_PATTERN = "Regular expressions are not supported: write LIKE, starts_with or contains"
_GROWTH = "It can make texts of any length"

_NAMES = {
    "now": _CLOCK,
    "random": "An answer must not depend on chance beyond its noise",
    "uuid": "An answer must not depend on chance beyond its noise",
    "lpad": _GROWTH,
    "rpad": _GROWTH,
    "age": "Write date_diff('year', a, b)",
    "date_sub": "Write date_diff('day', a, b), or d - INTERVAL 7 DAY",
    "div0": "Write a / b, which is NULL where b is 0",
    "all": "Write x <> a AND x <> b",
    "isnull": "Write x IS NULL",
    "strlen": "Write length(x)",
    "isnan": "NaN is NULL here: write x IS NULL",
    "isfinite": "NaN is NULL here: write x IS NOT NULL",
}

_NODES = {
    "Subquery": "Write it in FROM, or as x IN (SELECT ...) in WHERE",
    "Select": "Write it in FROM, or as x IN (SELECT ...) in WHERE",
    "Exists": "EXISTS stands alone in WHERE, or after AND",
    "Window": "A window is a column of a sub-query; QUALIFY, or WHERE around it, filters on it",
    "Filter": "FILTER follows an aggregate",
    "Star": "Name a column",
    "Placeholder": "Write the value in the query",
    "Parameter": "Write the value in the query",
    "RegexpLike": _PATTERN,
    "RegexpILike": _PATTERN,
    "RegexpReplace": _PATTERN,
    "RegexpExtract": _PATTERN,
    "SimilarTo": _PATTERN,
    "Glob": _PATTERN,
    "Escape": "Write contains(x, '%') or starts_with(x, '%') for a sign that LIKE would read",
    "Any": "Write x IN ('a', 'b')",
    "CurrentDate": _CLOCK,
    "CurrentTimestamp": _CLOCK,
    "Rand": "An answer must not depend on chance beyond its noise",
    "Repeat": _GROWTH,
    "Pad": _GROWTH,
    "ConcatWs": "Write a || ', ' || b",
    "Interval": "An interval is added to a date: d + INTERVAL 7 DAY",
    "Collate": "Write lower(x) to compare without regard to case",
    "Tuple": "Compare columns one by one, with AND",
    "BitwiseXor": "Write a <> b",
    "IsNan": "NaN is NULL here: write x IS NULL",
    "StrPosition": "Write contains(x, 'a')",
    "TimeToStr": "Write date_trunc('month', d), year(d) or month(d)",
    "Monthname": "Write month(d), which is 1 to 12",
    "Dayname": "Write iso_day_of_week(d), which is 1 (Monday) to 7",
    "Alias": "A name stands only after a column of the select list",
}


def in_query() -> RefusedQuery:
    """Return the refusal of IN (SELECT ...) where a value of one row is asked for."""
    return RefusedQuery(
        "IN (SELECT ...) cannot stand inside an expression",
        must="stand alone in WHERE, or after AND",
        next="Move it to WHERE, or LEFT JOIN the sub-query and test whether its column IS NULL",
    )


def refused_node(node: Any) -> RefusedQuery:
    """Return the refusal of a node that has no rule."""
    name = type(node).__name__
    if isinstance(node, optional.load("sqlglot.expressions").AggFunc):
        return RefusedQuery(
            "An aggregate cannot stand here",
            must="be a value of one row",
            got=node.sql_name(),
            next="Aggregate in a sub-query that groups by the unit, or use HAVING",
        )
    return RefusedQuery(
        "This expression is not supported",
        got=name,
        next=_NODES.get(name, "docs/reference/functions.md lists what is"),
    )


def refused_function(name: str) -> RefusedQuery:
    """Return the refusal of a function that is not on the list."""
    if name.lower().startswith("regexp"):
        return RefusedQuery("This function is not on the list", got=name[:40], next=_PATTERN)
    reason = _NAMES.get(name.lower())
    if reason is None:
        return unknown_function(name)
    return RefusedQuery("This function is not on the list", got=name[:40], next=reason)
