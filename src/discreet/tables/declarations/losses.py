"""Losses in ``discreet.toml``: ε, ε with δ, ρ, or ρ with δ. Each has a filter of its own."""

from collections.abc import Callable

from discreet.core.errors import DeclarationError
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
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
