"""What a store must offer: snapshots to read, and serialised, durable transactions to write."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from discreet.ledger.chain import Entry, Kind, Subject

IndexRow = tuple[str, str, int]
"""A row of the index as it is stored: kind, canonical text of the subject, sequence."""

SaltSize = tuple[str, int, int]
"""What may be known of a salt: its id space, its version, and how many bytes it has."""

PAGE = 200
"""How many entries are read at once. Others wait for no more than that."""

END = 2**63 - 1
"""After every entry."""


class Snapshot(Protocol):
    """One consistent state of the ledger."""

    def entries(self, after: int | None = None, most: int = PAGE) -> tuple[Entry, ...]:
        """Return the first entries, or those after a number: in order, ``most`` of them."""
        ...

    def head(self) -> Entry | None:
        """Return the last entry, or ``None`` if there is none."""
        ...

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry with a number, or ``None`` if there is none."""
        ...

    def digests(self, first: int, most: int = PAGE) -> dict[int, str]:
        """Return the digests of the entries from a number on, ``most`` of them."""
        ...

    def latest(self, kind: Kind, subject: Subject, until: int = END) -> Entry | None:
        """Return the newest entry of ``kind`` about ``subject``, without reading the others.

        An index row that leads to no entry of ``kind`` counts for nothing; nor do those after
        ``until``.
        """
        ...

    def subjects(self, kind: Kind, word: str) -> Iterator[Subject]:
        """Yield every subject that begins with ``word`` and that an entry of ``kind`` is about."""
        ...

    def index(self) -> Iterator[IndexRow]:
        """Yield every row by which ``latest`` finds entries."""
        ...

    def has_row(self, row: IndexRow) -> bool:
        """Tell whether the index has a row."""
        ...

    def index_size(self, after: int, until: int) -> int:
        """Return how many rows of the index lead to entries after one number and up to another."""
        ...

    def has_loose_rows(self) -> bool:
        """Tell whether a row of the index leads to an entry that is not there."""
        ...

    def release(self, ticket: int) -> str | None:
        """Return the stored text of the release that a ticket paid for."""
        ...

    def tickets(self, after: int | None = None, most: int = PAGE) -> tuple[int, ...]:
        """Return the tickets with a stored release: in order, after a number, ``most`` of them."""
        ...

    def salt(self, id_space: str, version: int) -> bytes | None:
        """Return the secret salt of a data version."""
        ...

    def salt_sizes(self) -> Iterator[SaltSize]:
        """Yield what may be known of every salt; what is not bytes has size 0."""
        ...


class Transaction(Snapshot, Protocol):
    """A snapshot that may be added to. Nothing is ever changed or removed."""

    def append(self, kind: Kind, payload: dict[str, Any]) -> Entry:
        """Add an entry at the end of the chain, and to the index of what it is about."""
        ...

    def put_release(self, ticket: int, text: str) -> None:
        """Store the release that a ticket paid for."""
        ...

    def put_salt(self, id_space: str, version: int, salt: bytes) -> None:
        """Store the secret salt of a data version, apart from the chain."""
        ...


class Store(Protocol):
    """Where a ledger lives.

    Guarantee (expected):
        Writes are serialised over all processes and threads: each sees every one before it. When
        the block of ``write`` ends without an error, all of it is durable, a power cut included; if
        it does not, nothing of it is there.
    """

    def read(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """Open the one write transaction; leaving the block commits it."""
        ...
