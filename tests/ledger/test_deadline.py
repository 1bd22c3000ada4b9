"""Deadlines: whatever the work does, what can be seen of it happens at the same times."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest

from discreet.core import canonical as canonical_module
from discreet.core.errors import AnswerFailed, LedgerError, RefusedQuery
from discreet.core.loss import Pure
from discreet.ledger.budget import Budget
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.held_work import Timer
from discreet.ledger.ledger import Ledger
from discreet.ledger.releases import ReleaseSize, seal
from discreet.ledger.under_way import WORK, is_under_way
from tests.ledger.orders import RELEASE, new_ledger, order, tells_no_cause
from tests.support.projects.gate import pass_gate

DEADLINE = 10
BEGIN = 1000.0
SETTLED = BEGIN + 9
DUE = BEGIN + 10


def wait_for_work() -> None:
    """Let the threads behind the gate come to their end."""
    for thread in threading.enumerate():
        if thread.name == "discreet-work":
            thread.join(60)
            assert not thread.is_alive()


class FakeTime:
    """A clock that goes on only while somebody sleeps; sleeping lets the work finish, or not."""

    def __init__(self, *, is_quick: bool = True) -> None:
        self.now = BEGIN
        self.moments: list[float] = []
        self.is_quick = is_quick
        self.timer = Timer(clock=lambda: self.now, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        if self.is_quick:
            wait_for_work()
        self.now += seconds
        self.moments.append(self.now)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = new_ledger(tmp_path)
    ledger.set_rules(GateRules(id_space="people", deadline=DEADLINE))
    return ledger


def kinds(ledger: Ledger) -> list[str]:
    """What is in the ledger beside declarations."""
    found = [entry.kind.value for entry in ledger.entries()]
    return [kind for kind in found if kind not in ("budget", "gate")]


class Slow:
    """Work that ends only after the test says so."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.is_over = False

    def __call__(self) -> dict[str, Any]:
        self.go.wait(60)
        self.is_over = True
        return RELEASE

    def finish(self) -> None:
        self.go.set()
        wait_for_work()
        assert self.is_over


def fail() -> dict[str, Any]:
    raise ValueError("row 42 is Alice")


def leave() -> dict[str, Any]:
    raise GeneratorExit("row 42 is Alice")


def handed_over(
    ledger: Ledger, work: Callable[[], dict[str, Any]], time: FakeTime, **parts: Any
) -> float:
    """Ask, and return when the answer or the error came."""
    with suppress(AnswerFailed):
        pass_gate(ledger, order(Pure("0.1")), work, **({"timer": time.timer} | parts))
    return time.now


def settled(ledger: Ledger, work: Callable[[], dict[str, Any]], timer: Timer) -> list[float]:
    """Ask, and return when something about the ticket was written to the ledger."""
    moments = []
    write = type(ledger.store).write

    def note(self):
        moments.append(timer.clock())
        return write(self)

    with pytest.MonkeyPatch.context() as patched, suppress(AnswerFailed):
        patched.setattr(type(ledger.store), "write", note)
        pass_gate(ledger, order(Pure("0.1")), work, timer=timer)
    reserved, *others = moments
    assert reserved == BEGIN
    return others


# ---- When.


@pytest.mark.parametrize("work", [lambda: RELEASE, fail, leave, lambda: {"x": 0.5}])
def test_quick_work_is_handed_over_at_the_deadline(ledger, work, capfd):
    assert handed_over(ledger, work, FakeTime()) == DUE
    assert "Alice" not in "".join(capfd.readouterr())


def test_slow_work_fails_at_the_deadline(ledger):
    work = Slow()
    assert handed_over(ledger, work, FakeTime(is_quick=False)) == DUE
    assert not work.is_over
    work.finish()


@pytest.mark.parametrize("work", [fail, Slow()])
def test_a_failure_has_no_cause(ledger, work):
    with pytest.raises(AnswerFailed) as caught:
        pass_gate(ledger, order(), work, timer=FakeTime(is_quick=work is fail).timer)
    assert tells_no_cause(caught.value)
    if work is not fail:
        work.finish()


