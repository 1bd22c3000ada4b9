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

    Proof. ``work`` runs in a thread of its own, and the thread of the flight sleeps until the
    settlement is due without looking (:mod:`discreet.ledger.held_work`). What has not come by then
    never comes: the one look at the queue decides between commit and failure, and it is taken by
    the one thread that writes either. Both are entries of the same chain, so that neither the
    ledger, nor a stored release, nor the number of the next ticket tells more than that look. After
    that the thread sleeps until the deadline. The settlement is one insert of a text that the work
    has made (:mod:`discreet.ledger.sealed_release`), and what is set aside for it suffices for the
    largest release that the plan can make, whatever the data are; where the deadline is too short
    for that, the order is refused before it is charged (:mod:`discreet.ledger.release_size`). A
    ledger that is so busy that the settlement would
    end after the deadline refuses to commit, inside the transaction; the failure is noted instead.

    Assumes: the machine wakes a thread when its sleep ends, even though another thread works; and
    load is not observed (the work still takes the processor's time while it lasts). Where the
    ledger is slower than the time that is set aside for it, the answer is late, for reasons that
    have nothing to do with ``work``.

Guarantee: *an interrupt changes who waits, not what counts.*

    Charge, work and settlement are a flight (:mod:`discreet.ledger.flight`), in a thread that no
    interrupt reaches. Whoever waits can leave: before the charge nothing is spent, and after it the
    flight is settled as if nobody had left. So a key press is never a failure, never a second run
    on one charge, and never a look at the clock that a deadline hides; and the same question finds
    the release. What is raised says what was charged, and nothing else
    (:class:`~discreet.core.interrupts.Interrupted`).

Guarantee: *one question, one charge.* See :mod:`discreet.ledger.joining`.
"""

from collections.abc import Callable

from discreet.core.permit import Permit
from discreet.ledger.flight import Answer, Flight, Release
from discreet.ledger.held_work import Interrupt, nothing_to_interrupt
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.release_size import SMALL, ReleaseSize
from discreet.ledger.timer import SYSTEM_TIMER, Timer


def pass_gate(
    ledger: Ledger,
    order: Order,
    work: Callable[[Permit], Release],
    *,
    size: Callable[[], ReleaseSize] = lambda: SMALL,
    interrupt: Interrupt = nothing_to_interrupt,
    timer: Timer = SYSTEM_TIMER,
    joins: bool = False,
) -> Answer:
    """Charge ``order``, run ``work``, store what it returns, and hand it over with a receipt.

    ``work`` returns the release as public JSON (integers and text, no floats). It gets the permit
    that engines ask for, which is open until the ticket is settled. It runs in another thread; if a
    deadline is declared, ``interrupt`` stops it when its time is over. The release is at most of
    ``size``, which is asked for if there is a deadline: one that is larger has failed. If it
    ``joins``, an equal order that is under way is waited for instead of paid for again.

    Guarantee:
        As the module says. Before the charge, errors explain themselves and nothing was read. After
        it there is one error for every cause, :class:`~discreet.core.errors.AnswerFailed`, without
        message, cause or context of what happened: those may quote rows. The charge stays. An
        interrupt of the keyboard is raised as :class:`~discreet.core.interrupts.Interrupted`.
    """
    flight = Flight(ledger, order, work, size=size, interrupt=interrupt, timer=timer, joins=joins)
    try:
        flight.start()
        return flight.outcome()
    except KeyboardInterrupt:
        raise flight.leave() from None
    except BaseException:
        # Also what somebody else's signal handler raises here; a flight that has landed stays so.
        flight.leave()
        raise
