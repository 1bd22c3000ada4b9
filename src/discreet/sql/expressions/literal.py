"""Constants of a query: numbers, texts, dates, TRUE, FALSE and NULL."""

import re
from typing import Any

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.sql.expressions.rule import Rule, Visit
from discreet.tables.column import ColumnType
from discreet.tables.expression import Literal
from discreet.tables.functions.text import LONGEST_TEXT

_DIGITS = re.compile(r"[0-9]+")


def _read(node: Any, _: Visit) -> Literal:
    return _text(str(node.this)) if node.is_string else number(str(node.this))


def number(written: str) -> Literal:
    """Return a number as it is written: an integer if it has only digits, else real.

    Example:
        >>> number("12").value, number("1.50").value
        (12, '3/2')
    """
    try:
        value = exact(written)
        float(value)
    except (InvalidArgument, OverflowError):
        raise _too_large() from None
    if not _DIGITS.fullmatch(written):
        return Literal(ColumnType.REAL, str(value))
    if value >= 2**63:
        raise _too_large()
    return Literal(ColumnType.INTEGER, value.numerator)


def _too_large() -> RefusedQuery:
    return RefusedQuery(
        "A number in the query cannot be held",
        must="be below 2**63 if it is whole, else below 1e308",
    )


def _text(value: str) -> Literal:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusedQuery("A text in the query is not Unicode") from None
    if len(value) > LONGEST_TEXT:
        raise RefusedQuery(
            "A text in the query is too long", must=f"have at most {LONGEST_TEXT:,} characters"
        )
    return Literal(ColumnType.TEXT, value)


def _boolean(node: Any, _: Visit) -> Literal:
    return Literal(ColumnType.BOOLEAN, bool(node.this))


def _null(_: Any, __: Visit) -> Literal:
    return Literal(ColumnType.TEXT, None)


LITERALS = {
    "Literal": Rule(("this", "is_string"), _read),
    "Boolean": Rule(("this",), _boolean),
    "Null": Rule((), _null),
}
