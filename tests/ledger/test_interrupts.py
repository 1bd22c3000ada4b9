"""Ctrl-C at every step: what was charged is said, and settled as if nobody had pressed a key."""

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.cli import interrupting
from discreet.cli import main as command
from discreet.cli.command import CommandResult
from discreet.core.interrupts import Interrupted
from discreet.core.loss import Pure
from discreet.ledger.chain import Kind
from discreet.ledger.gate import Flight
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.held_work import Timer
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_transaction import SqliteTransaction
from discreet.ledger.under_way import WORK, finish_flights
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.forked import Ended, forked
from tests.support.projects.gate import pass_gate

COST = Pure("1/4")
TOO_MUCH = Pure(10**6)

BEFORE = ("before the gate", "before the flight begins")
CHARGED = (
    "before the reserve",
    "inside the reserve",
    "after the reserve",
    "during work",
    "before the settlement",
    "inside the settlement",
    "after the settlement",
    "when the answer is there",
    "after the gate",
)
WAITING = ("before the settlement is due", "before the answer is due")
"""Steps that only a deadline has."""

UNCHANGED = "Interrupted before the charge. Nothing was spent."
SPENT = "Interrupted after the charge: ε = 0.25 of 'people' is spent."


class Trial:
    """One question on the command line, and a key that is pressed at one step."""

    def __init__(self, ledger: Ledger, step: str, plan: str, patch: pytest.MonkeyPatch) -> None:
        self.ledger, self.step, self.plan, self.patch = ledger, step, plan, patch
        self.has_left, self.is_staying = threading.Event(), threading.Event()
        self.is_failing, self.cost = False, COST
        self.now = 0.0

    def reach(self, step: str) -> None:
        """Press the key, if this is the step; another thread then waits until it was felt."""
        if step != self.step:
            return
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        if threading.current_thread() is not threading.main_thread():
            assert self.has_left.wait(60)

    def work(self) -> dict[str, Any]:
        self.reach("during work")
        if self.is_failing:
            raise ValueError("row 42 is Alice")
        return RELEASE

    def sleep(self, seconds: float) -> None:
        for thread in threading.enumerate():
            if thread.name == WORK:
                thread.join(60)
        waits = WAITING[0] if self.now == 0 else WAITING[1]
        self.reach(waits)
        self.now += seconds

    def run(self, _: object) -> CommandResult:
        self.reach("before the gate")
        timer = Timer(clock=lambda: self.now, sleep=self.sleep)
        asked = order(self.cost, plan=self.plan)
        pass_gate(self.ledger, asked, self.work, timer=timer)
        self.reach("after the gate")
        return CommandResult("answered", {})

    def __call__(self) -> int:
        self.around(Flight, "start", before="before the flight begins")
        self.around(Ledger, "reserve", before="before the reserve", after="after the reserve")
        settles = {"before": "before the settlement", "after": "after the settlement"}
        self.around(Ledger, "fail" if self.is_failing else "commit_sealed", **settles)
        self.around(Flight, "_settled", after="when the answer is there")
        self.around(Flight, "leave", notes=self.has_left)
        self.around(interrupting, "finish_flights", notes=self.is_staying)
        self.patch.setattr(SqliteTransaction, "append", self.appending(SqliteTransaction.append))
        module = SimpleNamespace(configure=lambda _: None, run=self.run)
        self.patch.setattr(command, "load", lambda _: module)
        return command.main(["query"])

    def around(self, owner: Any, name: str, before="", after="", notes=None) -> None:
        function = getattr(owner, name)

        def wrapped(*args: Any, **parts: Any) -> Any:
            if notes is not None:
                notes.set()
            self.reach(before)
            result = function(*args, **parts)
            self.reach(after)
            return result

        self.patch.setattr(owner, name, wrapped)

    def appending(self, append: Callable[..., Any]) -> Callable[..., Any]:
        def appended(transaction: SqliteTransaction, kind: Kind, payload: dict[str, Any]) -> Any:
            entry = append(transaction, kind, payload)
            self.reach("inside the reserve" if kind is Kind.RESERVE else "inside the settlement")
            return entry

        return appended


@pytest.fixture(params=[None, 10], ids=["no deadline", "deadline"])
def ledger(tmp_path: Path, request: pytest.FixtureRequest) -> Ledger:
    ledger = new_ledger(tmp_path, Pure(1000))
    rules = GateRules(id_space="people", deadline=request.param, suspend_after=1000)
    ledger.set_rules(rules)
    return ledger


def steps(ledger: Ledger) -> tuple[str, ...]:
    return CHARGED + (WAITING if ledger.rules("people").deadline else ())


def settled(ledger: Ledger, since: int) -> list[Kind]:
    """What happened to the ticket of a trial."""
    found = [entry.kind for entry in ledger.entries()[since:]]
    assert found.count(Kind.RESERVE) <= 1
    return found


