"""Deadlines and suspension, from the declaration to the analyst."""

import json
import threading
from functools import partial
from pathlib import Path

import pytest

from discreet.cli.main import main
from discreet.core.errors import AnswerFailed, InvalidArgument, Suspended
from discreet.core.loss import Approximate, Pure
from discreet.curator.answer import answer, explain
from discreet.curator.batch import answer_batch
from discreet.engines.duckdb import engine as duckdb_engine
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.chain import Kind
from discreet.ledger.gate import pass_gate
from discreet.ledger.held_work import Timer
from discreet.project import passage as passage_module
from discreet.roles.connection import connect
from tests.support.projects.clinic import make_curator, make_plan, visit, write_project
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT
from tests.support.projects.owner import owner_of

SQL = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
OTHER = "SELECT COUNT(*) AS n FROM visits WHERE age > 30"
ENDLESS = (
    "SELECT count(*) AS g FROM range(1000000000) a, range(1000000000) b "
    "WHERE a.range * 7 % 11 = b.range % 13 + length($salt)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = write_project(tmp_path, [visit("p"), visit("q", "b")], epsilon="10, delta = 1e-6")
    declare(folder, "suspend_after = 2", "deadline = 10")
    return folder


def declare(folder: Path, *settings: str) -> None:
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8").split("[gate]")[0]
    file.write_text("\n".join([text, "[gate]", *settings]), encoding="utf-8")


class FakeTime:
    """Sleeping lets the work finish (or gives it up, if it cannot), and the clock goes on."""

    def __init__(self, monkeypatch, *, patience: float) -> None:
        self.now = 0.0
        self.patience = patience
        timer = Timer(clock=lambda: self.now, sleep=self.sleep)
        monkeypatch.setattr(passage_module, "pass_gate", partial(pass_gate, timer=timer))

    def sleep(self, seconds: float) -> None:
        for thread in threading.enumerate():
            if thread.name == "discreet-work":
                thread.join(self.patience)
        self.now += seconds


@pytest.fixture
def time(monkeypatch) -> FakeTime:
    return FakeTime(monkeypatch, patience=60)


def test_every_paid_answer_is_held_and_a_stored_one_is_not(folder, rng, time):
    curator = make_curator(folder, rng)
    release = answer(curator, SQL, terms=Pure("1/2"), analyst="a")
    assert (release.is_stored, time.now) == (False, 10)
    assert answer(curator, SQL, terms=Pure("1/2"), analyst="a").rows == release.rows
    explain(curator, OTHER, terms=Pure("1/2"), analyst="a")
    assert time.now == 10, "neither reads a row"
    answer(curator, SQL, terms=Pure("1/2"), analyst="a", fresh=True)
    assert time.now == 20
    curator.ledger.verify()


def test_a_batch_is_held_as_one(folder, rng, time):
    curator = make_curator(folder, rng)
    target = Approximate(1, "1e-7")
    assert len(answer_batch(curator, [SQL, OTHER], target=target, analyst="a")) == 2
    assert time.now == 10
    assert all(r.is_stored for r in answer_batch(curator, [SQL, OTHER], target=target, analyst="a"))
    assert time.now == 10


class FailingEngine(DuckDbEngine):
    """Fails after the gate, with a message that quotes a row."""

    def execute(self, plan, salt, permit):
        raise ValueError("could not convert 'Alice Smith' to INT64")


def test_failures_are_held_too_and_then_suspend_until_the_owner_resumes(folder, rng, time):
    curator = make_curator(folder, rng, engine=FailingEngine())
    for number in (1, 2):
        with pytest.raises(AnswerFailed):
            answer(curator, SQL, terms=Pure(1), analyst=f"analyst {number}")
        assert time.now == 10 * number
    with pytest.raises(Suspended, match="discreet resume people"):
        answer(curator, SQL, terms=Pure(1), analyst="another")
    assert time.now == 20, "nothing was read, so nothing is held"
    assert curator.ledger.spent("people").share_of(curator.ledger.budget("people").cap) <= 1
    with connect(folder) as connection:
        assert owner_of(connection).resume("people") == 2
        with pytest.raises(InvalidArgument, match="no such id space"):
            owner_of(connection).resume("nobody")
    answer(make_curator(folder, rng), SQL, terms=Pure(1), analyst="another")
    curator.ledger.verify()


def test_the_command_resumes(folder, rng, time, capsys):
    curator = make_curator(folder, rng, engine=FailingEngine())
    for _ in range(2):
        with pytest.raises(AnswerFailed):
            answer(curator, SQL, terms=Pure(1), analyst="a")
    asked = ["query", SQL, "--epsilon", "1", "--project", str(folder), "--json"]
    assert main(asked) == 4
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "suspended"
    assert main(["resume", "people", "--project", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "id_space": "people",
        "analyst": None,
        "failures": 2,
    }
    assert main(asked) == 0


def test_what_is_declared_is_noted_once_and_when_it_changes(folder, rng):
    for settings in (["deadline = 10"], ["deadline = 10"], ["suspend_after = 3"], []):
        declare(folder, *settings)
        rules = make_curator(folder, rng).ledger.rules("people")
        assert rules.deadline == (10 if "deadline = 10" in settings else None)
        assert rules.suspend_after == (3 if "suspend_after = 3" in settings else 5)
    ledger = make_curator(folder, rng).ledger
    assert [entry.kind for entry in ledger.entries()].count(Kind.GATE) == 3
    ledger.verify()


# ---- The engine stops what is given up.


def start(engine: DuckDbEngine, plan, outcome: list[str]) -> threading.Thread:
    def run() -> None:
        for _ in range(2):
            try:
                engine.execute(plan, SALT, open_permit())
                outcome.append("done")
            except Exception as error:
                outcome.append(type(error).__name__)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_a_plan_is_interrupted_and_no_other_follows(folder, rng, monkeypatch):
    engine = DuckDbEngine()
    plan = make_plan(make_curator(folder, rng).catalog, SQL, engine=engine)
    bystander = threading.Thread()
    engine.interrupt(bystander)
    with monkeypatch.context() as patched:
        patched.setattr(duckdb_engine, "query", lambda *_: ENDLESS)
        outcome: list[str] = []
        thread = start(engine, plan, outcome)
        while thread.is_alive():  # the first call may come before the plan is running
            engine.interrupt(thread)
            thread.join(0.05)
    assert outcome[0] in ("InterruptException", "AnswerFailed")
    assert outcome[1] == "AnswerFailed"
    engine.execute(plan, SALT, open_permit())
    engine.close()


def test_an_endless_answer_fails_at_the_deadline_and_is_stopped(folder, rng, monkeypatch):
    time = FakeTime(monkeypatch, patience=0.3)
    curator = make_curator(folder, rng)
    monkeypatch.setattr(DuckDbEngine, "require_runnable", lambda *_: None)
    monkeypatch.setattr(duckdb_engine, "query", lambda *_: ENDLESS)
    with pytest.raises(AnswerFailed):
        answer(curator, SQL, terms=Pure(1), analyst="a")
    assert time.now == 10
    for thread in threading.enumerate():
        if thread.name == "discreet-work":
            curator.engine.interrupt(thread)
            thread.join(60)
            assert not thread.is_alive()
    assert [entry.kind for entry in curator.ledger.entries()][-2:] == [Kind.RESERVE, Kind.FAIL]
    curator.ledger.verify()
