"""The queue before the write lock: everybody who waits has the same chance to be next.

SQLite lets a writer sleep longer the longer it has waited, so that newcomers overtake those who
have waited for seconds. Here all look equally often. It is a courtesy, not a lock that anything
rests on: the write lock is SQLite's, and where the queue cannot be had, that alone decides.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.001
"""How many seconds pass between two looks."""


@contextmanager
def write_queue(folder: Path, timeout: float) -> Iterator[None]:
    """Wait until it is one's turn among all processes, or until the time is over."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + timeout
        while not _is_first(handle) and time.monotonic() < end:
            time.sleep(PAUSE)
        yield
    finally:
        # Closing gives the turn to somebody else; so does dying.
        os.close(handle)


def _is_first(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
