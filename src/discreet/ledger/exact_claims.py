"""Exact releases in the ledger: what was asserted for them, and the claim that they end.

The filter bounds what anybody learns about one unit, *whatever the data are and whatever they know
besides*. An exact number has no such bound: what holds for it holds under an asserted law. So it is
charged nothing, is written beside the filter, and ends the worst-case claim of its id space.

Guarantee: *no exact number without its mark.*

    The claim is an entry of the chain, appended in the transaction that reserves the order, before
    any row is read, and nothing ever removes it. An order that is exact is admitted right behind
    its claim alone (:func:`require_claimed`), only an admitted order opens a permit, and engines'
    integers leave the gate as they are by an exact permit alone
    (:meth:`~discreet.tables.plans.engine.ExactAggregates.certified`). So whatever step a process
    dies in, an exact number that somebody may have seen has its mark. Verification repeats all of
    it. A ledger that was lost and begun again keeps the mark, as it keeps what was spent: anchors
    know of it.

Guarantee: *nothing came between.*

    A claim says up to which charge the earlier releases were looked at (``checked``). One that is
    not the newest charge of the id space is refused, in the one write transaction. So of two exact
    releases that race, the second is looked at together with the first.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument, LedgerError
from discreet.core.loss import PrivacyLoss
from discreet.ledger.chain import Entry, Kind, Latest, public_json, space
from discreet.ledger.order import Order
from discreet.ledger.store import END, Snapshot, Transaction

MOST_CLAIMS = 1_000
"""So many exact releases of one id space there may be: each is looked at beside all others."""


@frozen(kw_only=True)
class ExactClaim:
    """What an owner asserts for an exact release, before a row is read.

    Attributes:
        id_space: Whose worst-case claim ends.
        name: What the owner calls the release.
        plan_digest: Which plan it is for.
        data_version: Of which version of the data.
        asserted: Statistic, rows, clamps, bins, law and certificate, and what they rest on.
        checked: The newest charge of the id space that the release was looked at beside; 0: none.
    """

    id_space: str = field(validator=check.non_empty)
    name: str = field(validator=check.non_empty)
    plan_digest: str = field(validator=check.non_empty)
    data_version: int = field(converter=check.whole, validator=check.non_negative)
    asserted: dict[str, Any] = field(converter=public_json, hash=False)
    checked: int = field(converter=check.whole, validator=check.non_negative)

    @cached_property
    def digest(self) -> str:
        """The name by which an order refers to it."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain JSON values."""
        return {
            "id_space": self.id_space,
            "name": self.name,
            "plan_digest": self.plan_digest,
            "data_version": self.data_version,
            "asserted": self.asserted,
            "checked": self.checked,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "ExactClaim":
        """Read a claim that :meth:`to_json` wrote."""
        return ExactClaim(**data)


@frozen(kw_only=True)
class NotedClaim:
    """A claim as the chain has it.

    Attributes:
        sequence: The number of its entry; the next one is its ticket.
        claim: What was asserted.
    """

    sequence: int
    claim: ExactClaim

    @property
    def ticket(self) -> int:
        """The ticket of the release."""
        return self.sequence + 1


@frozen(kw_only=True)
class NotedClaims:
    """All claims of an id space at one moment.

    Attributes:
        claims: The claims, the oldest first.
        newest_charge: The number of the newest charge of the id space by then; 0 if there is none.
        is_void: Whether the worst-case claim has ended, perhaps by a claim that was lost.
    """

    claims: tuple[NotedClaim, ...]
    newest_charge: int
    is_void: bool


def claims_of(snapshot: Snapshot, id_space: str) -> NotedClaims:
    """Return the claims of an id space."""
    return NotedClaims(
        claims=tuple(reversed(list(_newest_first(snapshot, id_space)))),
        newest_charge=newest_charge(snapshot.latest, id_space),
        is_void=is_void(snapshot.latest, id_space),
    )


def note_claim(transaction: Transaction, claim: ExactClaim) -> None:
    """Write a claim down, if nothing was charged since the earlier releases were looked at."""
    require_checked(transaction.latest, claim)
    transaction.append(Kind.EXACT, claim.to_json())


def _newest_first(snapshot: Snapshot, id_space: str) -> Iterator[NotedClaim]:
    until = END
    for _ in range(MOST_CLAIMS):
        entry = snapshot.latest(Kind.EXACT, space(id_space), until)
        if entry is None:
            return
        yield NotedClaim(sequence=entry.sequence, claim=ExactClaim.from_json(entry.payload))
        until = entry.sequence - 1


def is_void(latest: Latest, id_space: str) -> bool:
    """Tell whether the worst-case claim of an id space has ended, here or in what was lost."""
    if latest(Kind.EXACT, space(id_space)) is not None:
        return True
    renewal = latest(Kind.RENEWAL, space(id_space))
    return renewal is not None and id_space in renewal.payload.get("void", ())


def void_spaces(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the id spaces whose worst-case claim has ended, in order."""
    kinds = (Kind.EXACT, Kind.RENEWAL)
    names = {name for kind in kinds for (_, name) in snapshot.subjects(kind, "id_space")}
    return tuple(sorted(name for name in names if is_void(snapshot.latest, name)))


def newest_charge(latest: Latest, id_space: str) -> int:
    """Return the number of the newest charge of an id space; 0 if there is none."""
    entry = latest(Kind.RESERVE, space(id_space))
    return 0 if entry is None else entry.sequence


def require_checked(latest: Latest, claim: ExactClaim) -> None:
    """Refuse a claim that was not looked at beside the newest charge of its id space."""
    newest = newest_charge(latest, claim.id_space)
    if claim.checked != newest:
        raise LedgerError(
            f"Something was charged to '{claim.id_space}' while '{claim.name}' was certified",
            must="be certified beside every earlier charge",
            next="Nothing was read. Publish it again: it is then looked at beside that too",
        )


def require_claimed(latest: Latest, order: Order) -> None:
    """Refuse an exact order that does not stand right behind its claim, or that pays something."""
    if len(order.charges) != 1:
        raise InvalidArgument("An exact release is about one id space", must="name one alone")
    (charge,) = order.charges
    entry = latest(Kind.EXACT, space(charge.id_space))
    if entry is None or not _is_of(entry, order, newest_charge(latest, charge.id_space)):
        raise LedgerError(
            f"The exact order in '{charge.id_space}' has no mark in the ledger",
            must="stand right behind what was asserted for it",
            next="Nothing was read. Publish it as its owner",
        )
    require_nothing(charge.loss)


def _is_of(entry: Entry, order: Order, newest: int) -> bool:
    claim = ExactClaim.from_json(entry.payload)
    is_for = (claim.plan_digest, claim.data_version) == (order.plan_digest, order.data_version)
    return is_for and claim.digest == order.exact and entry.sequence > newest


def require_nothing(loss: PrivacyLoss) -> None:
    """Refuse a price: no loss of the filter's measure bounds what an exact number tells."""
    if loss != loss * 0:
        raise InvalidArgument(
            "An exact release has no price in the filter", must="be charged nothing", got=str(loss)
        )
