"""Cells of files whose cells have types of their own, as bytes of a text, one by one.

The declared type decides what is read from the text, as it does for a CSV file.
"""

import datetime
from typing import Any

LARGEST_EXACT = 2**53
"""From here on a floating-point number stands for several whole ones."""


def cell(value: Any) -> bytes | None:
    r"""Return a value as bytes of a text, or ``None`` if it has none; no value makes this fail.

    Example:
        >>> cell("é") == "é".encode(), cell(True), cell(2.0), cell(0.1), cell([1]), cell(None)
        (True, b'true', b'2', b'0.1', None, None)
    """
    if isinstance(value, str):
        # Halves of pairs become bytes that are no text.
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return _of_a_clock(value)
    return None


def id_cell(value: Any) -> bytes | None:
    """Return the same for the column that says whose row it is: a number must be a whole one.

    Whoever is 5 in one row is not somebody else as 5.0 in another. From 2**53 on, nobody knows
    which number a floating-point one is.

    Example:
        >>> id_cell(5.0), id_cell(5), id_cell("5.0"), id_cell(5.5)
        (b'5', b'5', b'5.0', None)
    """
    if isinstance(value, float) and not is_whole(value):
        return None
    return cell(value)


def is_whole(value: float) -> bool:
    """Tell whether a floating-point number is a whole one, and no other."""
    return abs(value) < LARGEST_EXACT and value == int(value)


def _number(value: float) -> bytes | None:
    if isinstance(value, float) and not is_whole(value):
        return repr(value).encode()
    whole = int(value)
    # Python refuses to write out very long ones, and no type has them.
    return str(whole).encode() if whole.bit_length() <= 128 else None


def _of_a_clock(value: datetime.date | datetime.time | datetime.timedelta) -> bytes | None:
    """Return a date, a timestamp or a time as it is usually written, and a duration in seconds."""
    if isinstance(value, datetime.timedelta):
        return _number(value.total_seconds())
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat().encode()
