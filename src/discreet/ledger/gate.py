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
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from discreet.core.errors import AnswerFailed
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.public_json import public_json
from discreet.ledger.receipt import Receipt
from discreet.ledger.ticket import Ticket


def pass_gate(
    ledger: Ledger, order: Order, work: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], Receipt]:
    """Charge ``order``, run ``work``, store what it returns, and hand it over with a receipt.

    ``work`` returns the release as public JSON (integers and text, no floats).

    Guarantee:
        As the module says. Before the charge, errors explain themselves and nothing was read. After
        it there is one error for every cause, :class:`~discreet.core.errors.AnswerFailed`, without
        message, cause or context of what happened: those may quote rows. The charge stays.
    """
    ticket = ledger.reserve(order)
    answer = _attempt(ledger, ticket, work)
    if answer is None:
        # Outside every handler, so that no traceback leads back to the cause.
        raise AnswerFailed from None
    return answer


def _attempt(
    ledger: Ledger, ticket: Ticket, work: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], Receipt] | None:
    # Even an error of the ledger looks like the others: it must not tell whether work was done.
    with suppress(Exception):
        release = public_json(work())
        return release, ledger.commit(ticket, release)
    with suppress(Exception):
        ledger.fail(ticket)
    return None
