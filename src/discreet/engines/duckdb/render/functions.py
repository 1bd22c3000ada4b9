"""Every function of the allow-list in DuckDB's SQL: one table, by the names of the functions."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.core.numbers import exact
from discreet.engines.duckdb.render.values import (
    Render,
    double,
    finite,
    integer,
    let,
    let_pair,
    only_if,
    ordinary,
    unsigned_zero,
    usual_timestamp,
    whole,
    within_a_day,
)
from discreet.engines.duckdb.sources.declared_values import SQL_TYPES, text
from discreet.tables.column import LONGEST_TEXT, ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.cast import LONGEST_NUMBER
from discreet.tables.functions.rules import CLOCK_FORM, TIMESTAMP_FORM

_REAL = ColumnType.REAL


def _plain(name: str) -> Render:
    return lambda _, arguments: f"{name}({', '.join(arguments)})"


def _infix(operator: str) -> Render:
    return lambda _, arguments: f"({f' {operator} '.join(arguments)})"


# ---- Comparisons and choices.


def _in(_: Call, arguments: Sequence[str]) -> str:
    return f"({arguments[0]} IN ({', '.join(arguments[1:])}))"


def _case(_: Call, arguments: Sequence[str]) -> str:
    pairs = zip(arguments[:-1:2], arguments[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"(CASE {whens} ELSE {arguments[-1]} END)"


def _nullif(_: Call, arguments: Sequence[str]) -> str:
    first, second = arguments
    return let_pair(first, second, "CASE WHEN v.a = v.b THEN NULL ELSE v.a END")


def _extreme(name: str) -> Render:
    """Return the least or the greatest of all, two by two.

    Of more than two arguments the engine notes the names, and a plan in which two are called alike
    (one field twice, or two fields of the sides of a join) it cannot copy for grouping sets.
    """

    def render(_: Call, arguments: Sequence[str]) -> str:
        level = list(arguments)
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [f"{name}({', '.join(pair)})" if len(pair) == 2 else pair[0] for pair in pairs]
        return level[0]

    return render


def _cast(node: Call, arguments: Sequence[str]) -> str:
    value = arguments[0]
    if node.arguments[0].type is ColumnType.REAL and node.type is ColumnType.TEXT:
        value = f"{value} + 0::DOUBLE"  # text is where minus zero would differ from zero
    form = _FORMS.get(node.type)
    if form is not None and node.arguments[0].type is ColumnType.TEXT:
        value = only_if(value, f"strlen(v) <= {LONGEST_NUMBER} AND regexp_full_match(v, {form})")
    sql = f"TRY_CAST({value} AS {SQL_TYPES[node.type]})"
    guard = _GUARDS.get(node.type)
    return sql if guard is None else guard(sql)


_FORMS = {ColumnType.TIMESTAMP: text(TIMESTAMP_FORM), ColumnType.TIME: text(CLOCK_FORM)}
"""Forms of texts: the engine reads others too, some of them by a time zone."""

_GUARDS = {
    ColumnType.REAL: finite,
    ColumnType.DATE: ordinary,
    ColumnType.TIMESTAMP: usual_timestamp,
    ColumnType.TIME: within_a_day,
}


# ---- Numbers.


def _arithmetic(operator: str) -> Render:
    """Return a sum, difference or product: no two 64-bit integers overflow 128 bits."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        if node.type is _REAL:
            return finite(f"{arguments[0]} {operator} {arguments[1]}")
        return whole(f"{arguments[0]}::HUGEINT {operator} {arguments[1]}::HUGEINT")

    return render


def _quotient(operator: str) -> Render:
    """Return a division, by NULL instead of zero; in 128 bits -2**63 // -1 has a place."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        divisor = only_if(arguments[1], "v <> 0")
        if node.type is _REAL:
            return finite(f"{arguments[0]} {operator} {divisor}")
        return whole(f"{arguments[0]}::HUGEINT {operator} {divisor}::HUGEINT")

    return render


def _unary(template: str) -> Render:
    """Return -x or abs(x): of the smallest integer neither fits in 64 bits."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        if node.type is _REAL:
            return unsigned_zero(template.format(arguments[0]))
        return whole(template.format(f"{arguments[0]}::HUGEINT"))

    return render


def _round(node: Call, arguments: Sequence[str]) -> str:
    value, digits = arguments
    if node.type is _REAL:
        return finite(f"round({value}, {digits}::INTEGER)")
    return whole(f"round({value}::HUGEINT, {digits}::INTEGER)")


def _whole(name: str) -> Render:
    """Return a rounding, which never overflows."""
    return lambda _, arguments: unsigned_zero(f"{name}({arguments[0]})")