def test_a_sleep_that_ends_early_is_gone_on_with(ledger):
    time = FakeTime()

    def doze(seconds: float) -> None:
        time.sleep(min(seconds, 0.75))

    timer = Timer(clock=lambda: time.now, sleep=doze)
    assert handed_over(ledger, lambda: RELEASE, time, timer=timer) == DUE


@pytest.mark.parametrize("work", [lambda: RELEASE, fail])
def test_nothing_is_settled_before_its_time(ledger, work):
    """Whoever watches the ledger, or asks for the stored release, sees no duration either."""
    assert settled(ledger, work, FakeTime().timer) == [SETTLED]
    assert kinds(ledger) == ["reserve", "fail" if work is fail else "commit"]


def test_a_short_deadline_sets_a_tenth_aside(ledger):
    ledger.set_rules(GateRules(id_space="people", deadline="0.5"))
    time, moments = FakeTime(), []

    def note(seconds: float) -> None:
        time.sleep(seconds)
        moments.append(time.now - BEGIN)

    handed_over(ledger, lambda: RELEASE, time, timer=Timer(clock=lambda: time.now, sleep=note))
    assert moments == pytest.approx([0.45, 0.5])


def test_the_deadline_begins_with_the_charge(ledger, monkeypatch):
    time, reserve = FakeTime(), Ledger.reserve

    def slow_reserve(self, wanted, **how):
        time.now += 100
        return reserve(self, wanted, **how)

    monkeypatch.setattr(Ledger, "reserve", slow_reserve)
    assert handed_over(ledger, lambda: RELEASE, time) == DUE + 100


def declared_meanwhile(monkeypatch, deadlines: list[Any]) -> None:
    """Let the owner declare other deadlines, each right before a charge."""
    reserve = Ledger.reserve

    def late(self, wanted, **how):
        if deadlines:
            rules = GateRules(id_space="people", deadline=deadlines.pop(0))
            Ledger(self.store).set_rules(rules)
        return reserve(self, wanted, **how)

    monkeypatch.setattr(Ledger, "reserve", late)


@pytest.mark.parametrize(
    ("deadlines", "due"),
    [([20], 20), ([None], 0), ([None, 30], 30), ([20, None, 5], 5), ([None, 20, None], 0)],
)
def test_the_deadline_that_is_in_force_at_the_charge_holds(ledger, monkeypatch, deadlines, due):
    """Also if it was declared after the question was looked at, or after the last one."""
    time = FakeTime()
    declared_meanwhile(monkeypatch, deadlines)
    assert handed_over(ledger, lambda: RELEASE, time) == BEGIN + due
    assert kinds(ledger) == ["reserve", "commit"]
    time = FakeTime()
    Ledger(ledger.store).set_rules(GateRules(id_space="people", deadline=7))
    assert handed_over(ledger, lambda: RELEASE, time) == BEGIN + 7
    assert not is_under_way(WORK)


def test_what_the_new_deadline_is_too_short_for_is_refused_before_the_charge(ledger, monkeypatch):
    ledger.set_rules(GateRules(id_space="people"))
    size = ReleaseSize(40_000_000, 2_000_000)
    pass_gate(ledger, order(Pure("0.1")), lambda: RELEASE, size=lambda: size)
    declared_meanwhile(monkeypatch, [DEADLINE])
    with pytest.raises(RefusedQuery, match="too large for its deadline"):
        pass_gate(ledger, order(), lambda: RELEASE, size=lambda: size)
    assert kinds(ledger) == ["reserve", "commit"]


def test_an_order_in_two_id_spaces_waits_for_the_longer_deadline(ledger):
    for name, deadline in (("shops", 30), ("parks", None)):
        ledger.declare(Budget(name, Pure(3)))
        ledger.set_rules(GateRules(id_space=name, deadline=deadline))
    time = FakeTime()
    both = order(Pure(1), spaces=("people", "parks", "shops"))
    pass_gate(ledger, both, lambda: RELEASE, timer=time.timer)
    assert time.now == BEGIN + 30
    assert ledger.deadline(order(spaces=("parks",))) is None


def test_a_refusal_is_immediate(ledger):
    time = FakeTime()
    with pytest.raises(Exception, match="cannot pay"):
        pass_gate(ledger, order(Pure(9)), lambda: RELEASE, timer=time.timer)
    assert time.now == BEGIN


