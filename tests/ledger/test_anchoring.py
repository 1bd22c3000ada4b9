"""A ledger that has forgotten something is refused, and what it forgot stays spent."""

import errno
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from attrs import evolve

from discreet.core.errors import (
    BudgetExhausted,
    InvalidArgument,
    LedgerError,
    Unsupported,
    WrittenBefore,
)
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.ledger import anchoring
from discreet.ledger.anchor import Anchor, Mark
from discreet.ledger.anchoring import (
    Charged,
    charged_by,
    move_anchor,
    read_marks,
    require_whole,
)
from discreet.ledger.books import reservation
from discreet.ledger.budget import Budget
from discreet.ledger.chain import Kind, Point
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import SqliteStore, create_sqlite
from discreet.ledger.store import PAGE
from tests.ledger.children import start
from tests.ledger.gate_child import anchored
from tests.ledger.orders import RELEASE, order
from tests.support.projects.gate import pass_gate

pytestmark = pytest.mark.usefixtures("at_rest")
"""Copies are made, and put back, of a file that nobody works on."""

HALF = Pure("1/2")


def new(folder: Path, cap: PrivacyLoss | None = None) -> Ledger:
    create_sqlite(folder / "ledger.sqlite")
    ledger = anchored(folder / "ledger.sqlite")
    ledger.declare(Budget("people", cap or Pure(3)))
    return ledger


def ask(ledger: Ledger, loss: PrivacyLoss = HALF) -> None:
    pass_gate(ledger, order(loss), lambda: RELEASE)


def marked(ledger: Ledger) -> Mark:
    (anchor,) = ledger.anchors
    mark = anchor.read()
    assert mark is not None
    return mark


def end(ledger: Ledger) -> Point:
    return marked(ledger).end


def test_an_anchor_knows_the_file_that_it_saw_first(tmp_path):
    """An anchor from before it knew files takes the one that is there."""
    ledger = new(tmp_path)
    ask(ledger)
    (anchor,) = ledger.anchors
    mark = marked(ledger)
    assert mark.file == str((tmp_path / "ledger.sqlite").stat().st_ino)
    anchor.write(evolve(mark, file="", count=mark.count + 1))
    assert not ledger.is_elsewhere()
    ask(ledger)
    assert marked(ledger).file == mark.file
    anchor.write(evolve(mark, file=f"1{mark.file}", count=marked(ledger).count + 1))
    ask(ledger)
    assert ledger.is_elsewhere()
    ledger.move_anchors(is_here=True)
    assert not ledger.is_elsewhere()
    assert marked(ledger).file == mark.file


def forget(folder: Path, ledger: Ledger) -> Ledger:
    """Put an older copy back: one that knows of one answer, where two were given."""
    ask(ledger)
    copy = shutil.copy(folder / "ledger.sqlite", folder / "copy")
    ask(ledger)
    shutil.move(copy, folder / "ledger.sqlite")
    return anchored(folder / "ledger.sqlite")


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM subjects WHERE kind = 'reserve' AND sequence = 4", "DELETE FROM subjects"],
)
def test_an_index_that_lost_a_charge_sells_nothing(tmp_path: Path, damage: str):
    """The chain is whole, but what was spent is found by rows beside it."""
    ledger = new(tmp_path)
    ask(ledger)
    ask(ledger)
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER subjects_delete")
        connection.execute(damage)
    again = anchored(tmp_path / "ledger.sqlite")
    for use in (lambda: again.spent("people"), lambda: again.remaining("people"), again.verify):
        with pytest.raises(LedgerError, match="its anchor knows of more that was spent of people"):
            use()
    with pytest.raises(LedgerError, match="its anchor knows of more that was spent of people"):
        again.reserve(order(HALF))


def test_every_charge_is_anchored_before_the_work_begins(tmp_path: Path):
    ledger = new(tmp_path)
    seen = []

    def work():
        seen.append((end(ledger), ledger.entries()[-1].digest))
        return RELEASE

    for _ in range(3):
        pass_gate(ledger, order(HALF), work)
    assert [point.sequence for point, _ in seen] == [2, 4, 6]
    assert all(point.head == head for point, head in seen)
    (_, mark) = read_marks(ledger.anchors)[0]
    assert mark is not None
    assert mark.spent == {"people": Pure("3/2")}


