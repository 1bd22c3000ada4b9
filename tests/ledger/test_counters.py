"""Whose failures count for whom: the ledger against the rule as one would write it down.

The model goes through everything that happened, each time anew. It knows of no running counts, no
newest entries and no lists of open tickets.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import (
    BudgetError,
    BudgetExhausted,
    Busy,
    InvalidArgument,
    LedgerError,
    Suspended,
)
from discreet.core.loss import Pure
from discreet.ledger import books, suspension
from discreet.ledger import ledger as ledger_module
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.entry import Kind
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.open_tickets import LONGEST_WORK
from discreet.ledger.sqlite_store import create_sqlite
from discreet.ledger.ticket import Ticket
from tests.ledger.memory_store import MemoryStore
from tests.ledger.orders import RELEASE, new_ledger, order

CHEAP = Pure("1/1000")
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
ONE, ALL, PLACES = 2, 4, 2
RULES = GateRules(
    id_space="people", suspend_after=ONE, suspend_all_after=ALL, most_in_flight=PLACES
)
SHARERS, OTHERS = ("ann", "bob", "cat"), ("eve", "mallory")

Step = tuple[str, str]
"""What is done, and by whom or to whom."""


@define
class Asked:
    """One ticket, as the model remembers it."""

    ticket: Ticket
    analyst: str
    counter: str
    at: datetime
    is_open: bool = True
    has_failed: bool = False
    is_forgiven: bool = False
    """Whether the owner resumed while it was open, or after it failed."""


@define
class Model:
    """The rule, from the whole history."""

    now: datetime = NOON
    asked: list[Asked] = field(factory=list)
    shares: set[str] = field(factory=set)

    def counter(self, analyst: str) -> str:
        return analyst if analyst in self.shares else "others"

    def failures(self, counter: str | None = None) -> int:
        return sum(self._is_failure(one) for one in self._in(counter))

    def in_flight(self, counter: str) -> int:
        held = (one for one in self._in(counter) if one.is_open and not one.is_forgiven)
        return sum(not self._is_old(one) for one in held)

    def expected(self, analyst: str) -> type[Exception] | None:
        counter = self.counter(analyst)
        if self.failures() >= ALL or self.failures(counter) >= ONE:
            return Suspended
        if self.shares and counter == "others":
            return BudgetExhausted
        return Busy if self.in_flight(counter) >= PLACES else None

    def forgive(self, counter: str | None) -> None:
        for one in self._in(counter):
            one.is_forgiven = one.is_forgiven or one.is_open or one.has_failed

    def _in(self, counter: str | None) -> Iterable[Asked]:
        return [one for one in self.asked if counter in (None, one.counter)]

    def _is_failure(self, one: Asked) -> bool:
        if one.is_forgiven:
            return False
        return one.has_failed or (one.is_open and self._is_old(one))

    def _is_old(self, one: Asked) -> bool:
        return self.now - one.at > timedelta(seconds=LONGEST_WORK)


@define
class Game:
    """A ledger and the model, side by side."""

    model: Model = field(factory=Model)
    store: Any = field(factory=MemoryStore)
    ledger: Ledger = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.ledger = Ledger(self.store, now=lambda: self.model.now)
        self.ledger.declare(Budget("people", Pure(3)))
        self.ledger.set_rules(RULES)

    def play(self, steps: Iterable[Step]) -> "Game":
        for what, who in steps:
            getattr(self, what)(who)
            self.compare()
        return self

    def reserve(self, analyst: str) -> None:
        expected = self.model.expected(analyst)
        before = self.ledger.spent("people")
        asked = order(CHEAP, analyst=analyst)
        if expected is not None:
            with pytest.raises(BudgetError) as caught:
                self.ledger.reserve(asked)
            assert type(caught.value) is expected
            assert self.ledger.spent("people") == before
            return
        try:
            ticket = self.ledger.reserve(asked)
        except BudgetError:
            raise AssertionError("the model lets it pass") from None
        counter = self.model.counter(analyst)
        self.model.asked.append(Asked(ticket, analyst, counter, self.model.now))

    def commit(self, analyst: str) -> None:
        for one in self._oldest(analyst):
            self.ledger.commit(one.ticket, RELEASE)
            one.is_open = False

    def fail(self, analyst: str) -> None:
        for one in self._oldest(analyst):
            self.ledger.fail(one.ticket)
            # What was forgiven while it was open is a failure all the same, once it fails.
            one.is_open, one.has_failed, one.is_forgiven = False, True, False

    def wait(self, _: str) -> None:
        self.model.now += timedelta(seconds=LONGEST_WORK / 2 + 1)

    def allocate(self, analyst: str) -> None:
        if analyst in SHARERS:
            self.ledger.allocate(Allocation("people", analyst, Pure(1)))
            self.model.shares.add(analyst)

    def resume(self, analyst: str) -> None:
        failures = self.model.failures(self.model.counter(analyst))
        assert self.ledger.resume("people", analyst) == failures
        self.model.forgive(self.model.counter(analyst))

    def resume_all(self, _: str) -> None:
        assert self.ledger.resume("people") == self.model.failures()
        self.model.forgive(None)

    def compare(self) -> None:
        assert self.ledger.failures("people") == self.model.failures()
        counters = {one.analyst or "others": one.failures for one in self.ledger.counters("people")}
        known = {"others", *self.model.shares}
        expected = {name: self.model.failures(name) for name in known}
        assert counters == {name: count for name, count in expected.items() if count}

    def _oldest(self, analyst: str) -> list[Asked]:
        found = [one for one in self.model.asked if one.is_open and one.analyst == analyst]
        return found[:1]


VERBS = ("reserve", "reserve", "reserve", "fail", "fail", "commit", "wait", "allocate", "resume")
STEPS = st.lists(
    st.tuples(st.sampled_from([*VERBS, "resume_all"]), st.sampled_from([*SHARERS, *OTHERS])),
    min_size=10,
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_the_ledger_counts_as_the_model_does_and_every_entry_can_be_checked(steps):
    Game().play(steps).store.replay()


def failed(*names: str) -> list[Step]:
    return [step for name in names for step in (("reserve", name), ("fail", name))]


SHARED: list[Step] = [("allocate", name) for name in SHARERS]

MOVES: list[list[Step]] = [
    failed("bob"),
    failed("cat"),
    [("reserve", "bob"), ("reserve", "cat"), ("reserve", "mallory")],
    [("wait", ""), ("wait", "")],
    [("resume", "bob")],
]
"""What others can do to an analyst with a share, and what the owner does for them."""


def test_nothing_that_others_do_stops_an_analyst_with_a_share_below_the_total():
    stopped = 0
    for moves in product(MOVES, repeat=3):
        game = Game().play([*failed("eve"), *SHARED, *(step for move in moves for step in move)])
        is_full = game.model.failures() >= ALL
        assert game.model.expected("ann") is (Suspended if is_full else None)
        game.reserve("ann")
        stopped += is_full
    assert 0 < stopped < 50


STORY: list[Step] = [
    *failed("eve"),
    *SHARED,
    *failed("ann"),
    ("reserve", "bob"),
    ("reserve", "bob"),
    ("reserve", "bob"),
    *failed("ann"),
    ("reserve", "ann"),
    ("resume", "ann"),
    ("reserve", "ann"),
    ("wait", ""),
    ("wait", ""),
    ("reserve", "bob"),
    *failed("cat"),
    ("reserve", "ann"),
    ("resume_all", ""),
    *failed("ann", "ann", "bob", "bob"),
    ("reserve", "cat"),
]
"""All that can happen, once: the broken twins are caught by it."""


def test_the_story_goes_as_the_model_says():
    Game().play(STORY).store.replay()


def test_failures_of_all_together_stop_everybody_and_say_so():
    game = Game().play([*SHARED, *failed("ann", "ann", "bob", "bob")])
    with pytest.raises(Suspended) as caught:
        game.ledger.reserve(order(CHEAP, analyst="cat"))
    assert str(caught.value) == (
        "Questions about 'people' are suspended, whoever asks. It must have fewer than 4 failed "
        "answers of all analysts together since the owner last resumed them. Nothing was spent. "
        "The owner looks for the cause, and then runs 'discreet resume people'."
    )


def test_a_full_counter_names_its_analyst_and_the_command_that_clears_it():
    game = Game()
    name = "ann o'hara"
    game.ledger.allocate(Allocation("people", name, Pure(1)))
    for _ in range(ONE):
        game.ledger.fail(game.ledger.reserve(order(CHEAP, analyst=name)))
    with pytest.raises(Suspended) as caught:
        game.ledger.reserve(order(CHEAP, analyst=name))
    assert caught.value.what == f"Questions about 'people' by '{name}' are suspended"
    assert caught.value.next.endswith(
        """runs 'discreet resume people --analyst 'ann o'"'"'hara''"""
    )


