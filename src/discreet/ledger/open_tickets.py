"""Open tickets: charged, not settled, and not forgiven by the owner.

A reserve lists the tickets that it found open, so that none is forgotten and the newest reserve is
enough to find them all. A ticket counts in the counter that its own reserve names, whatever shares
are given later.

An open ticket is *in flight*, or *abandoned* if it was reserved longer ago than an answer takes:
that is how a process that was killed looks. With a deadline an answer takes no longer than the
deadline (and ``GRACE`` for the ledger to note it); without one, ``LONGEST_WORK`` is assumed.
"""

from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.ledger.entry import Entry, Kind, Latest, space, ticket
from discreet.ledger.failure_counts import resumed_at
from discreet.ledger.gate_rules import GateRules

LONGEST_WORK = 3600
"""After so many seconds an open ticket is abandoned, where no deadline is declared."""

GRACE = 5
"""So many seconds after its deadline an open ticket is abandoned."""


def rules_of(latest: Latest, id_space: str) -> GateRules:
    """Return the rules in force; the usual ones if the owner never declared any."""
    entry = latest(Kind.GATE, space(id_space))
    payload = {"id_space": id_space} if entry is None else entry.payload
    return _rules(tuple(payload.items()))


@lru_cache(maxsize=64)
def _rules(items: tuple[tuple[str, Any], ...]) -> GateRules:
    return GateRules.from_json(dict(items))


def open_tickets(latest: Latest, id_space: str) -> list[int]:
    """Return the tickets that are not settled, oldest first, since the owner last resumed them.

    The newest reserve lists those that were open when it was written. Only these and itself can be
    open now, because a ticket that is settled or resumed from is so for ever.
    """
    newest = latest(Kind.RESERVE, space(id_space))
    if newest is None:
        return []
    candidates = [*_total(newest, id_space).get("open", []), newest.sequence]
    unsettled = [number for number in candidates if not settlement(latest, number)]
    return [number for number in unsettled if not _is_forgiven(latest, id_space, number)]


def abandoned_tickets(latest: Latest, id_space: str, at: datetime) -> list[str | None]:
    """Return the counter of each ticket that is abandoned at a time."""
    return _counters(latest, id_space, at, is_abandoned=True)


def tickets_in_flight(latest: Latest, id_space: str, at: datetime) -> list[str | None]:
    """Return the counter of each ticket that may still be answered at a time."""
    return _counters(latest, id_space, at, is_abandoned=False)


def settlement(latest: Latest, number: int) -> Kind | None:
    """Return how a ticket was settled, or ``None``."""
    kinds = (Kind.COMMIT, Kind.FAIL)
    return next((kind for kind in kinds if latest(kind, ticket(number))), None)


def _counters(
    latest: Latest, id_space: str, at: datetime, *, is_abandoned: bool
) -> list[str | None]:
    patience = _patience(rules_of(latest, id_space))
    reserves = [_reserve(latest, number) for number in open_tickets(latest, id_space)]
    found = [one for one in reserves if (_age(one, at) > patience) is is_abandoned]
    return [_counter(one, id_space) for one in found]


def _is_forgiven(latest: Latest, id_space: str, number: int) -> bool:
    return number < resumed_at(latest, id_space, _counter(_reserve(latest, number), id_space))


def _counter(reserve: Entry, id_space: str) -> str | None:
    # One from before each analyst was counted is counted with those who have no share.
    name: str | None = _total(reserve, id_space).get("counter")
    return name


def _total(reserve: Entry, id_space: str) -> dict[str, Any]:
    totals: list[dict[str, Any]] = reserve.payload["totals"]
    return next(total for total in totals if total["id_space"] == id_space)


def _reserve(latest: Latest, number: int) -> Entry:
    reserve = latest(Kind.RESERVE, ticket(number))
    assert reserve is not None
    return reserve


def _patience(rules: GateRules) -> Fraction:
    return Fraction(LONGEST_WORK) if rules.deadline is None else rules.deadline + GRACE


def _age(reserve: Entry, at: datetime) -> int:
    return int((at - datetime.fromisoformat(reserve.payload["reserved_at"])).total_seconds())
