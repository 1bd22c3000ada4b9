"""Interrupts with a real engine, and that nothing is imported once something was charged."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discreet.engines.duckdb.databases import Databases
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.chain import Kind
from discreet.roles.connection import connect
from tests.project.test_deadline import SQL, declare
from tests.support.house.paths import ROOT
from tests.support.projects.clinic import visit, write_project

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


def test_a_process_whose_work_never_ends_ends_cleanly(folder):
    """No SIGABRT: an interpreter that is taken down under a thread in the engine aborts."""
    declare(folder, "deadline = 10")
    command = [sys.executable, "-m", "tests.support.projects.pressed_answer", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 130, ended
    assert "ε = 1, δ = 0 of 'people' is spent" in ended.stderr
    assert "Traceback" not in ended.stderr
    with connect(folder) as connection:
        kinds = [entry.kind for entry in connection.history(last=2)]
    assert kinds == [Kind.RESERVE, Kind.FAIL]


def test_a_connection_that_is_closed_leaves_work_under_way_alone(folder, monkeypatch):
    """Whoever leaves a ``with`` block by an interrupt closes it, and the work goes on."""
    begun, may_end = threading.Event(), threading.Event()
    execute = DuckDbEngine.execute

    def slow(self, plan, salt, permit):
        with self._databases.lent() as cursor:
            begun.set()
            may_end.wait(60)
            cursor.execute("SELECT 1")
        return execute(self, plan, salt, permit)

    monkeypatch.setattr(DuckDbEngine, "execute", slow)
    with connect(folder, epsilon=1) as connection:
        ask = threading.Thread(target=connection.sql, args=[SQL])
        ask.start()
        begun.wait(60)
        engine = connection._project.engine
        assert isinstance(engine, DuckDbEngine)
        scratch = engine._databases._spill.path
        assert scratch is not None
    assert scratch.exists()
    may_end.set()
    ask.join(60)
    assert not scratch.exists()
    assert [entry.kind for entry in connection.history()][-1] is Kind.COMMIT


def test_databases_remove_what_they_left_after_a_failure_too():
    databases, found = Databases(), list[Path | None]()

    def close_and_fail() -> None:
        with databases.lent():
            found.append(databases._spill.path)
            databases.close()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        close_and_fail()
    (scratch,) = found
    assert scratch is not None
    assert not scratch.exists()


# ---- Imports.

CHILD = """
import sys
import discreet
from discreet.ledger.ledger import Ledger
from discreet.tables.declarations import settings

settings.SHORTEST_DEADLINE = 0

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
        for settings in (["deadline = 5"], [])[: soak.cases(1)]:  # a busy machine takes over 1
            declare(folder, *settings)
            assert imported(folder, sql) == "[]"
