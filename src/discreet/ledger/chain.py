"""The chain: every entry carries the digest of the one before, so no past can be changed alone."""

from collections.abc import Iterable

from discreet.core.errors import LedgerError
from discreet.ledger.entry import Entry
from discreet.ledger.mark import BEGINNING, Point


def verify_chain(entries: Iterable[Entry], since: Point = BEGINNING) -> Point:
    """Recompute every digest after ``since``; return the end, or name the first wrong entry.

    Guarantee:
        If this returns, and SHA-256 has no known collisions, the entries are the ones that led to
        the last digest. Cutting off the end leaves a valid, shorter chain: only somebody who kept a
        digest from there (every receipt holds one) can tell.
    """
    end = since
    for sequence, entry in enumerate(entries, start=since.sequence + 1):
        if entry.sequence != sequence or entry.previous != end.head:
            raise broken(sequence, "an entry is missing or out of place")
        require_unchanged(entry)
        end = Point(sequence, entry.digest)
    return end


def require_unchanged(entry: Entry) -> None:
    """Refuse an entry that does not have its digest."""
    try:
        is_same = entry.computed_digest() == entry.digest
    except (TypeError, ValueError, RecursionError):
        is_same = False
    if not is_same:
        raise broken(entry.sequence, "it was changed after it was written")


def broken(sequence: int, why: str) -> LedgerError:
    """Return the error that names a bad entry."""
    return _damaged(f" at entry {sequence}: {why}")


def forged(why: str) -> LedgerError:
    """Return the error about something beside the chain that belongs to no entry."""
    return _damaged(f": {why}")


def unmatched(ticket: int) -> LedgerError:
    """Return the error about a receipt that is for nothing in the chain."""
    return LedgerError(
        f"The ledger does not hold what the receipt of ticket {ticket} says",
        next="Either the ledger was cut short or rewritten since, or the receipt is not from this "
        "ledger. Compare more receipts before you believe either",
    )


def _damaged(where: str) -> LedgerError:
    return LedgerError(
        f"The ledger is damaged{where}",
        next="Stop answering, and restore the ledger from a copy that verifies",
    )
