"""The ledger: budgets, what was spent of them, and the releases that were paid for."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import LedgerError
from discreet.core.html_text import html_page
from discreet.core.interrupts import Uninterrupted
from discreet.core.loss import PrivacyLoss
from discreet.core.protocols import Rng
from discreet.ledger.anchor import Anchor
from discreet.ledger.anchoring import (
    as_it_is,
    begin_again,
    charged_by,
    is_elsewhere,
    move_anchor,
    read_marks,
    require_whole,
    spent_by_space,
    verified_point,
    what_stays,
)
from discreet.ledger.books import (
    cap_of,
    least_price_of,
    left_of,
    note_budget,
    note_share,
    reservation,
    reserve_of,
    shares_in,
    spent_of,
)
from discreet.ledger.budget import Allocation, Budget, budget_bar
from discreet.ledger.chain import BEGINNING, Entry, Kind, Point, released, ticket
from discreet.ledger.deadlines import Deadlines, IsHeld, always
from discreet.ledger.exact_claims import ExactClaim, NotedClaims, claims_of, is_void, note_claim
from discreet.ledger.failures import settlement
from discreet.ledger.gate_rules import GateRules, rules_of
from discreet.ledger.history import LAST_SHOWN, History, read_history
from discreet.ledger.joining import Joined, Presence, asked_for, joinable
from discreet.ledger.order import Order, Receipt, Ticket
from discreet.ledger.releases import (
    PaidAnswer,
    SealedRelease,
    commitment,
    make_receipt,
    paid_answers,
    seal,
    stored_release,
)
from discreet.ledger.store import Snapshot, Store, Transaction
from discreet.ledger.suspension import (
    FailureCounter,
    counted,
    counters_of,
    failures_of,
    note_resumption,
)
from discreet.ledger.verify import verify, verify_receipt
from discreet.ledger.versions import DataVersion, begin_version, current_version, draw_salt


def _now() -> datetime:
    return datetime.now(UTC)


def _never() -> bool:
    return False


@frozen
class Ledger:
    """Who spent what. Append-only, durable, and the same for every process that opens it.

    Guarantee:
        Nothing that it records or shows is computed from private rows, except the releases. The
        entries are public; the salts of the data versions are not, and no entry, receipt or error
        holds one.

    Example:
        >>> import tempfile
        >>> from discreet import Pure
        >>> from discreet.ledger.sqlite_store import create_sqlite
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(create_sqlite(f"{folder}/ledger.sqlite"))
        ...     ledger.declare(Budget("patients", Pure(2)))
        ...     ledger.remaining("patients")
        Pure(ε = 2)
    """

    store: Store
    now: Callable[[], datetime] = field(default=_now, repr=False, eq=False)
    """The time of day, for the one entry that has a time."""
    anchors: tuple[Anchor, ...] = ()
    """Where the end of the chain is kept besides (:mod:`discreet.ledger.anchoring`)."""
    _deadlines: Deadlines = field(factory=Deadlines, init=False, repr=False, eq=False)

    def declare(self, budget: Budget) -> None:
        """Set the cap of an id space. Saying the same again changes nothing; spending stays."""
        with self._write() as transaction:
            note_budget(transaction, budget)

    def allocate(self, allocation: Allocation) -> None:
        """Give an analyst a share. From then on, analysts without one have nothing to spend."""
        with self._write() as transaction:
            note_share(transaction, allocation)

    def set_rules(self, rules: GateRules) -> None:
        """Set the rules of the gate of an id space. Saying what holds already changes nothing."""
        with self._write() as transaction:
            cap_of(transaction.latest, rules.id_space)
            if rules_of(transaction.latest, rules.id_space) != rules:
                transaction.append(Kind.GATE, rules.to_json())

    def rules(self, id_space: str) -> GateRules:
        """Return the rules of the gate of an id space as they stand."""
        with self._read() as snapshot:
            cap_of(snapshot.latest, id_space)
            return rules_of(snapshot.latest, id_space)

    def deadline(self, order: Order) -> Fraction | None:
        """Return how many seconds after its charge an order is answered, as far as is known now."""
        return self._deadlines.expected(order, self._read)

    def least_price(self, id_space: str) -> Fraction:
        """Return the least ε or ρ that a question about an id space costs."""
        with self._read() as snapshot:
            return least_price_of(snapshot.latest, id_space)

    def failures(self, id_space: str) -> int:
        """Return how many answers failed in an id space since the owner last resumed it."""
        with self._read() as snapshot:
            cap_of(snapshot.latest, id_space)
            return failures_of(snapshot.latest, id_space, self.now())

    def counters(self, id_space: str) -> tuple[FailureCounter, ...]:
        """Return the counters of an id space in which answers failed since they were resumed."""
        with self._read() as snapshot:
            cap_of(snapshot.latest, id_space)
            return counters_of(snapshot, id_space, self.now())

    def resume(self, id_space: str, analyst: str | None = None) -> int:
        """Begin to count failures from nothing again; return how many there were.

        With an ``analyst`` only the counter is cleared that this analyst is counted in.
        """
        with self._write() as transaction:
            cap_of(transaction.latest, id_space)
            return note_resumption(transaction, id_space, analyst, self.now())

    def budget(self, id_space: str) -> Budget:
        """Return the budget of an id space as it stands."""
        with self._read() as snapshot:
            return Budget(id_space, cap_of(snapshot.latest, id_space))

    def spent(self, id_space: str, analyst: str | None = None) -> PrivacyLoss:
        """Return what everybody, or one analyst, has spent of an id space's budget."""
        with self._read() as snapshot:
            cap = cap_of(snapshot.latest, id_space)
            return spent_of(snapshot.latest, id_space, analyst) or cap * 0

    def remaining(self, id_space: str, analyst: str | None = None) -> PrivacyLoss:
        """Return the largest loss that could be spent now, by anybody or by one analyst."""
        with self._read() as snapshot:
            return left_of(snapshot.latest, id_space, analyst)

    def data_version(self, id_space: str, rng: Rng) -> DataVersion:
        """Return the current version of an id space's data; the first use begins it."""
        if (current := self.known_version(id_space)) is not None:
            return current
        salt = draw_salt(rng)
        with self._write() as transaction:
            # Another process may have been quicker.
            current = current_version(transaction, id_space)
            return current or begin_version(transaction, id_space, salt)

    def known_version(self, id_space: str) -> DataVersion | None:
        """Return the current version of an id space's data, if one has begun."""
        with self._read() as snapshot:
            return current_version(snapshot, id_space)

    def advance_version(self, id_space: str, rng: Rng) -> DataVersion:
        """Begin a new version: the owner changed the data, so stored releases are out of date."""
        salt = draw_salt(rng)
        with self._write() as transaction:
            return begin_version(transaction, id_space, salt)

    def is_void(self, id_space: str) -> bool:
        """Tell whether an exact release has ended the worst-case claim of an id space."""
        with self._read() as snapshot:
            return is_void(snapshot.latest, id_space)

    def claims(self, id_space: str) -> NotedClaims:
        """Return what was asserted for the exact releases of an id space."""
        with self._read() as snapshot:
            return claims_of(snapshot, id_space)

    def reserve(
        self, order: Order, claim: ExactClaim | None = None, *, is_held: IsHeld = always
    ) -> Ticket:
        """Charge an order, in every id space that it touches, or refuse it whole.

        An exact order comes with its ``claim``, which is noted in the same transaction. Whether its
        work ``is_held`` to the deadline in force is asked before anything is charged.

        Guarantee:
            When this returns, the charge is durable, no cap or share is exceeded, none of the id
            spaces was suspended for the analyst, and every anchor knows of the charge.
        """
        order = order.as_written()
        with self._charging() as transaction:
            return self._reserve(transaction, order, claim, is_held)

    def join_or_reserve(
        self,
        order: Order,
        given_up: Collection[int] = (),
        claim: ExactClaim | None = None,
        *,
        is_held: IsHeld = always,
    ) -> Ticket | Joined:
        """Charge an order, or find the ticket of an equal one that is paid for already.

        Tickets that were ``given_up`` are not joined.

        Guarantee:
            As :mod:`~discreet.ledger.joining` says: it is decided in the one transaction.
        """
        order = order.as_written()
        with self._charging() as transaction:
            found = joinable(transaction.latest, order, self.now(), given_up)
            return found or self._reserve(transaction, order, claim, is_held)

    @contextmanager
    def _charging(self) -> Iterator[Transaction]:
        for anchor in self.anchors:
            anchor.require_writable()
        with Uninterrupted():
            marks = read_marks(self.anchors)
            with self.store.write() as transaction:
                require_whole(transaction, marks)
                yield transaction
                charged = charged_by(transaction, marks) if marks else None
            with what_stays():
                self.move_anchors(charged=charged)

    def _reserve(
        self, transaction: Transaction, order: Order, claim: ExactClaim | None, is_held: IsHeld
    ) -> Ticket:
        self._deadlines.require(transaction.latest, order, is_held)
        if claim is not None:
            note_claim(transaction, claim)
        payload = reservation(transaction.latest, order, self.now())
        return Ticket(transaction.append(Kind.RESERVE, payload).sequence, order.digest)

    def move_anchors(self, **how: Any) -> None:
        """Move every anchor, as :func:`~discreet.ledger.anchoring.move_anchor` says."""
        for anchor in self.anchors:
            move_anchor(anchor, self.store, **how)

    def begin_again(self) -> Entry:
        """Go on with a ledger that has forgotten something, as the owner; return the entry of it.

        What the anchors know as spent stays spent (:func:`~discreet.ledger.anchoring.begin_again`).
        """
        with Uninterrupted():
            with self.store.write() as transaction:
                entry = begin_again(transaction, read_marks(self.anchors))
            with what_stays():
                self.move_anchors(is_checked=as_it_is, is_here=True)
        return entry

    def is_elsewhere(self) -> bool:
        """Tell whether this is another file than the one that its anchors know: perhaps a copy."""
        return is_elsewhere(self.store, read_marks(self.anchors))

    def commit(self, ticket: Ticket, release: dict[str, Any]) -> Receipt:
        """Store the release that a ticket paid for, and bind the two, in one transaction."""
        return self.commit_sealed(ticket, seal(release))

    def commit_sealed(
        self, ticket: Ticket, sealed: SealedRelease, *, is_late: Callable[[], bool] = _never
    ) -> Receipt:
        """Store a release that is ready to be stored: one insert beside the entry.

        ``is_late`` is asked last, when nothing else has to be waited for: if it says so, nothing of
        this is kept.
        """
        with self._write() as transaction:
            reserve = reserve_of(transaction.latest, ticket)
            entry = transaction.append(Kind.COMMIT, commitment(reserve, sealed))
            transaction.put_release(ticket.number, sealed.text)
            if is_late():
                raise LedgerError(f"Ticket {ticket.number} is settled too late")
        return make_receipt(reserve, entry)

    def fail(self, ticket: Ticket) -> None:
        """Record that a ticket gave no release, and count it. The charge stays."""
        with self._write() as transaction:
            reserve_of(transaction.latest, ticket)
            failures = counted(transaction.latest, ticket.number)
            transaction.append(Kind.FAIL, {"ticket": ticket.number, "failures": failures})

    def find_release(
        self, plan_digest: str, data_version: int
    ) -> tuple[dict[str, Any], Receipt] | None:
        """Return the newest committed release of a plan on a version, with its receipt."""
        with self._read() as snapshot:
            commit = snapshot.latest(Kind.COMMIT, released(plan_digest, data_version))
            return None if commit is None else stored_release(snapshot, commit)

    def answers_to(self, question: str, data_version: int) -> tuple[PaidAnswer, ...]:
        """Return the answers to a question on a version, at all prices: the newest ones first."""
        with self._read() as snapshot:
            return tuple(paid_answers(snapshot, question, data_version))

    def presence(self, order: Order) -> Presence:
        """Return where to say that somebody works on an order; a ledger in a file has a place."""
        return Presence(getattr(self.store, "path", None), asked_for(order.to_json()))

    def settlement_of(self, number: int) -> Kind | None:
        """Return how a ticket was settled, or ``None`` if it is open."""
        with self._read() as snapshot:
            return settlement(snapshot.latest, number)

    def release_of(self, number: int) -> tuple[dict[str, Any], Receipt] | None:
        """Return the release that a ticket paid for, with its receipt, if it was answered."""
        with self._read() as snapshot:
            commit = snapshot.latest(Kind.COMMIT, ticket(number))
            return None if commit is None else stored_release(snapshot, commit)

    def charged_at(self, number: int) -> datetime | None:
        """Return when a ticket was charged, if there is one."""
        reserve = self._reserve_of(number)
        return None if reserve is None else datetime.fromisoformat(reserve.payload["reserved_at"])

    def description_of(self, number: int) -> dict[str, Any]:
        """Return what the ledger shows of the order of a ticket; nothing if there is none."""
        reserve = self._reserve_of(number)
        return {} if reserve is None else dict(reserve.payload["order"]["description"])

    def _reserve_of(self, number: int) -> Entry | None:
        with self._read() as snapshot:
            return snapshot.latest(Kind.RESERVE, ticket(number))

    def entries(self, *, last: int | None = None) -> History:
        """Return the public history, oldest first: all of it, or the ``last`` so many entries."""
        return read_history(self._read, last)

    def _repr_html_(self) -> str:
        spaces = self.spent_spaces()
        bars = (budget_bar(name, self.spent(name), self.budget(name).cap) for name in spaces)
        return html_page(*bars, self.entries(last=LAST_SHOWN)._repr_html_())

    def verify(self, *receipts: Receipt, is_recent: bool = False) -> Point:
        """Recompute the ledger, as :func:`~discreet.ledger.verify.verify` says; return its end.

        The chain must hold what the ``receipts`` say. If ``is_recent``, only what came after the
        last verification that the anchors know of is recomputed.
        """
        with self._read() as snapshot:
            since = verified_point(snapshot, read_marks(self.anchors)) if is_recent else BEGINNING
        end = verify(self._read, since)
        with self._read() as snapshot:
            for receipt in receipts:
                verify_receipt(snapshot, receipt)
        self.move_anchors(verified=end)
        return end

    def spent_spaces(self) -> tuple[str, ...]:
        """Return the id spaces in which anything was ever charged."""
        with self._read() as snapshot:
            return tuple(spent_by_space(snapshot))

    def shares(self) -> tuple[Allocation, ...]:
        """Return the shares that are in force."""
        with self._read() as snapshot:
            return tuple(shares_in(snapshot))

    @contextmanager
    def _read(self) -> Iterator[Snapshot]:
        # The anchors are read first: what they know is then in the snapshot, or lost.
        marks = read_marks(self.anchors)
        with self.store.read() as snapshot:
            require_whole(snapshot, marks)
            yield snapshot

    @contextmanager
    def _write(self) -> Iterator[Transaction]:
        marks = read_marks(self.anchors)
        with self.store.write() as transaction:
            require_whole(transaction, marks)
            yield transaction
