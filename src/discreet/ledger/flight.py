"""A flight: one order on its way through the gate, whoever waits for it.

It has a thread of its own, because an interrupt of the keyboard reaches the main thread alone: so
none can come between a charge and what is known of it, or between the work and its settlement.
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
from discreet.ledger.entry import Kind
from discreet.ledger.held_work import HeldWork, Interrupt
from discreet.ledger.joining import Joined
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.receipt import Receipt
from discreet.ledger.release_size import ReleaseSize, require_time, settlement_time
from discreet.ledger.sealed_release import SealedRelease, seal
from discreet.ledger.ticket import Ticket
from discreet.ledger.timer import Timer
from discreet.ledger.under_way import FLIGHT, note_charge, wait_for

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
    """Charges an order, runs its work and settles it: each once, and in this order.

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
    ) -> None:
        self._ledger, self._order, self._timer = ledger, order, timer
        self._joins, self._presence = joins, ledger.presence(order)
        self._permit = Permit()
        paid = partial(work, self._permit)
        self._work = lambda: seal(paid())
        self._held = _held(ledger.deadline(order), paid, size, interrupt)
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
            if isinstance(found, Ticket):
                self._note_charge()
                self._decided.set()
                return found
            self._presence.leave()
            if self._is_settled(found):
                return None
            given_up.add(found.number)
        return None

    def _note_charge(self) -> None:
        self._is_charged = True
        note_charge(self._spent())

    def _reserve(self, given_up: set[int]) -> Ticket | Joined:
        if self._joins:
            return self._ledger.join_or_reserve(self._order, given_up)
        return self._ledger.reserve(self._order)

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
