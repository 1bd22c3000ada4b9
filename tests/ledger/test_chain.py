"""The chain: each entry fixes all before it."""

import attrs
import pytest

from discreet.core.errors import LedgerError
from discreet.ledger.chain import GENESIS, Entry, Kind, follow, verify_chain


def chain(length: int) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(length):
        head = entries[-1] if entries else None
        entries.append(follow(head, Kind.FAIL, {"ticket": number}))
    return entries


def test_a_chain_begins_at_genesis_and_links():
    first, second = chain(2)
    assert (first.sequence, first.previous) == (1, GENESIS)
    assert (second.sequence, second.previous) == (2, first.digest)
    verify_chain(chain(5))
    verify_chain([])


def test_the_digest_covers_everything():
    entry = chain(3)[-1]
    changed = [
        attrs.evolve(entry, sequence=9),
        attrs.evolve(entry, kind=Kind.COMMIT),
        attrs.evolve(entry, text='{"ticket":7}'),
        attrs.evolve(entry, previous=GENESIS),
    ]
    digests = {other.computed_digest() for other in changed}
    assert len(digests) == 4
    assert entry.digest not in digests


@pytest.mark.parametrize("bad", [1, 2, 4])
@pytest.mark.parametrize("text", ['{"ticket":99}', '{"ticket":0.5}', '{"ticket": 7}'])
def test_the_first_changed_entry_is_named(bad: int, text: str):
    entries = chain(4)
    entries[bad - 1] = attrs.evolve(entries[bad - 1], text=text)
    with pytest.raises(LedgerError, match=f"entry {bad}:"):
        verify_chain(entries)


def test_a_changed_entry_with_a_new_digest_breaks_the_next():
    entries = chain(4)
    entries[1] = follow(entries[0], Kind.FAIL, {"ticket": 99})
    with pytest.raises(LedgerError, match="entry 3:"):
        verify_chain(entries)


def test_a_missing_entry_is_named():
    entries = chain(4)
    del entries[2]
    with pytest.raises(LedgerError, match="entry 3:"):
        verify_chain(entries)
