"""A receipt: loss bound to a release, and both to the chain."""

from typing import Any

from attrs import frozen

from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.ledger.charge import Charge
from discreet.ledger.ticket import Ticket


@frozen(kw_only=True)
class Receipt:
    """Proof of what was paid for which release.

    Guarantee:
        Nothing in it is computed from rows, except through the release that it names: no time, no
        size, no count. ``head`` is the digest of the chain when the release was stored, so whoever
        holds a receipt can tell whether the ledger was shortened or rewritten before that point.
    """

    ticket: Ticket
    charges: tuple[Charge, ...]
    plan_digest: str
    data_version: int
    release_digest: str
    head: str

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as plain JSON values."""
        return {
            "ticket": self.ticket.to_json(),
            "charges": [charge.to_json() for charge in self.charges],
            "plan_digest": self.plan_digest,
            "data_version": self.data_version,
            "release_digest": self.release_digest,
            "head": self.head,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Receipt":
        """Read a receipt that :meth:`to_json` wrote."""
        try:
            charges = tuple(Charge.from_json(charge) for charge in data["charges"])
            parts = {"ticket": Ticket.from_json(data["ticket"]), "charges": charges}
            return Receipt(**(data | parts))
        except (TypeError, KeyError, DiscreetError):
            raise InvalidArgument(
                "That is not a receipt", must="be the JSON object that a release carries"
            ) from None
