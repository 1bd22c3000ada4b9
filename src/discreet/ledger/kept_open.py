"""Connections to ledger files that stay open between transactions.

Whoever closes the last connection to a file moves its log into it and removes the log. That takes
several flushes, and opening it again takes some more. So a connection that was used is kept for a
moment, in case that there is more to do.

Guarantee: *a kept connection is as good as a new one.*

    It is used by one thread at a time. It is closed before a process is forked, and a child that
    was forked behind our back neither uses nor closes it. It is used again only if the log and the
    locks that its name leads to are the files that it was opened with; while it is open their
    numbers belong to no other files. Between two uses it forgets the pages that it has read.

    What a commit promises does not change: it is in the log, and flushed, before it returns.
"""

import atexit
import ctypes
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Lock, local

from attrs import define, field, frozen

from discreet.core.errors import DiscreetError, LedgerError
from discreet.ledger.sqlite_file import Identity


class ForkGuard:
    """Lets transactions run side by side, and a fork alone.

    SQLite must not be open across a fork. The child would inherit its idea of which locks are held,
    but not the locks, and two processes could both believe that they write alone. So a fork waits
    until no transaction is open. Transactions do not wait for each other: a long one stops nobody
    else.
    """

    def __init__(self) -> None:
        self._changed = Condition(Lock())
        self._open = 0
        self._is_forking = False
        self._own = local()
        self._before: list[Callable[[], None]] = []

    def before_each_fork(self, close: Callable[[], None]) -> None:
        """Have something closed before each fork, when no other thread has a transaction open."""
        self._before.append(close)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep forks away while the block runs."""
        own = getattr(self._own, "open", 0)
        with self._changed:
            # A fork that waits goes first, but a thread that keeps it waiting must go on.
            while self._is_forking and not own:
                self._changed.wait()
            self._open += 1
        self._own.open = own + 1
        try:
            yield
        finally:
            self._own.open = own
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait until no other thread has a transaction open, and let none begin."""
        self._changed.acquire()
        own = getattr(self._own, "open", 0)
        self._changed.wait_for(lambda: not self._is_forking)
        self._is_forking = True
        self._changed.wait_for(lambda: self._open <= own)
        for close in self._before:
            close()
        # The lock is kept until the fork is over.

    def after_fork(self) -> None:
        """Let transactions begin again, in parent and child."""
        self._is_forking = False
        self._changed.notify_all()
        self._changed.release()


FORK_GUARD = ForkGuard()
"""The one of this process."""

os.register_at_fork(
    before=FORK_GUARD.before_fork,
    after_in_parent=FORK_GUARD.after_fork,
    after_in_child=FORK_GUARD.after_fork,
)


IDLE = 0.5
"""How many seconds a connection is kept that nobody uses."""

LOOK = 0.05
"""How many seconds pass between two looks for such connections."""

MOST_KEPT = 4
"""How many connections are kept for one file."""

Key = tuple[Path, Identity, float]
"""A file, which file it was, and how long is waited for its lock."""

Log = tuple[Identity | None, Identity | None]
"""The log and the locks beside a ledger: which files they are, or none."""


@frozen(eq=False)
class Lent:
    """A connection that is lent to one user, and the log that it was opened with."""

    path: Path
    connection: sqlite3.Connection
    log: Log

    def require_same_log(self) -> None:
        """Refuse to go on if the name of the ledger leads to another log by now."""
        if log_of(self.path) != self.log:
            raise LedgerError(
                f"The log of the ledger {self.path} was replaced or removed while it was in use",
                next="Nothing was spent. Leave the -wal and -shm files alone, and ask again",
            )


