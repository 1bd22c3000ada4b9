"""One transaction on a ledger file: entries, their index, releases and salts."""

import json
import sqlite3
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from attrs import field, frozen

from discreet.core.canonical import canonical
from discreet.ledger.chain import (
    PARTS,
    WORDS,
    Entry,
    Kind,
    Subject,
    broken,
    follow,
    forged,
    require_unchanged,
)
from discreet.ledger.sqlite_file import EXACT_VERSION
from discreet.ledger.store import END, PAGE, IndexRow, SaltSize

Row = tuple[Any, ...]
"""A row of the table of entries."""


@frozen
class SqliteTransaction:
    """One open transaction on a ledger file."""

    connection: sqlite3.Connection
    _rows: dict[Subject, dict[str, Row]] = field(factory=dict, eq=False, repr=False)
    _found: dict[tuple[Kind, Subject], Entry | None] = field(factory=dict, eq=False, repr=False)
    """What was looked up, and what was asked for: only :meth:`append` changes it meanwhile."""
    _end: list[Entry | None] = field(factory=list, eq=False, repr=False)
    """The last entry, once it was asked for."""

    def entries(self, after: int | None = None, most: int = PAGE) -> tuple[Entry, ...]:
        """Return the first entries, or those after a number: in order, ``most`` of them."""
        rows = self._page(_ENTRIES, "sequence", after, most)
        return tuple(map(_entry, rows))

    def head(self) -> Entry | None:
        """Return the last entry, or ``None`` if there is none."""
        if not self._end:
            self._end.append(self._one(f"{_ENTRIES} ORDER BY sequence DESC LIMIT 1", ()))
        return self._end[0]

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry with a number, or ``None`` if there is none."""
        return self._one(f"{_ENTRIES} WHERE sequence = ?", (sequence,))

    def digests(self, first: int, most: int = PAGE) -> dict[int, str]:
        """Return the digests of the entries from a number on, ``most`` of them."""
        query = "SELECT sequence, digest FROM entries WHERE sequence >= ? ORDER BY sequence LIMIT ?"
        return dict(self.connection.execute(query, (first, most)).fetchall())

    def latest(self, kind: Kind, subject: Subject, until: int = END) -> Entry | None:
        """Return the newest entry of ``kind`` about ``subject``; one that is not is refused."""
        if until != END:
            return self._newest(kind, subject, self._look_up(subject, until))
        asked = (kind, subject)
        if asked not in self._found:
            if subject not in self._rows:
                self._rows[subject] = self._look_up(subject, END)
            self._found[asked] = self._newest(kind, subject, self._rows[subject])
        return self._found[asked]

    def _newest(self, kind: Kind, subject: Subject, rows: dict[str, Row]) -> Entry | None:
        if subject[0] not in WORDS[kind]:
            raise LookupError(f"no {kind.value} is about a {subject[0]}")
        row = rows.get(kind.value)
        if row is None:
            return None
        found = _unchanged(*row)
        if subject not in found.subjects:
            raise forged("the index leads to an entry about something else")
        return found

    def _look_up(self, subject: Subject, until: int) -> dict[str, Row]:
        """Find the newest entry of each kind at once: who asks for one asks for others next."""
        rows = self.connection.execute(_newest(subject[0]), (_named(subject), until))
        return {row[1]: row for row in rows}

    def subjects(self, kind: Kind, word: str) -> Iterator[Subject]:
        """Yield every subject that begins with ``word`` and that an entry of ``kind`` is about."""
        begin = canonical([word])[:-1]
        values = {"kind": kind.value, "begin": f"{begin},", "end": f"{begin}{_AFTER_COMMA}"}
        for (found,) in self.connection.execute(_EACH_SUBJECT, values).fetchall():
            yield _subject(found, PARTS[word])

    def index(self) -> Iterator[IndexRow]:
        """Yield every row by which ``latest`` finds entries."""
        yield from self.connection.execute(
            "SELECT kind, subject, sequence FROM subjects"
        ).fetchall()

    def has_row(self, row: IndexRow) -> bool:
        """Tell whether the index has a row."""
        query = "SELECT 1 FROM subjects WHERE kind = ? AND subject = ? AND sequence = ?"
        return self._value(query, row) is not None

    def index_size(self, after: int, until: int) -> int:
        """Return how many rows of the index lead to entries after one number and up to another."""
        query = "SELECT COUNT(*) FROM subjects WHERE sequence > ? AND sequence <= ?"
        count: int = self._value(query, (after, until))
        return count

    def has_loose_rows(self) -> bool:
        """Tell whether a row of the index leads to an entry that is not there."""
        there = "SELECT 1 FROM entries WHERE entries.sequence = subjects.sequence"
        query = f"SELECT 1 FROM subjects WHERE NOT EXISTS ({there}) LIMIT 1"
        return self._value(query, ()) is not None

    def release(self, ticket: int) -> str | None:
        """Return the stored text of the release that a ticket paid for."""
        text: str | None = self._value("SELECT body FROM releases WHERE ticket = ?", (ticket,))
        return text

    def tickets(self, after: int | None = None, most: int = PAGE) -> tuple[int, ...]:
        """Return the tickets with a stored release: in order, after a number, ``most`` of them."""
        rows = self._page("SELECT ticket FROM releases", "ticket", after, most)
        return tuple(number for (number,) in rows)

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
        entry = follow(self.head(), kind, payload)
        self.connection.execute(
            f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
            (entry.sequence, kind.value, entry.text, entry.previous, entry.digest),
        )
        self.connection.executemany(
            "INSERT INTO subjects (kind, subject, sequence) VALUES (?, ?, ?)",
            [(kind.value, _named(subject), entry.sequence) for subject in entry.subjects],
        )
        # Whatever it is not about stays as it was found.
        self._found.update({(kind, subject): entry for subject in entry.subjects})
        self._end[:] = [entry]
        if kind is Kind.EXACT:
            self.connection.execute(f"PRAGMA user_version = {EXACT_VERSION}")
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
        return None if row is None else _unchanged(*row)

    def _page(self, query: str, key: str, after: int | None, most: int) -> list[tuple[Any, ...]]:
        where = "" if after is None else f"WHERE {key} > {int(after)}"
        return self.connection.execute(f"{query} {where} ORDER BY {key} LIMIT {most}").fetchall()

    def _value(self, query: str, values: tuple[Any, ...]) -> Any:
        row = self.connection.execute(query, values).fetchone()
        return None if row is None else row[0]


_COLUMNS = "sequence, kind, payload, previous, digest"
_ENTRIES = f"SELECT {_COLUMNS} FROM entries"

# The kind is asked of the entry too, so that a row which leads nowhere, or to an entry of another
# kind, cannot hide the real one. CROSS JOIN keeps the order: from the newest row of the index down.
_NEWEST = """
SELECT subjects.sequence FROM subjects CROSS JOIN entries USING (sequence)
WHERE subjects.kind = '{}' AND subjects.subject = ?1 AND entries.kind = subjects.kind
AND subjects.sequence <= ?2
ORDER BY subjects.sequence DESC LIMIT 1
"""


@cache
def _newest(word: str) -> str:
    """Return the query for the newest entry of each kind that is about subjects of a word."""
    kinds = [kind.value for kind in Kind if word in WORDS[kind]]
    return " UNION ALL ".join(
        f"{_ENTRIES} WHERE sequence = ({_NEWEST.format(kind)})" for kind in kinds
    )


# Goes from each subject to the next one, past all entries about it.
_EACH_SUBJECT = """
WITH RECURSIVE found (subject) AS (
    SELECT MIN(subject) FROM subjects
    WHERE kind = :kind AND subject > :begin AND subject < :end
    UNION ALL
    SELECT (
        SELECT MIN(subject) FROM subjects
        WHERE kind = :kind AND subject > found.subject AND subject < :end
    ) FROM found WHERE found.subject IS NOT NULL
)
SELECT subject FROM found WHERE subject IS NOT NULL
"""

_AFTER_COMMA = chr(ord(",") + 1)


@lru_cache(maxsize=256)
def _unchanged(*row: Any) -> Entry:
    """Return an entry that has its digest, and can be read. So it can the next time too."""
    entry = _entry(row)
    require_unchanged(entry)
    _ = entry.payload
    return entry


@lru_cache(maxsize=256)
def _named(subject: Subject) -> str:
    """Return a subject as the index has it."""
    return canonical(subject)


def _entry(row: tuple[Any, ...]) -> Entry:
    sequence, kind, text, previous, digest = row
    known = _KINDS.get(kind)
    if known is None:
        raise broken(sequence, "it cannot be read")
    return Entry(sequence=sequence, kind=known, text=text, previous=previous, digest=digest)


_KINDS = {kind.value: kind for kind in Kind}


def _subject(text: str, parts: int) -> Subject:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    is_list = isinstance(found, list) and len(found) == parts
    if not is_list or not all(isinstance(part, str) for part in found):
        raise forged("the index has a subject that cannot be read")
    return tuple(found)
