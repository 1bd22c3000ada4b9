"""A ledger as a file: how it is begun, how it is connected to, and what errors of it mean."""

import fcntl
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from discreet.core.errors import LedgerError
from discreet.ledger.sqlite_schema import APPLICATION, SCHEMA, VERSION


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
    if version != VERSION:
        raise LedgerError(
            f"{path} was written by another version of Discreet",
            must=f"have schema version {VERSION}",
            got=str(version),
            next="Use the version of Discreet that wrote it",
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
