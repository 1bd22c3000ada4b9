"""What is told is durable: commits are given on before they are flushed, and told after it."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from discreet.core.errors import BudgetExhausted, LedgerError, WrittenBefore
from discreet.core.loss import Pure
from discreet.ledger import kept_open
from discreet.ledger.anchor import Anchor
from discreet.ledger.durable import flush
from discreet.ledger.kept_open import KEPT_OPEN, Lent
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import SqliteStore, create_sqlite
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.house.paths import ROOT

LITTLE = Pure("1/100")


class Disk:
    """What a power cut leaves at worst of a ledger: the file, and of the log what was flushed."""

    def __init__(self, folder: Path, spare: Path) -> None:
        self.file, self.spare = folder / "ledger.sqlite", spare
        self.kept = b""
        self.copies = 0
        self.held: dict[threading.Thread, threading.Event] = {}
        self.waits = threading.Event()

    def flush(self, handle: int) -> None:
        held = self.held.get(threading.current_thread())
        if held is not None:
            self.waits.set()
            assert held.wait(60)
        found = os.pread(handle, os.fstat(handle).st_size, 0)
        flush(handle)
        # Another flush may have kept more meanwhile.
        self.kept = max(self.kept, found, key=len)

    def survivor(self) -> Ledger:
        """Cut the power, and open what is left."""
        self.copies += 1
        path = self.spare / f"{self.copies}.sqlite"
        shutil.copy(self.file, path)
        Path(f"{path}-wal").write_bytes(self.kept)
        return Ledger(create_sqlite(path))

    def holds(self, number: int) -> bool:
        """Tell whether an entry survives."""
        left = self.survivor()
        with left.store.read() as snapshot:
            return snapshot.entry(number) is not None


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Watch what is flushed; nothing is moved from the log into the file meanwhile."""
    KEPT_OPEN.close()
    monkeypatch.setattr(kept_open, "IDLE", 3600.0)
    for name in ("in_use", "spare"):
        (tmp_path / name).mkdir()
    found = Disk(tmp_path / "in_use", tmp_path / "spare")
    monkeypatch.setattr(kept_open, "flush", found.flush)
    yield found
    KEPT_OPEN.close()


@pytest.fixture
def ledger(disk: Disk) -> Ledger:
    return new_ledger(disk.file.parent, Pure(100))


class Held:
    """A thread that has committed and waits for the disk, as long as the block runs."""

    def __init__(self, disk: Disk, work: Callable[[], object]) -> None:
        self.disk, self.go = disk, threading.Event()
        self.thread = threading.Thread(target=work)

    def __enter__(self) -> "Held":
        self.disk.held[self.thread] = self.go
        self.thread.start()
        assert self.disk.waits.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self.go.set()
        self.thread.join()


def test_whatever_many_threads_are_told_survives_a_power_cut(disk: Disk, ledger: Ledger):
    """Each charges, settles and looks; after each step all that it was told is cut from power."""
    lost: list[str] = []
    looking = threading.Lock()

    def told(what: str, number: int) -> None:
        with looking:
            if not disk.holds(number):
                lost.append(what)

    def work(name: str) -> None:
        own = Ledger(SqliteStore(disk.file))
        for turn in range(8):
            ticket = own.reserve(order(LITTLE, plan=f"{name}-{turn}"))
            told("charge", ticket.number)
            receipt = own.commit(ticket, RELEASE)
            told("release", next(e.sequence for e in own.entries() if e.digest == receipt.head))
            with own.store.read() as snapshot:
                head = snapshot.head()
                assert head is not None
                told("snapshot", head.sequence)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert ledger.spent("people") == Pure("32/100")
    assert disk.survivor().spent("people") == Pure("32/100")


def test_who_sees_a_commit_before_it_is_flushed_flushes_it(disk: Disk, ledger: Ledger):
    number = len(ledger.entries()) + 1
    with Held(disk, lambda: ledger.reserve(order())):
        assert not disk.holds(number)
        assert ledger.spent("people") == Pure(1)
        assert disk.holds(number)


def test_who_writes_behind_a_commit_that_is_not_flushed_keeps_both(disk: Disk, ledger: Ledger):
    with Held(disk, lambda: ledger.reserve(order())):
        ticket = ledger.reserve(order(plan="other"))
        assert disk.holds(ticket.number - 1)
        assert disk.holds(ticket.number)


def test_a_refusal_tells_nothing_that_a_power_cut_takes_away(disk: Disk, ledger: Ledger):
    number = len(ledger.entries()) + 1
    with Held(disk, lambda: ledger.reserve(order(Pure(100)))):
        with pytest.raises(BudgetExhausted):
            ledger.reserve(order(plan="other"))
        assert disk.holds(number)


def test_an_anchor_is_never_ahead_of_what_survives(disk: Disk, ledger: Ledger):
    anchor = Anchor(disk.file.parent / "anchor")
    anchored = Ledger(ledger.store, anchors=(anchor,))
    anchored.reserve(order())
    before = anchor.read()
    with Held(disk, lambda: anchored.reserve(order(plan="other"))):
        assert anchor.read() == before
        anchored.move_anchors()
        mark = anchor.read()
        assert mark is not None
        assert mark != before
        assert disk.holds(mark.end.sequence)


