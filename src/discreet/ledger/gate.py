"""The gate: the only way to touch private rows. Reserve, run, store the release, commit.

Guarantee: *never less spent than released.*

    Let ``work`` be run by :func:`pass_gate` alone. Then at every moment, a crash, a power cut or
    any number of racing processes included, the loss of all releases that anybody may have seen is
    at most what the ledger says is spent, and no charge ever passed a cap that was in force.

    Proof. A release exists only after ``work`` began; ``work`` begins only after ``reserve``
    returned; ``reserve`` returns only when its charge is durable; and no entry is ever removed. So
    every release has its charge, whichever step the process died in. If it died before the reserve
    was committed, nothing was read. If later, the charge stays, with or without a release: there is
    no refund, because whether work fails may depend on the data. Write transactions are serialised,
    and each decides on the totals of all before it by a filter that is valid for adaptive choices
    (:mod:`discreet.accounting.filters.rules`), so no race passes a cap. Last, a release is returned
    only after it is durable, so that asking again finds it instead of paying twice.

    Assumes: the loss in the order is a true bound on what ``work`` returns, and the disk keeps what
    it says it has kept. A ledger that was taken back to an older copy is refused, as long as one of
    its anchors was not taken back with it (:mod:`discreet.ledger.anchoring`).

Guarantee: *with a deadline, time tells nothing.*

    If a deadline is declared for an id space of the order, then whatever ``work`` does, everything
    that can be seen of it happens at times that do not depend on it: the settlement (commit or
    failure) is begun shortly before the deadline, and the answer or the one error is handed over at
    the deadline, counted from the charge on a clock that never goes back.

    Proof. The deadline is the one in force at the charge, which refuses an order that was prepared
    for another (:class:`~discreet.ledger.deadlines.Deadlines`). ``work`` runs in a thread of its
    own, and the thread of the flight sleeps until the
    settlement is due without looking (:mod:`discreet.ledger.held_work`). What has not come by then
    never comes: the one look at the queue decides between commit and failure, and it is taken by
    the one thread that writes either. Both are entries of the same chain, so that neither the
    ledger, nor a stored release, nor the number of the next ticket tells more than that look. After
    that the thread sleeps until the deadline. The settlement is one insert of a text that the work
    has made (:mod:`discreet.ledger.releases`), and what is set aside for it suffices for the
    largest release that the plan can make, whatever the data are; where the deadline is too short
    for that, the order is refused before it is charged (:mod:`discreet.ledger.releases`). A
    ledger that is so busy that the settlement would
    end after the deadline refuses to commit, inside the transaction; the failure is noted instead.

    Assumes: the machine wakes a thread when its sleep ends, even though another thread works; and
    load is not observed (the work still takes the processor's time while it lasts). Where the
    ledger is slower than the time that is set aside for it, the answer is late, for reasons that
    have nothing to do with ``work``.

Guarantee: *an interrupt changes who waits, not what counts.*

    Charge, work and settlement are a flight (:class:`Flight`), in a thread that no
    interrupt reaches. Whoever waits can leave: before the charge nothing is spent, and after it the
    flight is settled as if nobody had left. So a key press is never a failure, never a second run
    on one charge, and never a look at the clock that a deadline hides; and the same question finds
    the release. What is raised says what was charged, and nothing else
    (:class:`~discreet.core.interrupts.Interrupted`).

Guarantee: *one question, one charge.* See :mod:`discreet.ledger.joining`.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

from attrs import frozen

from discreet.core.errors import AnswerFailed, LedgerError, WrittenBefore
from discreet.core.interrupts import Interrupted
from discreet.core.permit import Permit
from discreet.ledger.chain import Kind
from discreet.ledger.deadlines import DeadlineChanged
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.held_work import SYSTEM_TIMER, HeldWork, Interrupt, Timer, nothing_to_interrupt
from discreet.ledger.joining import Joined
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order, Receipt, Ticket
from discreet.ledger.releases import (
    SMALL,
    ReleaseSize,
    SealedRelease,
    require_time,
    seal,
    settlement_time,
)
from discreet.ledger.under_way import FLIGHT, is_interruptible, note_charge, wait_for

Release = dict[str, Any]
SHORTEST_LOOK, LONGEST_LOOK = 0.01, 0.25
"""How many seconds pass between two looks at a ticket that somebody else paid for."""


@frozen
class Answer:
    """A release, and the receipt for it; it can be unpacked into these two."""

    release: Release
    receipt: Receipt
    is_joined: bool = False
    """Whether somebody else paid for it, who asked the same question at the same time."""

    def __iter__(self) -> Iterator[Any]:
        """Give the release and the receipt."""
        return iter((self.release, self.receipt))


class Flight:
    """One order on its way through the gate, whoever waits: charge, work, settlement, each once.

    It has a thread of its own, because an interrupt of the keyboard reaches the main thread alone:
    so none can come between a charge and what is known of it, or between the work and its
    settlement.

    Guarantee:
        *An interrupt changes who waits, not what counts.* Whoever waits may leave at any moment.
        Before the charge, that calls the flight off and nothing is spent. After it, work and
        settlement go on as if somebody waited, at the same times. The thread is no daemon, so that
        a process which ends waits for the settlement. What :meth:`leave` says depends on the charge
        alone.

        Proof. One lock decides between calling off and charging. Once charging has begun,
        ``leave`` waits until the ledger has decided, and nothing that it does later reaches the
        thread.
    """

    def __init__(
        self,
        ledger: Ledger,
        order: Order,
        work: Callable[[Permit], Release],
        *,
        size: Callable[[], ReleaseSize],
        interrupt: Interrupt,
        timer: Timer,
        joins: bool,
        claim: ExactClaim | None,
    ) -> None:
        self._ledger, self._order, self._timer = ledger, order, timer
        self._joins, self._presence = joins, ledger.presence(order)
        self._claim, self._is_noted = claim, is_interruptible()
        self._permit = Permit(is_exact=order.exact is not None)
        paid = partial(work, self._permit)
        self._work = lambda: seal(paid())
        self._hold = partial(_held, work=paid, size=size, interrupt=interrupt)
        self._deadline = ledger.deadline(order)
        self._held = self._hold(self._deadline)
        self._lock = Lock()
        self._is_called_off = self._is_charging = self._is_charged = False
        self._decided, self._landed = Event(), Event()
        self._refusal: BaseException | None = None
        self._answer: Answer | None = None
        self._thread = Thread(target=self._fly, name=FLIGHT, daemon=False)

    def start(self) -> None:
        """Begin; a machine that has no threads left refuses before the charge."""
        try:
            self._thread.start()
        except RuntimeError:
            raise _no_threads() from None

    def outcome(self) -> Answer:
        """Wait for the answer and return it, or raise the one error."""
        wait_for(self._landed)
        if self._refusal is not None:
            raise self._refusal
        if self._answer is None:
            raise AnswerFailed(is_joined=not self._is_charged) from None
        return self._answer

    def leave(self) -> Interrupted:
        """Wait no longer; return what is to be said about it."""
        with self._lock:
            self._is_called_off = True
        if self._is_charging:
            wait_for(self._decided)
        return self.interrupted()

    def interrupted(self) -> Interrupted:
        """Return what an interrupt says: what was charged."""
        return Interrupted(self._spent() if self._is_charged else "")

    def _spent(self) -> str:
        return ", ".join(f"{one.loss} of '{one.id_space}'" for one in self._order.charges)

    def _fly(self) -> None:
        try:
            if self._held is not None:
                self._prepare(self._held)
            ticket = self._charge()
        except BaseException as refusal:
            self._refusal = refusal
        else:
            # Behind the charge there is one error for every cause, and it is no answer.
            with suppress(BaseException):
                if ticket is not None:
                    self._answer = self._settled(ticket)
        finally:
            if self._held is not None:
                self._held.call_off()
            self._presence.leave()
            self._decided.set()
            self._landed.set()

    def _prepare(self, held: HeldWork[SealedRelease]) -> None:
        try:
            held.prepare()
        except RuntimeError:
            raise _no_threads() from None

    def _charge(self) -> Ticket | None:
        """Return the ticket to be settled; ``None`` if there is none, or it is somebody else's."""
        given_up: set[int] = set()
        while self._may_charge():
            # Before the ticket can be seen, so that nobody takes it for abandoned.
            self._presence.enter()
            try:
                found = self._reserve(given_up)
            except WrittenBefore:
                self._note_charge()
                raise
            except DeadlineChanged:
                self._presence.leave()
                self._hold_anew()
                continue
            if isinstance(found, Ticket):
                self._note_charge()
                self._decided.set()
                return found
            self._presence.leave()
            if self._is_settled(found):
                return None
            given_up.add(found.number)
        return None

    def _hold_anew(self) -> None:
        """Hold the work to the deadline that the owner has declared meanwhile."""
        if self._held is not None:
            self._held.call_off()
        self._deadline = self._ledger.deadline(self._order)
        self._held = self._hold(self._deadline)
        if self._held is not None:
            self._prepare(self._held)

    def _is_held(self, deadline: Fraction | None) -> bool:
        return deadline == self._deadline

    def _note_charge(self) -> None:
        self._is_charged = True
        if self._is_noted:
            note_charge(self._spent())

    def _reserve(self, given_up: set[int]) -> Ticket | Joined:
        claimed = {} if self._claim is None else {"claim": self._claim}
        if self._joins:
            return self._ledger.join_or_reserve(
                self._order, given_up, is_held=self._is_held, **claimed
            )
        return self._ledger.reserve(self._order, is_held=self._is_held, **claimed)

    def _may_charge(self) -> bool:
        with self._lock:
            self._is_charging = not self._is_called_off
        return self._is_charging

    def _is_settled(self, joined: Joined) -> bool:
        """Wait for what somebody else paid for; tell whether it was settled, or called off."""
        pause = SHORTEST_LOOK
        while not self._is_called_off:
            is_gone = self._presence.is_nobody_there() or self._ledger.now() > joined.until
            # Looked at after that: who was at work settled it first.
            kind = self._ledger.settlement_of(joined.number)
            if kind is Kind.COMMIT:
                found = self._ledger.release_of(joined.number)
                self._answer = found and Answer(*found, is_joined=True)
            if kind is not None:
                return True
            if is_gone:
                return False
            self._timer.sleep(pause)
            pause = min(2 * pause, LONGEST_LOOK)
        return True

    def _settled(self, ticket: Ticket) -> Answer | None:
        self._permit.open()
        try:
            return self._attempted(ticket)
        finally:
            self._permit.end()

    def _attempted(self, ticket: Ticket) -> Answer | None:
        commit = partial(self._ledger.commit_sealed, ticket)
        fail = partial(self._ledger.fail, ticket)
        if self._held is None:
            return _attempt(self._work, commit, fail)
        clock = self._timer.clock
        due = clock() + self._held.seconds
        self._held.begin()
        self._timer.wait_until(due - self._held.aside)
        answer = _attempt(self._held.look, partial(commit, is_late=lambda: clock() >= due), fail)
        self._timer.wait_until(due)
        return answer


