"""A charge: the loss that one order costs the people of one id space."""

from typing import Any

from attrs import field, frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core import check
from discreet.core.loss import PrivacyLoss
from discreet.ledger.tally import writable


@frozen
class Charge:
    """Spend ``loss`` of the budget of ``id_space``."""

    id_space: str = field(validator=check.non_empty)
    loss: PrivacyLoss = field(validator=writable)

    def to_json(self) -> dict[str, Any]:
        """Return the charge as plain JSON values."""
        return {"id_space": self.id_space, "loss": self.loss.to_json()}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Charge":
        """Read a charge that :meth:`to_json` wrote."""
        return Charge(data["id_space"], loss_from_json(data["loss"]))