def _where(name: str, condition: str) -> Render:
    """Return a function of the numbers for which it is defined."""
    return lambda _, arguments: finite(f"{name}({only_if(arguments[0], condition)})")


def _unlimited(name: str) -> Render:
    """Return a function that can overflow: infinite or an error, as DuckDB is set; so NULL."""
    return lambda _, arguments: finite(f"TRY({name}({', '.join(arguments)}))")


# ---- Numbers in a public range.


def _number(argument: Expression) -> Fraction:
    assert isinstance(argument, Literal)
    return exact(str(argument.value))


def _width_bucket(node: Call, arguments: Sequence[str]) -> str:
    """Return how many of the n + 1 edges are at or below the number: no rounding error can occur.

    Edge k is low + k (high - low) / n. For integers it is rounded up, which is exact; for real
    numbers to the nearest float, as the decimals were that somebody wrote: so 0.3 is in the bucket
    that begins at 0.3.
    """
    low, high, buckets = (_number(argument) for argument in node.arguments[1:])
    edges = [low + k * (high - low) / buckets for k in range(int(buckets) + 1)]
    if node.arguments[0].type is ColumnType.INTEGER:
        marks = [integer(math.ceil(edge)) for edge in edges]
    else:
        marks = [double(float(edge)) for edge in edges]
    return let(arguments[0], f"CASE WHEN isfinite(v::DOUBLE) THEN {_count(marks, 0)} END")


def _count(marks: Sequence[str], passed: int) -> str:
    """Return how many of the rising marks are at or below ``v``, by halving."""
    if not marks:
        return f"{passed}::BIGINT"
    middle = len(marks) // 2
    below, above = _count(marks[:middle], passed), _count(marks[middle + 1 :], passed + middle + 1)
    return f"CASE WHEN v < {marks[middle]} THEN {below} ELSE {above} END"


def _clamp(node: Call, arguments: Sequence[str]) -> str:
    """Return the number in the range, on the grid if there is a step; NULL stays NULL."""
    lower, upper = arguments[1:3]
    inside = f"least(greatest(v, {lower}), {upper})"
    body = f"CASE WHEN v IS NOT NULL THEN {inside} END"
    if len(arguments) == 3:
        return let(arguments[0], body)
    step = arguments[3]
    near = f"floor({let(arguments[0], body)}::DOUBLE / {step}::DOUBLE + '0.5'::DOUBLE)"
    on_grid = let(f"{near} * {step}::DOUBLE", body)
    return (
        f"TRY_CAST({on_grid} AS BIGINT)"
        if node.type is ColumnType.INTEGER
        else unsigned_zero(on_grid)
    )


# ---- Texts.


def _join(template: str) -> Render:
    """Return the first characters of a join, so that no text grows without limit.

    The arguments are not cut: they are no longer than that themselves, and a cut is a copy.
    """

    def render(_: Call, arguments: Sequence[str]) -> str:
        return _cut(template.format(*arguments))

    return render


def _replace(_: Call, arguments: Sequence[str]) -> str:
    return _cut(f"replace({_cut(arguments[0])}, {arguments[1]}, {arguments[2]})")


def _cut(value: str) -> str:
    return f"left({value}, {LONGEST_TEXT})"


def _ilike(_: Call, arguments: Sequence[str]) -> str:
    """Return LIKE of small letters: ILIKE itself looks at a text again for each part of a word."""
    return f"(lower({arguments[0]}) LIKE lower({arguments[1]}))"


# ---- Dates and timestamps, each on those of the years 1 to 9999 alone.

_MOST_DAYS = 9_999 * 366
"""More days than there are in the years 1 to 9999: a farther shift leaves them anyhow."""


_MOST_SECONDS = _MOST_DAYS * 86_400
"""The same in seconds; in microseconds, two of them fit in 64 bits."""


def _usual(value: Expression, sql: str) -> str:
    """Return a date, timestamp or time if it is a usual one, else NULL."""
    return _GUARDS[value.type](sql)


def _part(name: str) -> Render:
    def render(node: Call, arguments: Sequence[str]) -> str:
        return f"{name}({_usual(node.arguments[0], arguments[0])})::BIGINT"

    return render


def _truncate(node: Call, arguments: Sequence[str]) -> str:
    value = _usual(node.arguments[1], arguments[1])
    return f"date_trunc({arguments[0]}, {value})::{SQL_TYPES[node.type]}"


def _difference(node: Call, arguments: Sequence[str]) -> str:
    pairs = zip(node.arguments[1:], arguments[1:], strict=True)
    first, last = (_usual(value, sql) for value, sql in pairs)
    return f"date_diff({arguments[0]}, {first}, {last})::BIGINT"


