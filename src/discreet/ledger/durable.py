"""Making durable what was written to a file."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from discreet.core.errors import LedgerError, WrittenBefore


def flush(handle: int) -> None:
    """Make what was written durable, also where fsync alone leaves it in the disk's memory."""
    full: Any = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(handle, full)
        return
    flushed: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    flushed(handle)


@contextmanager
def what_stays() -> Iterator[None]:
    """Say of an error that what was written before it stays."""
    try:
        yield
    except LedgerError as error:
        raise WrittenBefore(
            f"The ledger was written, but what must follow failed. {error.what}",
            must=error.must,
            got=error.got,
            next="If something was to be charged, it is charged, and no row was read. The owner can"
            " run 'discreet check' and 'discreet ledger --verify'",
        ) from None
