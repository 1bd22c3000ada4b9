"""Dates as texts and texts as dates, by patterns such as '%Y-%m': a closed set of them.

A date as a text is made of functions that there are: of ``CAST(date_trunc('month', d) AS TEXT)``
the first characters, and the like. So it has public keys wherever these have.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.rule import Rule, Visit
from discreet.sql.syntax.one_form import OTHERWISE, from_words, unknown_format
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.cast import cast


def pattern_of(node: Any) -> str:
    """Return the pattern of strftime that a function of dates is written with."""
    written = node.args.get("format")
    if written is None or not written.is_string:
        raise RefusedQuery("The format of a date is not a constant text", next=OTHERWISE)
    return str(written.this)


# ---- Dates as texts.


def _first(unit: str, characters: int) -> Callable[[Expression], Expression]:
    """Return the rule that takes the first characters of a moment that is cut to a unit."""

    def read(moment: Expression) -> Expression:
        kind = ColumnType.TIMESTAMP if unit in _CLOCK else ColumnType.DATE
        cut = call("date_trunc", [_text(unit), cast(moment, kind)])
        return call("left", [cast(cut, ColumnType.TEXT), _number(characters)])

    return read


def _two_digits(part: str) -> Callable[[Expression], Expression]:
    def read(moment: Expression) -> Expression:
        digits = cast(call(part, [moment]), ColumnType.TEXT)
        return call("right", [call("||", [_text("0"), digits]), _number(2)])

    return read


def _named(part: str, names: Sequence[str]) -> Callable[[Expression], Expression]:
    """Return the rule that names the months, or the days of a week from Monday on."""

    def read(moment: Expression) -> Expression:
        number = call(part, [moment])
        pairs: list[Expression] = []
        for place, name in enumerate(names, start=1):
            pairs += (call("=", [number, _number(place)]), _text(name))
        return call("case", [*pairs, Literal(ColumnType.TEXT, None)])

    return read


def _text(value: str) -> Literal:
    return Literal(ColumnType.TEXT, value)


def _number(value: int) -> Literal:
    return Literal(ColumnType.INTEGER, value)


_CLOCK = ("hour", "minute", "second")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_RULES: Mapping[str, Callable[[Expression], Expression]] = {
    "%Y": _first("year", 4),
    "%Y-%m": _first("month", 7),
    "%Y-%m-%d": _first("day", 10),
    "%Y-%m-%d %H": _first("hour", 13),
    "%Y-%m-%d %H:%M": _first("minute", 16),
    "%Y-%m-%d %H:%M:%S": _first("second", 19),
    "%m": _two_digits("month"),
    "%d": _two_digits("day"),
    "%H": _two_digits("hour"),
    "%M": _two_digits("minute"),
    "%B": _named("month", _MONTHS),
    "%b": _named("month", [name[:3] for name in _MONTHS]),
    "%A": _named("iso_day_of_week", _WEEK),
    "%a": _named("iso_day_of_week", [name[:3] for name in _WEEK]),
}

_OTHER_SIGNS = re.compile(r"%Y([/.]?)%m(?:\1%d)?")


def formatted(moment: Expression, pattern: str) -> Expression:
    """Return a date or a timestamp as a text, in one of the patterns that there are."""
    rule = _RULES.get(pattern)
    if rule is not None:
        return rule(moment)
    found = _OTHER_SIGNS.fullmatch(pattern)
    if found is None:
        raise unknown_format(pattern, f"be {', '.join(_RULES)}, or %Y/%m, %Y.%m, %Y%m, %Y%m%d")
    dashed = pattern.replace(found[1], "-") if found[1] else _DASHED[pattern]
    with_dashes = formatted(moment, dashed)
    return call("replace", [with_dashes, _text("-"), _text(found[1])])


_DASHED = {"%Y%m": "%Y-%m", "%Y%m%d": "%Y-%m-%d"}


def _time_to_text(node: Any, visit: Visit) -> Expression:
    return formatted(visit(node.this), pattern_of(node))


def _month_name(node: Any, visit: Visit) -> Expression:
    return formatted(visit(node.this), "%B")


def _day_name(node: Any, visit: Visit) -> Expression:
    return formatted(visit(node.this), "%A")


# ---- Texts as dates: constants alone, for a column is declared as what it is.

_IN_CONSTANTS = re.compile(r"(?:%[YmdHMS]|[-/.: T])+")


def moment_of(text: str, pattern: str, kind: ColumnType) -> Literal:
    """Return the date or timestamp that a text of the query says in a pattern.

    Example:
        >>> moment_of("31.12.2024", "%d.%m.%Y", ColumnType.DATE).value
        datetime.date(2024, 12, 31)
    """
    found = None
    if _IN_CONSTANTS.fullmatch(pattern):
        with suppress(ValueError):
            found = datetime.datetime.strptime(text, pattern)  # noqa: DTZ007 - as on the wall
    if found is None:
        raise RefusedQuery(
            "A text of the query is not a date in the format beside it",
            must="be like TO_DATE('31.12.2024', 'DD.MM.YYYY')",
            got=f"'{text[:30]}' and '{pattern[:30]}'",
            next="Write DATE '2024-12-31'",
        )
    return Literal(kind, found.date() if kind is ColumnType.DATE else found)


def _of_constants(node: Any, kind: ColumnType) -> Expression:
    if not node.this.is_string:
        raise RefusedQuery(
            "Only a constant text is read as a date in a format",
            got="a value of each row",
            next="Have the column declared as a date, or write CAST(x AS DATE)",
        )
    return moment_of(str(node.this.this), pattern_of(node), kind)


def _text_to_time(node: Any, _: Visit) -> Expression:
    return _of_constants(node, ColumnType.TIMESTAMP)


def to_date(parts: Sequence[Any], visit: Visit) -> Expression:
    """Return TO_DATE('31.12.2024', 'DD.MM.YYYY'), or of one text as DATE reads it."""
    if len(parts) == 1:
        return cast(visit(parts[0]), ColumnType.DATE)
    if len(parts) != 2 or not all(part.is_string for part in parts):
        raise RefusedQuery(
            "TO_DATE takes a constant text and its format",
            next="Have the column declared as a date, or write CAST(x AS DATE)",
        )
    text, written = (str(part.this) for part in parts)
    pattern = written if "%" in written else from_words(written)
    return moment_of(text, pattern, ColumnType.DATE)


FORMATS: Mapping[str, Rule] = {
    "TimeToStr": Rule(("this", "format"), _time_to_text),
    "Monthname": Rule(("this",), _month_name),
    "Dayname": Rule(("this",), _day_name),
    "StrToTime": Rule(("this", "format"), _text_to_time),
}