def test_a_charge_whose_anchor_fails_is_said_to_stay(tmp_path: Path, monkeypatch):
    """The charge is durable before the anchor is moved, so it must not be called unspent."""
    ledger = new(tmp_path)
    monkeypatch.setattr(Anchor, "write", full)
    with pytest.raises(WrittenBefore, match="it is charged, and no row was read") as caught:
        pass_gate(ledger, order(HALF), lambda: pytest.fail("a row was read"))
    assert "Nothing was spent" not in str(caught.value)
    monkeypatch.undo()
    assert ledger.spent("people") == HALF


def full(*_: object) -> None:
    raise LedgerError("The disk is full", next="Nothing was spent")


def test_an_older_copy_is_refused_for_reading_and_writing(tmp_path: Path):
    ledger = forget(tmp_path, new(tmp_path))
    for use in (lambda: ask(ledger), lambda: ledger.spent("people"), ledger.verify):
        with pytest.raises(LedgerError, match="not the one that its anchor") as caught:
            use()
        assert "have the entry 4" in caught.value.must
        assert "ε = 1 of people" in caught.value.must
        assert "3 entries, with ε = 0.5 of people" in caught.value.got
        assert "--begin-again" in caught.value.next


def test_a_ledger_that_is_ahead_of_its_anchor_is_fine(tmp_path: Path):
    ledger = new(tmp_path)
    ask(ledger)
    Ledger(ledger.store).reserve(order(HALF))
    assert end(ledger).sequence == 2
    assert ledger.spent("people") == Pure(1)
    ask(ledger)
    assert end(ledger).sequence == 5


def test_every_anchor_is_asked(tmp_path: Path):
    ledger = new(tmp_path)
    two = Ledger(ledger.store, anchors=(*ledger.anchors, Anchor(tmp_path / "second")))
    ask(two)
    assert two.anchors[1].read() == two.anchors[0].read()
    (tmp_path / "ledger.anchor").unlink()
    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "copy")
    ask(two)
    shutil.move(tmp_path / "copy", tmp_path / "ledger.sqlite")
    (tmp_path / "ledger.anchor").unlink()
    anew = Ledger(create_sqlite(tmp_path / "ledger.sqlite"), anchors=two.anchors)
    with pytest.raises(LedgerError, match="second"):
        ask(anew)


def test_another_history_is_refused_whatever_its_length(tmp_path: Path):
    ledger = forget(tmp_path, new(tmp_path))
    for _ in range(3):
        pass_gate(Ledger(ledger.store), order(Pure("1/4")), lambda: RELEASE)
    with pytest.raises(LedgerError, match="not the one that its anchor"):
        ask(ledger)
    entry = ledger.begin_again()
    assert entry.payload["totals"][0]["everybody"] == Pure("9/4").to_json(), "the sum of both"
    assert ledger.remaining("people") == Pure("3/4")


# ---- What a charge knows of the chain.


def charged_again(ledger: Ledger, loss: PrivacyLoss = HALF, plan: str = "plan") -> Charged:
    """Charge, and leave the anchors as they are."""
    with ledger.store.write() as transaction:
        require_whole(transaction, marks := read_marks(ledger.anchors))
        payload = reservation(transaction.latest, order(loss, plan=plan), ledger.now())
        transaction.append(Kind.RESERVE, payload)
        return charged_by(transaction, marks)


def test_a_charge_moves_its_anchors_without_another_look(tmp_path: Path, monkeypatch):
    ledger = new(tmp_path)
    ask(ledger)
    monkeypatch.setattr(SqliteStore, "read", lambda _: pytest.fail("it was looked at again"))
    ledger.reserve(order(HALF))
    assert end(ledger).sequence == 4
    assert marked(ledger).spent == {"people": Pure(1)}


def test_a_charge_says_what_a_look_would_say(tmp_path: Path, rng):
    """One anchor is moved by each charge, the other by a snapshot of the same moment."""
    ledger = new(tmp_path, Pure(100))
    looked = Ledger(ledger.store, anchors=(Anchor(tmp_path / "looked"),))
    spaces = ["people", "shops", "parks"]
    for name in spaces[1:]:
        ledger.declare(Budget(name, Pure(100)))
    for name in spaces:
        ledger.set_rules(GateRules(id_space=name, most_in_flight=100, suspend_after=100))
    ask(ledger)
    for word in map(int, rng.words(60)):
        names = [name for place, name in enumerate(spaces) if word >> place & 1] or spaces
        ticket = ledger.reserve(order(Pure(Fraction(1 + word % 7, 10)), spaces=names))
        looked.move_anchors()
        said, seen = marked(ledger), marked(looked)
        assert evolve(said, count=seen.count) == seen
        if word >> 8 & 1:
            ledger.commit(ticket, RELEASE)
        if word >> 9 & 1:
            ledger.resume(names[0])
            ledger.verify()
            looked.verify()


