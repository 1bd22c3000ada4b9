"""Connections that stay open for a moment: as good as new ones, and gone when nobody needs them."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from discreet.core.errors import BudgetExhausted, LedgerError
from discreet.core.loss import Pure
from discreet.ledger import kept_open, sqlite_store
from discreet.ledger.anchor import Anchor
from discreet.ledger.kept_open import KEPT_OPEN, KeptOpen, Lent, log_of
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_file import connect_file
from discreet.ledger.sqlite_store import create_sqlite
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.projects.gate import pass_gate

LITTLE = Pure("1/100")


@pytest.fixture(autouse=True)
def _kept_for_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep connections until a test has looked at them."""
    KEPT_OPEN.close()
    monkeypatch.setattr(kept_open, "IDLE", 3600.0)
    yield
    KEPT_OPEN.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Note the connections that are opened."""
    found: list[sqlite3.Connection] = []

    def noted(path: Path, timeout: float) -> sqlite3.Connection:
        found.append(connect_file(path, timeout))
        return found[-1]

    monkeypatch.setattr(sqlite_store, "connect_file", noted)
    return found


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_many_answers_need_one_connection(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    for _ in range(10):
        pass_gate(ledger, order(LITTLE), lambda: RELEASE)
    assert len(opened) == 1
    assert ledger.spent("people") == Pure("1/10")


def test_every_commit_is_flushed_before_it_returns(tmp_path: Path, opened):
    new_ledger(tmp_path).reserve(order())
    (connection,) = opened
    modes = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _DURABLE]
    assert modes == list(_DURABLE.values())


_DURABLE = {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "checkpoint_fullfsync": 1}


def test_a_refused_charge_is_rolled_back_and_the_connection_goes_on(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    for _ in range(3):
        with pytest.raises(BudgetExhausted):
            ledger.reserve(order(Pure(4)))
    assert len(ledger.entries()) == 1
    assert len(opened) == 1
    assert not opened[0].in_transaction


def test_what_was_begun_is_rolled_back(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    with pytest.raises(BudgetExhausted), ledger.store.write() as transaction:  # noqa: PT012
        transaction.put_release(7, "{}")
        raise BudgetExhausted("too dear")
    with ledger.store.read() as snapshot:
        assert snapshot.tickets() == ()
    assert len(opened) == 1


@pytest.mark.parametrize("error", [sqlite3.OperationalError, OSError, KeyboardInterrupt])
def test_after_any_other_error_a_connection_is_not_used_again(tmp_path: Path, opened, error):
    ledger = new_ledger(tmp_path)
    with pytest.raises((LedgerError, KeyboardInterrupt)), ledger.store.write():
        raise error
    assert not is_open(opened[0])
    assert ledger.spent("people") == Pure(0)
    assert len(opened) == 2


# ---- Closing.


def test_what_nobody_uses_is_closed_and_all_is_in_one_file(tmp_path: Path, monkeypatch, opened):
    monkeypatch.setattr(kept_open, "IDLE", 0.0)
    new_ledger(tmp_path).reserve(order())
    end = time.monotonic() + 60
    while names(tmp_path) != ["ledger.sqlite"] and time.monotonic() < end:
        time.sleep(0.01)
    assert names(tmp_path) == ["ledger.sqlite"]
    assert not any(map(is_open, opened))


def test_one_thread_looks_after_what_is_used_again_and_again(tmp_path: Path, monkeypatch):
    looks: list[threading.Thread] = []
    own = KeptOpen._close

    def noted(kept: KeptOpen, is_closed) -> None:
        looks.append(threading.current_thread())
        own(kept, is_closed)

    monkeypatch.setattr(kept_open, "LOOK", 0.001)
    monkeypatch.setattr(KeptOpen, "_close", noted)
    ledger = new_ledger(tmp_path)
    closer = KEPT_OPEN._closer
    assert closer is not None
    with ledger.store.read():  # nothing is kept meanwhile
        seen = looks.count(closer)
        while looks.count(closer) < seen + 3 and closer.is_alive():
            time.sleep(0.001)
    assert closer.is_alive()
    assert KEPT_OPEN._closer is closer


def test_a_ledger_can_be_let_go_of(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    assert len(names(tmp_path)) == 3
    KEPT_OPEN.close(tmp_path / "ledger.sqlite")
    assert names(tmp_path) == ["ledger.sqlite"]
    assert ledger.spent("people") == Pure(0)


def test_a_program_that_ends_leaves_all_in_one_file(tmp_path: Path):
    program = (
        "from pathlib import Path; from tests.ledger.orders import new_ledger, order;"
        f"new_ledger(Path({str(tmp_path)!r})).reserve(order())"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert names(tmp_path) == ["ledger.sqlite"]


def test_few_are_kept(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    with ExitStack() as reading:
        for _ in range(kept_open.MOST_KEPT + 3):
            reading.enter_context(ledger.store.read())
    assert sum(map(is_open, opened)) == kept_open.MOST_KEPT


# ---- Forks.


def test_nothing_is_open_across_a_fork(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    child = os.fork()
    if child == 0:
        is_closed = not any(map(is_open, opened))
        ledger.reserve(order(LITTLE))
        os._exit(0 if is_closed and len(opened) == 2 else 1)
    assert not any(map(is_open, opened))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ledger.reserve(order(LITTLE))
    assert ledger.spent("people") == Pure("2/100")


def test_a_child_that_was_forked_behind_our_back_leaves_the_connection_alone(
    tmp_path: Path, monkeypatch, opened
):
    ledger = new_ledger(tmp_path)
    monkeypatch.setattr(KEPT_OPEN, "_process", os.getpid() + 1)
    ledger.reserve(order(LITTLE))
    assert len(opened) == 2
    assert is_open(opened[0])  # closing it would be the parent's to do
    opened[0].close()


# ---- Files that are changed while a connection is kept.


def test_a_log_that_was_removed_is_noticed_and_nothing_is_forgotten(tmp_path: Path, opened):
    ledger = Ledger(new_ledger(tmp_path).store, anchors=(Anchor(tmp_path / "anchor"),))
    ledger.reserve(order())
    (tmp_path / "ledger.sqlite-wal").unlink()
    assert ledger.spent("people") == Pure(1)
    assert len(opened) == 2
    ledger.reserve(order())
    KEPT_OPEN.close()
    assert Ledger(create_sqlite(tmp_path / "ledger.sqlite")).spent("people") == Pure(2)


@pytest.mark.parametrize("beside", ["-wal", "-shm"])
def test_a_log_that_is_replaced_under_the_write_lock_is_refused(tmp_path: Path, beside: str):
    path = tmp_path / "ledger.sqlite"
    store = new_ledger(tmp_path).store
    with store.read(), closing(connect_file(path, 1)) as connection:
        lent = Lent(path, connection, log_of(path))
        lent.require_same_log()
        (tmp_path / f"ledger.sqlite{beside}").rename(tmp_path / "away")
        with pytest.raises(LedgerError, match="was replaced or removed"):
            lent.require_same_log()
        (tmp_path / f"ledger.sqlite{beside}").write_bytes(b"")
        with pytest.raises(LedgerError, match="Nothing was spent"):
            lent.require_same_log()


def test_a_file_that_takes_its_place_is_another_one(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    ledger.reserve(order())
    new_ledger(_folder(tmp_path / "other"))
    KEPT_OPEN.close(tmp_path / "other" / "ledger.sqlite")
    (tmp_path / "other" / "ledger.sqlite").replace(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerError, match="was replaced by another file"):
        ledger.reserve(order())
    assert not any(map(is_open, opened))


def test_the_log_of_a_ledger_that_is_gone_is_not_taken_for_a_new_ones(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    ledger.reserve(order())
    (tmp_path / "ledger.sqlite").unlink()
    assert Ledger(create_sqlite(tmp_path / "ledger.sqlite")).entries() == ()


def test_what_others_write_is_seen(tmp_path: Path, opened):
    ledger = new_ledger(tmp_path)
    ledger.spent("people")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(LedgerError, match="another version"):
        ledger.spent("people")


def test_an_end_without_threads_keeps_nothing(tmp_path: Path, monkeypatch, opened):
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sqlite_store, "KEPT_OPEN", KeptOpen())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    new_ledger(tmp_path).reserve(order())
    assert not any(map(is_open, opened))


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
