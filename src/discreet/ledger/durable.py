"""Making durable what was written to a file."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_all(handle: int, data: bytes, place: int) -> None:
    """Write all of it: a disk that is nearly full takes a part, and calls that no error."""
    while data:
        taken = os.pwrite(handle, data, place)
        if taken == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        data, place = data[taken:], place + taken


def flush(handle: int) -> None:
    """Make what was written durable, also where fsync alone leaves it in the disk's memory."""
    full: Any = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(handle, full)
        return
    flushed: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    flushed(handle)


def flush_log(path: Path) -> None:
    """Make durable what is in the log of a ledger, if anything is.

    A process that was killed may have written an entry there and not flushed it. Whoever opens the
    file next finds it, and must not tell anybody of what a power cut could still take away.
    """
    try:
        handle = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if os.fstat(handle).st_size:
            flush(handle)
    finally:
        os.close(handle)
