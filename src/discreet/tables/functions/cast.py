"""Casts: what does not read as the other type is NULL."""

import datetime
import re
from collections.abc import Mapping, Sequence

from discreet.core.errors import RefusedQuery
from discreet.tables.arithmetic import function_values
from discreet.tables.arithmetic.between import BetweenNumbers, to_real, to_whole
from discreet.tables.column import ColumnType, DateRange, Key
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.dates import days_listed
from discreet.tables.functions.function import (
    BY_FORM,
    UNKNOWN,
    Arguments,
    Function,
    Keys,
    Listing,
    Reach,
    Result,
    Without,
)
from discreet.tables.functions.rules import convert, midnight, of_each, of_spans, read_date
from discreet.tables.functions.span import Span, rounded
from discreet.tables.functions.work import PLAIN, Lengths, Steps, TextLength, if_made

_INTEGER, _REAL, _TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
_BOOLEAN, _DATE = ColumnType.BOOLEAN, ColumnType.DATE
_TIMESTAMP, _TIME = ColumnType.TIMESTAMP, ColumnType.TIME

READ = Steps(400, 3_000)
"""Reading a text as a number or a date, or writing one."""

LONGEST_NUMBER = 40
"""The most characters of a number, a boolean, a date or a timestamp as text."""

CASTS = {
    _INTEGER: (_REAL, _TEXT, _BOOLEAN),
    _REAL: (_INTEGER, _TEXT, _BOOLEAN),
    _TEXT: (_INTEGER, _REAL, _BOOLEAN, _DATE, _TIMESTAMP, _TIME),
    _BOOLEAN: (_INTEGER, _REAL, _TEXT),
    _DATE: (_TEXT, _TIMESTAMP),
    _TIMESTAMP: (_TEXT, _DATE, _TIME),
    _TIME: (_TEXT,),
}
"""What each type can be cast to."""


def cast(argument: Expression, to: ColumnType) -> Expression:
    """Return the argument as another type.

    Example:
        >>> from discreet.tables.expression import Literal
        >>> cast(Literal(ColumnType.BOOLEAN, True), ColumnType.INTEGER).function
        'cast'
    """
    converted = convert(argument, to)
    if converted is not None:
        return converted
    if to not in CASTS[argument.type]:
        allowed = ", ".join(kind.value for kind in CASTS[argument.type])
        raise RefusedQuery(
            f"A value of type {argument.type.value} has no meaning as {to.value}",
            must=f"be cast to {allowed}",
        )
    return Call(to, "cast", (argument,))


def _nothing(_: Arguments) -> None:
    """Fit no arguments: a cast needs a type besides, and :func:`cast` alone makes it."""


def _span(node: Call, spans: Sequence[Span]) -> Span | None:
    """Keep an integer; round a real number half to even, as the engine does."""
    return spans[0] if node.type is _REAL else rounded(spans[0], round)


def _dates(node: Call, reach: Reach) -> DateRange | None:
    """Return the days of a date or timestamp as the other one; of a text none is known."""
    return reach.dates(node.arguments[0])


def _keys(node: Call, known: Listing) -> Keys | None:
    """Return the days that timestamps are on; else the keys of the value, each cast."""
    value = node.arguments[0]
    days = known.dates(value) if value.type is _TIMESTAMP and node.type is _DATE else None
    return of_each(node, known) if days is None else days_listed("day", days, known)


_PLAIN_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def _on_keys(node: Call, key: Key) -> Result:
    casts = {
        ColumnType.INTEGER: _to_integer,
        ColumnType.REAL: _to_real,
        ColumnType.TEXT: _to_text,
        ColumnType.DATE: _to_date,
        ColumnType.TIMESTAMP: _to_timestamp,
        ColumnType.TIME: _to_time,
    }
    cast = casts.get(node.type)
    return UNKNOWN if cast is None else cast(key)


def _to_integer(key: Key) -> Result:
    if isinstance(key, bool):
        return int(key)
    is_plain = isinstance(key, str) and _PLAIN_INTEGER.fullmatch(key)
    return int(str(key)) if is_plain else UNKNOWN


def _to_real(key: Key) -> Result:
    """Return a whole number as it is: as a real number it compares alike."""
    return int(key) if isinstance(key, int) and abs(key) <= _EXACT else UNKNOWN


_EXACT = 2**53
"""Up to here a float is every whole number."""


def _to_text(key: Key) -> Result:
    if isinstance(key, datetime.datetime | datetime.time) and key.microsecond:
        return str(key).rstrip("0")
    return str(key).lower() if isinstance(key, bool) else str(key)


def _to_timestamp(key: Key) -> Result:
    return midnight(key) if isinstance(key, datetime.date) else UNKNOWN


def _to_time(key: Key) -> Result:
    return key.time() if isinstance(key, datetime.datetime) else UNKNOWN


def _to_date(key: Key) -> Result:
    if isinstance(key, datetime.datetime):
        return key.date()
    read = read_date(str(key))
    return UNKNOWN if read is None else read.value


def _guards(node: Call) -> int:
    """Look at what is made; and at a text before, because engines read more than we do."""
    is_read = node.type in (_TIMESTAMP, _TIME) and node.arguments[0].type is _TEXT
    return if_made(node) + is_read


def _work(node: Call, lengths: Lengths) -> Steps:
    is_text = _TEXT in (node.type, node.arguments[0].type)
    return (READ if is_text else PLAIN) + Steps(2 * lengths[0])


CAST = Function(
    name="cast",
    usage="CAST(x AS type)",
    written=BY_FORM,
    build=_nothing,
    span=of_spans(_span),
    dates=_dates,
    keys=_keys,
    on_keys=_on_keys,
    work=_work,
    guards=_guards,
    length=TextLength.alike(lambda _, __: LONGEST_NUMBER),
    between=Without("each type that a number of an answer can be cast to is a function of its own"),
)

CASTS_BETWEEN: Mapping[str, BetweenNumbers] = {
    "integer": to_whole(function_values.rounded),
    "real": to_real(lambda values: values, lambda inside: inside),
}
"""Casts between the numbers of an answer, by the type that they make."""
