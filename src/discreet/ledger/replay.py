"""Replay: check that every entry was allowed when it was written."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from attrs import define, field

from discreet.accounting.loss_json import loss_from_json
from discreet.core.errors import DiscreetError
from discreet.ledger.books import (
    admit,
    admit_together,
    cap_of,
    open_reserve,
    spent_of,
    totals_after,
)
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.chain import broken
from discreet.ledger.entry import Entry, Kind, Latest, Subject, space, ticket
from discreet.ledger.failure_counts import (
    after_resumption,
    counter_of,
    is_by_counter,
    names_counter,
    noted,
)
from discreet.ledger.gate_rules import FIRST_RULES, GateRules
from discreet.ledger.mark import Point
from discreet.ledger.order import Order
from discreet.ledger.suspension import counted, lists_open_tickets

Newest = dict[tuple[Kind, Subject], Entry]
"""The newest entry of each kind about each subject."""


def _nothing(_: Kind, __: Subject) -> None:
    return None


@define
class Replay:
    """Goes through the chain with the gate's own rules; names the first entry that breaks one.

    ``before`` finds the newest entries of the part that was verified earlier, if there is one.

    Guarantee:
        If every :meth:`step` returned, every charge was admitted by the caps in force at its time,
        every running total is at least the sum of the charges (and equal to it unless digits ran
        out, or what was lost is stated by the owner), and every commit or failure settles one open
        ticket. From the first entry that counts failures on, every failure is counted and nothing
        was charged in a suspended id space; and from the first that counts each analyst on, nothing
        was charged for whom the gate was shut, below the least price, or beyond what may be in
        flight.

    Utility:
        Of a ticket that is settled, only the settlement is kept: orders are the large part.
    """

    before: Latest = _nothing
    _newest: Newest = field(factory=dict, init=False)

    def latest(self, kind: Kind, subject: Subject) -> Entry | None:
        """Return the newest entry of a kind about a subject, so far."""
        return self._newest.get((kind, subject)) or self.before(kind, subject)

    def step(self, entry: Entry) -> None:
        """Check one entry, and remember it."""
        try:
            allowed = _ALLOWED[entry.kind](self.latest, entry.payload)
            subjects = entry.subjects if allowed else ()
        except (KeyError, TypeError, ValueError, StopIteration, DiscreetError):
            allowed = False
        if not allowed:
            raise broken(entry.sequence, f"this {entry.kind.value} was not allowed there")
        # No rule asks for the release of a plan, and none for the order of a settled ticket.
        self._newest |= {(entry.kind, one): entry for one in subjects if one[0] != "release"}
        if entry.kind in (Kind.COMMIT, Kind.FAIL):
            self._newest.pop((Kind.RESERVE, ticket(entry.payload["ticket"])), None)


def _budget(_: Latest, payload: dict[str, Any]) -> bool:
    budget = Budget(payload["id_space"], loss_from_json(payload["cap"]))
    return budget.to_json() == payload


def _allocation(latest: Latest, payload: dict[str, Any]) -> bool:
    cap = loss_from_json(payload["cap"])
    allocation = Allocation(payload["id_space"], payload["analyst"], cap)
    same_measure = cap_of(latest, allocation.id_space).measure is cap.measure
    return same_measure and allocation.to_json() == payload


def _version(latest: Latest, payload: dict[str, Any]) -> bool:
    before = latest(Kind.VERSION, space(payload["id_space"]))
    expected: int = before.payload["number"] + 1 if before else 1
    return payload == {"id_space": payload["id_space"], "number": expected}


def _reserve(latest: Latest, payload: dict[str, Any]) -> bool:
    order = Order.from_json(payload["order"])
    at = datetime.fromisoformat(payload["reserved_at"])
    if any("counter" in total for total in payload["totals"]):
        totals = admit(latest, order, at)
    elif any("open" in total for total in payload["totals"]) and _is_together(latest, order):
        totals = admit_together(latest, order, at)
    elif _is_uncounted(latest, order):
        totals = totals_after(latest, order)
    else:
        return False
    return (payload["order_digest"], payload["totals"]) == (order.digest, totals)


def _is_uncounted(latest: Latest, order: Order) -> bool:
    """Tell whether no entry about the order's id spaces counts failures yet."""
    before = [latest(Kind.RESERVE, space(charge.id_space)) for charge in order.charges]
    return not any(entry and lists_open_tickets(entry) for entry in before)


def _is_together(latest: Latest, order: Order) -> bool:
    """Tell whether no entry about the order's id spaces counts each analyst yet."""
    return not any(is_by_counter(latest, charge.id_space) for charge in order.charges)


def _commit(latest: Latest, payload: dict[str, Any]) -> bool:
    order = open_reserve(latest, payload["ticket"]).payload["order"]
    return all(order[name] == payload[name] for name in ("plan_digest", "data_version"))


def _fail(latest: Latest, payload: dict[str, Any]) -> bool:
    number = payload["ticket"]
    reserve = open_reserve(latest, number)
    order = Order.from_json(reserve.payload["order"])
    if "failures" not in payload:
        return not lists_open_tickets(reserve)
    if any("counter" in item for item in payload["failures"]):
        return payload == {"ticket": number, "failures": counted(latest, number)}
    spaces = [charge.id_space for charge in order.charges]
    counts = [
        {"id_space": name, "count": noted(latest, name, None).everybody + 1} for name in spaces
    ]
    is_first = _is_together(latest, order) and not names_counter(reserve)
    return is_first and payload == {"ticket": number, "failures": counts}


def _gate(latest: Latest, payload: dict[str, Any]) -> bool:
    cap_of(latest, payload["id_space"])
    rules = GateRules.from_json(payload).to_json()
    return payload in (rules, {name: rules[name] for name in FIRST_RULES})


def _renewal(latest: Latest, payload: dict[str, Any]) -> bool:
    """What was spent is stated, so it may only be more than what the chain knows."""
    stated = {total["id_space"]: loss_from_json(total["everybody"]) for total in payload["totals"]}
    known = {name: spent_of(latest, name) for name in stated}
    totals = [{"id_space": name, "everybody": loss.to_json()} for name, loss in stated.items()]
    lost = [Point.from_json(point).to_json() for point in payload["lost"]]
    is_more = all(spent is None or spent <= stated[name] for name, spent in known.items())
    return is_more and bool(lost) and payload == {"lost": lost, "totals": totals}


def _resume(latest: Latest, payload: dict[str, Any]) -> bool:
    id_space = payload["id_space"]
    cap_of(latest, id_space)
    if "counter" not in payload:
        return payload == {"id_space": id_space}
    name = payload["counter"]["analyst"]
    is_counter = name is None or counter_of(latest, id_space, name) == name
    return is_counter and payload == after_resumption(latest, id_space, name)


_ALLOWED: dict[Kind, Callable[[Latest, dict[str, Any]], bool]] = {
    Kind.BUDGET: _budget,
    Kind.ALLOCATION: _allocation,
    Kind.VERSION: _version,
    Kind.RESERVE: _reserve,
    Kind.COMMIT: _commit,
    Kind.FAIL: _fail,
    Kind.GATE: _gate,
    Kind.RESUME: _resume,
    Kind.RENEWAL: _renewal,
}
