"""A ticket: loss that is reserved. It is spent, whatever happens next."""

from typing import Any

from attrs import frozen


@frozen
class Ticket:
    """The right to run one order once; ``number`` is the sequence number of its entry."""

    number: int
    order_digest: str

    def to_json(self) -> dict[str, Any]:
        """Return the ticket as plain JSON values."""
        return {"number": self.number, "order_digest": self.order_digest}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Ticket":
        """Read a ticket that :meth:`to_json` wrote."""
        return Ticket(data["number"], data["order_digest"])
