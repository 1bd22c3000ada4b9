"""Joining: a question that is asked while it is being answered waits for the answer that is paid.

Guarantee: *one question, one charge.*

    However many processes and threads ask an equal question at once, of which none asks for a fresh
    answer, one of them is charged. Equal are the plan with its noise, the version of the data, and
    the charges. All others are handed what it is settled as: the release, or the failure, which
    counts once.

    Proof. Whether to join is decided in the transaction that would otherwise charge, and these are
    serialised. The first finds nothing and charges. Each later one finds its ticket: among the open
    ones, or as the newest committed release of the plan.

    Assumes: the one who pays comes to an end. If its process is gone
    (:mod:`discreet.ledger.presence`), or the ticket is older than an answer takes, whoever waits
    asks anew, without regard to that ticket: again one of them pays. Without a deadline nobody
    knows how long an answer takes; after ``LONGEST_JOIN`` it is waited for no longer.

Joining adds no loss: what is handed over is a release that is stored for everybody anyway.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from attrs import frozen

from discreet.ledger.entry import Entry, Kind, Latest, released, ticket
from discreet.ledger.open_tickets import GRACE, open_tickets, rules_of
from discreet.ledger.order import Order

LONGEST_JOIN = 600
"""So many seconds after its charge a question is no longer joined, where there is no deadline."""


@frozen
class Joined:
    """A ticket that somebody else paid for, and how long it is worth waiting for."""

    number: int
    until: datetime


def joinable(
    latest: Latest, order: Order, at: datetime, given_up: Collection[int] = ()
) -> Joined | None:
    """Return the ticket of an equal order that is answered already or is being answered.

    Tickets that were ``given_up`` are passed over.
    """
    committed = latest(Kind.COMMIT, released(order.plan_digest, order.data_version))
    if committed is not None:
        return Joined(committed.payload["ticket"], at)
    wait = _patience(latest, order)
    for number in reversed(open_tickets(latest, order.charges[0].id_space)):
        reserve = latest(Kind.RESERVE, ticket(number))
        assert reserve is not None
        until = datetime.fromisoformat(reserve.payload["reserved_at"]) + wait
        if number not in given_up and _asks_for(reserve, order) and at <= until:
            return Joined(number, until)
    return None


def asked_for(order: dict[str, Any]) -> dict[str, Any]:
    """Return what makes two orders equal: who asks, and in which words, does not matter."""
    return {name: order[name] for name in ("plan_digest", "data_version", "charges")}


def _asks_for(reserve: Entry, order: Order) -> bool:
    return asked_for(reserve.payload["order"]) == asked_for(order.to_json())


def _patience(latest: Latest, order: Order) -> timedelta:
    deadlines = [rules_of(latest, charge.id_space).deadline for charge in order.charges]
    declared = [float(deadline) for deadline in deadlines if deadline is not None]
    return timedelta(seconds=max(declared) + GRACE if declared else LONGEST_JOIN)
