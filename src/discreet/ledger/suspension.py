"""Suspension: for whom the gate is shut, because answers failed or too many are in flight.

Whether an answer fails may depend on data, and an analyst sees it. No noise covers that bit, and a
series of them is a sign that somebody fishes for them, or that something is broken. So after a
declared number of failures the gate is shut until the owner has looked: for those who are counted
in the same counter (:mod:`discreet.ledger.failures`), and after a declared total for all.

What counts as failed, since the owner last resumed:

* every ticket that was settled as failed;
* every ticket that is abandoned (:mod:`discreet.ledger.failures`), for the counter of the
  analyst who reserved it. If it is answered after all, it counts no longer.

Guarantee: *others stop an analyst with a share at the total alone.*

    Let an analyst have a share of an id space. Whatever other names do there, its gate is shut for
    this analyst only once ``suspend_all_after`` answers failed in it over all counters. Each of
    them was charged :func:`~discreet.ledger.gate_rules.least_price`, or all that was left.

    Proof. :func:`require_active` looks at the total, at the analyst's own counter and at what is
    left from before there were counters; :func:`require_room` looks at the own counter. An entry or
    a ticket enters that counter only if its reserve was made in the analyst's name.

    Assumes: nobody else asks in the analyst's name. A name is a claim, so that this is for whoever
    lets analysts in to see to.

Guarantee: *few bits.*

    Of the answers that are charged between two times that the owner resumes, at most
    ``suspend_after - 1 + most_in_flight`` fail in one counter, and at most
    ``suspend_all_after - 1 + most_in_flight × c`` over all, with ``c`` the number of counters: one
    for each share, and one for all others.

    Proof. Take the last of them that was admitted in a counter. By then fewer than
    ``suspend_after`` had failed in it, and fewer than ``most_in_flight`` were open that were not
    abandoned and counted as failed. Only these and the last one can have failed since. The same for
    the total, with what is open in every counter.

Entries from before failures were counted have no count and no list, and count as nothing.
"""

import shlex
from datetime import datetime
from typing import Any

from attrs import frozen

from discreet.core.errors import Busy, Suspended
from discreet.ledger.chain import Entry, Kind, Latest, space, ticket
from discreet.ledger.failures import (
    OpenTickets,
    after_failure,
    after_resumption,
    counter_of,
    noted,
    open_tickets,
)
from discreet.ledger.gate_rules import rules_of
from discreet.ledger.store import Snapshot, Transaction


def failures_of(latest: Latest, id_space: str, at: datetime) -> int:
    """Return how many answers failed since the owner last resumed, as it stands at a time."""
    abandoned = open_tickets(latest, id_space).abandoned(at)
    return noted(latest, id_space, None).everybody + len(abandoned)


def failures_in(latest: Latest, id_space: str, name: str | None, at: datetime) -> int:
    """Return how many of them are those of one counter alone."""
    abandoned = open_tickets(latest, id_space).abandoned(at)
    return noted(latest, id_space, name).own + abandoned.count(name)


def require_active(latest: Latest, tickets: OpenTickets, analyst: str, at: datetime) -> None:
    """Refuse an order in an id space in which too many answers failed: of these, or of all."""
    id_space = tickets.id_space
    rules, name = rules_of(latest, id_space), counter_of(latest, id_space, analyst)
    abandoned, counts = tickets.abandoned(at), noted(latest, id_space, name)
    require_few_in_all(counts.everybody + len(abandoned), id_space, rules.most_failures)
    earlier = counts.earlier
    if earlier + counts.own + abandoned.count(name) < rules.suspend_after:
        return
    # What is from before there were counters is in none that could be cleared by itself.
    only = "" if earlier or not _has_shares(latest, id_space) else f" --analyst {_quoted(analyst)}"
    raise Suspended(
        f"Questions about '{id_space}'{_whose(latest, id_space, name)} are suspended",
        must=f"have fewer than {rules.suspend_after} failed answers since the owner last resumed "
        "them",
        next=_advice(id_space, only),
    )


def require_few_in_all(failures: int, id_space: str, limit: int) -> None:
    """Refuse an order in an id space in which too many answers failed over all counters."""
    if failures >= limit:
        raise Suspended(
            f"Questions about '{id_space}' are suspended, whoever asks",
            must=f"have fewer than {limit} failed answers of all analysts together since the owner "
            "last resumed them",
            next=_advice(id_space),
        )


