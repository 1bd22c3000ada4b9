"""Ledgers from before each analyst was counted: their failures count for everybody."""

from pathlib import Path

import pytest

from discreet.core.errors import LedgerError, Suspended
from discreet.core.loss import Pure
from discreet.ledger import books
from discreet.ledger.budget import Allocation
from discreet.ledger.chain import Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Ticket
from discreet.ledger.sqlite_store import create_sqlite
from tests.ledger.orders import new_ledger, order

CHEAP = Pure("1/1000")


class TogetherLedger(Ledger):
    """Writes what ledgers wrote when failures were counted for an id space alone."""

    def reserve(self, wanted, claim=None, *, is_held=None):
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