def test_a_full_common_counter_says_who_is_counted_in_it():
    game = Game().play([*failed("eve", "mallory"), *SHARED])
    with pytest.raises(Suspended) as caught:
        game.ledger.reserve(order(CHEAP, analyst="eve"))
    assert caught.value.what == "Questions about 'people' by analysts without a share are suspended"
    game.play([("reserve", "ann"), ("resume", "mallory")])
    assert game.ledger.failures("people") == 0


def test_too_many_in_flight_says_to_wait_and_spends_nothing():
    game = Game().play([*SHARED, ("reserve", "ann"), ("reserve", "ann")])
    with pytest.raises(Busy) as caught:
        game.ledger.reserve(order(CHEAP, analyst="ann"))
    assert caught.value.code == "busy"
    assert caught.value.what == "Too many questions about 'people' by 'ann' are in flight"
    assert caught.value.must == "be fewer than 2 before another is asked"
    assert "Nothing was spent. Wait" in caught.value.next
    game.play([("reserve", "bob"), ("commit", "ann"), ("reserve", "ann")])


def test_in_every_id_space_of_an_order_there_must_be_room():
    game = Game()
    game.ledger.declare(Budget("shops", Pure(3)))
    for _ in range(8):
        game.ledger.reserve(order(CHEAP, spaces=("shops",)))
    with pytest.raises(Busy, match="'shops'"):
        game.ledger.reserve(order(CHEAP, spaces=("people", "shops")))
    assert game.ledger.spent("people") == Pure(0)


