"""A game of counters: the ledger beside the rule, as one would write it down.

The model goes through everything that happened, each time anew. It knows of no running counts, no
newest entries and no lists of open tickets.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import define, field

from discreet.core.errors import BudgetError, BudgetExhausted, Busy, Suspended
from discreet.core.loss import Pure
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.failures import LONGEST_WORK
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Ticket
from tests.ledger.memory_store import MemoryStore
from tests.ledger.orders import RELEASE, order

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
        before = len(self.store.chain)
        asked = order(CHEAP, analyst=analyst)
        if expected is not None:
            with pytest.raises(BudgetError) as caught:
                self.ledger.reserve(asked)
            assert type(caught.value) is expected
            assert len(self.store.chain) == before, "what is refused leaves no trace"
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


def failed(*names: str) -> list[Step]:
    return [step for name in names for step in (("reserve", name), ("fail", name))]


SHARED: list[Step] = [("allocate", name) for name in SHARERS]