# ---- What.


def test_quick_work_is_released_and_stored(ledger):
    release, receipt = pass_gate(ledger, order(), lambda: RELEASE, timer=FakeTime().timer)
    assert release == RELEASE
    assert ledger.find_release("plan", 1) == (RELEASE, receipt)
    assert kinds(ledger) == ["reserve", "commit"]
    ledger.verify(receipt)


def test_late_work_is_charged_counted_interrupted_and_never_released(ledger):
    work = Slow()
    stopped: list[threading.Thread] = []
    handed_over(ledger, work, FakeTime(is_quick=False), interrupt=stopped.append)
    assert [thread.name for thread in stopped] == ["discreet-work"]
    work.finish()
    assert kinds(ledger) == ["reserve", "fail"]
    assert ledger.find_release("plan", 1) is None
    assert ledger.spent("people") == Pure("0.1")
    assert ledger.failures("people") == 1
    ledger.verify()


def test_work_that_was_in_time_is_not_interrupted(ledger):
    stopped: list[threading.Thread] = []
    handed_over(ledger, lambda: RELEASE, FakeTime(), interrupt=stopped.append)
    assert stopped == []


def test_an_interrupt_that_fails_changes_nothing(ledger):
    work = Slow()

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("row 42 is Alice")

    assert handed_over(ledger, work, FakeTime(is_quick=False), interrupt=refuse) == DUE
    assert kinds(ledger) == ["reserve", "fail"]
    work.finish()


def test_a_release_is_not_committed_after_the_deadline(ledger, monkeypatch):
    """The ledger was busy: the release is taken back inside its transaction, and has failed."""
    time, write = FakeTime(), type(ledger.store).write
    writes = []

    def busy(self):
        writes.append(time.now)
        if len(writes) == 2:
            time.now += 5
        return write(self)

    monkeypatch.setattr(type(ledger.store), "write", busy)
    with pytest.raises(AnswerFailed):
        pass_gate(ledger, order(), lambda: RELEASE, timer=time.timer)
    assert writes == [BEGIN, SETTLED, SETTLED + 5]
    assert kinds(ledger) == ["reserve", "fail"]
    assert ledger.find_release("plan", 1) is None
    ledger.verify()


@pytest.mark.parametrize("name", ["discreet-flight", "discreet-work"])
def test_a_machine_without_threads_refuses_before_the_charge(ledger, monkeypatch, name):
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(LedgerError, match=r"no more threads\. Nothing was spent"):
        pass_gate(ledger, order(), lambda: RELEASE, timer=FakeTime().timer)
    assert kinds(ledger) == []


def test_the_order_of_events_on_a_real_clock(ledger):
    ledger.set_rules(GateRules(id_space="people", deadline="0.2"))
    events, may_end = [], threading.Event()

    def work() -> dict[str, Any]:
        events.append("work begins")
        may_end.wait(60)
        events.append("work ends")
        return RELEASE

    with pytest.raises(AnswerFailed):
        pass_gate(ledger, order(), work, interrupt=lambda _: events.append("interrupted"))
    events.append("handed over")
    may_end.set()
    wait_for_work()
    assert events == ["work begins", "interrupted", "handed over", "work ends"]
    assert kinds(ledger) == ["reserve", "fail"]
    ledger.verify()


# ---- Broken twins: gates that show how long the work took.


class Impatient(Timer):
    """Does not wait."""

    def wait_until(self, moment: float) -> None:
        wait_for_work()


class WaitsOnce(Timer):
    """Hands over when the settlement is written."""

    def wait_until(self, moment: float) -> None:
        if moment < DUE:
            super().wait_until(moment)


@pytest.mark.parametrize("twin", [Impatient, WaitsOnce])
@pytest.mark.parametrize("work", [lambda: RELEASE, fail])
def test_a_gate_that_hands_over_early_is_caught(ledger, twin, work):
    time = FakeTime()
    timer = twin(clock=time.timer.clock, sleep=time.timer.sleep)
    with pytest.raises(AssertionError):
        assert handed_over(ledger, work, time, timer=timer) == DUE


