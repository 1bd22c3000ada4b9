"""A ledger with two names: refused, whichever name is used and whenever the other one came."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.core.errors import LedgerError
from discreet.core.loss import Pure
from discreet.ledger import sqlite_file
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_file import is_mounted
from discreet.ledger.sqlite_store import SqliteStore, create_sqlite
from tests.ledger.children import start
from tests.ledger.orders import new_ledger, order
from tests.support.house.paths import ROOT


def test_a_hard_link_is_refused_under_both_names(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    file, other = tmp_path / "ledger.sqlite", tmp_path / "other.sqlite"
    other.hardlink_to(file)
    for use in (
        lambda: SqliteStore(file),
        lambda: create_sqlite(other),
        lambda: ledger.reserve(order()),
        lambda: ledger.spent("people"),
    ):
        with pytest.raises(LedgerError, match="more than one name") as caught:
            use()
        assert "find -samefile" in caught.value.next
    other.unlink()
    ledger.reserve(order())
    ledger.verify()


def test_a_link_that_comes_while_the_write_lock_is_waited_for_is_seen(tmp_path: Path, monkeypatch):
    ledger = new_ledger(tmp_path)
    looks: list[Path] = []

    def look(path: Path) -> sqlite_file.Identity:
        if not looks:
            (tmp_path / "other.sqlite").hardlink_to(path)
        looks.append(path)
        return sqlite_file.require_one_link(path)

    monkeypatch.setattr("discreet.ledger.sqlite_store.require_one_link", look)
    with pytest.raises(LedgerError, match="more than one name"):
        ledger.reserve(order())
    (tmp_path / "other.sqlite").unlink()
    assert ledger.spent("people") == Pure(0)


def test_a_symbolic_link_leads_to_the_one_name(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    (tmp_path / "linked").symlink_to(tmp_path)
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "ledger.sqlite")
    for name in ("link.sqlite", "linked/ledger.sqlite"):
        again = Ledger(create_sqlite(tmp_path / name))
        assert again.store == ledger.store
        again.reserve(order())
    assert ledger.remaining("people") == Pure(1)


def test_a_file_that_became_a_link_or_another_file_is_refused(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    file, moved = tmp_path / "ledger.sqlite", tmp_path / "moved.sqlite"
    file.rename(moved)
    file.symlink_to(moved)
    with pytest.raises(LedgerError, match="replaced by a link"):
        ledger.reserve(order())
    file.unlink()
    shutil.copy(moved, file)
    with pytest.raises(LedgerError, match="replaced by another file"):
        ledger.reserve(order())
    Ledger(create_sqlite(file)).reserve(order())


@pytest.mark.parametrize("when", ["before", "while"])
def test_processes_under_two_names_never_pass_more_than_there_is(tmp_path: Path, when: str):
    """Two under each name, for a budget of three answers; the second name may come at any time."""
    ledger = new_ledger(tmp_path)
    names, go = [tmp_path / "ledger.sqlite", tmp_path / "other.sqlite"], tmp_path / "go"
    if when == "before":
        names[1].hardlink_to(names[0])
    children = [start("ask", str(name), str(go), "12") for name in names * 2]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    go.touch()
    if when == "while":
        while ledger.spent("people") == Pure(0):
            pass
        names[1].hardlink_to(names[0])
    passed = [int(child.communicate(timeout=120)[0]) for child in children]
    names[1].unlink()
    assert Pure(sum(passed)) <= ledger.spent("people") <= Pure(3)
    assert sum(passed) == 0 or when == "while"
    ledger.verify()


def may_mount() -> bool:
    """Tell whether this user may mount things where nobody else sees it."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


MOUNTED = """
import sys
from pathlib import Path
from discreet.core.errors import LedgerError
from discreet.ledger.sqlite_file import is_mounted
from discreet.ledger.sqlite_store import SqliteStore
file, again = map(Path, sys.argv[1:])
assert not is_mounted(file)
SqliteStore(file)
try:
    SqliteStore(again)
except LedgerError as error:
    print(error)
"""


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_file_may_not_be_mounted_but_a_folder_may(tmp_path: Path, what: str):
    folder, again = tmp_path / "a folder", tmp_path / "again"
    for place in (folder, again):
        place.mkdir()
    new_ledger(folder)
    file, second = folder / "ledger.sqlite", again / "ledger.sqlite"
    if what == "file":
        second.touch()
    mounted = (file, second) if what == "file" else (folder, again)
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    child = [sys.executable, "-c", MOUNTED, str(file), str(second)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *map(str, mounted), *child],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert ("Mount the folder of the ledger, never the file" in done.stdout) == (what == "file")


def test_without_the_systems_word_devices_decide(tmp_path: Path, monkeypatch):
    file = tmp_path / "ledger.sqlite"
    new_ledger(tmp_path)
    assert not is_mounted(file)
    monkeypatch.setattr(sqlite_file, "_mount", lambda path: str(path) if path == file else "1")
    assert is_mounted(file)
    with pytest.raises(LedgerError, match="mounted by itself"):
        SqliteStore(file)
    monkeypatch.setattr(sqlite_file, "_mount", lambda _: None)
    assert not is_mounted(file)


@pytest.mark.usefixtures("at_rest")
def test_a_new_ledger_never_has_two_names(tmp_path: Path, monkeypatch):
    """Not for a moment: another process could look then, and a crash would leave both."""
    seen = []
    rename = Path.rename

    def watched(self: Path, target: Path) -> Path:
        seen.append(self.lstat().st_nlink)
        done = rename(self, target)
        seen.append(target.lstat().st_nlink)
        return done

    monkeypatch.setattr(Path, "rename", watched)
    create_sqlite(tmp_path / "ledger.sqlite")
    assert seen == [1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]
