"""Anchoring: no ledger is used that is behind its anchors, and no anchor falls behind a charge.

Guarantee: *what was spent is not forgotten in silence.*

    Let a charge be durable, and ``reserve`` have returned. If later the ledger is gone, or is an
    older copy, or has lost its log or any part of it that holds the charge, then no transaction
    begins while one of the anchors is there as it was left, except by the owner's word
    (:func:`begin_again`), and that keeps what was spent.

    Proof. An anchor is written by :func:`move_anchor` alone, in its turn, and turns are taken one
    after another over all processes. A mark says what one transaction saw of the chain: either a
    snapshot that was begun in the turn, in a ledger that holds the mark before; or the transaction
    of a charge (:class:`Charged`) that found the entry which the mark before ends with in its own
    chain, and so comes behind it. The ledger grows, and where it does not, as two copies do that
    share an anchor, the second to come finds a mark that its chain has not, and is refused. So the
    ends that are written are ends of one growing chain, in order: no anchor ever goes back.
    ``reserve`` returns after such a turn that began after its charge was committed, and that left a
    mark whose end is the charge or comes after it: a snapshot that has lost the charge is refused.
    The turn ends with a flush, whichever process wrote the mark, so that it is durable.
    :func:`require_whole` asks every ledger for the entry at that end, with its digest, and a chain
    that has it has every entry before it.

    An anchor is read *before* the snapshot that it is compared with. The chain only grows, so a
    whole ledger is never taken for one that is behind, however many processes write. And an entry
    is shown, and an anchor moved to it, only after it was flushed, so a crash at any step leaves
    the anchor where it was or further on, never ahead of the ledger.

A turn is not a write transaction of the ledger: while one process waits for the disk to keep a
mark, others charge and settle.

An anchor also knows which file the ledger was in when it first saw it. Whoever copies a project
copies the anchor too, and both copies are whole; but the copy of the ledger is another file. That
is told (:func:`is_elsewhere`), and not refused: a file that was moved to another disk or put back
from a copy is another one as well, and some file systems number theirs anew. So it stands in the
anchor, which the owner can set right (:func:`move_anchor`), and not in the chain, which would say
for ever what was so once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from attrs import evolve, fields, frozen

from discreet.core.errors import InvalidArgument, LedgerError, WrittenBefore
from discreet.core.loss import PrivacyLoss
from discreet.ledger.anchor import Anchor, Mark, behind
from discreet.ledger.books import spent_of
from discreet.ledger.budget import accumulate
from discreet.ledger.chain import BEGINNING, Entry, Kind, Point, forged
from discreet.ledger.exact_claims import void_spaces
from discreet.ledger.sqlite_file import Identity
from discreet.ledger.store import END, Snapshot, Store, Transaction

Begun = AbstractContextManager[Snapshot]

Marks = Sequence[tuple[Anchor, Mark | None]]
"""The anchors, each with its mark."""


def read_marks(anchors: Iterable[Anchor]) -> Marks:
    """Return what the anchors say now."""
    return [(anchor, anchor.read()) for anchor in anchors]


def as_it_is(*_: object) -> None:
    """Ask nothing of a ledger that has forgotten something: by the owner's word."""


def require_whole(snapshot: Snapshot, marks: Marks) -> None:
    """Refuse a ledger that has forgotten what one of its anchors knows.

    What was spent is found by an index beside the chain, which has no digest: it is compared too.
    """
    for anchor, mark in marks:
        if mark is None:
            continue
        if not _holds(snapshot, mark.end):
            head = snapshot.head()
            spent = _told(spent_by_space(snapshot))
            raise behind(
                f"The ledger is not the one that its anchor {anchor.path} knows",
                must=f"have the entry {mark.end.sequence} that was there when the anchor was "
                f"written, with {_told(mark.spent)} spent",
                got=f"{head.sequence if head else 0} entries, with {spent} spent",
            )
        for name, loss in mark.spent.items():
            if not _is_part_of(loss, spent_of(snapshot.latest, name)):
                raise forged(f"its anchor knows of more that was spent of {name}")


@frozen
class Charged:
    """How far the chain went with a charge, as the transaction of the charge saw it."""

    end: Point
    spent: dict[str, PrivacyLoss]
    void: tuple[str, ...]
    seen: dict[int, str]
    """The digests of the entries from where the anchors were, which it has found in its chain."""


def charged_by(transaction: Transaction, marks: Marks) -> Charged:
    """Return how far the chain goes with what a transaction wrote that has ``marks`` checked."""
    ends = [mark.end for _, mark in marks if mark is not None]
    first = min((end.sequence for end in ends), default=END)
    return Charged(
        end=_end(transaction.head()),
        spent=spent_by_space(transaction),
        void=void_spaces(transaction),
        seen=transaction.digests(first),
    )


