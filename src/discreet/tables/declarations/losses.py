"""Losses in ``discreet.toml``: ε, ε with δ, ρ, or ρ with δ. Each has a filter of its own."""

from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction

from discreet.core.errors import DeclarationError
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp, short
from discreet.core.numbers import exact
from discreet.tables.declarations.section import NUMBER, Section, located

_LOSSES: dict[str, tuple[Callable[..., PrivacyLoss], Callable[..., PrivacyLoss]]] = {
    "epsilon": (Pure, Approximate),
    "rho": (Zcdp, ApproximateZcdp),
}


def read_loss(section: Section) -> PrivacyLoss:
    """Return the loss that a table of the file says."""
    if section.has("epsilon") == section.has("rho"):
        raise DeclarationError(
            f"{section.place()} must say how much, once",
            must="have epsilon (with delta or without) or rho (with delta or without)",
            got=", ".join(section.data) or "nothing",
        )
    name = "epsilon" if section.has("epsilon") else "rho"
    amount = section.get(name, NUMBER)
    delta = section.get_or("delta", None, NUMBER)
    section.finish()
    alone, beside = _LOSSES[name]
    located(section.place(name), lambda: alone(amount))
    if delta is None:
        return alone(amount)
    return located(section.place("delta"), lambda: beside(amount, delta))


def read_least_price(section: Section, cap: PrivacyLoss) -> Fraction:
    """Return the least ε or ρ of a question: said like the budget, without δ, and no more than it.

    It is no loss but a part of one: it says nothing about δ, of which a question may need none.
    """
    name = "epsilon" if hasattr(cap, "epsilon") else "rho"
    value = section.get(name, NUMBER)
    section.finish()
    price, limit = located(section.place(name), lambda: exact(value)), getattr(cap, name)
    if not 0 < price <= limit:
        raise DeclarationError(
            f"{section.place(name)} is out of range",
            must=f"be above 0 and at most the budget, {short(limit, rounding=ROUND_FLOOR)}",
            got=str(value),
        )
    return price
