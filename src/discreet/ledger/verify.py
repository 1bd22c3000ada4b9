"""Verification: recompute the ledger from its chain, a page at a time.

Nobody waits for it. The ledger only grows, so pages that are read one after the other, each in a
short transaction, are pages of one history: the one that ended where it ended at the beginning.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from attrs import define, field

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.canonical import canonical
from discreet.core.errors import DiscreetError
from discreet.ledger.books import (
    admit,
    admit_together,
    cap_of,
    open_reserve,
    spent_of,
    totals_after,
)
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.chain import (
    BEGINNING,
    Entry,
    Kind,
    Latest,
    Point,
    Subject,
    broken,
    forged,
    space,
    ticket,
    unmatched,
    verify_chain,
)
from discreet.ledger.exact_claims import ExactClaim, is_void, require_checked
from discreet.ledger.failures import (
    after_resumption,
    counter_of,
    is_by_counter,
    names_counter,
    noted,
)
from discreet.ledger.gate_rules import FIRST_RULES, GateRules
from discreet.ledger.order import Order, Receipt
from discreet.ledger.releases import stored_release
from discreet.ledger.store import IndexRow, Snapshot
from discreet.ledger.suspension import counted, lists_open_tickets
from discreet.ledger.versions import SALT_BYTES

Newest = dict[tuple[Kind, Subject], Entry]
"""The newest entry of each kind about each subject."""


def _nothing(_: Kind, __: Subject) -> None:
    return None


@define
class Replay:
    """Goes through the chain with the gate's own rules; names the first entry that breaks one.

    ``before`` finds the newest entries of the part that was verified earlier, if there is one.

    Guarantee:
        If every :meth:`step` returned, every charge was admitted by the caps in force at its time,
        every running total is at least the sum of the charges (and equal to it unless digits ran
        out, or what was lost is stated by the owner), and every commit or failure settles one open
        ticket. From the first entry that counts failures on, every failure is counted and nothing
        was charged in a suspended id space; and from the first that counts each analyst on, nothing
        was charged for whom the gate was shut, below the least price, or beyond what may be in
        flight. Every exact order pays nothing and stands right behind its claim, which was made
        beside every charge before it; and no worst-case claim that ended begins again.

    Utility:
        Of a ticket that is settled, only the settlement is kept: orders are the large part.
    """

    before: Latest = _nothing
    _newest: Newest = field(factory=dict, init=False)

    def latest(self, kind: Kind, subject: Subject) -> Entry | None:
        """Return the newest entry of a kind about a subject, so far."""
        return self._newest.get((kind, subject)) or self.before(kind, subject)

    def step(self, entry: Entry) -> None:
        """Check one entry, and remember it."""
        try:
            allowed = _ALLOWED[entry.kind](self.latest, entry.payload)
            subjects = entry.subjects if allowed else ()
        except (KeyError, TypeError, ValueError, StopIteration, DiscreetError):
            allowed = False
        if not allowed:
            raise broken(entry.sequence, f"this {entry.kind.value} was not allowed there")
        # No rule asks for the release of a plan, and none for the order of a settled ticket.
        kept = [one for one in subjects if one[0] not in ("release", "question")]
        self._newest |= {(entry.kind, one): entry for one in kept}
        if entry.kind in (Kind.COMMIT, Kind.FAIL):
            self._newest.pop((Kind.RESERVE, ticket(entry.payload["ticket"])), None)


def _budget(_: Latest, payload: dict[str, Any]) -> bool:
    budget = Budget(payload["id_space"], loss_from_json(payload["cap"]))
    return budget.to_json() == payload


def _allocation(latest: Latest, payload: dict[str, Any]) -> bool:
    cap = loss_from_json(payload["cap"])
    allocation = Allocation(payload["id_space"], payload["analyst"], cap)
    same_measure = cap_of(latest, allocation.id_space).measure is cap.measure
    return same_measure and allocation.to_json() == payload


def _version(latest: Latest, payload: dict[str, Any]) -> bool:
    before = latest(Kind.VERSION, space(payload["id_space"]))
    expected: int = before.payload["number"] + 1 if before else 1
    return payload == {"id_space": payload["id_space"], "number": expected}


def _reserve(latest: Latest, payload: dict[str, Any]) -> bool:
    order = Order.from_json(payload["order"])
    at = datetime.fromisoformat(payload["reserved_at"])
    if any("counter" in total for total in payload["totals"]):
        totals = admit(latest, order, at)
    elif any("open" in total for total in payload["totals"]) and _is_together(latest, order):
        totals = admit_together(latest, order, at)
    elif _is_uncounted(latest, order):
        totals = totals_after(latest, order)
    else:
        return False
    return (payload["order_digest"], payload["totals"]) == (order.digest, totals)


def _is_uncounted(latest: Latest, order: Order) -> bool:
    """Tell whether no entry about the order's id spaces counts failures yet."""
    before = [latest(Kind.RESERVE, space(charge.id_space)) for charge in order.charges]
    return not any(entry and lists_open_tickets(entry) for entry in before)


