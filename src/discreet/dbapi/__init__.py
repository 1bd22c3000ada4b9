"""Discreet behind DB-API 2.0 (PEP 249), for pandas, Polars, SQLAlchemy and other tools.

Example:
    >>> import discreet.dbapi
    >>> discreet.dbapi.apilevel, discreet.dbapi.paramstyle
    ('2.0', 'qmark')
"""

from discreet.dbapi.connection import DatabaseConnection, connect
from discreet.dbapi.cursor import Cursor
from discreet.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from discreet.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    Time,
    Timestamp,
    date_from_ticks,
    time_from_ticks,
    timestamp_from_ticks,
)

DateFromTicks, TimeFromTicks = date_from_ticks, time_from_ticks
TimestampFromTicks = timestamp_from_ticks

apilevel = "2.0"
"""The version of the interface."""
threadsafety = 2
"""Threads may share a connection, but not a cursor."""
paramstyle = "qmark"
"""A question mark stands for a parameter: ``WHERE clinic = ?``."""

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Cursor",
    "DataError",
    "DatabaseConnection",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
