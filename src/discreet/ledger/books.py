"""The books: caps and totals, read from the newest entries about each subject.

Every function takes ``latest``, which finds the newest entry of a kind about a subject. The ledger
passes its store; verification passes what it has replayed so far. So the rule that admits a charge
and the rule that checks it later are the same lines.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import cache
from typing import Any

from attrs import frozen

from discreet.accounting.filters.rules import admits, common, left
from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import BudgetError, BudgetExhausted, LedgerError, Unsupported
from discreet.core.loss import PrivacyLoss
from discreet.ledger.budget import Allocation, Budget, accumulate
from discreet.ledger.chain import Entry, Kind, Latest, share, space, ticket
from discreet.ledger.exact_claims import require_claimed
from discreet.ledger.failures import OpenTickets, counter_of, open_tickets, settlement
from discreet.ledger.gate_rules import amount, least_price, require_price, rules_of
from discreet.ledger.order import Order, Ticket
from discreet.ledger.store import Snapshot, Transaction
from discreet.ledger.suspension import failures_of, require_active, require_few_in_all, require_room


def cap_of(latest: Latest, id_space: str) -> PrivacyLoss:
    """Return the cap of an id space, or refuse if none was declared."""
    entry = latest(Kind.BUDGET, space(id_space))
    if entry is None:
        raise BudgetError(
            f"No budget is declared for the id space '{id_space}'",
            next="The owner declares it in discreet.toml",
        )
    return loss_from_json(entry.payload["cap"])


def share_cap_of(latest: Latest, id_space: str, analyst: str) -> PrivacyLoss:
    """Return the cap of an analyst: a share, or the whole budget while nobody has a share.

    Once the owner has given shares, an analyst without one has none: a new name opens no budget.
    """
    cap = cap_of(latest, id_space)
    if latest(Kind.ALLOCATION, space(id_space)) is None:
        return cap
    entry = latest(Kind.ALLOCATION, share(id_space, analyst))
    return cap * 0 if entry is None else loss_from_json(entry.payload["cap"])


def spent_of(latest: Latest, id_space: str, analyst: str | None = None) -> PrivacyLoss | None:
    """Return what everybody, or one analyst, has spent; ``None`` if nothing was ever charged."""
    if analyst is None:
        # A ledger that was begun again knows from a renewal what was spent before it.
        found = [latest(kind, space(id_space)) for kind in (Kind.RESERVE, Kind.RENEWAL)]
        entry = max(filter(None, found), key=lambda one: one.sequence, default=None)
    else:
        entry = latest(Kind.RESERVE, share(id_space, analyst))
    if entry is None:
        return None
    total = next(item for item in entry.payload["totals"] if item["id_space"] == id_space)
    return loss_from_json(total["everybody" if analyst is None else "analyst"])


def left_of(latest: Latest, id_space: str, analyst: str | None = None) -> PrivacyLoss:
    """Return the largest loss that would be admitted now."""
    if analyst is not None:
        return standing_of(latest, id_space, analyst).left()
    return left(cap_of(latest, id_space), spent_of(latest, id_space))


@frozen
class Standing:
    """How an analyst stands in an id space: the caps, and what is spent of them."""

    id_space: str
    analyst: str
    cap: PrivacyLoss
    share: PrivacyLoss
    everybody: PrivacyLoss | None
    own: PrivacyLoss | None

    def left(self) -> PrivacyLoss:
        """Return the largest loss that both caps admit."""
        return common(left(self.cap, self.everybody), left(self.share, self.own))

    def after(self, loss: PrivacyLoss) -> dict[str, Any]:
        """Return what would be spent after a loss, or refuse it if that is too much."""
        fits_budget = admits(self.cap, self.everybody, loss)
        if not (fits_budget and admits(self.share, self.own, loss)):
            whose = f"The share of '{self.analyst}' in" if fits_budget else "The budget of"
            rest = self.left()
            raise BudgetExhausted(
                f"{whose} '{self.id_space}' cannot pay for this",
                must=f"cost at most what is left, {rest.shown(rounding=ROUND_FLOOR)}",
                got=str(loss),
                next=_advice(rest, self.id_space),
            )
        return {
            "id_space": self.id_space,
            "everybody": accumulate(self.everybody, loss).to_json(),
            "analyst": accumulate(self.own, loss).to_json(),
        }


def standing_of(latest: Latest, id_space: str, analyst: str) -> Standing:
    """Return how an analyst stands in an id space."""
    return Standing(
        id_space=id_space,
        analyst=analyst,
        cap=cap_of(latest, id_space),
        share=share_cap_of(latest, id_space, analyst),
        everybody=spent_of(latest, id_space),
        own=spent_of(latest, id_space, analyst),
    )


def reservation(latest: Latest, order: Order, now: datetime) -> dict[str, Any]:
    """Return what a reserve says of an order that is admitted, or refuse it whole."""
    # As it will be written, so that verification decides on the same time.
    at = now.replace(microsecond=0)
    return {
        "order": order.to_json(),
        "order_digest": order.digest,
        "totals": admit(latest, order, at),
        # The last time that is written: after this, a time would measure private work.
        "reserved_at": at.isoformat(timespec="seconds"),
    }


def admit(latest: Latest, order: Order, at: datetime) -> list[dict[str, Any]]:
    """Return the totals after ``order``, or refuse it whole.

    Guarantee:
        In no id space of the order is the analyst suspended or too much of theirs in flight, every
        charge is at least the least price, and it fits into the cap of its id space and into the
        analyst's share, exactly. An exact order pays nothing, and stands right behind its claim.
    """
    # Nothing is written meanwhile, so each entry is looked up once.
    latest = cache(latest)
    standings, open_now = [], []
    for charge in order.charges:
        tickets = open_tickets(latest, charge.id_space)
        require_active(latest, tickets, order.analyst, at)
        standing = standing_of(latest, charge.id_space, order.analyst)
        least = least_price(standing.cap, rules_of(latest, charge.id_space).least_price)
        if order.exact is None and not 0 < least <= amount(charge.loss):
            require_price(charge.loss, least, standing.left(), charge.id_space)
        standings.append(standing)
        open_now.append(tickets)
    if order.exact is not None:
        require_claimed(latest, order)
    paid = zip(standings, order.charges, strict=True)
    totals = [standing.after(charge.loss) for standing, charge in paid]
    for tickets in open_now:
        # Last, because it passes by waiting.
        require_room(latest, tickets, order.analyst, at)
    return [
        total | _open(tickets) | {"counter": counter_of(latest, tickets.id_space, order.analyst)}
        for total, tickets in zip(totals, open_now, strict=True)
    ]


def admit_together(latest: Latest, order: Order, at: datetime) -> list[dict[str, Any]]:
    """Return the same by the rule from before each analyst was counted and prices had a floor."""
    for charge in order.charges:
        limit = rules_of(latest, charge.id_space).suspend_after
        require_few_in_all(failures_of(latest, charge.id_space, at), charge.id_space, limit)
    totals = totals_after(latest, order)
    return [total | _open(open_tickets(latest, total["id_space"])) for total in totals]


def least_price_of(latest: Latest, id_space: str) -> Fraction:
    """Return the least ε or ρ that a question about an id space costs."""
    return least_price(cap_of(latest, id_space), rules_of(latest, id_space).least_price)


def _open(tickets: OpenTickets) -> dict[str, Any]:
    return {"open": tickets.numbers}


def totals_after(latest: Latest, order: Order) -> list[dict[str, Any]]:
    """Return what would be spent after ``order``, or refuse it if that is too much."""
    return [
        standing_of(latest, charge.id_space, order.analyst).after(charge.loss)
        for charge in order.charges
    ]


def open_reserve(latest: Latest, number: int) -> Entry:
    """Return the reserve of a ticket that is not settled yet, or refuse."""
    reserved = latest(Kind.RESERVE, ticket(number))
    settled = settlement(latest, number)
    if reserved is None or settled:
        raise LedgerError(
            f"Ticket {number} cannot be settled",
            must="be reserved in this ledger and not settled before",
            got=settled.value if settled else "a ticket that is not in the chain",
        )
    return reserved


def _advice(rest: PrivacyLoss, id_space: str) -> str:
    if rest == rest * 0:
        return f"Nothing is left; only the owner can raise the budget of '{id_space}'"
    return "Nothing was spent. Ask for less, or see 'discreet budget'"


def reserve_of(latest: Latest, ticket: Ticket) -> Entry:
    """Return the reserve of a ticket that is to be settled, or refuse."""
    reserve = open_reserve(latest, ticket.number)
    if reserve.payload["order_digest"] != ticket.order_digest:
        raise LedgerError(f"Ticket {ticket.number} belongs to another order")
    return reserve


_FIXING = (Kind.RESERVE, Kind.ALLOCATION, Kind.RENEWAL)


def require_free_measure(latest: Latest, budget: Budget) -> None:
    """Refuse another measure for a budget in use: spending and shares cannot be restated in it."""
    subject = space(budget.id_space)
    before = latest(Kind.BUDGET, subject)
    in_use = any(latest(kind, subject) for kind in _FIXING)
    if before and in_use and before.payload["cap"]["measure"] != budget.cap.measure.value:
        raise Unsupported(
            f"The budget of '{budget.id_space}' is in use and keeps its measure",
            must=f"be {before.payload['cap']['measure']}, as it was when something was charged",
            got=budget.cap.measure.value,
            next=f"Only its numbers can change: declare what holds, {_written(before)}, or more",
        )


def _written(noted: Entry) -> str:
    """Return a budget as a ledger has noted it, in symbols."""
    return str(loss_from_json(noted.payload["cap"]))


def note_budget(transaction: Transaction, budget: Budget) -> None:
    """Set the cap of an id space, unless it is what holds already."""
    before = transaction.latest(Kind.BUDGET, space(budget.id_space))
    if before is None or before.payload != budget.to_json():
        require_free_measure(transaction.latest, budget)
        transaction.append(Kind.BUDGET, budget.to_json())


def note_share(transaction: Transaction, allocation: Allocation) -> None:
    """Give an analyst a share, unless it is what holds already."""
    cap = cap_of(transaction.latest, allocation.id_space)
    if cap.measure is not allocation.cap.measure:
        raise Unsupported(
            "A share is measured like the budget that it is part of",
            must=f"be {cap.measure.value}",
            got=allocation.cap.measure.value,
        )
    subject = share(allocation.id_space, allocation.analyst)
    before = transaction.latest(Kind.ALLOCATION, subject)
    if before is None or before.payload != allocation.to_json():
        transaction.append(Kind.ALLOCATION, allocation.to_json())


def shares_in(snapshot: Snapshot) -> Iterator[Allocation]:
    """Yield the shares that are in force."""
    for subject in list(snapshot.subjects(Kind.ALLOCATION, "share")):
        entry = snapshot.latest(Kind.ALLOCATION, subject)
        if entry is not None:
            said = entry.payload
            yield Allocation(said["id_space"], said["analyst"], loss_from_json(said["cap"]))
