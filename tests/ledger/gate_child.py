"""A process that passes the gate: killed at a step, or racing with others.

``kill STEP FILE`` passes once and kills itself at STEP; ``race FILE GO ATTEMPTS`` waits for the
file GO, then tries ATTEMPTS times and prints how often it got through; ``ask`` does the same, but
opens the ledger anew each time and takes every refusal as it comes.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core.errors import BudgetExhausted, DiscreetError
from discreet.ledger.gate import pass_gate
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import SqliteStore
from discreet.ledger.sqlite_transaction import SqliteTransaction
from tests.ledger.orders import RELEASE, order

STEPS = (
    "before the reserve begins",
    "inside the reserve",
    "before the reserve is committed",
    "after the reserve",
    "during work",
    "after work",
    "inside the store",
    "before the store is committed",
    "after the commit",
)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingStore:
    """A store that kills the process at one moment of one write."""

    def __init__(self, store: SqliteStore, step: str) -> None:
        self.store = store
        self.step = step
        self.writes = 0

    def read(self):
        return self.store.read()

    @contextmanager
    def write(self) -> Iterator["DyingTransaction"]:
        moments = STEPS[:4] if self.writes == 0 else STEPS[5:]
        self.writes += 1
        begin, inside, end, after = (moment == self.step for moment in moments)
        if begin:
            die()
        with self.store.write() as transaction:
            yield DyingTransaction(transaction, inside)
            if end:
                die()
        if after:
            die()


class DyingTransaction:
    """A transaction that kills the process right after it appended an entry."""

    def __init__(self, transaction: SqliteTransaction, dies: bool) -> None:
        self.transaction = transaction
        self.dies = dies

    def __getattr__(self, name: str):
        return getattr(self.transaction, name)

    def append(self, *args):
        entry = self.transaction.append(*args)
        if self.dies:
            die()
        return entry


def kill(step: str, file: str) -> None:
    def work():
        if step == "during work":
            die()
        return RELEASE

    pass_gate(Ledger(DyingStore(SqliteStore(Path(file)), step)), order(), work)
    print("survived")


def race(file: str, go: str, attempts: str) -> None:
    ledger = Ledger(SqliteStore(Path(file)))
    print("ready", flush=True)
    while not Path(go).exists():
        time.sleep(0.005)
    passed = 0
    for _ in range(int(attempts)):
        try:
            pass_gate(ledger, order(), lambda: RELEASE)
        except BudgetExhausted:
            continue
        passed += 1
    print(passed)


def ask(file: str, go: str, attempts: str) -> None:
    print("ready", flush=True)
    while not Path(go).exists():
        time.sleep(0.005)
    passed = 0
    for _ in range(int(attempts)):
        try:
            pass_gate(Ledger(SqliteStore(Path(file))), order(), lambda: RELEASE)
        except DiscreetError:
            time.sleep(0.01)
            continue
        passed += 1
    print(passed)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    commands: dict[str, Callable[..., None]] = {"kill": kill, "race": race, "ask": ask}
    commands[command](*rest)
