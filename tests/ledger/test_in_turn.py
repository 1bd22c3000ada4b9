"""The queue before the write lock: one at a time, without anybody waiting for the dead."""

import os
import threading
from pathlib import Path

import pytest

from discreet.core.loss import Pure
from discreet.ledger.in_turn import in_turn
from discreet.ledger.sqlite_file import _locked_folder
from tests.ledger.orders import new_ledger, order


def hold(folder: Path) -> tuple[int, int]:
    """Start a process that stands first in the queue; return it, and what it waits for."""
    told_read, told = os.pipe()
    waits, go = os.pipe()
    child = os.fork()
    if child == 0:
        with in_turn(os.open(folder, os.O_RDONLY), 60):
            os.write(told, b"x")
            os.read(waits, 1)
            os._exit(0)
    os.read(told_read, 1)
    return child, go


def test_one_waits_until_the_other_has_gone(tmp_path: Path):
    child, go = hold(tmp_path)
    entered = threading.Event()

    def enter() -> None:
        with in_turn(os.open(tmp_path, os.O_RDONLY), 60):
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
    with in_turn(os.open(tmp_path, os.O_RDONLY), 0.05) as is_mine:
        assert not is_mine
    os.write(go, b"x")
    os.waitpid(child, 0)


def test_a_child_that_was_forked_while_a_ledger_began_does_not_keep_its_folder(tmp_path: Path):
    with _locked_folder(tmp_path):
        child, end = sleeping()
    with in_turn(os.open(tmp_path, os.O_RDONLY), 5) as is_mine:
        assert is_mine
    os.close(end)
    os.waitpid(child, 0)


def sleeping() -> tuple[int, int]:
    """Fork a child with a copy of every handle; it ends when what is returned is closed."""
    waits, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        os.read(waits, 1)
        os._exit(0)
    os.close(waits)
    return child, end


def test_a_child_that_was_forked_meanwhile_does_not_keep_a_place_that_was_given_up(tmp_path):
    """It has a copy of the handle that somebody of the parent still waits with."""
    child, go = hold(tmp_path)
    with in_turn(os.open(tmp_path, os.O_RDONLY), 0.05) as is_mine:
        assert not is_mine
    copy, end = sleeping()
    os.write(go, b"x")
    os.waitpid(child, 0)
    # The turn of who gave up comes, and is given up as well.
    with in_turn(os.open(tmp_path, os.O_RDONLY), 5) as is_mine:
        assert is_mine
    os.close(end)
    os.waitpid(copy, 0)


def test_where_no_thread_can_wait_one_looks_again(tmp_path: Path, monkeypatch):
    def refuse(*_: object) -> None:
        raise RuntimeError

    child, go = hold(tmp_path)
    monkeypatch.setattr("discreet.ledger.in_turn.start_new_thread", refuse)
    with in_turn(os.open(tmp_path, os.O_RDONLY), 0.05) as is_mine:
        assert not is_mine
    os.write(go, b"x")
    with in_turn(os.open(tmp_path, os.O_RDONLY), 60) as is_mine:
        assert is_mine
    os.waitpid(child, 0)


@pytest.mark.parametrize("error", [OSError, PermissionError])
def test_where_there_is_no_queue_the_write_lock_alone_decides(tmp_path, monkeypatch, error):
    def refuse(*_: object) -> None:
        raise error

    ledger = new_ledger(tmp_path)
    monkeypatch.setattr("discreet.ledger.in_turn.fcntl.flock", refuse)
    threads = [threading.Thread(target=ledger.reserve, args=(order(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent("people") == Pure(3)
