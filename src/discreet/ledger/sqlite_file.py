"""A ledger as a file: how it is begun, how it is connected to, and what errors of it mean.

One name: a ledger that can be reached by two names could be spent twice.

SQLite keeps the newest writes in a log (``-wal``) and its locks in another file (``-shm``), and it
finds both by the *name* of the ledger. So one file under two names has two logs. Who works under
one name neither waits for the other nor sees what was spent there.

A file gets a second name in two ways: by a hard link, and by mounting *the file* somewhere else, as
containers do on request. Both are refused. A symbolic link is no second name, because it is
followed to the one name before anything is opened; neither is a mounted *folder*, because the log
and the locks come along with it.
"""

import fcntl
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from discreet.core.errors import LedgerError

APPLICATION = 0x44736372
"""Marks the file as ours: "Dscr"."""

VERSION = 1
"""The version of the tables. A file of another version is refused, not guessed at."""

EXACT_VERSION = 2
"""The version of a file from its first exact release on. The tables are the same, but a program
that knows version 1 alone would promise what no longer holds: so it is refused the file."""

_KEYS = {
    "entries": ("sequence",),
    "subjects": ("kind", "subject", "sequence"),
    "releases": ("ticket",),
    "salts": ("id_space", "version"),
}


def _append_only(table: str) -> str:
    # INSERT OR REPLACE removes a row without firing the trigger on removal, so it has its own.
    same = " AND ".join(f"{key} = NEW.{key}" for key in _KEYS[table])
    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} can only be added to'); END;"
    return f"""
CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} {refuse}
CREATE TRIGGER {table}_delete BEFORE DELETE ON {table} {refuse}
CREATE TRIGGER {table}_replace BEFORE INSERT ON {table}
    WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) {refuse}
"""


