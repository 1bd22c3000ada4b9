"""Budgets: the cap of an id space, an analyst's share inside it, and how losses add up in them."""

import math
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any

from attrs import Attribute, asdict, evolve, field, fields, frozen

from discreet.accounting.filters.rules import left, require_filter
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_bar
from discreet.core.loss import PrivacyLoss

FINEST = 1024
"""The longest denominator that is kept exactly, in bits."""

_LARGEST = 10**50


def accumulate(spent: PrivacyLoss | None, loss: PrivacyLoss) -> PrivacyLoss:
    """Return the total after ``loss``.

    Guarantee:
        At least ``spent + loss``, and exactly that unless the sum has a denominator of more than
        ``FINEST`` bits; then it is rounded up to a multiple of ``2**-FINEST``. Nobody needs so many
        digits; without a limit, odd denominators from one analyst would slow the ledger for all.

    Example:
        >>> from discreet import Pure
        >>> accumulate(Pure("1/3"), Pure("1/6"))
        Pure(ε = 0.5)
    """
    total = loss if spent is None else spent + loss
    parts = [(one.name, getattr(total, one.name)) for one in fields(type(total))]
    too_long = [(name, value) for name, value in parts if value.denominator.bit_length() > FINEST]
    if not too_long:
        return total
    return evolve(total, **{name: _shortened(value) for name, value in too_long})


def _shortened(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * 2**FINEST), 2**FINEST)


def budget_bar(id_space: str, spent: PrivacyLoss, cap: PrivacyLoss) -> str:
    """Return a bar of what is spent, as HTML; it is full only when nothing is left."""
    rest = left(cap, spent).shown(rounding=ROUND_FLOOR)
    return html_bar(id_space, spent.share_of(cap), f"{spent} spent of {cap}; {rest} left")


def writable(_: object, __: "Attribute[PrivacyLoss]", loss: PrivacyLoss) -> None:
    """Refuse a loss that could not be read back from the ledger, as an attrs validator."""
    for value in asdict(loss).values():
        if value > _LARGEST or value.denominator.bit_length() > FINEST:
            raise InvalidArgument(
                "The loss cannot be written in the ledger",
                must="be at most 10^50, with a denominator of at most 300 digits",
            )


def _has_filter(_: object, __: "Attribute[PrivacyLoss]", cap: PrivacyLoss) -> None:
    require_filter(cap)


@frozen
class Budget:
    """All that may ever be learnt about the people of one id space.

    Example:
        >>> from discreet import Pure
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