def test_an_anchor_far_behind_its_ledger_is_moved_all_the_way(tmp_path: Path):
    """A charge notes a page of entries at most; where the anchor is further back, it is looked."""
    ledger = new(tmp_path, Pure(100))
    ask(ledger)
    unanchored = Ledger(ledger.store)
    for _ in range(PAGE // 2 + 1):
        ask(unanchored, Pure("1/10"))
    assert len(ledger.entries()) - end(ledger).sequence > PAGE
    ask(ledger)
    assert end(ledger).sequence == len(ledger.entries()) - 1
    assert marked(ledger).spent == {"people": ledger.spent("people")}


def test_charges_whose_turns_come_in_another_order_leave_the_later_mark(tmp_path: Path):
    ledger = new(tmp_path)
    ask(ledger)
    (anchor,) = ledger.anchors
    first, second = charged_again(ledger), charged_again(ledger)
    move_anchor(anchor, ledger.store, charged=second)
    later = marked(ledger)
    assert later.end.sequence == 5
    move_anchor(anchor, ledger.store, charged=first)
    assert marked(ledger) == later


def two_copies(folder: Path, ahead: int) -> tuple[Ledger, Ledger]:
    """Return two copies that share an anchor, as one at an absolute path; one has more entries."""
    shared = Anchor(folder / "shared")
    (folder / "one").mkdir()
    (folder / "other").mkdir()
    first = Ledger(create_sqlite(folder / "one" / "ledger.sqlite"), anchors=(shared,))
    first.declare(Budget("people", Pure(1)))
    first.reserve(order(Pure("1/10")))
    shutil.copy(folder / "one" / "ledger.sqlite", folder / "other" / "ledger.sqlite")
    second = Ledger(create_sqlite(folder / "other" / "ledger.sqlite"), anchors=(shared,))
    for number in range(ahead):
        second.declare(Budget("people", Pure(1 + (number + 1) % 2)))
    return first, second


@pytest.mark.parametrize("ahead", [0, 2, 4])
@pytest.mark.parametrize("losses", ["less", "more", "equal"])
def test_copies_that_share_an_anchor_never_charge_together(tmp_path: Path, ahead, losses):
    """Both have checked their chains; who comes second to the anchor finds what it has not."""
    copies = two_copies(tmp_path, ahead)
    prices = {"less": ("7/10", "1/10"), "more": ("1/10", "7/10"), "equal": ("1/2", "1/2")}
    parts = zip(copies, prices[losses], ("plan", "other"), strict=True)
    first, second = [charged_again(copy, Pure(price), plan) for copy, price, plan in parts]
    move_anchor(copies[0].anchors[0], copies[0].store, charged=first)
    known = marked(copies[0])
    assert known.end == first.end
    with pytest.raises(LedgerError, match="not the one that its anchor"):
        move_anchor(copies[1].anchors[0], copies[1].store, charged=second)
    assert marked(copies[1]) == known


def test_by_numbers_and_losses_alone_copies_would_charge_together(tmp_path: Path, monkeypatch):
    """The broken twin asks only whether a charge has a larger number and no smaller loss."""

    def by_numbers(known: Mark, charged: Charged) -> bool:
        return known.end.sequence < charged.end.sequence and all(
            loss <= charged.spent[name] for name, loss in known.spent.items()
        )

    monkeypatch.setattr(anchoring, "_leads_to", by_numbers)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_copies_that_share_an_anchor_never_charge_together(tmp_path, 2, "equal")


def test_a_charge_that_the_ledger_has_lost_is_refused_before_a_row_is_read(tmp_path: Path):
    """An older copy was put back and begun again while the charge waited for its anchor."""
    ledger = new(tmp_path)
    ask(ledger)
    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "older")
    ask(ledger)
    charged = charged_again(ledger)
    shutil.copy(tmp_path / "older", tmp_path / "ledger.sqlite")
    again = anchored(tmp_path / "ledger.sqlite")
    again.begin_again()
    known = marked(again)
    with pytest.raises(LedgerError, match="has lost what was charged right now"):
        move_anchor(again.anchors[0], again.store, charged=charged)
    assert marked(again) == known
    ask(again)


# ---- The log: lost, cut, or with one bit changed.


