"""A ledger in the memory of one process: gone when the process ends, and never copied.

It keeps what a file would keep, in the same tables, with the same triggers and the same chain. What
it does not keep is the one thing that a file is for: once the process has ended, nobody knows what
was spent.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from discreet.core.errors import LedgerError
from discreet.core.interrupts import Uninterrupted
from discreet.ledger.sqlite_file import SCHEMA
from discreet.ledger.sqlite_transaction import SqliteTransaction

PATIENCE = 60.0
"""How many seconds a transaction waits for its turn."""


class MemoryStore:
    """A ledger without a file. Threads take turns; a forked child is refused.

    Guarantee:
        As :class:`~discreet.ledger.store.Store` asks, while the process lives: one transaction at a
        time, which sees all before it, and of which all or nothing stays. There is no second copy
        to spend: the connection to it can be neither copied nor stored, and a process that was
        forked has a copy of the memory but is refused before it reads or writes anything.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._turn = Lock()
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._connection.executescript(SCHEMA)

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """Open a snapshot."""
        with Uninterrupted(), self._transaction() as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        """Open the one write transaction; leaving the block commits it."""
        with Uninterrupted(), self._transaction() as transaction:
            yield transaction
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Keep everything: what was spent stays known as long as the process lives."""

    @contextmanager
    def _transaction(self) -> Iterator[SqliteTransaction]:
        # Before the lock: a child may have a copy of it that nobody will ever give back.
        self._require_own_process()
        if not self._turn.acquire(timeout=PATIENCE):
            raise LedgerError("The ledger in memory is busy", next="Ask again in a moment")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield SqliteTransaction(self._connection)
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._turn.release()

    def _require_own_process(self) -> None:
        if os.getpid() != self._process:
            raise LedgerError(
                "This ledger is in the memory of another process, from which this one was forked",
                must="be used where it was made: what a copy of it spends, nobody would know of",
                next="Ask in the first process, or give discreet.own a ledger on disk,"
                ' such as ledger="visits.ledger"',
            )
