"""The queue before the write lock: one at a time, without anybody waiting for the dead."""

import os
import threading
from pathlib import Path

import pytest

from discreet.core.loss import Pure
from discreet.ledger.sqlite_store import write_queue
from tests.ledger.orders import new_ledger, order


def hold(folder: Path) -> tuple[int, int]:
    """Start a process that stands first in the queue; return it, and what it waits for."""
    told_read, told = os.pipe()
    waits, go = os.pipe()
    child = os.fork()
    if child == 0:
        with write_queue(folder, 60):
            os.write(told, b"x")
            os.read(waits, 1)
            os._exit(0)
    os.read(told_read, 1)
    return child, go


def test_one_waits_until_the_other_has_gone(tmp_path: Path):
    child, go = hold(tmp_path)
    entered = threading.Event()

    def enter() -> None:
        with write_queue(tmp_path, 60):
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    assert not entered.wait(0.2)
    # It dies without a word, which must be enough.
    os.write(go, b"x")
    os.waitpid(child, 0)
    assert entered.wait(60)
    thread.join()


def test_who_waited_long_enough_goes_on(tmp_path: Path):
    child, go = hold(tmp_path)
    with write_queue(tmp_path, 0.05):
        pass
    os.write(go, b"x")
    os.waitpid(child, 0)


@pytest.mark.parametrize("error", [OSError, PermissionError])
def test_where_there_is_no_queue_the_write_lock_alone_decides(tmp_path, monkeypatch, error):
    def refuse(*_: object) -> None:
        raise error

    ledger = new_ledger(tmp_path)
    monkeypatch.setattr("discreet.ledger.sqlite_store.fcntl.flock", refuse)
    threads = [threading.Thread(target=ledger.reserve, args=(order(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent("people") == Pure(3)
