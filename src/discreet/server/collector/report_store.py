"""Keeps the batches of a survey: durably, each once, and without the order in which they came."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from discreet.core.canonical import canonical
from discreet.core.errors import DeclarationError, NotKept, SurveyClosed
from discreet.local.report_numbers import Reports
from discreet.local.survey.survey import Survey
from discreet.server.collector.batch import SentBatch

_PAGE = 1 << 22
"""How many bytes of reports are handed out at once."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS survey (version TEXT PRIMARY KEY, form TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (token BLOB PRIMARY KEY, reports BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS closed (is_closed INTEGER PRIMARY KEY) WITHOUT ROWID;
"""


class ReportStore:
    """The reports of one version of a survey, in an SQLite file.

    Guarantee:
        When ``add`` returns, the batches are on the disk (``synchronous = FULL``): a process that
        is killed then loses none of them. A batch whose token is there already is not added again,
        and none is added once the survey is closed. Rows have the order of their tokens, which are
        random, and no time. The bytes of the file, and the log beside it, still show in which order
        rows were written; ``end`` writes them anew, in the order of the tokens.
    """

    def __init__(self, path: Path, survey: Survey) -> None:
        self.survey = survey
        self._path = path
        with _said("The file for the reports cannot be used", next="Name another one"):
            _make_for_owner(path)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_SCHEMA)
            self._claim()
        self._places = self._found()

    def _claim(self) -> None:
        """Make the file that of this version, or refuse it if it is that of another."""
        self._connection.execute(
            "INSERT INTO survey SELECT ?, ? WHERE NOT EXISTS (SELECT * FROM survey)",
            (self.survey.version, canonical(self.survey.form())),
        )
        ((held,),) = self._connection.execute("SELECT version FROM survey")
        if held != self.survey.version:
            self.close()
            raise DeclarationError(
                "The file holds reports of another version of the survey",
                must=f"be that of version {self.survey.version[:12]}",
                got=held[:12],
                next="Name another file with --store, or go back to the version that it is for",
            )

    def add(self, batches: Sequence[SentBatch]) -> list[bool]:
        """Keep the batches in one transaction; return for each whether it is new."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("BEGIN IMMEDIATE")
            is_ended = self.is_ended()
            added = [not is_ended and _is_added(cursor, one) for one in batches]
            cursor.execute("COMMIT")
        except (sqlite3.Error, DeclarationError):
            with suppress(sqlite3.Error):
                cursor.execute("ROLLBACK")
            raise not_kept() from None
        if is_ended:
            raise SurveyClosed("The survey is closed", next="Nothing needs to be sent any more")
        if self._found() != self._places:
            raise not_kept()
        return added

    def _found(self) -> list[tuple[int, int] | None]:
        """Return which files are at the places where the reports and their log are written to.

        SQLite goes on writing to a file that somebody removed or replaced, and it would be lost.
        """
        return [_identity(f"{self._path}{end}") for end in ("", "-wal")]

    def pages(self) -> Iterator[Reports]:
        """Yield all reports, so many at a time that memory does not grow with their number."""
        held: list[bytes] = []
        left = _PAGE
        with _said("The reports cannot be read", next="Go back to a copy of the file"):
            for (reports,) in self._connection.execute("SELECT reports FROM batches"):
                held.append(reports)
                left -= len(reports)
                if left <= 0:
                    yield self._rows(held)
                    held, left = [], _PAGE
        if held:
            yield self._rows(held)

    def _rows(self, held: list[bytes]) -> Reports:
        return np.frombuffer(b"".join(held), dtype=np.uint8).reshape(-1, self.survey.size)

    def end(self) -> None:
        """Take no more reports, for good, and write the file anew: its order is that of tokens."""
        with _said("The survey cannot be closed", next="Close it again"):
            self._connection.execute("INSERT OR IGNORE INTO closed VALUES (1)")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def is_ended(self) -> bool:
        """Tell whether somebody has closed the survey."""
        with _said("The reports cannot be read", next="Go back to a copy of the file"):
            return bool(self._connection.execute("SELECT * FROM closed").fetchall())

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


@contextmanager
def _said(what: str, *, next: str) -> Iterator[None]:
    """Say what SQLite could not do."""
    try:
        yield
    except sqlite3.Error as cause:
        raise DeclarationError(what, got=str(cause), next=next) from None


def _is_added(cursor: sqlite3.Cursor, batch: SentBatch) -> bool:
    kept = (batch.token, batch.reports)
    return cursor.execute("INSERT OR IGNORE INTO batches VALUES (?, ?)", kept).rowcount == 1


def not_kept() -> NotKept:
    """Return the error for what is not on the disk, whatever the reason."""
    return NotKept("The reports could not be stored", next="Send them again, as they are, later")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _make_for_owner(path: Path) -> None:
    """Make a new file that nobody else reads; its log gets the same mode from SQLite."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
