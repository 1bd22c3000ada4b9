"""A ledger in one SQLite file: write-ahead log, full synchronisation, append-only tables."""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

from attrs import field, frozen

from discreet.core.errors import LedgerError
from discreet.core.interrupts import Uninterrupted
from discreet.ledger.durable import flush_log
from discreet.ledger.in_turn import in_turn
from discreet.ledger.kept_open import FORK_GUARD, KEPT_OPEN, Lent
from discreet.ledger.sqlite_file import (
    Identity,
    begin_file,
    busy,
    connect_file,
    explained,
    require_ledger,
    require_log,
    require_one_link,
    require_one_name,
)
from discreet.ledger.sqlite_transaction import SqliteTransaction

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
    def write(self) -> Iterator[SqliteTransaction]:
        """Open the one write transaction; leaving the block commits it."""
        with (
            Uninterrupted(),
            FORK_GUARD.transaction(),
            self._turn() as turn,
            self._connection() as lent,
        ):
            # Only now: nobody has to wait while a connection is opened.
            self._wait_among_processes(turn)
            # Whatever is not committed is rolled back when the connection is given back.
            yield self._begin(lent)
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
        """Wait for one's turn in this process; closing what is given ends it, as does the block."""
        own = _writers[self.path]
        if not own.acquire(timeout=self.timeout):
            raise busy(self.path)
        with ExitStack() as turn:
            turn.callback(own.release)
            yield turn

    def _wait_among_processes(self, turn: ExitStack) -> None:
        # SQLite lets a writer sleep longer the longer it has waited, so newcomers would overtake
        # it. The queue is a courtesy, not a lock that anything rests on: the write lock is
        # SQLite's, and where there is no queue, that alone decides.
        with suppress(OSError):
            handle = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
            turn.enter_context(in_turn(handle, self.timeout))

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
            require_ledger(opened, self.path)
            require_log(opened, self.path)
            require_ledger(opened, self.path)  # and read, so that the log is there
            flush_log(self.path)
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


def create_sqlite(path: Path | str) -> SqliteStore:
    """Open the ledger at ``path``; begin an empty one if no file is there."""
    path = _resolved(path)
    if not path.exists():
        with Uninterrupted(), explained(path):
            begin_file(path)
    return SqliteStore(path)
