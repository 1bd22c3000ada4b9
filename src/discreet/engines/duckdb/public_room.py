"""A room with public rows in it and no door: where free statements are worked out.

Guarantee:
    What is in the room was handed over, row by row. There is no source in it, and before the
    statement is run the database lets go of every way to one: no file, no extension, no variable of
    the program can be reached from it, and its settings are locked. It is thrown away afterwards.
    So what comes out is a function of what was put in, whatever the statement says.
"""

import threading
from collections.abc import Mapping
from typing import Any

from discreet.core import optional
from discreet.core.errors import RefusedQuery
from discreet.core.interrupts import Uninterrupted
from discreet.engines.duckdb.time_limit import LONGEST_PUBLIC, held_to

MOST_ROWS = 1_000_000
"""How many rows a free answer may have."""

_SETTINGS: Mapping[str, object] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": "2GB",
    "temp_directory": "",
    "python_enable_replacements": False,
    "arrow_large_buffer_size": True,
}
_CLOSED = (
    "SET enable_progress_bar = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def select_in_room(select: str, tables: Mapping[str, Any]) -> Any:
    """Return the rows of ``select`` over Arrow ``tables``, as an Arrow table.

    Example:
        >>> import pyarrow
        >>> found = select_in_room("SELECT n + 1 AS m FROM t", {"t": pyarrow.table({"n": [1, 2]})})
        >>> found.to_pylist()
        [{'m': 2}, {'m': 3}]
    """
    is_over, duckdb = threading.Event(), optional.load("duckdb")
    try:
        with (
            Uninterrupted(),
            duckdb.connect(":memory:", config=dict(_SETTINGS)) as room,
            held_to(LONGEST_PUBLIC, room, is_over),
        ):
            for name, rows in tables.items():
                room.register("handed_over", rows)
                room.execute(f'CREATE TABLE "{name}" AS SELECT * FROM handed_over')
                room.unregister("handed_over")
            for setting in _CLOSED:
                room.execute(setting)
            found = room.sql(select).to_arrow_table()
    except duckdb.Error as cause:
        raise _refused(cause, is_over=is_over.is_set()) from None
    if len(found) > MOST_ROWS:
        raise _too_large()
    return found


def _refused(cause: Exception, *, is_over: bool) -> RefusedQuery:
    duckdb = optional.load("duckdb")
    if is_over or isinstance(cause, duckdb.OutOfMemoryException):
        return _too_large()
    # Only public rows are in the room, so what is said of them may be known.
    return RefusedQuery(
        "The statement cannot be worked out on public rows",
        got=str(cause).partition("\n")[0][:200],
        next="Nothing was read of private tables, and nothing was charged",
    )


def _too_large() -> RefusedQuery:
    return RefusedQuery(
        "This is too much work on public rows",
        must=f"take at most {LONGEST_PUBLIC} s, and give at most {MOST_ROWS:,} rows",
        next="Add conditions or a LIMIT",
    )
