"""Presence: others on this machine can tell that somebody is still at work on an order.

It is a lock on one byte of a file beside the ledger, which the kernel takes away when a process
ends, however it ends. It decides nothing but how long others wait: the ledger alone decides who is
charged. Where there is no such lock, nobody is ever known to be gone, and patience decides.
"""

import fcntl
import os
import struct
from pathlib import Path
from typing import Any

from discreet.core.canonical import digest

_FLOCK = "hhqqi"
"""How Linux lays out a lock: type, whence, start, length, process."""

_SET, _GET = (getattr(fcntl, name, None) for name in ("F_OFD_SETLK", "F_OFD_GETLK"))


class Presence:
    """Whether somebody is at work on an order: this flight, or others.

    Locks belong to the open file and not to the process, so that threads count one by one.
    """

    def __init__(self, ledger: Path | None, order: dict[str, Any]) -> None:
        """Prepare for an order, by what makes orders equal; ``None``: nothing is to be known."""
        self._file = None if ledger is None or _SET is None else Path(f"{ledger}-flights")
        self._place = int(digest(order)[:12], 16)
        self._handle: int | None = None

    def enter(self) -> None:
        """Be at work from now on, if that can be said."""
        self._handle = self._opened()
        if self._handle is not None and _SET is not None:
            try:
                fcntl.fcntl(self._handle, _SET, self._lock(fcntl.F_RDLCK))
            except OSError:
                self.leave()

    def leave(self) -> None:
        """Be gone."""
        if self._handle is not None:
            os.close(self._handle)
        self._handle = None

    def is_nobody_there(self) -> bool:
        """Tell whether it is certain that nobody on this machine is at work."""
        handle = self._opened()
        if handle is None or _GET is None:
            return False
        try:
            found = fcntl.fcntl(handle, _GET, self._lock(fcntl.F_WRLCK))
        except OSError:
            return False
        finally:
            os.close(handle)
        return bool(struct.unpack_from("h", found)[0] == fcntl.F_UNLCK)

    def _opened(self) -> int | None:
        if self._file is None:
            return None
        try:
            return os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None

    def _lock(self, kind: int) -> bytes:
        return struct.pack(_FLOCK, kind, os.SEEK_SET, self._place, 1, 0)
