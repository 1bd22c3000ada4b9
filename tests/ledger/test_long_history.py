"""Long ledgers: read and verified a page at a time, so that nobody waits for it."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import LedgerError
from discreet.core.loss import Pure
from discreet.ledger.budget import Budget
from discreet.ledger.chain import BEGINNING, Entry, Point, require_unchanged, verify_chain
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from discreet.ledger.store import PAGE
from tests.ledger.gate_child import anchored
from tests.ledger.long_history import SMALL, lengthen
from tests.ledger.orders import RELEASE, order
from tests.support.projects.gate import pass_gate

ANSWERS = PAGE + 10
"""More than two pages of entries."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    create_sqlite(tmp_path / "ledger.sqlite")
    found = anchored(tmp_path / "ledger.sqlite")
    found.declare(Budget("people", Pure(3)))
    lengthen(tmp_path / "ledger.sqlite", found.entries()[-1], ANSWERS)
    return found


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in names.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)


def test_pages_join_to_the_whole_history(ledger: Ledger):
    entries = ledger.entries()
    assert [entry.sequence for entry in entries] == list(range(1, 2 * ANSWERS + 2))
    for last in (1, PAGE, PAGE + 1, 2 * ANSWERS + 1, 10**9):
        assert ledger.entries(last=last) == entries[-last:]
    assert ledger.verify() == Point(2 * ANSWERS + 1, entries[-1].digest)
    assert ledger.spent_spaces() == ("people",)


class Held:
    """Holds the thread of that name when it does something, until it is told to go on."""

    def __init__(self) -> None:
        self.is_held = threading.Event()
        self.may_go_on = threading.Event()

    def before(self, use: Callable[..., Any]) -> Callable[..., Any]:
        def held(*given: Any) -> Any:
            if threading.current_thread().name == "held":
                self.is_held.set()
                self.may_go_on.wait(60)
            return use(*given)

        return held


CHECKED: dict[str, tuple[str, Callable[..., Any]]] = {
    "verify": ("discreet.ledger.verify.verify_chain", verify_chain),
    "entries": ("discreet.ledger.history.require_unchanged", require_unchanged),
}
"""Where a page that was read is gone through."""


@pytest.fixture(params=CHECKED)
def reading(request, ledger: Ledger, monkeypatch) -> Iterator[Held]:
    """Somebody who is in the middle of reading everything, and stays there."""
    hold = Held()
    place, check = CHECKED[request.param]
    monkeypatch.setattr(place, hold.before(check))
    failed = []

    def read() -> None:
        try:
            getattr(ledger, request.param)()
        except LedgerError as error:
            failed.append(error)

    thread = threading.Thread(target=read, name="held")
    thread.start()
    assert hold.is_held.wait(60)
    yield hold
    hold.may_go_on.set()
    thread.join(60)
    assert not thread.is_alive()
    assert not failed


def test_nobody_waits_for_somebody_who_reads_everything(ledger: Ledger, reading: Held):
    done = threading.Event()

    def ask() -> None:
        pass_gate(ledger, order(Pure(1)), lambda: RELEASE)
        done.set()

    other = threading.Thread(target=ask, daemon=True)
    other.start()
    assert done.wait(30), "another thread was kept waiting"
    late = threading.Timer(30, reading.may_go_on.set)
    late.start()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert not reading.may_go_on.is_set(), "a fork was kept waiting"
    late.cancel()
    assert ledger.spent("people") == Pure(1 + ANSWERS * SMALL)


def test_what_is_added_while_somebody_verifies_is_no_damage(ledger: Ledger, monkeypatch, rng):
    compute = Entry.computed_digest
    seen = []

    def busy(entry: Entry) -> str:
        seen.append(entry.sequence)
        if seen.count(entry.sequence) == 1 and entry.sequence in (PAGE, 2 * PAGE):
            pass_gate(ledger, order(Pure("1/100"), plan=f"late {entry.sequence}"), lambda: RELEASE)
            ledger.advance_version("people", rng)
        return compute(entry)

    monkeypatch.setattr(Entry, "computed_digest", busy)
    assert ledger.verify().sequence == 2 * ANSWERS + 1
    monkeypatch.undo()
    assert ledger.verify().sequence == 2 * ANSWERS + 7


def test_only_what_is_new_is_verified_again(ledger: Ledger, monkeypatch):
    ledger.verify()
    mark = ledger.anchors[0].read()
    assert mark is not None
    assert mark.verified.sequence == 2 * ANSWERS + 1
    _, receipt = pass_gate(ledger, order(), lambda: RELEASE)
    seen: set[int] = set()
    monkeypatch.setattr("discreet.ledger.verify.verify_chain", watched(seen))
    end = ledger.verify(receipt, is_recent=True)
    assert seen == {2 * ANSWERS + 2, 2 * ANSWERS + 3}
    assert end.sequence == 2 * ANSWERS + 3
    assert ledger.verify(receipt).sequence == 2 * ANSWERS + 3


def watched(seen: set[int]) -> Callable[..., Point]:
    def watch(entries: tuple[Entry, ...], since: Point = BEGINNING) -> Point:
        seen.update(entry.sequence for entry in entries)
        return verify_chain(entries, since)

    return watch


NEW_DAMAGE = {
    "a charge": "UPDATE entries SET payload = replace(payload, '1/2', '1/4') WHERE sequence = {}",
    "a release": "UPDATE releases SET body = '{{}}' WHERE ticket = {}",
    "an index row": "DELETE FROM subjects WHERE sequence = {}",
    "an entry": "DELETE FROM entries WHERE sequence = {}",
    "an index row too many": "INSERT INTO subjects VALUES ('gate', 'x', {})",
}


@pytest.mark.parametrize("what", NEW_DAMAGE)
@pytest.mark.parametrize("is_recent", [True, False])
def test_damage_since_the_last_verification_is_found(
    ledger: Ledger, tmp_path: Path, what: str, is_recent: bool
):
    ledger.verify()
    ticket = ledger.reserve(order(Pure("1/2")))
    ledger.commit(ticket, RELEASE)
    ledger.verify(is_recent=is_recent)
    ledger.commit(ledger.reserve(order(Pure("1/2"))), RELEASE)
    last = ledger.entries(last=2)[0].sequence
    change(tmp_path, NEW_DAMAGE[what].format(last))
    with pytest.raises(LedgerError):
        ledger.verify(is_recent=is_recent)


def test_old_damage_is_found_by_the_full_verification(ledger: Ledger, tmp_path: Path):
    ledger.verify()
    change(tmp_path, "UPDATE releases SET body = '{}' WHERE ticket = 4")
    ledger.verify(is_recent=True)
    with pytest.raises(LedgerError, match="entry 5:"):
        ledger.verify()


@pytest.mark.parametrize("sequence", [0, -5, -(2**63)])
def test_an_entry_before_the_first_is_found(ledger: Ledger, tmp_path: Path, sequence: int):
    change(
        tmp_path,
        f"INSERT INTO entries SELECT {sequence}, kind, payload, previous, digest "
        "FROM entries WHERE sequence = 1",
    )
    with pytest.raises(LedgerError, match="entry 1: an entry is missing or out of place"):
        ledger.verify()
