"""What is refused by name, why, and what to write instead: of one row, of a group, of an answer."""

from collections.abc import Callable, Iterable

from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import BARE_UNIT, UNITS
from discreet.sql.aggregates.functions import (
    SUPPORTED,
    aggregate_function,
    is_aggregate,
    is_aggregate_name,
)
from discreet.sql.syntax.nodes import Node, function_name, is_a, written
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression
from discreet.tables.functions.call import unknown_function

CLOCK = "An answer must not depend on when it is asked: write DATE '2024-01-31'"
"""What to do instead of asking for the day or the time."""

_PATTERN = "Regular expressions are not supported: write LIKE, starts_with or contains"
_GROWTH = "It can make texts of any length"

# Values of one row.

_FUNCTIONS = {
    "now": CLOCK,
    "random": "An answer must not depend on chance beyond its noise",
    "uuid": "An answer must not depend on chance beyond its noise",
    "lpad": _GROWTH,
    "rpad": _GROWTH,
    "age": "Write date_diff('year', a, b)",
    "date_sub": "Write date_diff('day', a, b), or d - INTERVAL 7 DAY",
    "div0": "Write a / b, which is NULL where b is 0",
    "all": "Write x <> a AND x <> b",
    "isnull": "Write x IS NULL, or COALESCE(x, y)",
    "strlen": "Write length(x)",
    "date_format": "Write strftime(d, '%Y-%m')",
    "format_date": "Write strftime(d, '%Y-%m')",
    "isnan": "NaN is NULL here: write x IS NULL",
    "isfinite": "NaN is NULL here: write x IS NOT NULL",
}

_IN_A_ROW = {
    "Subquery": "Write it in FROM, or as x IN (SELECT ...) in WHERE",
    "Select": "Write it in FROM, or as x IN (SELECT ...) in WHERE",
    "Exists": "EXISTS stands alone in WHERE, or after AND",
    "Window": "A window is a column of a sub-query; QUALIFY, or WHERE around it, filters on it",
    "Filter": "FILTER follows an aggregate",
    "Star": "Name a column",
    "Array": 'There are no lists. If it is a name: names stand in double quotes, "name"',
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
    "CurrentDate": CLOCK,
    "CurrentTimestamp": CLOCK,
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
    "TimestampFromParts": "Write make_date(year, month, day) + INTERVAL 10 HOUR",
    "TimeFromParts": "Write TIME '10:00:00'",
    "TimeToUnix": "Write date_diff('second', TIMESTAMP '1970-01-01 00:00:00', t)",
    "DateBin": "Write date_trunc('hour', t), or hour(t)",
    "LastDay": "Write date_trunc('month', d) + INTERVAL 1 MONTH - INTERVAL 1 DAY",
    "CurrentTime": CLOCK,
    "Localtime": CLOCK,
    "Localtimestamp": CLOCK,
    "CurrentDatetime": CLOCK,
    "Alias": "A name stands only after a column of the select list",
}


def in_query() -> RefusedQuery:
    """Return the refusal of IN (SELECT ...) where a value of one row is asked for."""
    return RefusedQuery(
        "IN (SELECT ...) cannot stand inside an expression",
        must="stand alone in WHERE, or after AND",
        next="Move it to WHERE, or LEFT JOIN the sub-query and test whether its column IS NULL",
    )


def refused_node(node: Node) -> RefusedQuery:
    """Return the refusal of a node that has no rule."""
    if is_aggregate(node):
        return _aggregate_in_a_row(function_name(node))
    name = type(node).__name__
    return RefusedQuery(
        "This expression is not supported",
        got=written(node),
        next=_IN_A_ROW.get(name, "docs/reference/functions.md lists what is"),
    )


def _aggregate_in_a_row(name: str) -> RefusedQuery:
    return RefusedQuery(
        "An aggregate cannot stand here",
        must="be a value of one row",
        got=name,
        next="Aggregate in a sub-query that groups by the unit, or use HAVING",
    )


def refused_function(name: str) -> RefusedQuery:
    """Return the refusal of a function that is not on the list of those of one row."""
    if is_aggregate_name(name):
        return _aggregate_in_a_row(name.upper())
    if name.lower().startswith("regexp"):
        return RefusedQuery("This function is not on the list", got=name[:40], next=_PATTERN)
    reason = _FUNCTIONS.get(name.lower())
    if reason is None:
        return unknown_function(name)
    return RefusedQuery("This function is not on the list", got=name[:40], next=reason)


# Aggregates.

_SINGLE = "It would show values of single rows. To see which values there are, GROUP BY the column"
_NOBODY = "Whether a single row makes it true is what noise hides"
_AGGREGATES = {
    "mode": "It is the group with the largest noisy count: SELECT x, COUNT(*) ... GROUP BY x ORDER"
    " BY COUNT(*) DESC LIMIT 1",
    "groupconcat": _SINGLE,
    "arrayagg": _SINGLE,
    "anyvalue": _SINGLE,
    "first": _SINGLE,
    "last": _SINGLE,
    "argmax": _SINGLE,
    "argmin": _SINGLE,
    "logicalor": f"{_NOBODY}. Write COUNT(*) FILTER (WHERE condition), and judge it by its"
    " interval",
    "logicaland": f"{_NOBODY}. Write COUNT(*) FILTER (WHERE NOT condition), and judge it by its"
    " interval",
    "histogram": "GROUP BY width_bucket(x, 0, 100, 10)",
}


