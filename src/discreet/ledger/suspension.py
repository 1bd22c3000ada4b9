"""Suspension: how many answers failed, read from the newest entries, and when the gate is shut.

Whether an answer fails may depend on data, and an analyst sees it. No noise covers that bit, and a
series of them is a sign that somebody fishes for them, or that something is broken. So after a
declared number of failures the gate is shut until the owner has looked.

What counts as failed, since the owner last resumed the id space:

* every ticket that was settled as failed. Such an entry carries the running count, so that the rule
  needs the newest one alone;
* every ticket that was never settled and is *abandoned*: reserved longer ago than an answer takes.
  That is how a process that was killed looks. With a deadline an answer takes no longer than the
  deadline (and ``GRACE`` for the ledger to note it); without one, ``LONGEST_WORK`` is assumed. A
  reserve lists the tickets that it found open, so that they are not forgotten.

Tickets that are merely in flight do not count, so that honest questions can be asked side by side;
as many as are in flight together can fail beyond the limit. If a ticket that was taken for
abandoned is answered after all, it counts no longer. Entries from before failures were counted have
no count and no list, and count as nothing.
"""

from datetime import datetime
from fractions import Fraction
from typing import Any

from discreet.core.errors import Suspended
from discreet.ledger.entry import Entry, Kind, Latest, space, ticket
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.order import Order

LONGEST_WORK = 3600
"""After so many seconds an open ticket is abandoned, where no deadline is declared."""

GRACE = 5
"""So many seconds after its deadline an open ticket is abandoned."""


def rules_of(latest: Latest, id_space: str) -> GateRules:
    """Return the rules in force; the usual ones if the owner never declared any."""
    entry = latest(Kind.GATE, space(id_space))
    return GateRules(id_space=id_space) if entry is None else GateRules.from_json(entry.payload)


def failures_of(latest: Latest, id_space: str, at: datetime) -> int:
    """Return how many answers failed since the owner last resumed, as it stands at a time."""
    patience = _patience(rules_of(latest, id_space))
    abandoned = [
        number
        for number in open_tickets(latest, id_space)
        if _age(latest(Kind.RESERVE, ticket(number)), at) > patience
    ]
    return _noted(latest, id_space) + len(abandoned)


def require_active(latest: Latest, id_space: str, at: datetime) -> None:
    """Refuse an order in an id space in which too many answers failed."""
    limit = rules_of(latest, id_space).suspend_after
    if failures_of(latest, id_space, at) >= limit:
        raise Suspended(
            f"Questions about '{id_space}' are suspended",
            must=f"have fewer than {limit} failed answers since the owner last resumed them",
            next="Nothing was spent. The owner looks for the cause, "
            f"and then runs 'discreet resume {id_space}'",
        )


def counted(latest: Latest, order: Order) -> list[dict[str, Any]]:
    """Return the count of failures in each id space after ``order`` failed too."""
    spaces = [charge.id_space for charge in order.charges]
    return [{"id_space": name, "count": _noted(latest, name) + 1} for name in spaces]


def open_tickets(latest: Latest, id_space: str) -> list[int]:
    """Return the tickets that are not settled, oldest first, since the owner last resumed.

    The newest reserve lists those that were open when it was written. Only these and itself can be
    open now, because a ticket that is settled or resumed from is so for ever.
    """
    newest = latest(Kind.RESERVE, space(id_space))
    if newest is None:
        return []
    resumed = _resumed(latest, id_space)
    candidates = [*_listed(newest, id_space), newest.sequence]
    return [n for n in candidates if n > resumed and not settlement(latest, n)]


def settlement(latest: Latest, number: int) -> Kind | None:
    """Return how a ticket was settled, or ``None``."""
    kinds = (Kind.COMMIT, Kind.FAIL)
    return next((kind for kind in kinds if latest(kind, ticket(number))), None)


def lists_open_tickets(reserve: Entry) -> bool:
    """Tell whether a reserve was written since failures are counted."""
    return all("open" in total for total in reserve.payload["totals"])


def _listed(reserve: Entry, id_space: str) -> list[int]:
    total = next(item for item in reserve.payload["totals"] if item["id_space"] == id_space)
    found: list[int] = total.get("open", [])
    return found


def _noted(latest: Latest, id_space: str) -> int:
    failed = latest(Kind.FAIL, space(id_space))
    if failed is None or failed.sequence < _resumed(latest, id_space):
        return 0
    counts = {item["id_space"]: item["count"] for item in failed.payload["failures"]}
    return int(counts[id_space])


def _resumed(latest: Latest, id_space: str) -> int:
    entry = latest(Kind.RESUME, space(id_space))
    return 0 if entry is None else entry.sequence


def _patience(rules: GateRules) -> Fraction:
    return Fraction(LONGEST_WORK) if rules.deadline is None else rules.deadline + GRACE


def _age(reserve: Entry | None, at: datetime) -> int:
    assert reserve is not None
    return int((at - datetime.fromisoformat(reserve.payload["reserved_at"])).total_seconds())