@define(eq=False)
class KeptOpen:
    """The connections of this process that nobody uses just now."""

    _idle: dict[Key, list[tuple[Lent, float]]] = field(factory=dict)
    _lock: threading.Lock = field(factory=threading.Lock)
    _process: int = field(factory=os.getpid)
    _closer: threading.Thread | None = None
    _used: float = 0.0
    """When a connection was last given back: while some are in use, the closer waits for them."""

    @contextmanager
    def lent(self, key: Key, opened: Callable[[], sqlite3.Connection]) -> Iterator[Lent]:
        """Lend a connection, a kept one or a new one. What it began is rolled back at the end.

        After an error of the database or the disk it is not used again.
        """
        own = self._take(key) or _begin(key[0], opened)
        try:
            yield own
        except DiscreetError:
            self._give_back(key, own)
            raise
        except BaseException:
            _close(own.connection)
            raise
        self._give_back(key, own)

    def _take(self, key: Key) -> Lent | None:
        self._leave_to_parent()
        # Another file of that name was in its place: its log must not be taken for this one's.
        self._close(lambda other, _: other[:2] != key[:2] and other[0] == key[0])
        while True:
            with self._lock:
                kept = self._idle.get(key)
                own = kept.pop()[0] if kept else None
            if own is None or log_of(own.path) == own.log:
                return own
            _close(own.connection)

    def _give_back(self, key: Key, own: Lent) -> None:
        try:
            if own.connection.in_transaction:
                own.connection.execute("ROLLBACK")
            # What is read next is read from the file, as by a new connection.
            own.connection.execute("PRAGMA shrink_memory")
        except sqlite3.Error:
            _close(own.connection)
            return
        with self._lock:
            kept = self._idle.setdefault(key, [])
            is_kept = None not in own.log and len(kept) < MOST_KEPT and self._is_watched()
            if is_kept:
                self._used = time.monotonic()
                kept.append((own, self._used))
        if not is_kept:
            _close(own.connection)

    def _is_watched(self) -> bool:
        """See to it that there is a thread that closes what is kept, and tell whether there is."""
        if self._closer is None:
            self._closer = threading.Thread(target=self._close_when_idle, daemon=True)
            try:
                self._closer.start()
            except RuntimeError:  # the interpreter ends, or there are too many threads
                self._closer = None
        return self._closer is not None

    def _close_when_idle(self) -> None:
        """Close what nobody has used for a while; end when nothing was for as long."""
        while True:
            time.sleep(LOOK)
            with FORK_GUARD.transaction():
                self._close(lambda _, since: time.monotonic() - since >= IDLE)
                with self._lock:
                    if not self._idle and time.monotonic() - self._used >= IDLE:
                        self._closer = None
                        return

    def _close(self, is_closed: Callable[[Key, float], bool]) -> None:
        closed: list[Lent] = []
        with self._lock:
            for key, kept in list(self._idle.items()):
                closed += [own for own, since in kept if is_closed(key, since)]
                self._idle[key] = [one for one in kept if not is_closed(key, one[1])]
                if not self._idle[key]:
                    del self._idle[key]
        # Nobody has to wait for the flushes of the last one.
        for own in closed:
            _close(own.connection)

    def close(self, path: Path | None = None) -> None:
        """Close what is kept for a file, or for all."""
        self._leave_to_parent()
        with FORK_GUARD.transaction():
            self._close(lambda key, _: path is None or key[0] == path)

    def before_fork(self) -> None:
        """Close everything; no transaction is open, so nobody holds the lock."""
        self._leave_to_parent()
        self._close(lambda _, __: True)

    def after_fork_in_child(self) -> None:
        """Begin anew: the thread that closes was not forked."""
        self._lock = threading.Lock()
        self._closer = None
        self._process = os.getpid()

    def _leave_to_parent(self) -> None:
        """Let go of connections that another process opened, without closing them.

        SQLite must not be used across a fork: the child has none of the locks that it believes in.
        """
        if self._process != os.getpid():
            for own, _ in (one for kept in self._idle.values() for one in kept):
                # Even the end of the interpreter would close it, and remove the log by its name.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(own.connection))
            self._idle = {}
            self.after_fork_in_child()


KEPT_OPEN = KeptOpen()
"""The one of this process."""

FORK_GUARD.before_each_fork(KEPT_OPEN.before_fork)
os.register_at_fork(after_in_child=KEPT_OPEN.after_fork_in_child)
atexit.register(KEPT_OPEN.close)


def log_of(path: Path) -> Log:
    """Return which files the log and the locks of a ledger are."""
    return _identity(f"{path}-wal"), _identity(f"{path}-shm")


def _identity(name: str) -> Identity | None:
    try:
        found = os.lstat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _begin(path: Path, opened: Callable[[], sqlite3.Connection]) -> Lent:
    connection = opened()
    try:
        return Lent(path, connection, log_of(path))
    except BaseException:
        _close(connection)
        raise


def _close(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        connection.close()