def unknown_aggregate(node: Node) -> RefusedQuery:
    """Return the refusal of an aggregate that is not on the list."""
    inner = node.this if is_a(node, "IgnoreNulls") else node
    return RefusedQuery(
        f"The aggregate {function_name(inner)} is not supported",
        must=f"be one of {SUPPORTED}, or MODE by itself",
        next=_AGGREGATES.get(inner.key, ""),
    )


def lonely_mode() -> RefusedQuery:
    """Return the refusal of MODE beside what is not about the same groups of values."""
    return RefusedQuery(
        "MODE is chosen from groups of its own, so nothing but keys can stand beside it",
        must="be the only aggregate of its SELECT, without HAVING, QUALIFY and grouping sets",
        next=f"Ask for it by itself. {_AGGREGATES['mode']}",
    )


def aggregate_of_aggregate(node: Node) -> RefusedQuery:
    """Return the refusal of MAX(COUNT(*)) and the like."""
    return RefusedQuery(
        f"{function_name(node)} stands around another aggregate",
        must="be about rows",
        next=f"Write {written(node)} OVER () for the rows of the answer, or ORDER BY and LIMIT;"
        f" totals of each {BARE_UNIT} are a sub-query that groups by the unit",
    )


def unknown_total(node: Node) -> RefusedQuery:
    """Return the refusal of an aggregate that is not on the list of those within one owner."""
    return RefusedQuery(
        f"{function_name(node)} is not supported here",
        next=f"For each {BARE_UNIT}: COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR and BOOL_AND",
    )


# Outputs of an answer.

_WINDOWS = {
    "lastvalue": "For the value of the last row write FIRST_VALUE(x) OVER (ORDER BY ... DESC)",
    "ntile": "Write ROW_NUMBER() OVER (ORDER BY ...), and compare it with COUNT(*) OVER ()",
}


def unknown_window(function: Node, supported: str) -> RefusedQuery:
    """Return the refusal of a function that is not on the list of those of a window."""
    grouped = f"For one value of each group write {written(function)} without OVER, and GROUP BY"
    is_answered = aggregate_function(function) is not None
    return RefusedQuery(
        f"{function_name(function)} over the rows of an answer is not supported",
        must=f"be {supported}",
        next=grouped if is_answered else _WINDOWS.get(function.key, ""),
    )


_IN_FROM = "Put the sub-query into FROM, or into WITH"
_IN_AN_ANSWER = {
    "subquery": _IN_FROM,
    "select": _IN_FROM,
    "exists": "Put EXISTS into WHERE",
    "star": "Name the keys and the aggregates that you want",
}


def not_between_numbers(node: Node) -> RefusedQuery:
    """Return the refusal of a node that is no function of the numbers of an answer."""
    return RefusedQuery(
        "This is not supported between the numbers of an answer",
        must="be arithmetic, a comparison, CASE, COALESCE, ROUND or the like",
        got=written(node),
        next=_IN_AN_ANSWER.get(
            node.key, "Apply it to the rows, inside the aggregate or in GROUP BY"
        ),
    )


def not_grouped(name: str, value: Expression) -> RefusedQuery:
    """Return the refusal of a column that is neither a key nor inside an aggregate."""
    is_number = value.type in (ColumnType.INTEGER, ColumnType.REAL)
    example = f"AVG({name}), MEDIAN({name})" if is_number else f"COUNT(DISTINCT {name})"
    return RefusedQuery(
        f"Column '{name}' is neither grouped nor aggregated",
        must="be a key of GROUP BY or stand inside an aggregate: single rows are never shown",
        next=f"Add {name} to GROUP BY, or write {example} or the like",
    )


def single_person(name: str) -> RefusedQuery:
    """Return the refusal of the column that says whose row it is, as a value of its own."""
    return RefusedQuery(
        f"Column '{name}' says whose row it is, and single {UNITS} are never shown",
        must="stand inside COUNT(DISTINCT ...)",
        next=f"Write COUNT(DISTINCT {name}) for how many there are, or group by other columns",
    )


def not_a_key(node: Node) -> RefusedQuery:
    """Return the refusal of a function of keys that is no key itself."""
    text = written(node)
    return RefusedQuery(
        f"{text} is not what is grouped by",
        must="be a grouped expression itself, an aggregate, or arithmetic between them",
        next=f"Write GROUP BY {text}",
    )


# Names.


def require_unique(names: Iterable[str], refusal: Callable[[str], RefusedQuery]) -> None:
    """Refuse two things with one name, case ignored."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise refusal(name)
        seen.add(name.lower())


def two_outputs(name: str) -> RefusedQuery:
    """Return the refusal of two outputs with one name."""
    return RefusedQuery(f"Two outputs are called '{name}'", next="Give one another name")


def two_columns(name: str) -> RefusedQuery:
    """Return the refusal of two columns of a nested query with one name."""
    return RefusedQuery(
        f"Two columns of a sub-query are called '{name}'", next=f"Write {name} AS other"
    )