def shown_at_once(lent: Lent, *, is_written: bool = False) -> None:
    if is_written:
        FLUSHING(lent, is_written=True)


def never(lent: Lent, *, is_written: bool = False) -> None:
    pass


FLUSHING = Lent.make_durable


@pytest.mark.parametrize(
    "caught_by",
    [
        test_who_sees_a_commit_before_it_is_flushed_flushes_it,
        test_a_refusal_tells_nothing_that_a_power_cut_takes_away,
        test_an_anchor_is_never_ahead_of_what_survives,
    ],
)
def test_who_shows_what_nobody_flushed_is_caught(disk, ledger, monkeypatch, caught_by):
    monkeypatch.setattr(Lent, "make_durable", shown_at_once)
    with pytest.raises(AssertionError, match="holds"):
        caught_by(disk, ledger)


def test_who_tells_of_a_commit_that_nobody_flushed_is_caught(disk, ledger, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Lent, "make_durable", never)
        ticket = ledger.reserve(order(LITTLE))
    assert not disk.holds(ticket.number)


def test_what_is_durable_is_not_flushed_again(disk: Disk, ledger: Ledger, monkeypatch):
    flushed: list[int] = []
    monkeypatch.setattr(kept_open, "flush", flushed.append)
    ledger.spent("people")
    assert flushed == []
    ledger.reserve(order())
    assert len(flushed) == 1
    ledger.spent("people")
    assert len(flushed) == 1
    with closing(sqlite3.connect(disk.file)) as other:
        other.execute("PRAGMA user_version = 2")
    ledger.spent("people")
    ledger.spent("people")
    assert len(flushed) == 2


def test_who_is_killed_before_the_flush_leaves_what_others_flush(disk: Disk, ledger: Ledger):
    ledger.spent("people")
    program = (
        "import os, signal, sys\n"
        "from discreet.ledger import kept_open\n"
        "from discreet.ledger.ledger import Ledger\n"
        "from discreet.ledger.sqlite_store import SqliteStore\n"
        "from tests.ledger.orders import order\n"
        "ledger = Ledger(SqliteStore(sys.argv[1]))\n"
        "kept_open.flush = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "ledger.reserve(order())\n"
    )
    command = [sys.executable, "-c", program, str(disk.file)]
    child = subprocess.run(command, cwd=ROOT, check=False)
    assert child.returncode == -signal.SIGKILL
    number = 2
    assert not disk.holds(number)
    assert ledger.spent("people") == Pure(1)
    assert disk.holds(number)


# ---- A disk that fails.


def fail(_: int) -> None:
    raise OSError(5, "Input/output error")


def test_after_a_failed_flush_all_is_moved_into_the_file(disk: Disk, ledger: Ledger, monkeypatch):
    """The system may forget what it could not write once it has said so."""
    with monkeypatch.context() as patch:
        patch.setattr(kept_open, "flush", fail)
        ticket = ledger.reserve(order())
    assert Path(f"{disk.file}-wal").stat().st_size == 0
    disk.kept = b""
    assert disk.holds(ticket.number)


def test_a_charge_that_could_not_be_flushed_is_said_to_stay(disk, ledger, monkeypatch):
    monkeypatch.setattr(kept_open, "flush", fail)
    monkeypatch.setattr(kept_open, "_MOVE", "SELECT 1, 0, 0")
    with pytest.raises(WrittenBefore, match="could not be made durable") as caught:
        ledger.reserve(order())
    assert "it is charged, and no row was read" in caught.value.next
    with pytest.raises(LedgerError, match="could not be made durable"):
        Ledger(SqliteStore(disk.file)).spent("people")
    monkeypatch.undo()
    assert ledger.spent("people") == Pure(1)


def test_an_error_while_a_log_is_moved_is_said_too(disk, ledger, monkeypatch):
    monkeypatch.setattr(kept_open, "flush", fail)
    monkeypatch.setattr(kept_open, "_MOVE", "SELECT missing")
    with pytest.raises(WrittenBefore, match="could not be made durable"):
        ledger.reserve(order())


def test_where_there_is_no_log_sqlite_flushes_each_commit(tmp_path: Path):
    """Somebody has set another mode: nothing in it rests on a log."""
    new_ledger(tmp_path).reserve(order())
    KEPT_OPEN.close()
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as other:
        assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    store = SqliteStore(tmp_path / "ledger.sqlite")
    with store.read() as snapshot:
        assert snapshot.connection.execute("PRAGMA synchronous").fetchone() == (2,)
    Ledger(store).reserve(order(plan="other"))
    assert Ledger(store).spent("people") == Pure(2)
    with suppress(FileNotFoundError):
        Path(f"{store.path}-wal").unlink()
    assert Ledger(SqliteStore(store.path)).spent("people") == Pure(2)