class SettlesAtOnce(Timer):
    """Hands over in time, but the ledger shows how long the work took."""

    def wait_until(self, moment: float) -> None:
        if moment < DUE:
            wait_for_work()
        else:
            super().wait_until(moment)


def test_a_gate_that_settles_when_the_work_is_done_is_caught(ledger):
    time = FakeTime()
    timer = SettlesAtOnce(clock=time.timer.clock, sleep=time.timer.sleep)
    assert handed_over(ledger, lambda: RELEASE, time, timer=timer) == DUE
    time.now = BEGIN
    with pytest.raises(AssertionError):
        assert settled(ledger, lambda: RELEASE, timer) == [SETTLED]


# ---- Large releases: what takes longer for a longer release is work, not settlement.


def encoding_takes(monkeypatch, time: FakeTime, seconds: float) -> None:
    """Let the clock go on while a release is written out by anybody but the work."""
    require_exact = canonical_module._require_exact

    def slow(value: Any) -> None:
        if isinstance(value, dict) and "rows" in value and current_thread().name != WORK:
            time.now += seconds
        require_exact(value)

    monkeypatch.setattr(canonical_module, "_require_exact", slow)


def test_a_release_that_is_slow_to_write_out_is_handed_over_at_the_deadline(ledger, monkeypatch):
    time = FakeTime()
    encoding_takes(monkeypatch, time, 5)
    release, _ = pass_gate(ledger, order(), lambda: RELEASE, timer=time.timer)
    assert (release, time.now) == (RELEASE, DUE)


def test_a_gate_that_writes_out_what_it_settles_is_caught(ledger, monkeypatch):
    """The twin is late if the work was done, and on time if it was not."""
    time = FakeTime()
    encoding_takes(monkeypatch, time, 5)

    def encode_again(self, ticket, sealed, *, is_late):
        receipt = type(self).commit(self, ticket, sealed.body)
        if is_late():
            raise LedgerError("too late")
        return receipt

    twin = Ledger.commit_sealed
    monkeypatch.setattr(Ledger, "commit", lambda *args: twin(args[0], args[1], seal(args[2])))
    monkeypatch.setattr(Ledger, "commit_sealed", encode_again)
    with pytest.raises(AssertionError):
        assert handed_over(ledger, lambda: RELEASE, time) == DUE
    assert handed_over(ledger, fail, late := FakeTime()) == late.now == DUE


def test_time_is_set_aside_for_the_largest_release_that_can_be(ledger):
    """Also if the release is small, or there is none: its size must not be seen."""
    size = ReleaseSize(20_100_000, 1000)
    for work in (lambda: RELEASE, fail):
        time = FakeTime()
        with suppress(AnswerFailed):
            pass_gate(ledger, order(), work, size=lambda: size, timer=time.timer)
        assert time.moments == pytest.approx([SETTLED - 2, DUE])


def test_what_cannot_be_written_down_in_time_is_refused_before_the_charge(ledger):
    """The old gate charged for it, and could never answer."""
    size = ReleaseSize(40_000_000, 2_000_000)
    with pytest.raises(RefusedQuery) as caught:
        pass_gate(ledger, order(), lambda: RELEASE, size=lambda: size, timer=FakeTime().timer)
    assert str(caught.value) == (
        "The answer can be too large for its deadline. It must be made and written down in half of"
        " 10 s; got up to 2,000,000 cells and 40,000,000 bytes. Nothing was spent. Group by fewer"
        " keys, or have a deadline of 28 s or more declared."
    )
    assert kinds(ledger) == []
    ledger.set_rules(GateRules(id_space="people", deadline=28))
    pass_gate(ledger, order(), lambda: RELEASE, size=lambda: size, timer=FakeTime().timer)
    ledger.set_rules(GateRules(id_space="people"))
    pass_gate(ledger, order(), lambda: RELEASE, size=lambda: size)


def test_a_release_that_is_larger_than_its_plan_can_make_fails(ledger):
    with pytest.raises(AnswerFailed):
        pass_gate(
            ledger, order(), lambda: RELEASE, size=lambda: ReleaseSize(20), timer=FakeTime().timer
        )
    assert kinds(ledger) == ["reserve", "fail"]
