"""One question, one charge: who asks what is being answered waits for it, and pays nothing."""

import fcntl
import os
import signal
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import AnswerFailed
from discreet.core.interrupts import Interrupted
from discreet.core.loss import Pure
from discreet.ledger.chain import Kind
from discreet.ledger.failures import GRACE
from discreet.ledger.gate import Flight
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.joining import LONGEST_JOIN, Joined, Presence, joinable
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Ticket
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate

RACERS = 8
QUARTER = Pure("1/4")
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


class Clock:
    """The time of day, which the test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Room:
    """Work that ends when everybody who asks has found out that it is under way."""

    def __init__(self, waiters: int) -> None:
        self.waiters, self.joined, self.runs = waiters, 0, 0
        self.lock, self.is_full = threading.Lock(), threading.Event()

    def enter(self) -> None:
        with self.lock:
            self.joined += 1
            if self.joined == self.waiters:
                self.is_full.set()

    def work(self) -> dict[str, Any]:
        self.runs += 1
        assert self.is_full.wait(60)
        return RELEASE

    def fail(self) -> dict[str, Any]:
        self.work()
        raise ValueError("row 42 is Alice")


@pytest.fixture
def room(monkeypatch) -> Room:
    """A room that sees who joins."""
    room = Room(RACERS - 1)
    join = Ledger.join_or_reserve

    def noted(self, *asked, **how):
        found = join(self, *asked, **how)
        if isinstance(found, Joined):
            room.enter()
        return found

    monkeypatch.setattr(Ledger, "join_or_reserve", noted)
    return room


def ask_together(ledger: Ledger, work, loss: Pure = QUARTER) -> list[Any]:
    """Ask the same question in several threads; return what each of them got."""
    found: list[Any] = []

    def ask(number: int) -> None:
        try:
            mine = order(loss, analyst=f"analyst {number}")
            found.append(pass_gate(ledger, mine, work, joins=True))
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(RACERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.entries() if entry.kind is not Kind.BUDGET]


def test_threads_that_ask_at_once_pay_once(ledger, room):
    found = ask_together(ledger, room.work)
    assert [answer.release for answer in found] == [RELEASE] * RACERS
    assert len({answer.receipt.ticket.number for answer in found}) == 1
    assert sorted(answer.is_joined for answer in found) == [False] + [True] * (RACERS - 1)
    assert (kinds(ledger), room.runs) == (["reserve", "commit"], 1)
    assert ledger.spent("people") == Pure("1/4")
    ledger.verify()


def test_its_failure_counts_once_and_everybody_gets_it(ledger, room):
    found = ask_together(ledger, room.fail)
    told = sorted(str(error) for error in found)
    waited = str(AnswerFailed(is_joined=True))
    assert told == sorted([str(AnswerFailed()), *[waited] * (RACERS - 1)])
    assert "you were charged nothing" in waited
    assert all(error.__cause__ is error.__context__ is None for error in found)
    assert (kinds(ledger), ledger.failures("people")) == (["reserve", "fail"], 1)
    assert len(ask_together(ledger, lambda: RELEASE)) == RACERS, "asking again pays again"
    assert kinds(ledger)[2:4] == ["reserve", "commit"]


def test_with_a_deadline_those_who_wait_see_it_when_it_is_settled(ledger, room):
    ledger.set_rules(GateRules(id_space="people", deadline="1.5"))
    found = ask_together(ledger, room.work)
    assert [answer.release for answer in found] == [RELEASE] * RACERS
    assert kinds(ledger) == ["gate", "reserve", "commit"]


def test_processes_that_ask_at_once_pay_once(ledger, tmp_path):
    """Whichever comes first; the others find it open, or answered."""
    begin, go = os.pipe()

    def be_child(number: int) -> None:
        with suppress(BaseException):
            os.read(begin, 1)
            mine = order(Pure("1/4"), analyst=f"analyst {number}")
            answer = pass_gate(ledger, mine, lambda: {"process": number}, joins=True)
            (tmp_path / f"{number}.said").write_text(str(answer.release), encoding="utf-8")
        os._exit(0)

    children = []
    for number in range(RACERS):
        child = os.fork()
        if child == 0:
            be_child(number)
        children.append(child)
    os.write(go, b"x" * RACERS)
    for child in children:
        os.waitpid(child, 0)
    said = [file.read_text(encoding="utf-8") for file in tmp_path.glob("*.said")]
    assert len(said) == RACERS
    assert len(set(said)) == 1
    assert kinds(ledger) == ["reserve", "commit"]


@pytest.mark.parametrize(
    "other",
    [
        {"loss": Pure("1/2")},
        {"plan": "another"},
        {"version": 2},
    ],
)
def test_only_an_equal_order_is_joined(ledger, other):
    first = ledger.join_or_reserve(order())
    assert isinstance(ledger.join_or_reserve(order(**other)), Ticket)
    joined = ledger.join_or_reserve(order(analyst="bob"))
    assert isinstance(joined, Joined)
    assert joined.number == first.number


def test_a_fresh_answer_is_always_paid_for(ledger):
    ledger.join_or_reserve(order())
    assert isinstance(ledger.reserve(order()), Ticket)
    pass_gate(ledger, order(), lambda: RELEASE)
    assert ledger.spent("people") == Pure(3)


def test_an_answer_that_came_meanwhile_is_joined(ledger):
    """Between the look for a stored release and the charge, another process may have answered."""
    first, _ = pass_gate(ledger, order(), lambda: RELEASE)
    again = pass_gate(ledger, order(), lambda: pytest.fail("work was run"), joins=True)
    assert (again.release, again.is_joined) == (first, True)
    assert ledger.spent("people") == Pure(1)


@pytest.mark.parametrize(("deadline", "wait"), [(None, LONGEST_JOIN), (10, 10 + GRACE)])
def test_what_was_abandoned_is_paid_for_by_one_of_those_who_wait(tmp_path, deadline, wait):
    """The process that paid was killed: its ticket stays open, and its time goes by."""
    clock = Clock()
    ledger = Ledger(new_ledger(tmp_path).store, now=clock)
    ledger.set_rules(GateRules(id_space="people", deadline=deadline))
    ledger.reserve(order())
    clock.now = NOON + timedelta(seconds=wait)
    joined = ledger.join_or_reserve(order())
    assert isinstance(joined, Joined)
    assert joined.until == clock.now
    clock.now += timedelta(seconds=1)
    assert isinstance(ledger.join_or_reserve(order()), Ticket)
    assert isinstance(ledger.join_or_reserve(order()), Joined), "the others join the new one"


def test_who_waits_for_what_is_abandoned_pays(tmp_path, monkeypatch):
    clock = Clock()
    ledger = Ledger(new_ledger(tmp_path).store, now=clock)
    ledger.reserve(order())
    ledger.presence(order()).enter()
    look = Ledger.settlement_of

    def hour_passes(self, number):
        clock.now += timedelta(hours=1)
        return look(self, number)

    monkeypatch.setattr(Ledger, "settlement_of", hour_passes)
    answer = pass_gate(ledger, order(), lambda: RELEASE, joins=True)
    assert (answer.release, answer.is_joined) == (RELEASE, False)
    assert ledger.spent("people") == Pure(2)
    ledger.verify()


def test_who_leaves_while_waiting_pays_nothing(ledger, monkeypatch):
    somebody = ledger.presence(order(analyst="bob"))
    somebody.enter()
    ledger.reserve(order())
    waits, look = threading.Event(), Ledger.settlement_of

    def looked(self, number):
        waits.set()
        return look(self, number)

    def pressed(_: Flight) -> None:
        waits.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "settlement_of", looked)
    monkeypatch.setattr(Flight, "outcome", pressed)
    with pytest.raises(Interrupted, match="Nothing was spent"):
        pass_gate(ledger, order(), lambda: pytest.fail("work was run"), joins=True)
    assert kinds(ledger) == ["reserve"]


def test_a_gate_that_looks_before_it_charges_is_caught(ledger, room, monkeypatch):
    """The twin decides outside the transaction: all of them find nothing, and all pay."""
    together = threading.Barrier(RACERS)

    def look_first(self, asked, _, **how):
        with self._read() as snapshot:
            found = joinable(snapshot.latest, asked, self.now())
        together.wait(60)
        return found or self.reserve(asked, **how)

    monkeypatch.setattr(Ledger, "join_or_reserve", look_first)
    room.is_full.set()
    ask_together(ledger, room.work)
    assert kinds(ledger).count("reserve") == RACERS


def test_the_questions_of_a_store_that_fails_are_refused(ledger, tmp_path, monkeypatch):
    """An error while somebody waits is no answer, and nothing is charged."""
    ledger.reserve(order())

    def broken(self, number):
        raise OSError("disk")

    monkeypatch.setattr(Ledger, "settlement_of", broken)
    with pytest.raises(OSError, match="disk"):
        pass_gate(ledger, order(), lambda: RELEASE, joins=True)
    assert Path(tmp_path).exists()
    assert kinds(ledger) == ["reserve"]


# ---- Presence.


def die() -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return RELEASE


def die_at_work(ledger: Ledger) -> None:
    """Pay in a process that is killed while it works."""
    child = os.fork()
    if child == 0:
        pass_gate(ledger, order(), die)
    os.waitpid(child, 0)


def test_who_waits_for_a_process_that_was_killed_pays_at_once(ledger):
    die_at_work(ledger)
    assert kinds(ledger) == ["reserve"]
    found = ask_together(ledger, lambda: RELEASE, loss=Pure(1))
    assert [answer.release for answer in found] == [RELEASE] * RACERS
    assert kinds(ledger) == ["reserve", "reserve", "commit"], "one of them pays"
    ledger.verify()


def test_presence_is_seen_by_others_and_ends(ledger):
    mine, other = ledger.presence(order()), ledger.presence(order(analyst="bob"))
    elsewhere = ledger.presence(order(plan="another"))
    assert other.is_nobody_there()
    mine.enter()
    assert [one.is_nobody_there() for one in (mine, other, elsewhere)] == [False, False, True]
    other.enter()
    mine.leave()
    mine.leave()
    assert not mine.is_nobody_there()
    other.leave()
    assert mine.is_nobody_there()


def test_where_presence_cannot_be_told_nobody_is_known_to_be_gone(tmp_path, monkeypatch):
    for place in (None, tmp_path / "nowhere" / "ledger"):
        presence = Presence(place, {})
        presence.enter()
        assert not presence.is_nobody_there()
        presence.leave()
    monkeypatch.setattr(fcntl, "fcntl", fail_to_lock)
    presence = Presence(tmp_path / "ledger", {})
    presence.enter()
    assert not presence.is_nobody_there()


def fail_to_lock(*_: object) -> None:
    raise OSError("no locks available")
