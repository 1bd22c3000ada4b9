"""Interrupts with a real engine, and that nothing is imported once something was charged."""

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from discreet.cli import interrupting
from discreet.cli.main import run
from discreet.curator import answer as answer_module
from discreet.curator.connection import connect
from discreet.ledger.entry import Kind
from discreet.ledger.gate import pass_gate
from discreet.ledger.timer import Timer
from discreet.ledger.under_way import finish_flights
from discreet.tables.engines import duckdb as duckdb_engine
from discreet.tables.engines.duckdb import DuckDbEngine
from discreet.tables.engines.duckdb_databases import Databases
from tests.curator.test_deadline import ENDLESS, SQL, declare
from tests.support.clinic import visit, write_project
from tests.support.forked import forked
from tests.support.paths import ROOT

QUESTIONS = (
    "SELECT note, COUNT(*) AS n, MEDIAN(age) AS middle FROM visits GROUP BY note",
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT clinic, SUM(age) AS n FROM visits GROUP BY clinic",
    "SELECT AVG(cost) AS n FROM visits",
    "SELECT MEDIAN(age) AS n FROM visits",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_project(tmp_path, [visit("p"), visit("q", "b")], epsilon="100, delta = 1e-3")


# ---- The end of a process.


class Pressing:
    """The command line, with a key that is pressed while the engine works without end."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, *, times: int) -> None:
        self.folder, self.patch, self.times = folder, patch, times
        self.now = 0.0
        self.is_staying = threading.Event()

    def sleep(self, seconds: float) -> None:
        if self.now == 0:
            for _ in range(self.times):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                self.is_staying.wait(60)
            if self.times > 1:
                threading.Event().wait()  # the second press is the end
        self.now += seconds

    def __call__(self) -> int:
        timer = Timer(clock=lambda: self.now, sleep=self.sleep)
        noted = [self.is_staying.set, finish_flights]
        self.patch.setattr(interrupting, "finish_flights", lambda: [one() for one in noted])
        self.patch.setattr(answer_module, "pass_gate", partial(pass_gate, timer=timer))
        self.patch.setattr(DuckDbEngine, "require_runnable", lambda *_: None)
        self.patch.setattr(duckdb_engine, "query", lambda *_: ENDLESS)
        asked = ["query", SQL, "--epsilon", "1", "--project", str(self.folder)]
        self.patch.setattr(sys, "argv", ["discreet", *asked])
        run()


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_whose_work_never_ends_ends_cleanly(folder, monkeypatch, times):
    """No SIGABRT: an interpreter that is taken down under a thread in the engine aborts."""
    declare(folder, "deadline = 10")
    ended = forked(Pressing(folder, monkeypatch, times=times), folder)
    assert ended.status == 130, ended
    assert "ε = 1, δ = 0 of 'people' is spent" in ended.said
    assert "Traceback" not in ended.said
    with connect(folder) as connection:
        kinds = [entry.kind for entry in connection.ledger().entries(last=2)]
    assert kinds[-1] is (Kind.FAIL if times == 1 else Kind.RESERVE)


def test_a_connection_that_is_closed_leaves_work_under_way_alone(folder, monkeypatch):
    """Whoever leaves a ``with`` block by an interrupt closes it, and the work goes on."""
    begun, may_end = threading.Event(), threading.Event()
    execute = DuckDbEngine.execute

    def slow(self, plan, salt):
        with self._databases.lent() as cursor:
            begun.set()
            may_end.wait(60)
            cursor.execute("SELECT 1")
        return execute(self, plan, salt)

    monkeypatch.setattr(DuckDbEngine, "execute", slow)
    with connect(folder, epsilon=1) as connection:
        ask = threading.Thread(target=connection.sql, args=[SQL])
        ask.start()
        begun.wait(60)
        engine = connection._curator.engine
        assert isinstance(engine, DuckDbEngine)
        scratch = Path(engine._databases._scratch)
    assert scratch.exists()
    may_end.set()
    ask.join(60)
    assert not scratch.exists()
    assert [entry.kind for entry in connection.ledger().entries()][-1] is Kind.COMMIT


def test_databases_remove_what_they_left_after_a_failure_too():
    databases = Databases()

    def close_and_fail() -> None:
        with databases.lent():
            databases.close()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        close_and_fail()
    assert not Path(databases._scratch).exists()


# ---- Imports.

CHILD = """
import sys
import discreet
from discreet.ledger.ledger import Ledger
from discreet.tables.declarations import gate

gate.SHORTEST_DEADLINE = 0

reserve, known = Ledger.join_or_reserve, []

def noting(*args, **parts):
    ticket = reserve(*args, **parts)
    known.append(set(sys.modules))
    return ticket

Ledger.join_or_reserve = noting
folder, sql = sys.argv[1:]
with discreet.connect(folder, epsilon=1, delta="1e-6") as connection:
    connection.sql(sql)
new = set(sys.modules) - known[0]
print(sorted(new))
"""


def imported(folder: Path, sql: str) -> str:
    """Return what a fresh process imports after the charge."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    asked = [sys.executable, "-c", CHILD, str(folder), sql]
    shown = subprocess.run(asked, capture_output=True, text=True, env=environment, check=True)
    return shown.stdout.strip()


def test_nothing_is_imported_once_something_was_charged(folder, soak):
    """An import can fail, or be interrupted; behind the charge that would cost an answer."""
    for sql in QUESTIONS[: soak.cases(1)]:
        for settings in (["deadline = 1"], [])[: soak.cases(1)]:
            declare(folder, *settings)
            assert imported(folder, sql) == "[]"
