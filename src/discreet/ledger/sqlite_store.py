"""A ledger in one SQLite file: write-ahead log, full synchronisation, append-only tables."""

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from attrs import field, frozen

from discreet.core.canonical import canonical
from discreet.core.errors import LedgerError
from discreet.ledger.chain import broken, forged
from discreet.ledger.entry import Entry, Kind, Subject, follow
from discreet.ledger.sqlite_schema import APPLICATION, SCHEMA, VERSION
from discreet.ledger.store import IndexRow, SaltSize

# SQLite must not be open across a fork: the child would inherit its idea of which locks are held,
# but not the locks, and two processes could both believe that they write alone. So a connection
# lives for one transaction, and forks wait until no transaction is open.
_no_fork = RLock()
os.register_at_fork(
    before=_no_fork.acquire, after_in_parent=_no_fork.release, after_in_child=_no_fork.release
)


def _resolved(path: Path | str) -> Path:
    return Path(path).resolve()


@frozen
class SqliteStore:
    """An existing ledger file. Safe to share between threads and forked processes.

    Guarantee:
        As :class:`~discreet.ledger.store.Store` asks. ``BEGIN IMMEDIATE`` takes the one write lock
        before anything is read, and ``synchronous=FULL`` flushes the log before a commit returns.
        Triggers refuse every change and removal; the chain shows what got past them.
    """

    path: Path = field(converter=_resolved)
    timeout: float = 60.0

    def __attrs_post_init__(self) -> None:
        """Refuse a file that is not a ledger."""
        with self._connection():
            pass

    @contextmanager
    def read(self) -> Iterator["SqliteTransaction"]:
        """Open a snapshot."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            yield SqliteTransaction(connection)

    @contextmanager
    def write(self) -> Iterator["SqliteTransaction"]:
        """Open the one write transaction; leaving the block commits it."""
        with self._connection() as connection:
            # Closing the connection rolls back whatever was not committed.
            connection.execute("BEGIN IMMEDIATE")
            yield SqliteTransaction(connection)
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with _no_fork, _explained(self.path), closing(_connect(self.path, self.timeout)) as opened:
            _require_ledger(opened, self.path)
            opened.execute("PRAGMA synchronous = FULL")
            opened.execute("PRAGMA fullfsync = ON")
            opened.execute("PRAGMA checkpoint_fullfsync = ON")
            yield opened


@frozen
class SqliteTransaction:
    """One open transaction on a ledger file."""

    connection: sqlite3.Connection

    def entries(self) -> Iterator[Entry]:
        """Yield every entry in order."""
        rows = self.connection.execute(f"{_ENTRIES} ORDER BY sequence").fetchall()
        yield from map(_entry, rows)

    def latest(self, kind: Kind, subject: Subject) -> Entry | None:
        """Return the newest entry of ``kind`` about ``subject``; one that is not is refused."""
        found = self._one(
            f"{_ENTRIES} WHERE sequence = ({_NEWEST})", (kind.value, canonical(subject))
        )
        if found is not None and subject not in found.subjects:
            raise forged("the index leads to an entry about something else")
        return found

    def index(self) -> Iterator[IndexRow]:
        """Yield every row by which ``latest`` finds entries."""
        yield from self.connection.execute(
            "SELECT kind, subject, sequence FROM subjects"
        ).fetchall()

    def release(self, ticket: int) -> str | None:
        """Return the stored text of the release that a ticket paid for."""
        text: str | None = self._value("SELECT body FROM releases WHERE ticket = ?", (ticket,))
        return text

    def tickets(self) -> Iterator[int]:
        """Yield the numbers of all tickets with a stored release, in order."""
        rows = self.connection.execute("SELECT ticket FROM releases ORDER BY ticket").fetchall()
        yield from (number for (number,) in rows)

    def salt(self, id_space: str, version: int) -> bytes | None:
        """Return the secret salt of a data version."""
        found: bytes | None = self._value(
            "SELECT salt FROM salts WHERE id_space = ? AND version = ?", (id_space, version)
        )
        return found

    def salt_sizes(self) -> Iterator[SaltSize]:
        """Yield what may be known of every salt; the salts themselves are not read."""
        size = "CASE typeof(salt) WHEN 'blob' THEN length(salt) ELSE 0 END"
        yield from self.connection.execute(
            f"SELECT id_space, version, {size} FROM salts"
        ).fetchall()

    def append(self, kind: Kind, payload: dict[str, Any]) -> Entry:
        """Add an entry at the end of the chain, and to the index of what it is about."""
        head = self._one(f"{_ENTRIES} ORDER BY sequence DESC LIMIT 1", ())
        entry = follow(head, kind, payload)
        self.connection.execute(
            f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
            (entry.sequence, kind.value, canonical(entry.payload), entry.previous, entry.digest),
        )
        self.connection.executemany(
            "INSERT INTO subjects (kind, subject, sequence) VALUES (?, ?, ?)",
            [(kind.value, canonical(subject), entry.sequence) for subject in entry.subjects],
        )
        return entry

    def put_release(self, ticket: int, text: str) -> None:
        """Store the release that a ticket paid for."""
        self.connection.execute("INSERT INTO releases (ticket, body) VALUES (?, ?)", (ticket, text))

    def put_salt(self, id_space: str, version: int, salt: bytes) -> None:
        """Store the secret salt of a data version, apart from the chain."""
        self.connection.execute(
            "INSERT INTO salts (id_space, version, salt) VALUES (?, ?, ?)",
            (id_space, version, salt),
        )

    def _one(self, query: str, values: tuple[Any, ...]) -> Entry | None:
        row = self.connection.execute(query, values).fetchone()
        return None if row is None else _entry(row)

    def _value(self, query: str, values: tuple[Any, ...]) -> Any:
        row = self.connection.execute(query, values).fetchone()
        return None if row is None else row[0]


_COLUMNS = "sequence, kind, payload, previous, digest"
_ENTRIES = f"SELECT {_COLUMNS} FROM entries"

# The kind is asked of the entry too, so that a row which leads nowhere, or to an entry of another
# kind, cannot hide the real one. CROSS JOIN keeps the order: from the newest row of the index down.
_NEWEST = """
SELECT subjects.sequence FROM subjects CROSS JOIN entries USING (sequence)
WHERE subjects.kind = ? AND subjects.subject = ? AND entries.kind = subjects.kind
ORDER BY subjects.sequence DESC LIMIT 1
"""


def _entry(row: tuple[Any, ...]) -> Entry:
    sequence, kind, payload, previous, digest = row
    try:
        found = json.loads(payload)
        known = Kind(kind)
    except (TypeError, ValueError):
        raise broken(sequence, "it cannot be read") from None
    if not isinstance(found, dict):
        raise broken(sequence, "it cannot be read")
    return Entry(sequence=sequence, kind=known, payload=found, previous=previous, digest=digest)


def create_sqlite(path: Path | str) -> SqliteStore:
    """Open the ledger at ``path``; begin an empty one if no file is there.

    The new file is complete before it gets its name, so that two processes cannot both begin it and
    a crash leaves nothing half made. Only its owner can read it, because it will hold salts.
    """
    path = _resolved(path)
    if not path.exists():
        with _explained(path):
            _begin(path)
    return SqliteStore(path)


def _begin(path: Path) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    os.close(handle)
    new = Path(name)
    try:
        with closing(_connect(new, 0)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(SCHEMA)
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink()
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
    # mode=rw: a missing file is an error, not a fresh budget.
    uri = f"{path.as_uri()}?mode=rw"
    return sqlite3.connect(uri, timeout=timeout, isolation_level=None, uri=True)


def _require_ledger(connection: sqlite3.Connection, path: Path) -> None:
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
def _explained(path: Path) -> Iterator[None]:
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
    what, advice = _REASONS[reason]
    raise LedgerError(f"The ledger {path} {what}", next=advice)


_REASONS = {
    "SQLITE_BUSY": ("is busy", "Another process holds it; ask again in a moment"),
    "SQLITE_LOCKED": ("is busy", "Another process holds it; ask again in a moment"),
    "SQLITE_CANTOPEN": ("cannot be opened", "Check that its folder exists and is writable"),
    "SQLITE_READONLY": ("cannot be written", "Check that the file and its folder are writable"),
    "SQLITE_PERM": ("cannot be written", "Check that the file and its folder are writable"),
    "SQLITE_FULL": ("cannot grow", "Free some disk space"),
    "SQLITE_NOTADB": ("is not a ledger", "Name another file, or restore it from a copy"),
    "SQLITE_CORRUPT": ("is damaged", "Restore it from a copy that verifies"),
    "SQLITE_CONSTRAINT": ("refused a change of its past", "It can only be added to"),
    "UNICODE": ("cannot write this name", "Use names that are valid Unicode text"),
    "": ("cannot be used", "Check the disk, and restore the file from a copy that verifies"),
}
