"""A long ledger, written straight into its tables: as many reserves would take minutes."""

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.canonical import canonical, digest
from discreet.core.loss import Pure
from discreet.ledger.chain import Entry, Kind, follow
from tests.ledger.orders import RELEASE, order

SMALL = Fraction(1, 10**6)


def lengthen(file: Path, head: Entry, answers: int) -> None:
    """Add ``answers`` answers of analyst ann to a ledger from which nothing was spent yet."""
    entries: list[Entry] = []
    for number in range(1, answers + 1):
        asked = order(Pure(SMALL), plan=f"plan {number}")
        total = Pure(number * SMALL).to_json()
        reserve: dict[str, Any] = {
            "order": asked.to_json(),
            "order_digest": asked.digest,
            "totals": [{"id_space": "people", "everybody": total, "analyst": total, "open": []}],
            "reserved_at": "2026-05-04T09:00:00+00:00",
        }
        head = follow(head, Kind.RESERVE, reserve)
        commit = {
            "ticket": head.sequence,
            "plan_digest": asked.plan_digest,
            "data_version": 1,
            "release_digest": digest(RELEASE),
        }
        entries += [head, follow(head, Kind.COMMIT, commit)]
        head = entries[-1]
    with closing(sqlite3.connect(file)) as connection, connection:
        insert(connection, entries)


def insert(connection: sqlite3.Connection, entries: list[Entry]) -> None:
    connection.executemany(
        "INSERT INTO entries (sequence, kind, payload, previous, digest) VALUES (?, ?, ?, ?, ?)",
        [(e.sequence, e.kind.value, canonical(e.payload), e.previous, e.digest) for e in entries],
    )
    connection.executemany(
        "INSERT INTO subjects (kind, subject, sequence) VALUES (?, ?, ?)",
        [(e.kind.value, canonical(one), e.sequence) for e in entries for one in e.subjects],
    )
    connection.executemany(
        "INSERT INTO releases (ticket, body) VALUES (?, ?)",
        [(e.payload["ticket"], canonical(RELEASE)) for e in entries if e.kind is Kind.COMMIT],
    )
