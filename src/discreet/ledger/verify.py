"""Verification: recompute the ledger from its chain, a page at a time.

Nobody waits for it. The ledger only grows, so pages that are read one after the other, each in a
short transaction, are pages of one history: the one that ended where it ended at the beginning.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from discreet.core.canonical import canonical
from discreet.ledger.chain import broken, forged, unmatched, verify_chain
from discreet.ledger.entry import Entry, Kind, Subject, space
from discreet.ledger.entry import ticket as ticket_subject
from discreet.ledger.mark import BEGINNING, Point
from discreet.ledger.receipt import Receipt
from discreet.ledger.releases import stored_release
from discreet.ledger.replay import Replay
from discreet.ledger.store import IndexRow, Snapshot
from discreet.ledger.versions import SALT_BYTES

Read = Callable[[], AbstractContextManager[Snapshot]]
"""Opens a snapshot."""


def verify(read: Read, since: Point = BEGINNING) -> Point:
    """Check everything, or everything since a point that was reached before; return the end.

    A :class:`~discreet.core.errors.LedgerError` names the first bad entry.

    Guarantee:
        If this returns, the chain is whole up to the end that it had at the beginning, every charge
        was admitted and every total adds up (:class:`~discreet.ledger.replay.Replay`), the index
        has exactly the rows that the chain gives it, the salts are exactly those of the versions
        and of full length, and the stored releases are exactly the committed ones.

    Assumes:
        Nothing in the chain tells the bytes of a salt: one that was exchanged for another of the
        same length is not noticed here. With ``since``, entries, index and releases from before are
        taken to be as they were when that point was reached.
    """

    def before(kind: Kind, subject: Subject) -> Entry | None:
        with read() as snapshot:
            return snapshot.latest(kind, subject, since.sequence)

    with read() as snapshot:
        head = snapshot.head()
    last = head.sequence if head else 0
    replay = Replay(before) if since.sequence else Replay()
    end, rows, committed = since, 0, set()
    for page in _pages(read, since, last):
        end = verify_chain(page, end)
        for entry in page:
            replay.step(entry)
        rows += _verify_page(read, page)
        committed |= {entry.payload["ticket"] for entry in page if entry.kind is Kind.COMMIT}
    if end.sequence != last:
        raise broken(end.sequence + 1, "an entry is missing or out of place")
    _verify_index(read, since.sequence, last, rows)
    _verify_salts(read)
    _verify_tickets(read, since.sequence, committed)
    return end


def verify_receipt(snapshot: Snapshot, receipt: Receipt) -> None:
    """Refuse a receipt that is for nothing in the chain."""
    commit = snapshot.latest(Kind.COMMIT, ticket_subject(receipt.ticket.number))
    if commit is None or stored_release(snapshot, commit)[1] != receipt:
        raise unmatched(receipt.ticket.number)


def _pages(read: Read, since: Point, last: int) -> Iterator[tuple[Entry, ...]]:
    # From the very first entry, whatever its number: one below 1 has no business there.
    after = since.sequence or None
    while after is None or after < last:
        with read() as snapshot:
            page = tuple(one for one in snapshot.entries(after) if one.sequence <= last)
        if not page:
            return
        yield page
        after = page[-1].sequence


def _verify_page(read: Read, page: tuple[Entry, ...]) -> int:
    """Check what is stored beside the entries of a page; return how many index rows they have."""
    expected = [(entry, row) for entry in page for row in _rows(entry)]
    with read() as snapshot:
        for entry, row in expected:
            if not snapshot.has_row(row):
                raise broken(entry.sequence, "the index does not find it")
        for entry in page:
            if entry.kind is Kind.VERSION:
                _verify_salt(snapshot, entry)
            if entry.kind is Kind.COMMIT:
                stored_release(snapshot, entry)
    return len(expected)


def _rows(entry: Entry) -> set[IndexRow]:
    return {(entry.kind.value, canonical(item), entry.sequence) for item in entry.subjects}


def _verify_salt(snapshot: Snapshot, entry: Entry) -> None:
    id_space, number = entry.payload["id_space"], entry.payload["number"]
    sizes = {(name, version): size for name, version, size in snapshot.salt_sizes()}
    size = sizes.get((id_space, number))
    if size is None:
        raise broken(entry.sequence, "the salt of this version is missing")
    if size != SALT_BYTES:
        raise broken(entry.sequence, f"the salt of this version is not {SALT_BYTES} bytes")


def _verify_index(read: Read, after: int, last: int, rows: int) -> None:
    """Every row that must be there is there, so only their number can still be wrong."""
    with read() as snapshot:
        if snapshot.index_size(after, last) != rows:
            raise _extra_row(snapshot, after, last)
        if snapshot.has_loose_rows():
            raise forged("the index leads to an entry that is not there")


def _extra_row(snapshot: Snapshot, after: int, last: int) -> Exception:
    # A forged row may hold anything in place of a number, so it only serves to look one up.
    found = {row for row in snapshot.index() if isinstance(row[2], int)}
    for sequence in sorted({row[2] for row in found if after < row[2] <= last}):
        entry = snapshot.entry(sequence)
        if entry is not None and {row for row in found if row[2] == sequence} != _rows(entry):
            return broken(sequence, "the index finds it for what it is not about")
    return forged("the index leads to an entry that is not there")


def _verify_salts(read: Read) -> None:
    with read() as snapshot:
        for id_space, number, _ in snapshot.salt_sizes():
            is_named = isinstance(id_space, str) and isinstance(number, int)
            newest = snapshot.latest(Kind.VERSION, space(id_space)) if is_named else None
            if newest is None or not 1 <= number <= newest.payload["number"]:
                raise forged("a salt is stored for a version that never began")


def _verify_tickets(read: Read, after: int, committed: set[int]) -> None:
    """A release that is no page's commit was committed since, or never."""
    place: int | None = after or None
    while True:
        with read() as snapshot:
            page = snapshot.tickets(place)
            for number in page:
                if number not in committed and not _is_committed(snapshot, number):
                    raise broken(number, "a release is stored for it that was never committed")
        if not page:
            return
        place = page[-1]


def _is_committed(snapshot: Snapshot, number: int) -> bool:
    return snapshot.latest(Kind.COMMIT, ticket_subject(number)) is not None
