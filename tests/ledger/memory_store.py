"""A store in memory: as many ledgers in a second as a property needs. Nothing in it is durable."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.ledger.chain import Entry, Kind, Subject, follow
from discreet.ledger.store import END
from discreet.ledger.verify import Replay


class MemoryStore:
    """Entries and releases in lists; the store and its one transaction are the same object."""

    def __init__(self) -> None:
        self.chain: list[Entry] = []
        self.newest: dict[tuple[Kind, Subject], Entry] = {}

    @contextmanager
    def read(self) -> Iterator[Any]:
        yield self

    @contextmanager
    def write(self, after: Any = None) -> Iterator[Any]:
        assert after is None
        yield self

    def append(self, kind: Kind, payload: dict[str, Any]) -> Entry:
        entry = follow(self.chain[-1] if self.chain else None, kind, payload)
        self.chain.append(entry)
        self.newest |= {(kind, subject): entry for subject in entry.subjects}
        return entry

    def latest(self, kind: Kind, subject: Subject, until: int = END) -> Entry | None:
        assert until == END
        return self.newest.get((kind, subject))

    def subjects(self, kind: Kind, word: str) -> Iterator[Subject]:
        return (one for known, one in self.newest if known is kind and one[0] == word)

    def put_release(self, ticket: int, text: str) -> None:
        """Nobody asks for it again."""

    def replay(self) -> None:
        """Check that every entry was allowed when it was written."""
        replay = Replay()
        for entry in self.chain:
            replay.step(entry)