def require_room(latest: Latest, tickets: OpenTickets, analyst: str, at: datetime) -> None:
    """Refuse an order while too many questions of the same counter are in flight."""
    id_space = tickets.id_space
    limit, name = rules_of(latest, id_space).most_in_flight, counter_of(latest, id_space, analyst)
    if tickets.in_flight(at).count(name) >= limit:
        raise Busy(
            f"Too many questions about '{id_space}'{_whose(latest, id_space, name)} are in flight",
            must=f"be fewer than {limit} before another is asked",
            next="Nothing was spent. Wait until one of them is answered, and ask again. One whose "
            "process was killed is in flight until its deadline is over, or for an hour if none is "
            "declared",
        )


def counted(latest: Latest, number: int) -> list[dict[str, Any]]:
    """Return the counts in each id space of a ticket after it failed too."""
    reserve = latest(Kind.RESERVE, ticket(number))
    assert reserve is not None
    return [
        after_failure(latest, total["id_space"], total.get("counter"))
        for total in reserve.payload["totals"]
    ]


def note_resumption(
    transaction: Transaction, id_space: str, analyst: str | None, at: datetime
) -> int:
    """Forgive the failures of everybody, or of the counter of an analyst; return how many.

    Only failures are forgiven: what was spent stays spent. Tickets that are open now will not be
    taken for abandoned later.
    """
    latest = transaction.latest
    if analyst is None:
        failures = failures_of(latest, id_space, at)
        transaction.append(Kind.RESUME, {"id_space": id_space})
    else:
        name = counter_of(latest, id_space, analyst)
        failures = failures_in(latest, id_space, name, at)
        transaction.append(Kind.RESUME, after_resumption(latest, id_space, name))
    return failures


def lists_open_tickets(reserve: Entry) -> bool:
    """Tell whether a reserve was written since failures are counted."""
    return all("open" in total for total in reserve.payload["totals"])


def _has_shares(latest: Latest, id_space: str) -> bool:
    return latest(Kind.ALLOCATION, space(id_space)) is not None


def _whose(latest: Latest, id_space: str, name: str | None) -> str:
    if name is not None:
        return f" by '{name}'"
    return " by analysts without a share" if _has_shares(latest, id_space) else ""


def _quoted(analyst: str) -> str:
    return shlex.quote(analyst)


def _advice(id_space: str, only: str = "") -> str:
    return (
        "Nothing was spent. The owner looks for the cause, and then runs "
        f"'discreet resume {id_space}{only}'"
    )


@frozen(kw_only=True)
class FailureCounter:
    """How many answers failed in one counter of an id space since the owner resumed it.

    Example:
        >>> counter = FailureCounter(analyst="ann", failures=2, suspend_after=5)
        >>> counter.is_suspended
        False
    """

    analyst: str | None
    """Whose it is; ``None``: that of all analysts without a share together."""
    failures: int
    suspend_after: int

    @property
    def is_suspended(self) -> bool:
        """Whether those who are counted in it may not ask."""
        return self.failures >= self.suspend_after

    def to_json(self) -> dict[str, Any]:
        """Return the counter as plain values."""
        return {
            "analyst": self.analyst,
            "failures": self.failures,
            "suspend_after": self.suspend_after,
        }


def counters_of(snapshot: Snapshot, id_space: str, at: datetime) -> tuple[FailureCounter, ...]:
    """Return the counters that are not empty, the common one first.

    Failures from before each analyst was counted count for everybody, and show in each.
    """
    latest = snapshot.latest
    found = [one for one in snapshot.subjects(Kind.FAIL, "counter") if one[1] == id_space]
    names = {name or None for _, _, name in found} | {*open_tickets(latest, id_space).abandoned(at)}
    limit, earlier = rules_of(latest, id_space).suspend_after, noted(latest, id_space, None).earlier
    if earlier:
        names.add(None)
    counters = (
        FailureCounter(
            analyst=name,
            failures=earlier + failures_in(latest, id_space, name, at),
            suspend_after=limit,
        )
        for name in sorted(names, key=lambda name: name or "")
    )
    return tuple(counter for counter in counters if counter.failures)