def _add_months(node: Call, arguments: Sequence[str]) -> str:
    moved = f"{_usual(node.arguments[0], arguments[0])} + to_months({arguments[1]}::INTEGER)"
    return _usual(node, f"({moved})::{SQL_TYPES[node.type]}")


def _add_seconds(node: Call, arguments: Sequence[str]) -> str:
    seconds = only_if(arguments[1], f"v BETWEEN {-_MOST_SECONDS} AND {_MOST_SECONDS}")
    moment = _usual(node.arguments[0], arguments[0])
    return usual_timestamp(f"{moment} + to_microseconds({seconds} * 1000000)")


def _make_date(_: Call, arguments: Sequence[str]) -> str:
    return ordinary(f"TRY(make_date({', '.join(arguments)}))")


def _shift(operator: str) -> Render:
    """Return date + days, date - days or date - date."""

    def render(node: Call, arguments: Sequence[str]) -> str:
        first, second = arguments
        if node.type is ColumnType.INTEGER:
            return f"({ordinary(first)} - {ordinary(second)})::BIGINT"
        days = only_if(second, f"v BETWEEN {-_MOST_DAYS} AND {_MOST_DAYS}")
        return ordinary(f"{ordinary(first)} {operator} {days}::INTEGER")

    return render


def _by_first_type(on_dates: Render, on_numbers: Render) -> Render:
    def render(node: Call, arguments: Sequence[str]) -> str:
        is_date = node.arguments[0].type is ColumnType.DATE
        return on_dates(node, arguments) if is_date else on_numbers(node, arguments)

    return render


FUNCTIONS: Mapping[str, Render] = {
    "and": _infix("AND"),
    "or": _infix("OR"),
    "not": lambda _, arguments: f"(NOT {arguments[0]})",
    "=": _infix("="),
    "<>": _infix("<>"),
    "<": _infix("<"),
    "<=": _infix("<="),
    ">": _infix(">"),
    ">=": _infix(">="),
    "is_null": lambda _, arguments: f"({arguments[0]} IS NULL)",
    "is_distinct": _infix("IS DISTINCT FROM"),
    "in": _in,
    "like": _infix("LIKE"),
    "ilike": _ilike,
    "case": _case,
    "coalesce": _plain("coalesce"),
    "nullif": _nullif,
    "greatest": _extreme("greatest"),
    "least": _extreme("least"),
    "cast": _cast,
    "+": _by_first_type(_shift("+"), _arithmetic("+")),
    "-": _by_first_type(_shift("-"), _arithmetic("-")),
    "*": _arithmetic("*"),
    "/": _quotient("/"),
    "//": _quotient("//"),
    "%": _quotient("%"),
    "neg": _unary("(-{})"),
    "abs": _unary("abs({})"),
    "round": _round,
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "trunc": _whole("trunc"),
    "sqrt": _where("sqrt", "v >= 0"),
    "ln": _where("ln", "v > 0"),
    "log10": _where("log10", "v > 0"),
    "log2": _where("log2", "v > 0"),
    "exp": _unlimited("exp"),
    "power": _unlimited("pow"),
    "sign": lambda _, arguments: f"sign({arguments[0]})::BIGINT",
    "width_bucket": _width_bucket,
    "clamp": _clamp,
    "lower": _plain("lower"),
    "upper": _plain("upper"),
    "length": lambda _, arguments: f"length({arguments[0]})::BIGINT",
    "trim": _plain("trim"),
    "ltrim": _plain("ltrim"),
    "rtrim": _plain("rtrim"),
    "substring": _plain("substring"),
    "left": _plain("left"),
    "right": _plain("right"),
    "||": _join("{} || {}"),
    "concat": _join("concat({}, {})"),
    "replace": _replace,
    "starts_with": _plain("starts_with"),
    "ends_with": _plain("ends_with"),
    "contains": _plain("contains"),
    "year": _part("year"),
    "quarter": _part("quarter"),
    "month": _part("month"),
    "week": _part("week"),
    "day": _part("day"),
    "day_of_week": _part("dayofweek"),
    "iso_day_of_week": _part("isodow"),
    "day_of_year": _part("dayofyear"),
    "date_trunc": _truncate,
    "date_diff": _difference,
    "add_months": _add_months,
    "hour": _part("hour"),
    "minute": _part("minute"),
    "second": _part("second"),
    "add_seconds": _add_seconds,
    "make_date": _make_date,
}
"""A function that is not here cannot be run; a test sees to it that all are."""
