"""An order: all that the gate must know before anything is read."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from attrs import Attribute, evolve, field, frozen

from discreet.core import check
from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument
from discreet.ledger.charge import Charge
from discreet.ledger.public_json import public_json

LONGEST_TEXT = 2_000
"""How many characters of a text the ledger keeps; of a longer one it keeps the digest besides."""


def _in_order(charges: Iterable[Charge]) -> tuple[Charge, ...]:
    return tuple(charges)


def _one_per_id_space(
    _: object, __: "Attribute[tuple[Charge, ...]]", charges: tuple[Charge, ...]
) -> None:
    spaces = [charge.id_space for charge in charges]
    if not spaces or len(set(spaces)) < len(spaces):
        raise InvalidArgument(
            "The charges of an order do not add up",
            must="name each id space that the plan touches once",
            got=", ".join(spaces) or "none",
        )


@frozen(kw_only=True)
class Order:
    """What is asked of the gate: a plan, on a version of the data, for an analyst, at a price.

    Everything in it is public: ``plan_digest`` names the canonical plan, ``data_version`` is the
    owner's counter, and ``description`` is shown in the ledger as it stands.
    """

    plan_digest: str = field(validator=check.non_empty)
    data_version: int = field(converter=check.whole, validator=check.non_negative)
    analyst: str = field(validator=check.non_empty)
    charges: tuple[Charge, ...] = field(converter=_in_order, validator=_one_per_id_space)
    description: dict[str, Any] = field(factory=dict, converter=public_json, hash=False)

    @cached_property
    def digest(self) -> str:
        """The name of the order: equal orders have equal digests."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the order as plain JSON values."""
        return {
            "plan_digest": self.plan_digest,
            "data_version": self.data_version,
            "analyst": self.analyst,
            "charges": [charge.to_json() for charge in self.charges],
            "description": self.description,
        }

    def shortened(self) -> "Order":
        """Return the order with the beginning of each long text of its description, and a digest.

        What is written in the ledger stays there for ever and is read by everybody, so one
        question must not make it much longer.
        """
        parts: dict[str, Any] = {}
        for key, value in self.description.items():
            parts[key] = value
            if isinstance(value, str) and len(value) > LONGEST_TEXT:
                parts[key] = f"{value[:LONGEST_TEXT]} ..."
                parts[f"{key}_digest"] = digest(value)
        return evolve(self, description=parts)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Order":
        """Read an order that :meth:`to_json` wrote."""
        charges = tuple(Charge.from_json(charge) for charge in data["charges"])
        return Order(**(data | {"charges": charges}))