def crash(folder: Path) -> None:
    """Leave a ledger whose answers are in the log alone, as after a kill."""
    (folder / "running").mkdir()
    ledger = new(folder / "running")
    with closing(sqlite3.connect(folder / "running" / "ledger.sqlite")) as other:
        other.execute("SELECT COUNT(*) FROM entries").fetchall()
        for _ in range(4):
            ask(ledger)
        for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.anchor"):
            shutil.copy(folder / "running" / name, folder / name)


def damages(log: bytes, rng) -> list[bytes]:
    flipped = []
    for word in rng.words(40):
        place, bit = int(word) % len(log), int(word) >> 40 & 7
        flipped.append(log[:place] + bytes([log[place] ^ 1 << bit]) + log[place + 1 :])
    cut = [log[: int(word) % len(log)] for word in rng.words(20)]
    return [b"", *flipped, *cut]


def test_whatever_is_lost_of_the_log_no_spending_is_forgotten(tmp_path: Path, rng):
    crash(tmp_path)
    file, log = tmp_path / "ledger.sqlite", tmp_path / "ledger.sqlite-wal"
    whole, written = file.read_bytes(), log.read_bytes()
    refused = forgotten = 0
    for damaged in damages(written, rng):
        for name in (log, tmp_path / "ledger.sqlite-shm"):
            name.unlink(missing_ok=True)
        file.write_bytes(whole)
        if damaged:
            log.write_bytes(damaged)
        try:
            spent = anchored(file).spent("people")
        except LedgerError:
            refused += 1
            forgotten += is_forgotten(file)
        else:
            assert spent == Pure(2)
    assert refused > 10
    assert forgotten > 10, "the twin without an anchor believes what is left of the log"


def is_forgotten(file: Path) -> bool:
    """Tell whether a ledger without its anchor opens and says less."""
    try:
        return Ledger(create_sqlite(file)).spent("people") != Pure(2)
    except LedgerError:
        return False


# ---- Beginning again, by the owner's word.


def test_what_an_older_copy_forgot_stays_spent(tmp_path: Path):
    ledger = forget(tmp_path, new(tmp_path))
    entry = ledger.begin_again()
    assert entry.kind is Kind.RENEWAL
    assert ledger.spent("people") == Pure(1)
    ask(ledger, Pure(2))
    with pytest.raises(BudgetExhausted):
        ask(ledger)
    assert end(ledger).sequence == ledger.entries()[-2].sequence
    ledger.verify()


def test_a_ledger_that_is_gone_begins_with_what_was_spent(tmp_path: Path):
    ask(new(tmp_path), Pure(2))
    (tmp_path / "ledger.sqlite").unlink()
    create_sqlite(tmp_path / "ledger.sqlite")
    again = anchored(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerError, match="got 0 entries, with nothing spent"):
        again.declare(Budget("people", Pure(3)))
    again.begin_again()
    again.declare(Budget("people", Pure(3)))
    assert again.remaining("people") == Pure(1)
    with pytest.raises(Unsupported, match="keeps its measure"):
        again.declare(Budget("people", Approximate(3, 0)))
    ask(again, Pure(1))
    again.verify()


def test_a_whole_ledger_is_not_begun_again(tmp_path: Path):
    ledger = new(tmp_path)
    ask(ledger)
    with pytest.raises(InvalidArgument, match="as its anchors know it"):
        ledger.begin_again()
    assert Kind.RENEWAL not in [entry.kind for entry in ledger.entries()]


