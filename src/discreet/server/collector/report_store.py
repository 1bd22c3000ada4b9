"""Keeps the batches of a survey: durably, each once, and without the order in which they came."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from discreet.core.canonical import canonical
from discreet.core.errors import DeclarationError, NotKept
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
        is killed then loses none of them. A batch whose token is there already is not added again.
        Rows lie in the order of their tokens, which are random, and no time is kept.
    """

    def __init__(self, path: Path, survey: Survey) -> None:
        self.survey = survey
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as cause:
            raise DeclarationError(
                "The file for the reports cannot be used", got=str(cause), next="Name another one"
            ) from None
        self._claim()

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
            added = [
                cursor.execute(
                    "INSERT OR IGNORE INTO batches VALUES (?, ?)", (one.token, one.reports)
                ).rowcount
                == 1
                for one in batches
            ]
            cursor.execute("COMMIT")
        except sqlite3.Error:
            with suppress(sqlite3.Error):
                cursor.execute("ROLLBACK")
            raise NotKept(
                "The reports could not be stored", next="Send them again, as they are, later"
            ) from None
        return added

    def pages(self) -> Iterator[Reports]:
        """Yield all reports, so many at a time that memory does not grow with their number."""
        held: list[bytes] = []
        left = _PAGE
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
        """Take no more reports, for good."""
        self._connection.execute("INSERT OR IGNORE INTO closed VALUES (1)")

    def is_ended(self) -> bool:
        """Tell whether somebody has closed the survey."""
        return bool(self._connection.execute("SELECT * FROM closed").fetchall())

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
