"""Work that is held to a time: a statement is interrupted when its time is over."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from discreet.core import optional

LONGEST_PUBLIC = 10
"""How many seconds may be worked for one question before anything is charged, at each of two steps:
on public tables, and on the plan over empty ones."""


def stop(cursor: Any) -> None:
    """Interrupt what a cursor does; it may have ended just now, and the cursor be closed."""
    with suppress(optional.load("duckdb").Error):
        cursor.interrupt()


@contextmanager
def held_to(seconds: float, cursor: Any, is_over: threading.Event) -> Iterator[None]:
    """Interrupt what a cursor does when its time is over, and note that it is."""

    def end() -> None:
        is_over.set()
        stop(cursor)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
