"""The status of a budget: how much of it is spent and left, by everybody and by one analyst."""

from typing import Any

from attrs import frozen

from discreet.core.loss import PrivacyLoss


@frozen(kw_only=True)
class BudgetStatus:
    """How much of an id space's budget is spent and left."""

    id_space: str
    unit: str
    cap: PrivacyLoss
    spent: PrivacyLoss
    remaining: PrivacyLoss
    analyst: str | None = None
    """Whose share is shown besides, if anybody's."""
    own_spent: PrivacyLoss | None = None
    own_remaining: PrivacyLoss | None = None
    """What this analyst could still spend: never more than what is left of the whole."""

    def to_json(self) -> dict[str, Any]:
        """Return the status as plain values."""
        losses = {name: getattr(self, name).to_json() for name in ("cap", "spent", "remaining")}
        own = {
            name: None if loss is None else loss.to_json()
            for name, loss in (("spent", self.own_spent), ("remaining", self.own_remaining))
        }
        whose = {} if self.analyst is None else {"analyst": {"name": self.analyst} | own}
        return {"id_space": self.id_space, "unit": self.unit} | losses | whose
