"""A process whose answer never ends, and in which Ctrl-C is pressed. Run as a module by a test."""

import signal
import sys
import threading
from functools import partial
from typing import Any

from discreet.cli import interrupting
from discreet.cli.main import run
from discreet.engines.duckdb import engine as duckdb_engine
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.gate import pass_gate
from discreet.ledger.held_work import Timer
from discreet.ledger.under_way import finish_flights
from discreet.project import passage as passage_module

SQL = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
ENDLESS = (
    "SELECT count(*) AS g FROM range(1000000000) a, range(1000000000) b "
    "WHERE a.range * 7 % 11 = b.range % 13 + length($salt)"
)


class Pressing:
    """A clock that goes on while somebody sleeps; the first time, a key is pressed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_staying = threading.Event()

    def sleep(self, seconds: float) -> None:
        """Press, wait until the process stays for what was charged, and let the time pass."""
        if self.now == 0:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            self.is_staying.wait(60)
        self.now += seconds

    def finish(self) -> None:
        """Note that the process stays."""
        self.is_staying.set()
        finish_flights()


def main(folder: str) -> None:
    """Ask a question whose work has no end."""
    pressing = Pressing()
    timer = Timer(clock=lambda: pressing.now, sleep=pressing.sleep)
    patches: dict[str, tuple[Any, Any]] = {
        "finish_flights": (interrupting, pressing.finish),
        "pass_gate": (passage_module, partial(pass_gate, timer=timer)),
        "require_runnable": (DuckDbEngine, lambda *_: None),
        "query": (duckdb_engine, lambda *_: ENDLESS),
    }
    for name, (owner, value) in patches.items():
        setattr(owner, name, value)
    sys.argv = ["discreet", "query", SQL, "--epsilon", "1", "--project", folder]
    run()


if __name__ == "__main__":
    main(sys.argv[1])
