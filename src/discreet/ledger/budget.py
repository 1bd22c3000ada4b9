"""Budgets: the cap of an id space, and an analyst's share inside it."""

from typing import Any

from attrs import Attribute, field, frozen

from discreet.accounting.filters.rules import require_filter
from discreet.core import check
from discreet.core.loss import PrivacyLoss
from discreet.ledger.tally import writable


def _has_filter(_: object, __: "Attribute[PrivacyLoss]", cap: PrivacyLoss) -> None:
    require_filter(cap)


@frozen
class Budget:
    """All that may ever be learnt about the people of one id space.

    Example:
        >>> from discreet.core.loss import Pure
        >>> Budget("patients", Pure(2)).to_json()["cap"]
        {'measure': 'pure', 'epsilon': '2'}
    """

    id_space: str = field(validator=check.non_empty)
    cap: PrivacyLoss = field(validator=[_has_filter, writable])

    def to_json(self) -> dict[str, Any]:
        """Return the budget as plain JSON values."""
        return {"id_space": self.id_space, "cap": self.cap.to_json()}


@frozen
class Allocation:
    """One analyst's share. A charge must fit into the share *and* into the budget around it."""

    id_space: str = field(validator=check.non_empty)
    analyst: str = field(validator=check.non_empty)
    cap: PrivacyLoss = field(validator=[_has_filter, writable])

    def to_json(self) -> dict[str, Any]:
        """Return the allocation as plain JSON values."""
        return {"id_space": self.id_space, "analyst": self.analyst, "cap": self.cap.to_json()}
