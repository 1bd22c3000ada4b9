"""Failures: tickets that were settled as failed, and open ones that nobody came back to.

Failure counts: how many tickets were settled as failed, for each counter, as they were noted.

Names of analysts are claims, and a new name costs nothing. So only an analyst to whom the owner
gave a share has a counter of their own; all other names share one, which is written as ``None``.

Each entry about failures carries the running counts, so that the newest entries are enough. The
same stands in a failure and in the resumption of one counter:

* ``count``: the failures of everybody that are not forgiven;
* ``counter``: whose it was, and the failures of that counter that are not forgiven;
* ``earlier``: how many of ``count`` come from before each analyst was counted. Nobody knows any
  more whose they were, so they count for everybody.

Open tickets: charged, not settled, and not forgiven by the owner.

A reserve lists the tickets that it found open, so that none is forgotten and the newest reserve is
enough to find them all. A ticket counts in the counter that its own reserve names, whatever shares
are given later.

An open ticket is *in flight*, or *abandoned* if it was reserved longer ago than an answer takes:
that is how a process that was killed looks. With a deadline an answer takes no longer than the
deadline (and ``GRACE`` for the ledger to note it); without one, ``LONGEST_WORK`` is assumed.
"""

from datetime import datetime
from fractions import Fraction
from functools import cache, partial
from typing import Any

from attrs import frozen

from discreet.ledger.chain import Entry, Kind, Latest, counter, counters, share, space, ticket
from discreet.ledger.gate_rules import GateRules, rules_of


@frozen
class FailureCounts:
    """The failures of an id space that are noted and not forgiven."""

    everybody: int
    earlier: int
    """How many of them count for every counter."""
    own: int
    """How many of them are those of one counter alone."""


def counter_of(latest: Latest, id_space: str, analyst: str) -> str | None:
    """Return the counter of an analyst: their own if they have a share, else that of all others."""
    return analyst if latest(Kind.ALLOCATION, share(id_space, analyst)) else None


def noted(latest: Latest, id_space: str, name: str | None) -> FailureCounts:
    """Return what is noted in an id space, and of it what counts for one counter."""
    resumed = latest(Kind.RESUME, space(id_space))
    begin = resumed.sequence if resumed else 0
    newest = _newest(
        begin,
        latest(Kind.FAIL, space(id_space)),
        latest(Kind.RESUME, counters(id_space)),
    )
    if newest is None:
        return FailureCounts(0, 0, 0)
    item = _item(newest, id_space)
    own = _newest(
        begin,
        latest(Kind.FAIL, counter(id_space, name)),
        latest(Kind.RESUME, counter(id_space, name)),
    )
    return FailureCounts(
        everybody=int(item["count"]),
        earlier=int(item["earlier"] if "counter" in item else item["count"]),
        own=0 if own is None else int(_item(own, id_space)["counter"]["count"]),
    )


def after_failure(latest: Latest, id_space: str, name: str | None) -> dict[str, Any]:
    """Return the counts after one more failure in a counter."""
    counts = noted(latest, id_space, name)
    return _counts(id_space, name, counts.everybody + 1, counts.earlier, counts.own + 1)


def after_resumption(latest: Latest, id_space: str, name: str | None) -> dict[str, Any]:
    """Return the counts after one counter was cleared."""
    counts = noted(latest, id_space, name)
    return _counts(id_space, name, counts.everybody - counts.own, counts.earlier, 0)


def resumed_at(latest: Latest, id_space: str, name: str | None) -> int:
    """Return the last entry up to which everything in a counter is forgiven."""
    found = (latest(Kind.RESUME, space(id_space)), latest(Kind.RESUME, counter(id_space, name)))
    return max((entry.sequence for entry in found if entry), default=0)


def is_by_counter(latest: Latest, id_space: str) -> bool:
    """Tell whether anything in an id space was counted for each analyst by themselves yet."""
    failed = latest(Kind.FAIL, space(id_space))
    reserve = latest(Kind.RESERVE, space(id_space))
    return (failed is not None and "counter" in _item(failed, id_space)) or (
        reserve is not None and names_counter(reserve)
    )


def names_counter(reserve: Entry) -> bool:
    """Tell whether a reserve says in which counters it would count as a failure."""
    return all("counter" in total for total in reserve.payload["totals"])


def _newest(after: int, *entries: Entry | None) -> Entry | None:
    found = (entry for entry in entries if entry is not None and entry.sequence > after)
    return max(found, key=lambda entry: entry.sequence, default=None)


def _item(entry: Entry, id_space: str) -> dict[str, Any]:
    items = [entry.payload] if entry.kind is Kind.RESUME else entry.payload["failures"]
    found: dict[str, Any] = next(item for item in items if item["id_space"] == id_space)
    return found


def _counts(
    id_space: str, name: str | None, everybody: int, earlier: int, own: int
) -> dict[str, Any]:
    return {
        "id_space": id_space,
        "count": everybody,
        "earlier": earlier,
        "counter": {"analyst": name, "count": own},
    }


LONGEST_WORK = 3600
"""After so many seconds an open ticket is abandoned, where no deadline is declared."""

GRACE = 5
"""So many seconds after its deadline an open ticket is abandoned."""


@frozen
class OpenTickets:
    """The tickets of an id space that are open."""

    id_space: str
    reserves: tuple[Entry, ...]
    """What charged them, oldest first."""
    patience: Fraction
    """After so many seconds one is abandoned."""

    @property
    def numbers(self) -> list[int]:
        """The tickets, oldest first."""
        return [reserve.sequence for reserve in self.reserves]

    def abandoned(self, at: datetime) -> list[str | None]:
        """Return the counter of each ticket that is abandoned at a time."""
        return [self._counter(one) for one in self.reserves if _age(one, at) > self.patience]

    def in_flight(self, at: datetime) -> list[str | None]:
        """Return the counter of each ticket that may still be answered at a time."""
        return [self._counter(one) for one in self.reserves if _age(one, at) <= self.patience]

    def _counter(self, reserve: Entry) -> str | None:
        return _counter(reserve, self.id_space)


def open_tickets(latest: Latest, id_space: str) -> OpenTickets:
    """Return the tickets that are not settled since the owner last resumed them.

    The newest reserve lists those that were open when it was written. Only these and itself can be
    open now, because a ticket that is settled or resumed from is so for ever.
    """
    patience = _patience(rules_of(latest, id_space))
    newest = latest(Kind.RESERVE, space(id_space))
    if newest is None:
        return OpenTickets(id_space, (), patience)
    candidates = [*_total(newest, id_space).get("open", []), newest.sequence]
    unsettled = [_reserve(latest, one) for one in candidates if not settlement(latest, one)]
    forgiven = cache(partial(resumed_at, latest, id_space))
    found = (one for one in unsettled if one.sequence >= forgiven(_counter(one, id_space)))
    return OpenTickets(id_space, tuple(found), patience)


def settlement(latest: Latest, number: int) -> Kind | None:
    """Return how a ticket was settled, or ``None``."""
    subject = ticket(number)
    return next((kind for kind in (Kind.COMMIT, Kind.FAIL) if latest(kind, subject)), None)


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
