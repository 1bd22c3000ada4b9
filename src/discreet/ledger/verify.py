"""Verification: recompute the whole ledger from its chain."""

from collections.abc import Iterable

from discreet.core.canonical import canonical
from discreet.ledger.chain import broken, forged, unmatched, verify_chain
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.receipt import Receipt
from discreet.ledger.releases import stored_release
from discreet.ledger.replay import Newest, replay
from discreet.ledger.store import Snapshot
from discreet.ledger.versions import SALT_BYTES


def verify(snapshot: Snapshot, receipts: Iterable[Receipt] = ()) -> None:
    """Check everything; a :class:`~discreet.core.errors.LedgerError` names the first bad entry.

    Guarantee:
        If this returns, the chain is whole, every charge was admitted and every total adds up
        (:func:`~discreet.ledger.replay.replay`), the index has exactly the rows that the chain
        gives it, the salts are exactly those of the versions and of full length, and the stored
        releases are exactly the committed ones. With ``receipts``, the chain also still contains
        the entries that they were given for.

    Assumes:
        Nothing in the chain tells the bytes of a salt: one that was exchanged for another of the
        same length is not noticed here.
    """
    entries = tuple(snapshot.entries())
    verify_chain(entries)
    _verify_found(snapshot, replay(entries))
    _verify_index(snapshot, entries)
    _verify_salts(snapshot, entries)
    _verify_releases(snapshot, entries, receipts)


def _verify_found(snapshot: Snapshot, newest: Newest) -> None:
    for (kind, subject), entry in newest.items():
        if snapshot.latest(kind, subject) != entry:
            raise broken(entry.sequence, "the index does not find it")


def _verify_index(snapshot: Snapshot, entries: tuple[Entry, ...]) -> None:
    unseen = set(snapshot.index())
    for entry in entries:
        rows = {(entry.kind.value, canonical(item), entry.sequence) for item in entry.subjects}
        if not rows <= unseen:
            raise broken(entry.sequence, "the index does not find it")
        unseen -= rows
    # A forged row may hold anything in place of a number, so it only serves to look one up.
    extra = {sequence for _, _, sequence in unseen}
    for entry in entries:
        if entry.sequence in extra:
            raise broken(entry.sequence, "the index finds it for what it is not about")
    if extra:
        raise forged("the index leads to an entry that is not there")


def _verify_salts(snapshot: Snapshot, entries: Iterable[Entry]) -> None:
    sizes = {(id_space, number): size for id_space, number, size in snapshot.salt_sizes()}
    for entry in entries:
        if entry.kind is Kind.VERSION:
            size = sizes.pop((entry.payload["id_space"], entry.payload["number"]), None)
            if size is None:
                raise broken(entry.sequence, "the salt of this version is missing")
            if size != SALT_BYTES:
                raise broken(entry.sequence, f"the salt of this version is not {SALT_BYTES} bytes")
    if sizes:
        raise forged("a salt is stored for a version that never began")


def _verify_releases(
    snapshot: Snapshot, entries: Iterable[Entry], receipts: Iterable[Receipt]
) -> None:
    commits = (entry for entry in entries if entry.kind is Kind.COMMIT)
    kept = {stored_release(snapshot, commit)[1] for commit in commits}
    committed = {receipt.ticket.number for receipt in kept}
    for number in snapshot.tickets():
        if number not in committed:
            raise broken(number, "a release is stored for it that was never committed")
    for receipt in receipts:
        if receipt not in kept:
            raise unmatched(receipt.ticket.number)
