"""The types of DB-API 2.0: what a column of an answer is, and what a parameter can be."""

import datetime
from collections.abc import Callable

from discreet.tables.column import ColumnType

TYPE_CODES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TIME: "TIME",
}
"""What ``description`` calls the type of a column: the name of it in SQL."""


class TypeObject:
    """A family of types. It equals the type code of each type that is in it.

    Example:
        >>> NUMBER == "DOUBLE", NUMBER == "VARCHAR", NUMBER == NUMBER
        (True, False, True)
    """

    def __init__(self, name: str, *codes: str) -> None:
        self._name, self._codes = name, frozenset(codes)

    def __eq__(self, other: object) -> bool:
        return other in self._codes if isinstance(other, str) else self is other

    # What equals several things that differ has no number that fits them all.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self._name


STRING = TypeObject("STRING", "VARCHAR")
BINARY = TypeObject("BINARY")
NUMBER = TypeObject("NUMBER", "BIGINT", "DOUBLE", "BOOLEAN")
DATETIME = TypeObject("DATETIME", "DATE", "TIME", "TIMESTAMP")
ROWID = TypeObject("ROWID")

Date: Callable[[int, int, int], datetime.date] = datetime.date
Time: Callable[[int, int, int], datetime.time] = datetime.time
Timestamp: Callable[[int, int, int, int, int, int], datetime.datetime] = datetime.datetime
Binary: Callable[[bytes], bytes] = bytes


def date_from_ticks(ticks: float) -> datetime.date:
    """Return the local day of so many seconds after the epoch."""
    return _local(ticks).date()


def time_from_ticks(ticks: float) -> datetime.time:
    """Return the local time of day of so many seconds after the epoch."""
    return _local(ticks).time()


def timestamp_from_ticks(ticks: float) -> datetime.datetime:
    """Return the local day and time of so many seconds after the epoch."""
    return _local(ticks)


def _local(ticks: float) -> datetime.datetime:
    # DB-API 2.0 says that ticks are read on the clock of the machine, and a date has no zone.
    return datetime.datetime.fromtimestamp(ticks).astimezone().replace(tzinfo=None)