SCHEMA = f"""
BEGIN;
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE subjects (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES entries,
    PRIMARY KEY (kind, subject, sequence)
) WITHOUT ROWID;
CREATE TABLE releases (
    ticket INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE salts (
    id_space TEXT NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (id_space, version)
);
{"".join(_append_only(table) for table in _KEYS)}
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""
"""Makes an empty ledger, in one transaction."""


Identity = tuple[int, int]
"""The device and the number of a file. They hold while a process lives: after a restart of the
machine the device may have another number, so that is never written down."""


def require_one_name(path: Path) -> Identity:
    """Refuse a file that has, or could have, a second name; return which file it is.

    Guarantee:
        If this returns, then at that moment ``path`` was the only hard link to the file, and the
        mount that shows the file is the one that shows its folder.

    Assumes:
        Where the system does not say which mount a path is on (no ``/proc``, or not Linux), a
        mounted file is only noticed if it is on another device than its folder.
    """
    identity = require_one_link(path)
    if path.is_file() and is_mounted(path):
        raise LedgerError(
            f"The ledger {path} is a file that is mounted by itself",
            must="be in a mounted folder, together with its log and its locks",
            next="Mount the folder of the ledger, never the file: what is asked through one "
            "name would not count under the other",
        )
    return identity


def require_one_link(path: Path) -> Identity:
    """Refuse more than one hard link, and a symbolic one; return which file it is.

    This alone has to be asked again while a file stays open: something else that is mounted over
    its name is another file.
    """
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise LedgerError(
            f"The ledger {path} was replaced by a link", next="Put the file itself back"
        )
    # What is neither a link nor a file is refused by SQLite, in words of its own.
    if stat.S_ISREG(found.st_mode) and found.st_nlink != 1:
        raise LedgerError(
            f"The ledger {path} has more than one name",
            must="have one hard link",
            got=str(found.st_nlink),
            next="Remove the other names (find them with 'find -samefile'): what is asked through "
            "one would not count under the other. Make copies with sqlite3's '.backup'",
        )
    return found.st_dev, found.st_ino


def is_mounted(path: Path) -> bool:
    """Tell whether a file is shown by another mount than the folder that it is in."""
    own, around = _mount(path), _mount(path.parent)
    if own is None or around is None:
        return path.lstat().st_dev != path.parent.stat().st_dev
    return own != around


def _mount(path: Path) -> str | None:
    """Return the number of the mount that shows ``path``; ``None`` if the system does not tell.

    A device cannot tell: a file may be mounted from the same one, and on layered file systems a
    file and its folder have different ones. The file is not opened, only found: closing an opened
    one would give up the locks that SQLite holds on it.
    """
    if not hasattr(os, "O_PATH"):
        return None
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        told = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="ascii")
    except OSError:
        return None
    finally:
        os.close(handle)
    numbers = [line.split()[1] for line in told.splitlines() if line.startswith("mnt_id:")]
    return numbers[0] if numbers else None


def begin_file(path: Path) -> None:
    """Make an empty ledger at ``path``, unless a file is there.

    It is made in a folder of its own and complete before it gets its name, so that a crash leaves
    nothing half made. Only its owner can read it, because it will hold salts. It never has two
    names: it is moved, under a lock on the folder, so that two processes cannot both begin it.
    """
    with tempfile.TemporaryDirectory(
        dir=path.parent, prefix=f".{path.name}.", suffix=".new"
    ) as folder:
        new = Path(folder) / "ledger.sqlite"
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(connect_file(new, 0)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(SCHEMA)
        with _locked_folder(path.parent) as handle:
            if not path.exists():
                # The log of a file that is gone would be taken for the new one's.
                for beside in ("-wal", "-shm"):
                    Path(f"{path}{beside}").unlink(missing_ok=True)
                new.rename(path)
            os.fsync(handle)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        # A child that another thread forked meanwhile keeps a copy of the handle open.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def connect_file(path: Path, timeout: float) -> sqlite3.Connection:
    """Open the file, which must be there."""
    # mode=rw: a missing file is an error, not a fresh budget.
    uri = f"{path.as_uri()}?mode=rw"
    # Threads take turns with a connection that is kept open, one at a time.
    return sqlite3.connect(
        uri, timeout=timeout, isolation_level=None, uri=True, check_same_thread=False
    )


def require_ledger(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a ledger of this version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise LedgerError(
            f"{path} is not a ledger",
            must="be a file that Discreet made",
            next="Name another file. An emptied ledger is never begun again in silence",
        )
    if version not in (VERSION, EXACT_VERSION):
        raise LedgerError(
            f"{path} was written by another version of Discreet",
            must=f"have schema version {VERSION} or {EXACT_VERSION}",
            got=str(version),
            next="Use the version of Discreet that wrote it",
        )


def require_log(connection: sqlite3.Connection, path: Path) -> None:
    """Let a file keep a log that was told to keep none, or refuse it: a charge could be undone.

    In another mode what was written before is kept in a file until a commit removes that, and a
    power cut right after can bring it back.
    """
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        with suppress(sqlite3.OperationalError):
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise LedgerError(
            f"The ledger {path} keeps no write-ahead log, and cannot be told to",
            must="be in the mode that Discreet began it in",
            got=f"journal_mode = {mode}",
            next="Nothing was spent. Close what else has it open, and let it be written",
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the database and the disk into errors of the ledger."""
    try:
        yield
    except sqlite3.Error as cause:
        name = getattr(cause, "sqlite_errorname", "")
        reason = next((key for key in _REASONS if name.startswith(key)), "")
    except UnicodeError:
        reason = "UNICODE"
    except OSError:
        reason = "SQLITE_CANTOPEN"
    else:
        return
    raise _error(path, reason)


def busy(path: Path) -> LedgerError:
    """Return the error about a ledger that somebody else writes all the time."""
    return _error(path, "SQLITE_BUSY")


def _error(path: Path, reason: str) -> LedgerError:
    what, advice = _REASONS[reason]
    return LedgerError(f"The ledger {path} {what}", next=advice)


_REASONS = {
    "SQLITE_BUSY": ("is busy", "Another process holds it; ask again in a moment"),
    "SQLITE_LOCKED": ("is busy", "Another process holds it; ask again in a moment"),
    "SQLITE_CANTOPEN": ("cannot be opened", "Check that its folder exists and is writable"),
    "SQLITE_READONLY": (
        "cannot be written",
        "Check that the file, its -wal and -shm beside it, and its folder are writable",
    ),
    "SQLITE_PERM": ("cannot be written", "Check that the file and its folder are writable"),
    "SQLITE_FULL": ("cannot grow", "Free some disk space"),
    "SQLITE_NOTADB": ("is not a ledger", "Name another file, or restore it from a copy"),
    "SQLITE_CORRUPT": ("is damaged", "Restore it from a copy that verifies"),
    "SQLITE_CONSTRAINT": ("refused a change of its past", "It can only be added to"),
    "UNICODE": ("cannot write this name", "Use names that are valid Unicode text"),
    "": ("cannot be used", "Check the disk, and restore the file from a copy that verifies"),
}