def move_anchor(
    anchor: Anchor,
    store: Store,
    *,
    charged: Charged | None = None,
    verified: Point = BEGINNING,
    is_checked: Callable[[Snapshot, Marks], None] = require_whole,
    is_here: bool = False,
) -> None:
    """Let an anchor know where the chain of a ledger ends, in its turn and durably.

    The ledger ``is_checked`` first: it may have lost entries since the last look, or be a copy of
    the one that moved the anchor last. It is not looked at again after something was ``charged`` in
    a transaction that has seen where the anchor is now. If it ``is_here`` by the owner's word, the
    anchor takes its file for the one to know.
    """
    with _turn(anchor, store) as begun:
        known = anchor.read()
        if charged is not None and known is not None and _leads_to(known, charged):
            if known.end == charged.end:
                anchor.flush(known.count)
            else:
                anchor.write(_mark_of(charged, known))
            return
        with begun() as snapshot:
            if charged is not None and not _holds(snapshot, charged.end):
                raise behind("The ledger has lost what was charged right now")
            is_checked(snapshot, [(anchor, known)])
            file = file_of(store) if is_here or not (known and known.file) else known.file
            mark = _next_mark(snapshot, known, verified, file)
        if mark is not None:
            anchor.write(mark)
        elif known is not None:
            anchor.flush(known.count)


def _leads_to(known: Mark, charged: Charged) -> bool:
    """Tell whether the transaction of a charge has seen all that an anchor knows."""
    return (
        charged.seen.get(known.end.sequence) == known.end.head
        and known.file != ""
        and set(known.void).issubset(charged.void)
        and all(_is_part_of(loss, charged.spent.get(name)) for name, loss in known.spent.items())
    )


def _is_part_of(loss: PrivacyLoss, total: PrivacyLoss | None) -> bool:
    return total is not None and total.measure is loss.measure and loss <= total


def _mark_of(charged: Charged, known: Mark) -> Mark:
    return Mark(
        count=known.count + 1,
        end=charged.end,
        spent=charged.spent,
        verified=known.verified,
        void=charged.void,
        file=known.file,
    )


@contextmanager
def _turn(anchor: Anchor, store: Store) -> Iterator[Callable[[], Begun]]:
    """Take one's turn at an anchor, and lend what begins a snapshot.

    Some file systems have no queue. There a write transaction of the ledger lets nobody else write.
    """
    if not anchor.path.exists():
        with store.write():
            anchor.begin()
    with ExitStack() as stack:
        try:
            stack.enter_context(anchor.turn())
        except OSError:
            transaction = stack.enter_context(store.write())
            yield lambda: nullcontext(transaction)
        else:
            yield store.read


def file_of(store: Store) -> str:
    """Return the number that the file of a ledger has on its disk; nothing if it is in none.

    The number of the disk is left out: it may be another one after a restart of the machine.
    """
    identity: Identity | None = getattr(store, "identity", None)
    return "" if identity is None else str(identity[1])


ELSEWHERE = "is another file than the one that its anchor knows"
STAY_HERE = (
    "If the project was copied, each copy has a budget of its own: use one of them alone. "
    "If the ledger was moved, or put back from a copy, run 'discreet ledger --moved'"
)
"""What is told of a ledger that is elsewhere, and what to do."""


def is_elsewhere(store: Store, marks: Marks) -> bool:
    """Tell whether an anchor knows the ledger as another file than the one that it is in."""
    return any(mark is not None and mark.file not in ("", file_of(store)) for _, mark in marks)


def _next_mark(snapshot: Snapshot, mark: Mark | None, verified: Point, file: str) -> Mark | None:
    """Return what an anchor should say now, or ``None`` if it says that already."""
    known = mark or Mark(count=0, end=BEGINNING, spent={})
    end = _end(snapshot.head())
    checked = max(verified, known.verified, key=lambda point: point.sequence)
    if mark is not None and (known.end, known.verified, known.file) == (end, checked, file):
        return None
    return Mark(
        count=known.count + 1,
        end=end,
        spent=spent_by_space(snapshot),
        verified=checked if _holds(snapshot, checked) else BEGINNING,
        void=void_spaces(snapshot),
        file=file,
    )


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


@contextmanager
def what_stays() -> Iterator[None]:
    """Say of an error that what was written before it stays."""
    try:
        yield
    except LedgerError as error:
        raise WrittenBefore(
            f"The ledger was written, but what must follow failed. {error.what}",
            must=error.must,
            got=error.got,
            next="If something was to be charged, it is charged, and no row was read. The owner can"
            " run 'discreet check' and 'discreet ledger --verify'",
        ) from None


def _told(spent: dict[str, PrivacyLoss]) -> str:
    return "; ".join(f"{loss} of {name}" for name, loss in sorted(spent.items())) or "nothing"
