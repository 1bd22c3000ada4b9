"""Verification: recompute the whole ledger from its chain."""

from collections.abc import Iterable

from discreet.ledger.chain import broken, verify_chain
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.receipt import Receipt
from discreet.ledger.releases import stored_release
from discreet.ledger.replay import Newest, replay
from discreet.ledger.store import Snapshot


def verify(snapshot: Snapshot, receipts: Iterable[Receipt] = ()) -> None:
    """Check everything; a :class:`~discreet.core.errors.LedgerError` names the first bad entry.

    Guarantee:
        If this returns, the chain is whole, every charge was admitted and every total adds up
        (:func:`~discreet.ledger.replay.replay`), the index finds what the chain says, every version
        has its salt, and the stored releases are exactly the committed ones. With ``receipts``, the
        chain also still contains the entries that they were given for.
    """
    entries = tuple(snapshot.entries())
    verify_chain(entries)
    _verify_index(snapshot, replay(entries))
    _verify_salts(snapshot, entries)
    _verify_releases(snapshot, entries, receipts)


def _verify_index(snapshot: Snapshot, newest: Newest) -> None:
    for (kind, subject), entry in newest.items():
        if snapshot.latest(kind, subject) != entry:
            raise broken(entry.sequence, "the index does not find it")


def _verify_salts(snapshot: Snapshot, entries: Iterable[Entry]) -> None:
    for entry in entries:
        if entry.kind is Kind.VERSION:
            id_space, number = entry.payload["id_space"], entry.payload["number"]
            if snapshot.salt(id_space, number) is None:
                raise broken(entry.sequence, "the salt of this version is missing")


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
            raise broken(receipt.ticket.number, "it does not match its receipt")
