"""Print passages of the gate in a second: ``python gate_rate.py WRITER PROCESSES``.

So many processes charge one ledger with an anchor, and store a small release, one passage after
another. ``seconds`` is the processor's time for one passage, which other work on the machine hardly
changes. The best of the trials counts.

Writers: ``discreet`` is our ledger; no data is read, so this is what it alone allows. ``sqlite``
writes as much to a file with the same settings, and flushes it as often, but checks, counts and
chains nothing: what durability alone allows. ``answers`` asks a project of 30 rows for a count,
which is paid for each time: so it is priced, charged, read from its file, and stored.
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

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100 }

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 1

[tables.visits.columns]
person = { type = "text" }
clinic = { type = "text" }
"""

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


def answers(folder: Path) -> Passage:
    """Return fresh answers of a small project."""
    from discreet import connect

    if not (folder / "discreet.toml").exists():
        rows = [f"p{i // 2},north" for i in range(30)]
        (folder / "visits.csv").write_text("\n".join(["person,clinic", *rows, ""]))
        (folder / "discreet.toml").write_text(DECLARATION)
    connection = connect(folder)

    def passage(_: str) -> None:
        connection.sql("SELECT COUNT(*) FROM visits", epsilon="0.01", fresh=True)

    return passage


WRITERS = {"discreet": discreet, "sqlite": sqlite, "answers": answers}


def work(writer: str, folder: Path, name: str, passages: int) -> None:
    """Pass the gate again and again, as soon as all are ready."""
    passage = WRITERS[writer](folder)
    passage(f"{name}-first")
    print("ready", flush=True)
    sys.stdin.readline()
    begun = time.process_time()
    for number in range(passages):
        passage(f"{name}-{number}")
    print(time.process_time() - begun, flush=True)


def measured(writer: str, processes: int) -> dict[str, float]:
    """Return how many passages all processes make in a second, and the work of one."""
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
            _line_of(worker)
        begun = time.perf_counter()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        worked = sum(float(_line_of(worker)) for worker in workers)
        taken = time.perf_counter() - begun
        for worker in workers:
            worker.wait()
    passages = each * processes
    return {"rate": passages / taken, "seconds": worked / passages}


def _line_of(worker: "subprocess.Popen[str]") -> str:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line:
        raise RuntimeError("a process did not pass the gate")
    return line


if __name__ == "__main__":
    writer, what, *rest = sys.argv[1:]
    if what == "work":
        work(writer, Path(rest[0]), rest[1], int(rest[2]))
    else:
        trials = [measured(writer, int(what)) for _ in range(TRIALS)]
        most = max(trial["rate"] for trial in trials)
        least = min(trial["seconds"] for trial in trials)
        print(json.dumps({"rate": most, "seconds": least}))
