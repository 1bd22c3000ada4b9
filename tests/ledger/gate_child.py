"""A process that passes the gate: killed at a step, or racing with others.

``kill STEP FILE`` passes once and kills itself at STEP; ``race FILE GO ATTEMPTS`` waits for the
file GO, then tries ATTEMPTS times and prints how often it got through; ``ask`` does the same, but
opens the ledger anew each time and takes every refusal as it comes; ``anchored`` counts how
often the anchor knew of the charge when the work began.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core.errors import BudgetExhausted, DiscreetError
from discreet.ledger.anchor import PATIENCE, Anchor, Mark
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import SqliteStore
from discreet.ledger.sqlite_transaction import SqliteTransaction
from tests.ledger.orders import RELEASE, order
from tests.support.projects.gate import pass_gate

ANCHOR_STEPS = (
    "before the anchor is locked",
    "before the anchor is written",
    "in the middle of the anchor",
    "after the anchor is written",
    "after the anchor is unlocked",
)
"""What comes between the reserve and the work, where a ledger has an anchor."""

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


class DyingAnchor(Anchor):
    """An anchor that kills the process at one moment of one turn."""

    @contextmanager
    def turn(self, timeout: float = PATIENCE) -> Iterator[None]:
        if STEP == "before the anchor is locked":
            die()
        with super().turn(timeout):
            yield
        if STEP == "after the anchor is unlocked":
            die()

    def write(self, mark: Mark) -> None:
        if STEP == "before the anchor is written":
            die()
        if STEP == "in the middle of the anchor":
            half = mark.to_text().encode()[:100]
            with self.path.open("r+b") as file:
                file.seek((mark.count % 2) * (self.path.stat().st_size // 2))
                file.write(half)
            die()
        super().write(mark)
        if STEP == "after the anchor is written":
            die()


STEP = ""
"""Where a :class:`DyingAnchor` dies."""


def anchored(file: Path) -> Ledger:
    """Return a ledger with its anchor beside it."""
    return Ledger(SqliteStore(file), anchors=(Anchor(file.with_suffix(".anchor")),))


def kill_anchored(step: str, file: str) -> None:
    global STEP  # noqa: PLW0603
    STEP = step
    anchor = DyingAnchor(Path(file).with_suffix(".anchor"))
    ledger = Ledger(SqliteStore(Path(file)), anchors=(anchor,))
    pass_gate(ledger, order(), lambda: RELEASE)
    print("survived")


def race_anchored(file: str, go: str, attempts: str) -> None:
    ledger = anchored(Path(file))
    print("ready", flush=True)
    while not Path(go).exists():
        time.sleep(0.005)
    known = 0
    for _ in range(int(attempts)):
        ticket = ledger.reserve(order())
        mark = ledger.anchors[0].read()
        known += mark is not None and mark.end.sequence >= ticket.number
        ledger.commit(ticket, RELEASE)
    print(known)


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
    commands: dict[str, Callable[..., None]] = {
        "kill": kill,
        "kill-anchored": kill_anchored,
        "race": race,
        "ask": ask,
        "anchored": race_anchored,
    }
    commands[command](*rest)
