"""Forms of SQL that mean a combination of functions, or whose parts need a closer look.

BETWEEN, IN, LIKE, CASE, IS, CAST; parts of dates, intervals, trims, logarithms.
"""

import re
from collections.abc import Mapping
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.formats import FORMATS, to_date
from discreet.sql.expressions.refusals import in_query, refused_function, refused_node
from discreet.sql.expressions.rule import Rule, Visit, compared
from discreet.sql.expressions.zones import ZONES, at_time_zone
from discreet.sql.syntax.nodes import joined_text, unbracketed
from discreet.sql.syntax.types import written_type
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import FUNCTIONS, call
from discreet.tables.functions.cast import cast
from discreet.tables.functions.function import Alias, DatePart

_FALSE = Literal(ColumnType.BOOLEAN, False)
_NULL = Literal(ColumnType.TEXT, None)


def _paren(node: Any, visit: Visit) -> Expression:
    return visit(node.this)


def _chain(function: str) -> Rule:
    """Return a rule for an operator that associates: a long chain is not a deep expression."""

    def read(node: Any, visit: Visit) -> Expression:
        parts = [node.expression]
        first = node.this
        while type(first) is type(node):
            parts.append(first.expression)
            first = first.this
        return call(function, [visit(part) for part in (first, *reversed(parts))])

    return Rule(("this", "expression"), read, {"safe": True})


def _same(node: Any, visit: Visit) -> Expression:
    return call("not", [call("is_distinct", [visit(node.this), visit(node.expression)])])


def _is(node: Any, visit: Visit) -> Expression:
    what = visit(node.expression)
    if not isinstance(what, Literal) or not (what.value is None or isinstance(what.value, bool)):
        raise RefusedQuery("IS takes NULL, TRUE or FALSE", next="Write x = y")
    value = visit(node.this)
    if what.value is None:
        return call("is_null", [value])
    return call("coalesce", [value if what.value else call("not", [value]), _FALSE])


def _between(node: Any, visit: Visit) -> Expression:
    value = visit(node.this)
    lower = compared(">=", [value, visit(node.args["low"])])
    return call("and", [lower, compared("<=", [value, visit(node.args["high"])])])


def _in(node: Any, visit: Visit) -> Expression:
    if node.args.get("query"):
        raise in_query()
    if not node.expressions:
        raise RefusedQuery("IN takes a list of values", next="Write x IN ('a', 'b')")
    return compared("in", [visit(part) for part in (node.this, *node.expressions)])


def _like(function: str) -> Rule:
    def read(node: Any, visit: Visit) -> Expression:
        matches = call(function, [visit(node.this), visit(_pattern(node.expression))])
        return call("not", [matches]) if node.args.get("negate") else matches

    return Rule(("this", "expression", "negate"), read)


def _pattern(node: Any) -> Any:
    """Return a pattern as one text: joined by ||, or in small letters, as tools write it."""
    inner = unbracketed(node)
    change = {"Lower": str.lower, "Upper": str.upper}.get(type(inner).__name__)
    text = joined_text(inner if change is None else inner.this)
    if change is None or not text.is_string or not text.name.isascii():
        return joined_text(node)
    changed: Any = text.copy()
    changed.set("this", change(text.name))
    return changed


def _escape(node: Any, visit: Visit) -> Expression:
    """Read LIKE with an escape sign that its pattern does not have: then it changes nothing."""
    sign, like = node.expression, node.this
    is_like = type(like).__name__ in ("Like", "ILike")
    pattern: Any = _pattern(like.expression) if is_like else like
    is_written = is_like and sign.is_string and pattern.is_string
    if not is_written or not sign.name or sign.name in pattern.name:
        raise refused_node(node)
    return visit(like)


def _case(node: Any, visit: Visit) -> Expression:
    subject = visit(node.this) if node.this is not None else None
    pairs: list[Expression] = []
    for branch in node.args["ifs"]:
        when = visit(branch.this)
        pairs += (
            when if subject is None else call("=", [subject, when]),
            visit(branch.args["true"]),
        )
    default = node.args.get("default")
    return call("case", [*pairs, _NULL if default is None else visit(default)])


def _if(node: Any, visit: Visit) -> Expression:
    otherwise = node.args.get("false")
    values = [visit(node.this), visit(node.args["true"])]
    return call("case", [*values, _NULL if otherwise is None else visit(otherwise)])


_OTHER_TYPES = {
    "TIMESTAMPTZ": "A timestamp has the zone that is declared for its column: write TIMESTAMP",
}


def _cast(node: Any, visit: Visit) -> Expression:
    wanted = written_type(node.args["to"])
    kind = wanted.kind
    if kind is None:
        raise RefusedQuery(
            "A value cannot be cast to this type",
            must="be BIGINT, DOUBLE, DECIMAL, TEXT, BOOLEAN, DATE, TIMESTAMP or TIME",
            got=wanted.name[:40],
            next=_OTHER_TYPES.get(wanted.name, ""),
        )
    value = visit(node.this)
    if wanted.name == "DECIMAL":
        return _decimal(value, wanted.places)
    result = cast(value, kind)
    is_text = isinstance(value, Literal) and value.type is ColumnType.TEXT
    if kind in _EXAMPLES and is_text and not isinstance(result, Literal):
        raise RefusedQuery(
            f"A {kind.value} in the query is not a {kind.value}",
            must=f"look like {_EXAMPLES[kind]}",
        )
    return result


