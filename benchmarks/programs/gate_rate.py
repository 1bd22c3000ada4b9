"""Print passages of the gate in a second: ``python gate_rate.py PROCESSES``.

So many processes charge one ledger with an anchor, and store a small release, one passage after
another. No data is read, so this is what the ledger alone allows. The best of the trials counts.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from discreet.core.loss import Pure
from discreet.ledger.anchor import Anchor
from discreet.ledger.budget import Budget
from discreet.ledger.charge import Charge
from discreet.ledger.gate import pass_gate
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.sqlite_store import create_sqlite

TRIALS = 3
PASSAGES = 480
RELEASE = {"rows": [["a", 3]]}


def opened(folder: Path) -> Ledger:
    """Return the ledger of a folder."""
    store = create_sqlite(folder / "ledger.sqlite")
    return Ledger(store, anchors=(Anchor(folder / "ledger.anchor"),))


def order(name: str) -> Order:
    """Return an order that costs very little."""
    return Order(
        plan_digest=name,
        data_version=1,
        analyst="ann",
        charges=(Charge("people", Pure("1e-6")),),
        description={"sql": "SELECT COUNT(*) FROM visits"},
    )


def work(folder: Path, name: str, passages: int) -> None:
    """Pass the gate again and again, as soon as all are ready."""
    ledger = opened(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(passages):
        pass_gate(ledger, order(f"{name}-{number}"), lambda: RELEASE)


def rate(processes: int) -> float:
    """Return how many passages all processes make in a second."""
    each = PASSAGES // processes
    with tempfile.TemporaryDirectory() as name:
        opened(Path(name)).declare(Budget("people", Pure(1)))
        workers = [
            subprocess.Popen(
                [sys.executable, __file__, "work", name, str(number), str(each)],
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
        for worker in workers:
            worker.wait()
        return each * processes / (time.perf_counter() - begun)


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        print(json.dumps({"rate": max(rate(int(sys.argv[1])) for _ in range(TRIALS))}))
