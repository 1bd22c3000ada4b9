"""Rows that did not fit in memory do not outlive their process, however it ended."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.engines.duckdb import spill_folder
from discreet.engines.duckdb.databases import Databases
from discreet.engines.duckdb.spill_folder import LOCK, PREFIX, SpillFolder, remove_abandoned

CHILD = """
import sys, time
from pathlib import Path
from discreet.engines.duckdb.spill_folder import SpillFolder
spill = SpillFolder()
Path(spill.room(), "rows").write_text("private")
print(spill.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Let the temporary folder be one of the test's own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    monkeypatch.setattr(tempfile, "tempdir", None)


def start() -> tuple[subprocess.Popen[str], Path]:
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    return child, Path(child.stdout.readline().strip())


def kill(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)


def test_what_a_killed_process_left_is_removed_by_the_next_one(temporary):
    killed, left = start()
    alive, used = start()
    try:
        kill(killed)
        assert list(left.rglob("rows"))
        databases = Databases()
        with databases.lent() as database:
            database.execute("SELECT 1")
        assert not left.exists()
        assert list(used.rglob("rows"))  # its process lives
        databases.close()
    finally:
        kill(alive)
    remove_abandoned(temporary)
    assert list(temporary.iterdir()) == []


def test_a_folder_is_removed_when_it_is_closed_and_made_again(temporary):
    spill = SpillFolder()
    first = Path(spill.room())
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    remove_abandoned(temporary)
    assert first.exists()
    spill.remove()
    assert list(temporary.iterdir()) == []
    assert Path(spill.room()).exists()
    del spill
    assert list(temporary.iterdir()) == []


def abandoned(parent: Path, name: str = "left") -> Path:
    folder = parent / f"{PREFIX}{name}"
    folder.mkdir()
    (folder / LOCK).touch()
    (folder / "rows").write_text("private")
    return folder


def test_no_link_is_followed(temporary, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / LOCK).touch()
    (outside / "kept").touch()
    (temporary / f"{PREFIX}link").symlink_to(outside)
    folder = abandoned(temporary)
    (folder / "inside").symlink_to(outside)
    (folder / "deep").mkdir()
    (folder / "deep" / "inside").symlink_to(outside)
    remove_abandoned(temporary)
    assert not folder.exists()
    assert {one.name for one in outside.iterdir()} == {LOCK, "kept"}


def test_a_folder_of_somebody_else_is_not_touched(temporary, monkeypatch):
    folder = abandoned(temporary)
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    remove_abandoned(temporary)
    assert (folder / "rows").exists()


@pytest.mark.parametrize("lock", ["missing", "link", "folder", "pipe"])
def test_a_folder_without_a_lock_of_ours_is_not_touched(temporary, tmp_path, lock):
    """One without a lock may just be in the making."""
    folder = abandoned(temporary)
    (folder / LOCK).unlink()
    if lock == "link":
        (tmp_path / "other").touch()
        (folder / LOCK).symlink_to(tmp_path / "other")
    if lock == "folder":
        (folder / LOCK).mkdir()
    if lock == "pipe":
        os.mkfifo(folder / LOCK)
    other = temporary / "discreet-rehearsal-x"
    other.mkdir()
    remove_abandoned(temporary)
    assert (folder / "rows").exists()
    assert other.exists()


def test_what_cannot_be_removed_is_tried_again(temporary, monkeypatch):
    folder = abandoned(temporary)
    remove = spill_folder._remove

    def refused(name: str, inside: int) -> None:
        raise PermissionError(name)

    monkeypatch.setattr(spill_folder, "_remove", refused)
    remove_abandoned(temporary)
    assert (folder / "rows").exists()
    monkeypatch.setattr(spill_folder, "_remove", remove)
    remove_abandoned(temporary)
    assert not folder.exists()


def test_a_folder_in_the_making_is_never_taken_for_abandoned(temporary, monkeypatch):
    """Whoever looks at any moment while it is made leaves it alone."""
    flock, looks = fcntl.flock, list[str]()

    def looking(handle: int, how: int) -> None:
        if not looks:
            looks.append("before")
            remove_abandoned(temporary)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", looking)
    spill = SpillFolder()
    room = Path(spill.room())
    remove_abandoned(temporary)
    assert looks == ["before"]
    assert room.exists()
    spill.remove()


def test_a_forked_process_leaves_the_folder_to_its_parent(temporary):
    spill = SpillFolder()
    room = Path(spill.room())
    child = os.fork()
    if child == 0:
        spill.remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert room.exists()
    remove_abandoned(temporary)
    assert room.exists()
    spill.remove()
    assert not room.exists()
