"""Anchoring: no ledger is used that is behind its anchors, and no anchor falls behind a charge.

Guarantee: *what was spent is not forgotten in silence.*

    Let a charge be durable, and ``reserve`` have returned. If later the ledger is gone, or is an
    older copy, or has lost its log or any part of it that holds the charge, then no transaction
    begins while one of the anchors is there as it was left, except by the owner's word
    (:func:`begin_again`), and that keeps what was spent.

    Proof. An anchor is written by :func:`move_anchors` alone, inside a write transaction of the
    ledger. Those are serialised over all processes, and each sees the chain that all before it
    left. So the ends that are written are ends of one growing chain, in order: no anchor ever goes
    back. ``reserve`` returns after such a transaction that began after its charge was committed,
    so by then the anchor's end is the charge or comes after it, and is durable: it was flushed
    before that transaction ended, whichever process wrote it. :func:`require_whole` asks every
    ledger for the entry at that end, with its digest, and a chain that has it has every entry
    before it.

    An anchor is read *before* the snapshot that it is compared with. The chain only grows, so a
    whole ledger is never taken for one that is behind, however many processes write. And an end is
    written only when its entry is durable, so a crash at any step leaves the anchor where it was
    or further on, never ahead of the ledger.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve, fields

from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss
from discreet.ledger.anchor import Anchor, Mark, behind
from discreet.ledger.books import spent_of
from discreet.ledger.budget import accumulate
from discreet.ledger.chain import BEGINNING, Entry, Kind, Point
from discreet.ledger.exact_claims import void_spaces
from discreet.ledger.store import Snapshot, Transaction

Marks = Sequence[tuple[Anchor, Mark | None]]
"""The anchors, each with its mark."""


def read_marks(anchors: Iterable[Anchor]) -> Marks:
    """Return what the anchors say now."""
    return [(anchor, anchor.read()) for anchor in anchors]


def require_whole(snapshot: Snapshot, marks: Marks) -> None:
    """Refuse a ledger that has forgotten what one of its anchors knows."""
    for anchor, mark in marks:
        if mark is not None and not _holds(snapshot, mark.end):
            head = snapshot.head()
            spent = _told(spent_by_space(snapshot))
            raise behind(
                f"The ledger is not the one that its anchor {anchor.path} knows",
                must=f"have the entry {mark.end.sequence} that was there when the anchor was "
                f"written, with {_told(mark.spent)} spent",
                got=f"{head.sequence if head else 0} entries, with {spent} spent",
            )


def move_anchors(transaction: Transaction, marks: Marks, *, verified: Point | None = None) -> None:
    """Write the end of the chain to every anchor that does not know it yet.

    ``transaction`` is a write transaction in which nothing was appended: what it sees is durable.
    The ``marks`` were read in it, so nobody has written another one since.
    """
    end = _end(transaction.head())
    for anchor, mark in marks:
        known = mark or Mark(count=0, end=BEGINNING, spent={})
        checked = max(verified or BEGINNING, known.verified, key=lambda point: point.sequence)
        if mark is None or (known.end, known.verified) != (end, checked):
            is_kept = _holds(transaction, checked)
            mark = Mark(
                count=known.count + 1,
                end=end,
                spent=spent_by_space(transaction),
                verified=checked if is_kept else BEGINNING,
                void=void_spaces(transaction),
            )
            anchor.write(mark)


def verified_point(snapshot: Snapshot, marks: Marks) -> Point:
    """Return up to where all anchors know the chain as verified, if it still holds that."""
    points = [mark.verified if mark else BEGINNING for _, mark in marks]
    known = min(points, key=lambda point: point.sequence, default=BEGINNING)
    return known if _holds(snapshot, known) else BEGINNING


def begin_again(transaction: Transaction, marks: Marks) -> Entry:
    """Go on with a ledger that has forgotten something, by the owner's word.

    Guarantee:
        What the anchors know as spent in an id space is spent from now on: the larger of that and
        of what the ledger knows, or their sum if the ledger has an entry that the anchor's chain
        had not. The entry says so, and where the anchors had been. Shares of analysts are not in
        an anchor; they begin from what the ledger knows. A worst-case claim that has ended for the
        ledger or for an anchor stays ended.

    Assumes:
        A ledger that is too short is an older copy. One that was too short and then went on
        without its anchor, and is still too short, is taken for one.
    """
    lost = [mark for _, mark in marks if mark is not None and not _holds(transaction, mark.end)]
    if not lost:
        raise InvalidArgument(
            "The ledger is as its anchors know it", next="There is nothing to begin again"
        )
    spent = spent_by_space(transaction)
    for mark in lost:
        forked = transaction.entry(mark.end.sequence) is not None
        for name, loss in mark.spent.items():
            spent[name] = _joined(spent.get(name), loss, is_sum=forked)
    payload: dict[str, Any] = {
        "lost": [mark.end.to_json() for mark in lost],
        "totals": [
            {"id_space": name, "everybody": loss.to_json()} for name, loss in sorted(spent.items())
        ],
    }
    void = set(void_spaces(transaction)).union(*(mark.void for mark in lost)) & set(spent)
    if void:
        payload["void"] = sorted(void)
    return transaction.append(Kind.RENEWAL, payload)


def _joined(own: PrivacyLoss | None, other: PrivacyLoss, *, is_sum: bool) -> PrivacyLoss:
    if own is None:
        return other
    if is_sum:
        return accumulate(own, other)
    if own <= other:
        return other
    names = [part.name for part in fields(type(own))]
    return evolve(own, **{name: max(getattr(own, name), getattr(other, name)) for name in names})


def _holds(snapshot: Snapshot, end: Point) -> bool:
    if end.sequence == 0:
        return True
    entry = snapshot.entry(end.sequence)
    return entry is not None and entry.digest == end.head


def _end(head: Entry | None) -> Point:
    return BEGINNING if head is None else Point(head.sequence, head.digest)


def spent_by_space(snapshot: Snapshot) -> dict[str, PrivacyLoss]:
    """Return what everybody has spent of each id space in which anything was charged."""
    kinds = (Kind.RESERVE, Kind.RENEWAL)
    names = sorted({name for kind in kinds for (_, name) in snapshot.subjects(kind, "id_space")})
    found = {name: spent_of(snapshot.latest, name) for name in names}
    return {name: loss for name, loss in found.items() if loss is not None}


def _told(spent: dict[str, PrivacyLoss]) -> str:
    return "; ".join(f"{loss} of {name}" for name, loss in sorted(spent.items())) or "nothing"
