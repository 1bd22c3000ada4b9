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
    (:mod:`discreet.accounting.gates.filters`), so no race passes a cap. Last, a release is returned
    only after it is durable, so that asking again finds it instead of paying twice.

    Assumes: the loss in the order is a true bound on what ``work`` returns, the disk keeps what it
    says it has kept, and the owner does not roll the ledger back to an older copy.

Guarantee: *with a deadline, time tells nothing.*

    If a deadline is declared for an id space of the order, then whatever ``work`` does, everything
    that can be seen of it happens at times that do not depend on it: the settlement (commit or
    failure) is begun shortly before the deadline, and the answer or the one error is handed over at
    the deadline, counted from the charge on a clock that never goes back.

    Proof. ``work`` runs in a thread of its own, and the thread that called sleeps until the
    settlement is due without looking (:mod:`discreet.ledger.held_work`). What has not come by then
    never comes: the one look at the queue decides between commit and failure, and it is taken by
    the one thread that writes either. Both are entries of the same chain, so that neither the
    ledger, nor a stored release, nor the number of the next ticket tells more than that look. After
    that the thread sleeps until the deadline. A ledger that is so busy that the settlement would
    end after the deadline refuses to commit, inside the transaction; the failure is noted instead.

    Assumes: the machine wakes a thread when its sleep ends, even though another thread works; and
    load is not observed (the work still takes the processor's time while it lasts). Where the
    ledger is slower than the time that is set aside for it, the answer is late, for reasons that
    have nothing to do with ``work``.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from discreet.core.errors import AnswerFailed
from discreet.ledger.held_work import Interrupt, held_work, nothing_to_interrupt
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.public_json import public_json
from discreet.ledger.receipt import Receipt
from discreet.ledger.timer import SYSTEM_TIMER, Timer

Answer = tuple[dict[str, Any], Receipt]
"""A release, and the receipt for it."""

LONGEST_SETTLEMENT = 1.0
"""The most seconds of a deadline that are set aside for writing the settlement down."""


def pass_gate(
    ledger: Ledger,
    order: Order,
    work: Callable[[], dict[str, Any]],
    *,
    interrupt: Interrupt = nothing_to_interrupt,
    timer: Timer = SYSTEM_TIMER,
) -> Answer:
    """Charge ``order``, run ``work``, store what it returns, and hand it over with a receipt.

    ``work`` returns the release as public JSON (integers and text, no floats). If a deadline is
    declared it runs in another thread, which ``interrupt`` stops when its time is over.

    Guarantee:
        As the module says. Before the charge, errors explain themselves and nothing was read. After
        it there is one error for every cause, :class:`~discreet.core.errors.AnswerFailed`, without
        message, cause or context of what happened: those may quote rows. The charge stays.
    """
    deadline = ledger.deadline(order)
    ticket = ledger.reserve(order)
    if deadline is None:
        answer = _attempt(work, partial(ledger.commit, ticket), partial(ledger.fail, ticket))
    else:
        due = timer.clock() + float(deadline)
        settled = due - min(float(deadline) / 10, LONGEST_SETTLEMENT)
        held = partial(held_work, work, until=settled, timer=timer, interrupt=interrupt)
        commit = partial(ledger.commit, ticket, is_late=lambda: timer.clock() >= due)
        answer = _attempt(held, commit, partial(ledger.fail, ticket))
        timer.wait_until(due)
    if answer is None:
        # Outside every handler, so that no traceback leads back to the cause.
        raise AnswerFailed from None
    return answer


def _attempt(
    work: Callable[[], dict[str, Any]],
    commit: Callable[[dict[str, Any]], Receipt],
    fail: Callable[[], None],
) -> Answer | None:
    # Even an error of the ledger looks like the others: it must not tell whether work was done.
    with suppress(Exception):
        release = public_json(work())
        return release, commit(release)
    with suppress(Exception):
        fail()
    return None