def _held(
    deadline: Fraction | None,
    work: Callable[[], Release],
    size: Callable[[], ReleaseSize],
    interrupt: Interrupt,
) -> HeldWork[SealedRelease] | None:
    """Return the work to be held to a deadline, or refuse what cannot be written down by then."""
    if deadline is None:
        return None
    most = size()
    require_time(deadline, most)
    return HeldWork(
        lambda: seal(work(), most_bytes=most.bytes),
        interrupt,
        seconds=float(deadline),
        aside=float(settlement_time(deadline, most)),
    )


def _attempt(
    work: Callable[[], SealedRelease],
    commit: Callable[[SealedRelease], Receipt],
    fail: Callable[[], None],
) -> Answer | None:
    # Even an error of the ledger looks like the others: it must not tell whether work was done.
    with suppress(BaseException):
        sealed = work()
        return Answer(sealed.body, commit(sealed))
    with suppress(BaseException):
        fail()
    return None


def _no_threads() -> LedgerError:
    return LedgerError(
        "This machine starts no more threads",
        next="Nothing was spent. Ask again when it is less busy",
    )


def pass_gate(
    ledger: Ledger,
    order: Order,
    work: Callable[[Permit], Release],
    *,
    size: Callable[[], ReleaseSize] = lambda: SMALL,
    interrupt: Interrupt = nothing_to_interrupt,
    timer: Timer = SYSTEM_TIMER,
    joins: bool = False,
    claim: ExactClaim | None = None,
) -> Answer:
    """Charge ``order``, run ``work``, store what it returns, and hand it over with a receipt.

    ``work`` returns the release as public JSON (integers and text, no floats). It gets the permit
    that engines ask for, which is open until the ticket is settled. It runs in another thread; if a
    deadline is declared, ``interrupt`` stops it when its time is over. The release is at most of
    ``size``, which is asked for if there is a deadline: one that is larger has failed. If it
    ``joins``, an equal order that is under way is waited for instead of paid for again. An exact
    order comes with its ``claim``, which is noted before it.

    Guarantee:
        As the module says. Before the charge, errors explain themselves and nothing was read. After
        it there is one error for every cause, :class:`~discreet.core.errors.AnswerFailed`, without
        message, cause or context of what happened: those may quote rows. The charge stays. An
        interrupt of the keyboard is raised as :class:`~discreet.core.interrupts.Interrupted`.
    """
    flight = Flight(
        ledger,
        order,
        work,
        size=size,
        interrupt=interrupt,
        timer=timer,
        joins=joins,
        claim=claim,
    )
    try:
        flight.start()
        return flight.outcome()
    except KeyboardInterrupt:
        raise flight.leave() from None
    except BaseException:
        # Also what somebody else's signal handler raises here; a flight that has landed stays so.
        flight.leave()
        raise