FORGED: dict[str, Callable[[dict], object]] = {
    "less than was spent": lambda payload: payload["totals"][0].update(
        everybody=Pure("1/4").to_json()
    ),
    "another measure": lambda payload: payload["totals"][0].update(
        everybody=Approximate(9, 0).to_json()
    ),
    "nothing was lost": lambda payload: payload["lost"].clear(),
    "more words": lambda payload: payload.update(note="x"),
    "no word of the lost": lambda payload: payload.pop("lost"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_renewal_cannot_lower_what_was_spent(tmp_path: Path, what: str):
    ledger = forget(tmp_path, new(tmp_path))
    payload = ledger.begin_again().payload
    FORGED[what](payload)
    with ledger.store.write() as transaction:
        sequence = transaction.append(Kind.RENEWAL, payload).sequence
    with pytest.raises(LedgerError, match=f"entry {sequence}: this renewal was not allowed"):
        Ledger(ledger.store).verify()


# ---- Many at once.


def test_racing_processes_never_move_an_anchor_back(tmp_path: Path):
    ledger = new(tmp_path, Pure(100))
    go = tmp_path / "go"
    children = [start("anchored", str(tmp_path / "ledger.sqlite"), str(go), "8") for _ in range(4)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    seen: list[Mark] = []
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            marks = read_marks(ledger.anchors)
            with ledger.store.read() as snapshot:
                require_whole(snapshot, marks)
            seen.extend(mark for _, mark in marks if mark is not None)

    watcher = threading.Thread(target=watch)
    watcher.start()
    go.touch()
    told = [child.communicate(timeout=120)[0] for child in children]
    is_over.set()
    watcher.join()
    assert told == ["8\n"] * 4, "after each charge the anchor knew of it"
    for before, after in pairwise(seen):
        assert before.count <= after.count
        assert before.end.sequence <= after.end.sequence
    assert ledger.spent("people") == Pure(32)
    ledger.verify()


def test_others_charge_and_settle_while_an_anchor_is_kept(tmp_path: Path):
    """Who waits for the disk to keep a mark holds nobody else up who needs no mark."""
    ledger = new(tmp_path)
    ticket = ledger.reserve(order(HALF))
    (anchor,) = ledger.anchors
    charging = threading.Thread(target=ledger.reserve, args=(order(HALF),))
    with anchor.turn():
        charging.start()
        ledger.commit(ticket, RELEASE)
        while ledger.spent("people") != Pure(1):
            assert charging.is_alive()
        before = end(ledger)
        assert charging.is_alive()
    charging.join()
    assert before.sequence == 2
    newest = [entry.sequence for entry in ledger.entries() if entry.kind is Kind.RESERVE][-1]
    assert end(ledger).sequence == newest


def test_a_mark_that_somebody_else_wrote_is_flushed_before_a_charge_returns(tmp_path, monkeypatch):
    """Whoever wrote it may have died before that; so may the power."""
    ledger = new(tmp_path)
    ask(ledger)
    (anchor,) = ledger.anchors
    flushed: list[int] = []
    monkeypatch.setattr("discreet.ledger.anchor.flush", flushed.append)
    ledger.move_anchors()
    marks = read_marks(ledger.anchors)
    assert len(flushed) == 1
    ledger.move_anchors()
    assert len(flushed) == 1, "it says that it was flushed"
    data = anchor.path.read_bytes()
    for said in b"\t\r\v\f":
        data = data.replace(bytes([said]), b"\n")
    anchor.path.write_bytes(data)
    ledger.move_anchors()
    assert len(flushed) == 2
    assert read_marks(ledger.anchors) == marks


def test_a_larger_file_that_takes_its_place_is_the_one_that_is_written(tmp_path, monkeypatch):
    ledger = new(tmp_path)
    ask(ledger)
    (anchor,) = ledger.anchors
    opened, entered = threading.Event(), threading.Event()
    open_it = Anchor._opened

    def noticed(one: Anchor) -> int:
        handle = open_it(one)
        if threading.current_thread() is waiting:
            opened.set()
        return handle

    def wait() -> None:
        with anchor.turn():
            entered.set()

    waiting = threading.Thread(target=wait)
    monkeypatch.setattr(Anchor, "_opened", noticed)
    with anchor.turn():
        waiting.start()
        # Only who has opened the file before it is replaced waits for it.
        assert opened.wait(60)
        shutil.copy(anchor.path, tmp_path / "larger")
        (tmp_path / "larger").rename(anchor.path)
        with anchor.turn():
            assert not entered.wait(0.05)
    waiting.join()
    assert entered.is_set()


def test_an_anchor_that_is_held_for_too_long_is_said_to_be_busy(tmp_path: Path):
    ledger = new(tmp_path)
    ask(ledger)
    (anchor,) = ledger.anchors
    with (
        anchor.turn(),
        pytest.raises(LedgerError, match=r"is busy: others have held it for 0\.02 seconds"),
        anchor.turn(0.02),
    ):
        pytest.fail("two had their turn")


def test_where_files_have_no_queue_the_write_lock_keeps_others_away(tmp_path: Path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "no queue")

    ledger = new(tmp_path)
    monkeypatch.setattr("discreet.ledger.in_turn.fcntl.flock", refuse)
    threads = [threading.Thread(target=ledger.reserve, args=(order(HALF),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent("people") == Pure(2)
    assert end(ledger).sequence == 5
    ledger.verify()
