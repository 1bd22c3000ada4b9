"""Repeated failures suspend an id space: counted in the chain, checked before the charge."""

import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import AnswerFailed, BudgetError, InvalidArgument, LedgerError, Suspended
from discreet.core.loss import Pure
from discreet.ledger import books
from discreet.ledger.books import totals_after
from discreet.ledger.budget import Budget
from discreet.ledger.chain import Kind
from discreet.ledger.failures import GRACE, LONGEST_WORK, OpenTickets
from discreet.ledger.gate_rules import LONGEST_DEADLINE, SUSPEND_AFTER, GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Ticket
from discreet.ledger.sqlite_store import create_sqlite
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate

CHEAP = Pure("1/100")
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)


class Clock:
    """The time of day, as the test wants it."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def go_on(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    new_ledger(tmp_path).declare(Budget("shops", Pure(3)))
    return Ledger(create_sqlite(tmp_path / "ledger.sqlite"), now=clock)


def broken_work():
    raise ValueError("row 42 is Alice")


def ask(ledger: Ledger, work=lambda: RELEASE, **parts):
    return pass_gate(ledger, order(CHEAP, **parts), work)


def fail(ledger: Ledger, times: int = 1, **parts) -> None:
    for _ in range(times):
        with pytest.raises(AnswerFailed):
            ask(ledger, broken_work, **parts)


def assert_suspended(ledger: Ledger, **parts) -> None:
    spent = ledger.spent("people")
    with pytest.raises(Suspended):
        ask(ledger, lambda: pytest.fail("work was run"), **parts)
    assert ledger.spent("people") == spent


# ---- The rule.


def test_failures_suspend_before_the_charge_whoever_asks(ledger):
    fail(ledger, SUSPEND_AFTER - 1, analyst="eve")
    ask(ledger, analyst="ann")
    fail(ledger, analyst="bob")
    for analyst in ("eve", "ann", "somebody new"):
        assert_suspended(ledger, analyst=analyst)
    assert ledger.failures("people") == SUSPEND_AFTER == 5
    ledger.verify()


def test_the_refusal_says_what_to_do(ledger):
    fail(ledger, 5)
    with pytest.raises(Suspended) as caught:
        ask(ledger)
    assert isinstance(caught.value, BudgetError)
    assert caught.value.code == "suspended"
    assert str(caught.value) == (
        "Questions about 'people' are suspended. It must have fewer than 5 failed answers since "
        "the owner last resumed them. Nothing was spent. The owner looks for the cause, and then "
        "runs 'discreet resume people'."
    )


def test_what_was_released_is_still_there_and_other_people_are_not_suspended(ledger):
    release, receipt = ask(ledger)
    fail(ledger, 5)
    assert ledger.find_release("plan", 1) == (release, receipt)
    ask(ledger, spaces=("shops",))
    assert_suspended(ledger, spaces=("shops", "people"))
    ledger.verify(receipt)


def test_a_failure_counts_in_every_id_space_that_it_touched(ledger):
    fail(ledger, 3, spaces=("people", "shops"))
    fail(ledger, 2)
    assert (ledger.failures("people"), ledger.failures("shops")) == (5, 3)
    fail(ledger, 2, spaces=("shops",))
    assert_suspended(ledger, spaces=("shops",))
    ledger.verify()


def test_the_owner_resumes_and_the_count_begins_again(ledger):
    fail(ledger, 5)
    spent = ledger.spent("people")
    assert ledger.resume("people") == 5
    assert ledger.failures("people") == 0
    assert ledger.spent("people") == spent, "failures are forgiven, charges are not"
    ask(ledger)
    fail(ledger, 5)
    assert_suspended(ledger)
    ledger.verify()


def test_resuming_one_id_space_resumes_no_other(ledger):
    fail(ledger, 5, spaces=("people", "shops"))
    ledger.resume("shops")
    ask(ledger, spaces=("shops",))
    assert_suspended(ledger)
    ledger.verify()


def test_only_a_declared_id_space_is_resumed(ledger):
    for use in (ledger.resume, ledger.failures, ledger.rules):
        with pytest.raises(BudgetError, match="No budget is declared"):
            use("nobody")


def test_the_owner_declares_the_limit(ledger):
    rules = GateRules(id_space="people", suspend_after=2)
    ledger.set_rules(rules)
    ledger.set_rules(rules)
    assert ledger.rules("people") == rules
    assert [entry.kind for entry in ledger.entries()].count(Kind.GATE) == 1
    fail(ledger, 2)
    assert_suspended(ledger)
    ledger.set_rules(GateRules(id_space="people", suspend_after=3))
    fail(ledger)
    assert_suspended(ledger)
    ledger.verify()


def test_the_usual_rules_need_no_entry(ledger):
    ledger.set_rules(GateRules(id_space="people"))
    assert Kind.GATE not in [entry.kind for entry in ledger.entries()]


@pytest.mark.parametrize(
    "parts",
    [
        {"suspend_after": 0},
        {"suspend_after": "1/2"},
        {"deadline": 0},
        {"deadline": -1},
        {"deadline": LONGEST_DEADLINE + 1},
        {"id_space": ""},
    ],
)
def test_rules_outside_their_range_are_refused(parts):
    with pytest.raises(InvalidArgument):
        GateRules(**({"id_space": "people"} | parts))


def test_rules_of_a_later_version_are_refused_with_a_word(ledger):
    with ledger.store.write() as transaction:
        transaction.append(Kind.GATE, {"id_space": "people", "patience": 3})
    with pytest.raises(LedgerError, match=r"does not know\. Got patience"):
        ledger.rules("people")


# ---- Tickets that were never settled.


def test_tickets_in_flight_do_not_count(ledger, clock):
    ledger.set_rules(GateRules(id_space="people", most_in_flight=21))
    tickets = [ledger.reserve(order(CHEAP)) for _ in range(20)]
    clock.go_on(LONGEST_WORK)
    ask(ledger)
    for ticket in tickets:
        ledger.commit(ticket, RELEASE)
    assert ledger.failures("people") == 0
    ledger.verify()


def test_a_killed_process_counts_once_no_answer_takes_so_long(ledger, clock):
    tickets = [ledger.reserve(order(CHEAP)) for _ in range(2)]
    fail(ledger, 3)
    clock.go_on(LONGEST_WORK)
    ask(ledger)
    clock.go_on(1)
    assert ledger.failures("people") == 5
    assert_suspended(ledger)
    # One of them was only slow.
    ledger.commit(tickets[1], RELEASE)
    ask(ledger)
    # The other notes its failure late: it is one failure, not two.
    ledger.fail(tickets[0])
    assert ledger.failures("people") == 4
    ledger.verify()


def test_with_a_deadline_a_killed_process_counts_soon(ledger, clock):
    ledger.set_rules(GateRules(id_space="people", suspend_after=1, deadline="2.5"))
    ledger.reserve(order(CHEAP))
    clock.go_on(2 + GRACE)
    ledger.reserve(order(CHEAP))
    clock.go_on(1)
    with pytest.raises(Suspended):
        ledger.reserve(order(CHEAP))
    ledger.verify()


def test_tickets_that_were_open_when_the_owner_resumed_are_forgiven(ledger, clock):
    for _ in range(5):
        ledger.reserve(order(CHEAP))
    ledger.resume("people")
    clock.go_on(10 * LONGEST_WORK)
    assert ledger.failures("people") == 0
    ask(ledger)
    ledger.verify()


def test_an_open_ticket_is_remembered_however_many_answers_follow(ledger, clock):
    ledger.reserve(order(CHEAP))
    for _ in range(10):
        ask(ledger)
    clock.go_on(LONGEST_WORK + 1)
    assert ledger.failures("people") == 1


# ---- Whatever happens, in whatever order.

STEPS = st.lists(
    st.tuples(st.sampled_from(["reserve", "commit", "fail", "resume", "wait"]), st.integers(0, 9)),
    min_size=5,
    max_size=30,
)


def model(events: list[tuple[str, int, datetime]], at: datetime) -> int:
    """Count by going through everything that happened since the owner last resumed."""
    begin = max((i for i, event in enumerate(events) if event[0] == "resume"), default=-1) + 1
    since = events[begin:]
    settled = {number for kind, number, _ in events if kind in ("commit", "fail")}
    late = at - timedelta(seconds=LONGEST_WORK)
    failed = sum(kind == "fail" for kind, _, _ in since)
    return failed + sum(
        kind == "reserve" and number not in settled and time < late for kind, number, time in since
    )


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_the_count_is_what_the_history_says(tmp_path_factory, steps):
    clock = Clock()
    new_ledger(folder := tmp_path_factory.mktemp("any"))
    ledger = Ledger(create_sqlite(folder / "ledger.sqlite"), now=clock)
    ledger.set_rules(GateRules(id_space="people", suspend_after=3))
    tickets: list[Ticket] = []
    events: list[tuple[str, int, datetime]] = []
    for step, choice in steps:
        number = 0
        if step == "reserve":
            if model(events, clock.time) >= 3:
                with pytest.raises(Suspended):
                    ledger.reserve(order(CHEAP))
                continue
            tickets.append(ledger.reserve(order(CHEAP)))
            number = tickets[-1].number
        elif step == "wait":
            clock.go_on(choice * LONGEST_WORK / 4)
            continue
        elif step == "resume":
            ledger.resume("people")
        elif tickets:
            ticket = tickets.pop(choice % len(tickets))
            number = ticket.number
            ledger.fail(ticket) if step == "fail" else ledger.commit(ticket, RELEASE)
        events.append((step if number or step == "resume" else "", number, clock.time))
        assert ledger.failures("people") == model(events, clock.time)
    ledger.verify()


def test_no_race_passes_the_limit(ledger):
    ledger.declare(Budget("people", Pure(100)))

    def keep_failing() -> None:
        for _ in range(20):
            with suppress(AnswerFailed):
                ask(ledger, broken_work)

    def until_suspended() -> None:
        with suppress(Suspended):
            keep_failing()

    threads = [threading.Thread(target=until_suspended) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = 0
    for entry in ledger.entries():
        assert entry.kind is not Kind.RESERVE or failed < 5
        failed += entry.kind is Kind.FAIL
    assert 5 <= failed <= 5 + 3, "those in flight may fail beyond the limit"
    ledger.verify()


# ---- Broken twins: what would let failures pass uncounted is seen.


class ForgetfulLedger(Ledger):
    """Records failures as they were before they were counted."""

    def fail(self, ticket: Ticket) -> None:
        with self.store.write() as transaction:
            transaction.append(Kind.FAIL, {"ticket": ticket.number})


def test_a_gate_that_does_not_count_is_caught(ledger):
    forgetful = ForgetfulLedger(ledger.store)
    fail(forgetful, 5)
    with pytest.raises(AnswerFailed):
        assert_suspended(forgetful)
    with pytest.raises(LedgerError, match="entry 4: this fail was not allowed"):
        ledger.verify()


def test_a_gate_that_counts_and_lets_pass_is_caught(ledger, monkeypatch):
    monkeypatch.setattr(books, "require_active", lambda *_: None)
    fail(ledger, 5)
    with pytest.raises(AnswerFailed):
        assert_suspended(ledger)
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="entry 13: this reserve was not allowed"):
        ledger.verify()


def test_a_gate_that_forgets_open_tickets_is_caught(ledger, monkeypatch):
    ledger.reserve(order(CHEAP))
    monkeypatch.setattr(OpenTickets, "numbers", [])
    ledger.reserve(order(CHEAP))
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="entry 4: this reserve was not allowed"):
        ledger.verify()


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.FAIL, {"ticket": 3}),
        (Kind.FAIL, {"ticket": 3, "failures": []}),
        (Kind.FAIL, {"ticket": 3, "failures": [{"id_space": "people", "count": 0}]}),
        (Kind.FAIL, {"ticket": 3, "failures": [{"id_space": "shops", "count": 1}]}),
        (Kind.RESUME, {"id_space": "nobody"}),
        (Kind.RESUME, {"id_space": "people", "note": "x"}),
        (Kind.GATE, GateRules(id_space="nobody").to_json()),
        (Kind.GATE, {"id_space": "people", "suspend_after": 0, "deadline": None}),
        (Kind.GATE, {"id_space": "people"}),
    ],
)
def test_entries_that_the_ledger_would_not_write_are_found(ledger, kind, payload):
    ledger.reserve(order(CHEAP))
    with ledger.store.write() as transaction:
        transaction.append(kind, payload)
    with pytest.raises(LedgerError, match=f"entry 4: this {kind.value} was not allowed"):
        ledger.verify()


# ---- Ledgers from before failures were counted.


class OldLedger(ForgetfulLedger):
    """Writes what ledgers wrote before failures were counted."""

    def reserve(self, wanted, claim=None, *, is_held=None):
        with self.store.write() as transaction:
            payload = {
                "order": wanted.to_json(),
                "order_digest": wanted.digest,
                "totals": totals_after(transaction.latest, wanted),
                "reserved_at": self.now().isoformat(timespec="seconds"),
            }
            entry = transaction.append(Kind.RESERVE, payload)
        return Ticket(entry.sequence, wanted.digest)


def test_an_old_ledger_opens_verifies_and_goes_on(ledger, clock, tmp_path):
    old = OldLedger(ledger.store, now=clock)
    fail(old, 7)
    _, receipt = ask(old)
    last = old.reserve(order(CHEAP))
    again = Ledger(create_sqlite(tmp_path / "ledger.sqlite"), now=clock)
    again.verify(receipt)
    assert again.failures("people") == 0, "they had no count"
    again.fail(last)
    fail(again, 4)
    assert_suspended(again)
    again.verify(receipt)


def test_no_old_entry_follows_a_new_one(ledger):
    ask(ledger)
    OldLedger(ledger.store).reserve(order(CHEAP))
    with pytest.raises(LedgerError, match="entry 5: this reserve was not allowed"):
        ledger.verify()
