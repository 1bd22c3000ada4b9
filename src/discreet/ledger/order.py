"""An order, what it charges, and what is handed back for it: a ticket, and then a receipt."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import Attribute, evolve, field, frozen
from attrs.validators import optional

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core import check
from discreet.core.canonical import digest
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.html_text import html_page, html_steps
from discreet.core.loss import PrivacyLoss
from discreet.ledger.budget import writable
from discreet.ledger.chain import parsed_json, public_json


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

    Everything in it is public: ``plan_digest`` names the canonical plan with its noise,
    ``data_version`` is the owner's counter, and ``description`` is shown in the ledger as it
    stands. ``question`` names the plan without its noise: equal for one question at all prices.
    ``exact`` names what the owner asserts for an exact release; without it, the answer is noisy.
    """

    plan_digest: str = field(validator=check.non_empty)
    data_version: int = field(converter=check.whole, validator=check.non_negative)
    analyst: str = field(validator=check.non_empty)
    charges: tuple[Charge, ...] = field(converter=_in_order, validator=_one_per_id_space)
    description: dict[str, Any] = field(factory=dict, converter=public_json, hash=False)
    question: str | None = field(default=None, validator=optional(check.non_empty))
    exact: str | None = field(default=None, validator=optional(check.non_empty))

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
            **({} if self.question is None else {"question": self.question}),
            **({} if self.exact is None else {"exact": self.exact}),
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
        return self if parts == self.description else evolve(self, description=parts)

    def as_written(self) -> "Order":
        """Return it as the ledger keeps it, with its name, before anybody has to wait for it."""
        short = self.shortened()
        _ = short.digest
        return short

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Order":
        """Read an order that :meth:`to_json` wrote."""
        charges = tuple(Charge.from_json(charge) for charge in data["charges"])
        return Order(**(data | {"charges": charges}))


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

    def _repr_html_(self) -> str:
        charges = "\n".join(f"{charge.loss} of {charge.id_space}" for charge in self.charges)
        digests = {"plan": self.plan_digest, "release": self.release_digest, "ledger": self.head}
        steps = [
            ("Receipt", f"ticket {self.ticket.number}"),
            ("Charged", charges),
            ("Data", f"version {self.data_version}"),
            *((f"Digest of the {name}", text) for name, text in digests.items()),
        ]
        return html_page(html_steps(steps))

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


def read_receipts(path: Path) -> tuple[Receipt, ...]:
    """Return the receipts in a file: one, one inside a release, or a list of either, as JSON."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as cause:
        raise InvalidArgument(
            f"The receipt {path} cannot be read", got=type(cause).__name__
        ) from None
    found = parsed_json(f'{{"items": {text}}}')
    if found is None or set(found) != {"items"}:
        raise InvalidArgument(
            f"{path} is not JSON", must="be what 'discreet query --json' or 'to_json()' wrote"
        )
    items: Any = found["items"]
    receipts = tuple(_receipt(item) for item in (items if isinstance(items, list) else [items]))
    if not receipts:
        raise InvalidArgument(f"{path} holds no receipt", must="hold one at least")
    return receipts


def _receipt(item: Any) -> Receipt:
    inside = isinstance(item, dict) and "receipt" in item
    return Receipt.from_json(item["receipt"] if inside else item)