def test_a_ticket_counts_where_it_was_reserved_whatever_shares_are_given_later():
    game = Game().play([("reserve", "ann"), ("allocate", "ann"), ("fail", "ann")])
    assert [one.analyst for one in game.ledger.counters("people")] == [None]
    game.store.replay()


# ---- Broken twins.


def patched(monkeypatch: pytest.MonkeyPatch, name: str, twin: Any) -> None:
    for module in (books, suspension, ledger_module):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, twin)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("counter_of", lambda *_: None),
        ("counter_of", lambda _, __, analyst: analyst),
        ("require_room", lambda *_: None),
        ("require_active", lambda *_: None),
        ("require_few_in_all", lambda *_: None),
        ("tickets_in_flight", lambda *_: []),
        ("abandoned_tickets", lambda *_: []),
        ("after_resumption", lambda _, id_space, __: {"id_space": id_space}),
    ],
)
def test_a_broken_rule_is_caught_by_the_model(monkeypatch, name, twin):
    patched(monkeypatch, name, twin)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        Game().play(STORY)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.FAIL, {"count": 2, "earlier": 0, "counter": {"analyst": "ann", "count": 1}}),
        (Kind.FAIL, {"count": 1, "earlier": 0, "counter": {"analyst": "ann", "count": 0}}),
        (Kind.FAIL, {"count": 1, "earlier": 0, "counter": {"analyst": "bob", "count": 1}}),
        (Kind.FAIL, {"count": 1, "earlier": 0, "counter": {"analyst": None, "count": 1}}),
        (Kind.FAIL, {"count": 1, "earlier": 1, "counter": {"analyst": "ann", "count": 1}}),
        (Kind.FAIL, {"count": 1}),
        (Kind.RESUME, {"count": 1, "earlier": 0, "counter": {"analyst": "ann", "count": 0}}),
        (Kind.RESUME, {"count": 0, "earlier": 0, "counter": {"analyst": "eve", "count": 0}}),
        (Kind.RESUME, {"count": 0, "earlier": 0, "counter": {"analyst": "ann", "count": 1}}),
    ],
)
def test_counts_that_the_ledger_would_not_write_are_found(kind, payload):
    game = Game().play([*SHARED, ("reserve", "ann")])
    game.store.replay()
    number = game.model.asked[0].ticket.number
    counts = {"id_space": "people"} | payload
    game.store.append(
        kind, counts if kind is Kind.RESUME else {"ticket": number, "failures": [counts]}
    )
    with pytest.raises(LedgerError, match=f"this {kind.value} was not allowed there"):
        game.store.replay()


