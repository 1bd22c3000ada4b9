"""A ledger in one SQLite file: write-ahead log, full synchronisation, append-only tables."""

import fcntl
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread

from attrs import field, frozen

from discreet.core.errors import LedgerError, WrittenBefore
from discreet.core.interrupts import Uninterrupted
from discreet.ledger.kept_open import FORK_GUARD, KEPT_OPEN, Lent
from discreet.ledger.sqlite_file import (
    Identity,
    begin_file,
    busy,
    connect_file,
    explained,
    require_ledger,
    require_one_link,
    require_one_name,
)
from discreet.ledger.sqlite_transaction import SqliteTransaction
from discreet.ledger.store import After


@contextmanager
def write_queue(folder: Path, timeout: float) -> Iterator[None]:
    """Wait until it is one's turn among all processes, or until the time is over.

    SQLite lets a writer sleep longer the longer it has waited, so that newcomers overtake those who
    have waited for seconds, and eight that look again and again keep a processor busy. Here the
    system wakes whoever came first. It is a courtesy, not a lock that anything rests on: the write
    lock is SQLite's, and where the queue cannot be had, that alone decides.
    """
    place = _Place(os.open(folder, os.O_RDONLY | os.O_CLOEXEC))
    try:
        place.wait(timeout)
        yield
    finally:
        place.leave()


class _Place:
    """A place in the queue. Giving it up gives the turn to somebody else; so does dying."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._lock, self._is_left, self._is_waiting = Lock(), False, False

    def wait(self, seconds: float) -> None:
        """Return when it is one's turn, or after so many seconds."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A thread can wait without end, and be left behind when the time is over.
            waiting = Thread(target=self._wait, name="ledger-queue", daemon=True)
            self._is_waiting = True
            try:
                waiting.start()
            except RuntimeError:  # the machine has no threads left
                self._is_waiting = False
            else:
                waiting.join(seconds)
        except OSError:
            return

    def _wait(self) -> None:
        with suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        with self._lock:
            self._is_waiting = False
            if self._is_left:
                os.close(self._handle)

    def leave(self) -> None:
        """Give up the place, or have it given up as soon as it comes."""
        with self._lock:
            self._is_left = True
            if not self._is_waiting:
                os.close(self._handle)


_writers: defaultdict[Path, Lock] = defaultdict(Lock)
"""Threads of one process queue up here, and wake when it is their turn; SQLite would let them sleep
and look again. It is taken after the fork guard, so that no child inherits it held."""


def _resolved(path: Path | str) -> Path:
    return Path(path).resolve()


@frozen
class SqliteStore:
    """An existing ledger file. Safe to share between threads and forked processes.

    Guarantee:
        As :class:`~discreet.ledger.store.Store` asks. ``BEGIN IMMEDIATE`` takes the one write lock
        before anything is read, and ``synchronous=FULL`` flushes the log before a commit returns.
        Triggers refuse every change and removal; the chain shows what got past them. The file has
        one name and is the same all the time (:mod:`discreet.ledger.sqlite_file`): this is checked
        whenever it is used, and again when the write lock is held, before anything is written. So
        is that its log is the one that the connection writes (:mod:`discreet.ledger.kept_open`).
    """

    path: Path = field(converter=_resolved)
    timeout: float = 60.0
    identity: Identity = field(init=False, eq=False, repr=False)

    @identity.default
    def _identity(self) -> Identity:
        with explained(self.path):
            return require_one_name(self.path)

    def __attrs_post_init__(self) -> None:
        """Refuse a file that is not a ledger."""
        with self.read():
            pass

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """Open a snapshot."""
        with Uninterrupted(), FORK_GUARD.transaction(), self._connection() as lent:
            lent.connection.execute("BEGIN")
            require_ledger(lent.connection, self.path)
            yield SqliteTransaction(lent.connection)

    @contextmanager
    def write(self, after: After | None = None) -> Iterator[SqliteTransaction]:
        """Open the one write transaction; leaving the block commits it, then ``after`` is run."""
        with (
            Uninterrupted(),
            FORK_GUARD.transaction(),
            self._turn() as turn,
            self._connection() as lent,
        ):
            # Whatever is not committed is rolled back when the connection is given back.
            yield self._begin(lent)
            lent.connection.execute("COMMIT")
            if after is not None:
                with _what_stays(self.path):
                    after(self._begin(lent))
                    lent.connection.execute("COMMIT")
            # Nobody has to wait until the connection is tidied up.
            turn.close()

    def close(self) -> None:
        """Close what is kept open, so that the log is moved into the file if nobody else has it."""
        KEPT_OPEN.close(self.path)

    def _begin(self, lent: Lent) -> SqliteTransaction:
        lent.connection.execute("BEGIN IMMEDIATE")
        require_ledger(lent.connection, self.path)
        self._require_same(require_one_link(self.path))
        lent.require_same_log()
        return SqliteTransaction(lent.connection)

    @contextmanager
    def _turn(self) -> Iterator[ExitStack]:
        """Wait for one's turn to write; closing what is given ends it, and so does the block."""
        own = _writers[self.path]
        if not own.acquire(timeout=self.timeout):
            raise busy(self.path)
        with ExitStack() as turn:
            turn.callback(own.release)
            with explained(self.path):
                turn.enter_context(write_queue(self.path.parent, self.timeout))
                yield turn

    @contextmanager
    def _connection(self) -> Iterator[Lent]:
        with explained(self.path):
            self._require_still_here()
            with KEPT_OPEN.lent((self.path, self.identity, self.timeout), self._opened) as lent:
                yield lent

    def _require_still_here(self) -> None:
        try:
            self._require_same(require_one_link(self.path))
        except BaseException:
            self.close()  # what is kept open belongs to a file that is not here any more
            raise

    def _opened(self) -> sqlite3.Connection:
        self._require_same(require_one_name(self.path))
        opened = connect_file(self.path, self.timeout)
        try:
            require_ledger(opened, self.path)  # and read, so that the log is there
            opened.execute("PRAGMA synchronous = FULL")
            opened.execute("PRAGMA fullfsync = ON")
            opened.execute("PRAGMA checkpoint_fullfsync = ON")
        except BaseException:
            opened.close()
            raise
        return opened

    def _require_same(self, found: Identity) -> None:
        if found != self.identity:
            raise LedgerError(
                f"The ledger {self.path} was replaced by another file while it was in use",
                next="Nothing was spent. If that was meant, connect again",
            )


@contextmanager
def _what_stays(path: Path) -> Iterator[None]:
    """Say of an error that what was written before it stays."""
    try:
        with explained(path):
            yield
    except LedgerError as error:
        raise WrittenBefore(
            f"The ledger was written, but what must follow failed. {error.what}",
            must=error.must,
            got=error.got,
            next="If something was to be charged, it is charged, and no row was read. The owner can"
            " run 'discreet check' and 'discreet ledger --verify'",
        ) from None


def create_sqlite(path: Path | str) -> SqliteStore:
    """Open the ledger at ``path``; begin an empty one if no file is there."""
    path = _resolved(path)
    if not path.exists():
        with Uninterrupted(), explained(path):
            begin_file(path)
    return SqliteStore(path)