def test_before_the_charge_it_costs_nothing(ledger, tmp_path, monkeypatch):
    since = len(ledger.entries())
    for step in BEFORE:
        ended = forked(Trial(ledger, step, step, monkeypatch), tmp_path)
        assert ended == Ended(130, f"discreet: {UNCHANGED} [interrupted]\n")
    assert settled(ledger, since) == []


@pytest.mark.parametrize("is_failing", [False, True], ids=["answered", "failed"])
def test_after_the_charge_it_is_settled_as_if_nobody_had_pressed(
    ledger, tmp_path, monkeypatch, is_failing, soak
):
    """The same words and the same end at every step, whatever the work does."""
    said, begin = set(), ledger.spent("people")
    for number in range(soak.cases(1)):
        for step in steps(ledger):
            since = len(ledger.entries())
            trial = Trial(ledger, step, f"{step} {number} {is_failing}", monkeypatch)
            trial.is_failing = is_failing
            if is_failing and step == "after the gate":
                continue  # an error comes out of the gate instead
            ended = forked(trial, tmp_path)
            assert ended.status == 130, (step, ended)
            assert ended.said.startswith(f"discreet: {SPENT} The work goes on"), step
            end = Kind.FAIL if is_failing else Kind.COMMIT
            assert settled(ledger, since) == [Kind.RESERVE, end], step
            assert (ledger.find_release(trial.plan, 1) is None) == is_failing
            said.add(ended.said)
    assert len(said) == 1, "how it ends tells nothing"
    assert "press Ctrl-C again" in said.pop()
    assert ledger.failures("people") == (len(steps(ledger)) - 1 if is_failing else 0)
    assert ledger.spent("people") != begin
    ledger.verify()


def test_the_same_question_then_finds_the_answer(ledger, tmp_path, monkeypatch):
    forked(Trial(ledger, "during work", "plan", monkeypatch), tmp_path)
    found = ledger.find_release("plan", 1)
    assert found is not None
    assert found[0] == RELEASE
    assert ledger.spent("people") == COST


def test_a_refusal_that_meets_an_interrupt_costs_nothing(ledger, tmp_path, monkeypatch):
    trial = Trial(ledger, "before the reserve", "plan", monkeypatch)
    trial.cost = TOO_MUCH
    ended = forked(trial, tmp_path)
    assert (ended.status, UNCHANGED in ended.said) == (130, True)
    assert ledger.spent("people") == Pure(0)


def test_the_second_press_leaves_at_once(ledger, tmp_path, monkeypatch):
    """The ticket stays open: it counts when its time is over, and there is no second run."""
    since = len(ledger.entries())
    trial = Trial(ledger, "twice", "plan", monkeypatch)

    def endless() -> dict[str, Any]:
        press = signal.pthread_kill
        press(threading.main_thread().ident or 0, signal.SIGINT)
        assert trial.is_staying.wait(60)
        press(threading.main_thread().ident or 0, signal.SIGINT)
        threading.Event().wait()
        return RELEASE

    monkeypatch.setattr(trial, "work", endless)
    ended = forked(trial, tmp_path)
    assert ended.status == 130
    assert SPENT in ended.said
    assert "left before the end; what was charged stays" in ended.said
    assert settled(ledger, since) == [Kind.RESERVE]
    ledger.verify()


def test_a_library_raises_it_to_the_caller_and_settles_in_the_background(ledger, monkeypatch):
    may_end = threading.Event()

    def work() -> dict[str, Any]:
        may_end.wait(60)
        return RELEASE

    def pressed(self: Flight) -> None:
        self._decided.wait()
        raise KeyboardInterrupt

    def doze(_: float) -> None:
        may_end.wait(60)

    timer = Timer(clock=lambda: float(may_end.is_set()) * 100, sleep=doze)
    with monkeypatch.context() as patched:
        patched.setattr(Flight, "outcome", pressed)
        with pytest.raises(KeyboardInterrupt) as caught:
            pass_gate(ledger, order(COST), work, timer=timer)
    assert isinstance(caught.value, Interrupted)
    assert (caught.value.spent, caught.value.code) == ("ε = 0.25 of 'people'", "interrupted")
    assert caught.value.to_json()["error"]["what"] in str(caught.value)
    may_end.set()
    finish_flights()
    assert ledger.spent("people") == COST
    assert len(ledger.entries()) == 4


def test_what_another_signal_raises_leaves_too(ledger, monkeypatch):
    def ended(self: Flight) -> None:
        raise SystemExit(7)

    with monkeypatch.context() as patched:
        patched.setattr(Flight, "start", ended)
        with pytest.raises(SystemExit):
            pass_gate(ledger, order(COST), lambda: pytest.fail("work was run"))
    assert ledger.spent("people") == Pure(0)


def test_json_says_it_in_the_form_of_errors(capsys, monkeypatch):
    def run(_: object) -> None:
        raise KeyboardInterrupt

    module = SimpleNamespace(configure=lambda _: None, run=run)
    monkeypatch.setattr(command, "load", lambda _: module)
    assert command.main(["query", "--json"]) == 130
    assert '"code": "interrupted"' in capsys.readouterr().out
