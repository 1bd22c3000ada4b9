"""Print passages of the gate in a second: ``python gate_rate.py WRITER PROCESSES``.

So many processes charge one ledger with an anchor, and store a small release, one passage after
another. No data is read, so this is what the writer alone allows. The best of the trials counts.

Writers: ``discreet`` is our ledger. ``sqlite`` writes as much to a file with the same settings,
and flushes it as often, but checks, counts and chains nothing: what durability alone allows.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TRIALS = 3
PASSAGES = 480
RELEASE = {"rows": [["a", 3]]}

Passage = Callable[[str], None]
"""Passes the gate once, under a name."""


def discreet(folder: Path) -> Passage:
    """Return passages of our gate, at the least price."""
    from discreet.core.loss import Pure
    from discreet.ledger.anchor import Anchor
    from discreet.ledger.budget import Budget
    from discreet.ledger.gate import pass_gate
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.order import Charge, Order
    from discreet.ledger.sqlite_store import create_sqlite

    store = create_sqlite(folder / "ledger.sqlite")
    ledger = Ledger(store, anchors=(Anchor(folder / "ledger.anchor"),))
    ledger.declare(Budget("people", Pure(1)))

    def passage(name: str) -> None:
        order = Order(
            plan_digest=name,
            data_version=1,
            analyst="ann",
            charges=(Charge("people", Pure("1e-4")),),
            description={"sql": "SELECT COUNT(*) FROM visits"},
        )
        pass_gate(ledger, order, lambda _: RELEASE)

    return passage


def sqlite(folder: Path) -> Passage:
    """Return the same writes by hand."""
    connection = sqlite3.connect(folder / "bare.sqlite", timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS entries (name TEXT, payload TEXT)")
    mark = os.open(folder / "mark", os.O_RDWR | os.O_CREAT)

    def write(name: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO entries VALUES (?, ?)", (name, "x" * 600))
        connection.execute("COMMIT")

    def passage(name: str) -> None:
        write(name)
        os.pwrite(mark, b"x" * 4096, 0)
        getattr(os, "fdatasync", os.fsync)(mark)
        write(name)

    return passage


WRITERS = {"discreet": discreet, "sqlite": sqlite}


def work(writer: str, folder: Path, name: str, passages: int) -> None:
    """Pass the gate again and again, as soon as all are ready."""
    passage = WRITERS[writer](folder)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(passages):
        passage(f"{name}-{number}")


def rate(writer: str, processes: int) -> float:
    """Return how many passages all processes make in a second."""
    each = PASSAGES // processes
    with tempfile.TemporaryDirectory() as name:
        WRITERS[writer](Path(name))
        workers = [
            subprocess.Popen(
                [sys.executable, __file__, writer, "work", name, str(number), str(each)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(processes)
        ]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()
        begun = time.perf_counter()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        failed = [worker.args for worker in workers if worker.wait()]
        taken = time.perf_counter() - begun
    if failed:
        raise RuntimeError(f"{len(failed)} of {processes} did not pass the gate")
    return each * processes / taken


if __name__ == "__main__":
    writer, what, *rest = sys.argv[1:]
    if what == "work":
        work(writer, Path(rest[0]), rest[1], int(rest[2]))
    else:
        print(json.dumps({"rate": max(rate(writer, int(what)) for _ in range(TRIALS))}))
