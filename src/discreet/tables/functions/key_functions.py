"""Functions of public keys, computed here exactly as an engine does: for keys where that is simple.

Text is mapped only if it is ASCII, because alphabets have rules of their own for capital letters.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from enum import Enum

from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Call
from discreet.tables.functions.convert import read_date
from discreet.tables.functions.date_ranges import truncate
from discreet.tables.functions.text import LONGEST_TEXT


class Mapped(Enum):
    """What a key maps to if it is not a key."""

    UNKNOWN = "unknown"


UNKNOWN = Mapped.UNKNOWN
Result = Key | None | Mapped
KeyFunction = Callable[..., Result]
"""From a call and one key for each argument to a key, NULL, or the news that we do not know."""


def _whole(of: Callable[..., int]) -> KeyFunction:
    def function(node: Call, *keys: int) -> Result:
        if node.type is not ColumnType.INTEGER or any(isinstance(k, datetime.date) for k in keys):
            return UNKNOWN
        value = of(*keys)
        return value if -(2**63) <= value < 2**63 else None

    return function


def _quotient(of: Callable[[int, int], int]) -> KeyFunction:
    """Return a division with truncation towards zero, of sizes and then with a sign."""
    return _whole_or_null(lambda a, b: None if b == 0 else of(a, b))


def _whole_or_null(of: Callable[[int, int], int | None]) -> KeyFunction:
    def function(_: Call, first: int, second: int) -> Result:
        value = of(first, second)
        return value if value is not None and -(2**63) <= value < 2**63 else None

    return function


def _truncated(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _shift(sign: int) -> KeyFunction:
    numbers = _whole(lambda a, b: a + sign * b)

    def function(node: Call, first: Key, second: Key) -> Result:
        if not isinstance(first, datetime.date):
            return numbers(node, first, second)
        if not isinstance(second, int):
            return UNKNOWN
        try:
            return first + datetime.timedelta(days=sign * second)
        except OverflowError:
            return None

    return function


def _text(of: Callable[..., str]) -> KeyFunction:
    def function(_: Call, *keys: Key) -> Result:
        if any(isinstance(key, str) and not key.isascii() for key in keys):
            return UNKNOWN
        return of(*keys)

    return function


def _substring(value: str, start: int, length: int | None = None) -> str:
    return value[start - 1 :] if length is None else value[start - 1 : start - 1 + length]


def _from_the_start(node: Call, *keys: Key) -> Result:
    start = keys[1]
    return _text(_substring)(node, *keys) if isinstance(start, int) and start >= 1 else UNKNOWN


def _right(value: str, length: int) -> str:
    return value[-length:] if length else ""


_PLAIN_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def _cast(node: Call, key: Key) -> Result:
    casts = {
        ColumnType.INTEGER: _to_integer,
        ColumnType.TEXT: _to_text,
        ColumnType.DATE: _to_date,
    }
    cast = casts.get(node.type)
    return UNKNOWN if cast is None else cast(key)


def _to_integer(key: Key) -> Result:
    if isinstance(key, bool):
        return int(key)
    is_plain = isinstance(key, str) and _PLAIN_INTEGER.fullmatch(key)
    return int(str(key)) if is_plain else UNKNOWN


def _to_text(key: Key) -> Result:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _to_date(key: Key) -> Result:
    read = read_date(str(key))
    return UNKNOWN if read is None else read.value


def _length(_: Call, key: str) -> Result:
    return len(key)


def _truncate(_: Call, unit: str, day: datetime.date) -> Result:
    return truncate(unit, day)


KEY_FUNCTIONS: Mapping[str, KeyFunction] = {
    "+": _shift(1),
    "-": _shift(-1),
    "*": _whole(lambda a, b: a * b),
    "//": _quotient(_truncated),
    "%": _quotient(lambda a, b: a - b * _truncated(a, b)),
    "neg": _whole(lambda a: -a),
    "abs": _whole(abs),
    "lower": _text(str.lower),
    "upper": _text(str.upper),
    "trim": _text(str.strip),
    "ltrim": _text(str.lstrip),
    "rtrim": _text(str.rstrip),
    "left": _text(lambda value, length: value[:length]),
    "right": _text(_right),
    "substring": _from_the_start,
    "replace": _text(lambda value, *parts: value[:LONGEST_TEXT].replace(*parts)[:LONGEST_TEXT]),
    "||": _text(lambda first, second: (first + second)[:LONGEST_TEXT]),
    "concat": _text(lambda first, second: (first + second)[:LONGEST_TEXT]),
    "length": _length,
    "date_trunc": _truncate,
    "year": lambda _, day: day.year,
    "cast": _cast,
}