def _decimal(value: Expression, places: int | None) -> Expression:
    """Return a number rounded to so many places; a whole number is as it was."""
    if value.type is ColumnType.INTEGER:
        return value
    real = cast(value, ColumnType.REAL)
    return real if places is None else call("round", [real, Literal(ColumnType.INTEGER, places)])


_EXAMPLES = {
    ColumnType.DATE: "DATE '2024-01-31'",
    ColumnType.TIMESTAMP: "TIMESTAMP '2024-01-31 10:00:00'",
    ColumnType.TIME: "TIME '10:00:00'",
}


def _date(node: Any, visit: Visit) -> Expression:
    return cast(visit(node.this), ColumnType.DATE)


# ---- Parts of dates, and intervals.


def _named(kind: type[Alias] | type[DatePart]) -> Mapping[str, str]:
    """Return the functions that are also written in a way, by what is written."""
    return {
        written.name: function.name
        for function in FUNCTIONS.values()
        for written in function.ways()
        if isinstance(written, kind)
    }


_PARTS = _named(DatePart)


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
_SECONDS = {"hour": 3_600, "minute": 60, "second": 1}
_SECONDS |= {f"{name}s": length for name, length in _SECONDS.items()}
_DAY = 86_400
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
    if not any(name in known for known in (_SECONDS, _DAYS, _MONTHS)):
        raise RefusedQuery(
            "This interval is not supported",
            must="be seconds, minutes, hours, days, weeks, months, quarters or years",
            next="Write d + INTERVAL 7 DAY",
        )
    count = _count(interval.this, visit)
    if name in _SECONDS:
        return _later(day, operator, count, _SECONDS[name])
    if name in _DAYS and day.type is ColumnType.TIMESTAMP:
        return _later(day, operator, count, _DAYS[name] * _DAY)
    if name in _DAYS:
        length = Literal(ColumnType.INTEGER, _DAYS[name])
        return call(operator, [day, count if _DAYS[name] == 1 else call("*", [count, length])])
    if not isinstance(count, Literal) or not isinstance(count.value, int):
        raise RefusedQuery("The number of months or years is not a constant")
    sign = 1 if operator == "+" else -1
    months = Literal(ColumnType.INTEGER, sign * count.value * _MONTHS[name])
    return call("add_months", [day, months])


def _later(moment: Expression, operator: str, count: Expression, length: int) -> Expression:
    """Return a timestamp so many times a length of seconds later, or earlier."""
    each = length if operator == "+" else -length
    if isinstance(count, Literal) and isinstance(count.value, int):
        return call("add_seconds", [moment, Literal(ColumnType.INTEGER, count.value * each)])
    return call("add_seconds", [moment, call("*", [count, Literal(ColumnType.INTEGER, each)])])


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


# ---- Functions with names or places of their own.

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


_NAMES = _named(Alias)


def _anonymous(node: Any, visit: Visit) -> Expression:
    """Read a function that sqlglot does not know by name."""
    written = str(node.this)
    name = written.lower()
    parts = node.expressions
    if name in ("date_part", "datepart") and len(parts) == 2 and _names_part(parts[0]):
        return _part(parts[0].name, visit(parts[1]))
    if name == "to_date":
        return to_date(parts, visit)
    if name == "timezone" and len(parts) == 2:
        return at_time_zone(parts[1], parts[0], visit)
    function = _NAMES.get(name, name)
    if function not in FUNCTIONS:
        raise refused_function(written)
    return call(function, [visit(part) for part in parts])


def _names_part(node: Any) -> bool:
    """Tell whether a part of a date is named: in quotes, or as some dialects do, without."""
    is_bare = type(node).__name__ == "Column" and not node.args.get("table")
    return bool(node.is_string) or (is_bare and node.name.lower() in _PARTS)


FORMS: Mapping[str, Rule] = {
    "Paren": Rule(("this",), _paren),
    "And": _chain("and"),
    "Or": _chain("or"),
    "DPipe": _chain("||"),
    "NullSafeEQ": Rule(("this", "expression"), _same),
    "Is": Rule(("this", "expression"), _is),
    "Between": Rule(("this", "low", "high"), _between),
    "In": Rule(("this", "expressions", "query"), _in),
    "Like": _like("like"),
    "ILike": _like("ilike"),
    "Escape": Rule(("this", "expression"), _escape),
    "Case": Rule(("this", "ifs", "default"), _case),
    "If": Rule(("this", "true", "false"), _if),
    "Cast": Rule(("this", "to"), _cast),
    "TryCast": Rule(("this", "to"), _cast, {"safe": True}),
    "Date": Rule(("this",), _date),
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
    **FORMATS,
    **ZONES,
}
