"""A failure counter, as the owner sees it: whose it is, how full, and when it suspends."""

from datetime import datetime
from typing import Any

from attrs import frozen

from discreet.ledger.entry import Kind
from discreet.ledger.failure_counts import noted
from discreet.ledger.open_tickets import abandoned_tickets, rules_of
from discreet.ledger.store import Snapshot
from discreet.ledger.suspension import failures_in


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
    names = {name or None for _, _, name in found} | {*abandoned_tickets(latest, id_space, at)}
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