def _is_together(latest: Latest, order: Order) -> bool:
    """Tell whether no entry about the order's id spaces counts each analyst yet."""
    return not any(is_by_counter(latest, charge.id_space) for charge in order.charges)


def _commit(latest: Latest, payload: dict[str, Any]) -> bool:
    order = open_reserve(latest, payload["ticket"]).payload["order"]
    is_same = all(order[name] == payload[name] for name in ("plan_digest", "data_version"))
    return is_same and order.get("question") == payload.get("question")


def _fail(latest: Latest, payload: dict[str, Any]) -> bool:
    number = payload["ticket"]
    reserve = open_reserve(latest, number)
    order = Order.from_json(reserve.payload["order"])
    if "failures" not in payload:
        return not lists_open_tickets(reserve)
    if any("counter" in item for item in payload["failures"]):
        return payload == {"ticket": number, "failures": counted(latest, number)}
    spaces = [charge.id_space for charge in order.charges]
    counts = [
        {"id_space": name, "count": noted(latest, name, None).everybody + 1} for name in spaces
    ]
    is_first = _is_together(latest, order) and not names_counter(reserve)
    return is_first and payload == {"ticket": number, "failures": counts}


def _gate(latest: Latest, payload: dict[str, Any]) -> bool:
    cap_of(latest, payload["id_space"])
    rules = GateRules.from_json(payload).to_json()
    return payload in (rules, {name: rules[name] for name in FIRST_RULES})


def _renewal(latest: Latest, payload: dict[str, Any]) -> bool:
    """What was spent is stated, so it may only be more than what the chain knows."""
    stated = {total["id_space"]: loss_from_json(total["everybody"]) for total in payload["totals"]}
    known = {name: spent_of(latest, name) for name in stated}
    totals = [{"id_space": name, "everybody": loss.to_json()} for name, loss in stated.items()]
    lost = [Point.from_json(point).to_json() for point in payload["lost"]]
    is_more = all(spent is None or spent <= stated[name] for name, spent in known.items())
    told = {"lost": lost, "totals": totals}
    void = payload.get("void", [])
    if void:
        told["void"] = void
    ended = {name for name in stated if is_void(latest, name)}
    is_kept = ended <= set(void) <= set(stated) and void == sorted(set(void))
    return is_more and is_kept and bool(lost) and payload == told


def _exact(latest: Latest, payload: dict[str, Any]) -> bool:
    claim = ExactClaim.from_json(payload)
    cap_of(latest, claim.id_space)
    require_checked(latest, claim)
    return claim.to_json() == payload


def _resume(latest: Latest, payload: dict[str, Any]) -> bool:
    id_space = payload["id_space"]
    cap_of(latest, id_space)
    if "counter" not in payload:
        return payload == {"id_space": id_space}
    name = payload["counter"]["analyst"]
    is_counter = name is None or counter_of(latest, id_space, name) == name
    return is_counter and payload == after_resumption(latest, id_space, name)


_ALLOWED: dict[Kind, Callable[[Latest, dict[str, Any]], bool]] = {
    Kind.BUDGET: _budget,
    Kind.ALLOCATION: _allocation,
    Kind.VERSION: _version,
    Kind.RESERVE: _reserve,
    Kind.COMMIT: _commit,
    Kind.FAIL: _fail,
    Kind.GATE: _gate,
    Kind.RESUME: _resume,
    Kind.RENEWAL: _renewal,
    Kind.EXACT: _exact,
}


Read = Callable[[], AbstractContextManager[Snapshot]]
"""Opens a snapshot."""


def verify(read: Read, since: Point = BEGINNING) -> Point:
    """Check everything, or everything since a point that was reached before; return the end.

    A :class:`~discreet.core.errors.LedgerError` names the first bad entry.

    Guarantee:
        If this returns, the chain is whole up to the end that it had at the beginning, every charge
        was admitted and every total adds up (:class:`Replay`), the index
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
    commit = snapshot.latest(Kind.COMMIT, ticket(receipt.ticket.number))
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
    return snapshot.latest(Kind.COMMIT, ticket(number)) is not None