@pytest.mark.parametrize(
    "parts", [{"suspend_all_after": 4}, {"most_in_flight": 0}, {"least_price": 0}]
)
def test_rules_that_cannot_hold_are_refused(parts):
    with pytest.raises(InvalidArgument):
        GateRules(**({"id_space": "people"} | parts))


# ---- Ledgers from before each analyst was counted.


class TogetherLedger(Ledger):
    """Writes what ledgers wrote when failures were counted for an id space alone."""

    def reserve(self, wanted):
        with self.store.write() as transaction:
            at = self.now().replace(microsecond=0)
            payload = {
                "order": wanted.to_json(),
                "order_digest": wanted.digest,
                "totals": books.admit_together(transaction.latest, wanted, at),
                "reserved_at": at.isoformat(timespec="seconds"),
            }
            entry = transaction.append(Kind.RESERVE, payload)
        return Ticket(entry.sequence, wanted.digest)

    def fail(self, ticket):
        count = self.failures("people") + 1
        with self.store.write() as transaction:
            failures = [{"id_space": "people", "count": count}]
            transaction.append(Kind.FAIL, {"ticket": ticket.number, "failures": failures})


@pytest.fixture
def old(tmp_path: Path) -> TogetherLedger:
    store = create_sqlite(tmp_path / "ledger.sqlite")
    new_ledger(tmp_path).allocate(Allocation("people", "ann", Pure(1)))
    return TogetherLedger(store)


def test_earlier_failures_count_for_everybody_until_the_owner_resumes_all(old):
    for _ in range(5):
        old.fail(old.reserve(order(CHEAP)))
    late = Ledger(old.store)
    late.verify()
    assert [(one.analyst, one.failures) for one in late.counters("people")] == [(None, 5)]
    for analyst in ("ann", "eve"):
        with pytest.raises(Suspended, match="runs 'discreet resume people'"):
            late.reserve(order(CHEAP, analyst=analyst))
    late.resume("people", "ann")
    with pytest.raises(Suspended):
        late.reserve(order(CHEAP))
    late.resume("people")
    late.fail(late.reserve(order(CHEAP)))
    assert [(one.analyst, one.failures) for one in late.counters("people")] == [("ann", 1)]
    late.verify()


def test_earlier_and_later_failures_add_up(old):
    for _ in range(3):
        old.fail(old.reserve(order(CHEAP)))
    in_flight = old.reserve(order(CHEAP))
    late = Ledger(old.store)
    late.fail(late.reserve(order(CHEAP)))
    late.fail(in_flight)
    assert late.failures("people") == 5
    counters = [(one.analyst, one.failures) for one in late.counters("people")]
    assert counters == [(None, 4), ("ann", 4)]
    late.fail(late.reserve(order(CHEAP)))
    with pytest.raises(Suspended):
        late.reserve(order(CHEAP))
    late.verify()


def test_no_earlier_entry_follows_a_later_one(old):
    late = Ledger(old.store)
    ticket = late.reserve(order(CHEAP))
    late.verify()
    old.fail(ticket)
    with pytest.raises(LedgerError, match="entry 4: this fail was not allowed"):
        late.verify()


def test_no_earlier_reserve_follows_a_later_one(old):
    late = Ledger(old.store)
    late.reserve(order(CHEAP))
    old.reserve(order(CHEAP))
    with pytest.raises(LedgerError, match="entry 4: this reserve was not allowed"):
        late.verify()
