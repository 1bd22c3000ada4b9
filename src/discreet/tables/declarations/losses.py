"""Losses in ``discreet.toml``: ε or ρ, with δ or without, or μ. Each has a filter of its own."""

from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction

from discreet.accounting.filters.filter import largest_mu_squared, largest_rho
from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    GaussianDp,
    PrivacyLoss,
    Pure,
    Zcdp,
    short,
)
from discreet.core.numbers import Number, exact
from discreet.tables.declarations.section import NUMBER, Section, located

Made = Callable[..., PrivacyLoss]


def _gaussian(mu: Number) -> GaussianDp:
    """Return μ-Gaussian DP; the square is what is kept, so the number itself is looked at first."""
    if exact(mu) < 0:
        raise InvalidArgument("mu is out of range", must="be at least 0", got=str(mu))
    return GaussianDp(mu_squared=exact(mu) ** 2)


_LOSSES: dict[str, tuple[Made, Made | None]] = {
    "epsilon": (Pure, Approximate),
    "rho": (Zcdp, ApproximateZcdp),
    "mu": (_gaussian, None),
}
"""Each number that says how much, without a δ and with one."""


_KEPT_AS: dict[str, Callable[[Fraction, Fraction], PrivacyLoss]] = {
    "rho": lambda epsilon, delta: Zcdp(rho=largest_rho(epsilon, delta)),
    "mu": lambda epsilon, delta: GaussianDp(mu_squared=largest_mu_squared(epsilon, delta)),
}
"""What implies an (ε, δ) and has a filter that lets more through than adding up ε."""


def read_loss(section: Section) -> PrivacyLoss:
    r"""Return the loss that a table of the file says.

    Guarantee:
        With ``kept_as``, the largest ρ or :math:`\mu^2` that implies the (ε, δ): whoever keeps to
        it keeps to that, also by choices that depend on answers
        (:func:`discreet.accounting.filters.rules.admits`).
    """
    names = [name for name in _LOSSES if section.has(name)]
    if len(names) != 1:
        raise DeclarationError(
            f"{section.place()} must say how much, once",
            must="have epsilon or rho (with delta or without), or mu",
            got=", ".join(section.data) or "nothing",
        )
    (name,) = names
    alone, beside = _LOSSES[name]
    amount = section.get(name, NUMBER)
    delta = section.get_or("delta", None, NUMBER) if beside is not None else None
    kept_as = section.choice("kept_as", list(_KEPT_AS)) if section.has("kept_as") else None
    section.finish()
    found = located(section.place(name), lambda: alone(amount))
    if delta is not None and beside is not None:
        found = located(section.place("delta"), lambda: beside(amount, delta))
    return found if kept_as is None else _kept(section, found, kept_as)


def _kept(section: Section, loss: PrivacyLoss, kept_as: str) -> PrivacyLoss:
    if not isinstance(loss, Approximate) or not loss.epsilon or not loss.delta:
        raise DeclarationError(
            f"{section.place('kept_as')} is about an ε with a δ",
            must="stand beside epsilon and delta, both above 0",
            got=", ".join(section.data),
        )
    return _KEPT_AS[kept_as](loss.epsilon, loss.delta)


_KEPT = {"epsilon": ("ε", "epsilon"), "rho": ("ρ", "rho"), "mu": ("μ²", "mu_squared")}
"""What is kept of each number: its sign, and its name in the loss."""


def read_least_price(section: Section, cap: PrivacyLoss) -> Fraction:
    """Return the least ε, ρ or μ² of a question: said like the budget, and no more than it.

    It is no loss but a part of one: it says nothing about δ, of which a question may need none.
    """
    name = next(name for name, (_, kept) in _KEPT.items() if hasattr(cap, kept))
    value = section.get(name, NUMBER)
    section.finish()
    said = located(section.place(name), lambda: exact(value))
    sign, kept = _KEPT[name]
    price, limit = said**2 if name == "mu" else said, getattr(cap, kept)
    if said <= 0 or price > limit:
        most = f"{sign} = {short(limit, rounding=ROUND_FLOOR)}"
        raise DeclarationError(
            f"{section.place(name)} is out of range",
            must=f"be above 0 and at most the budget, {most}",
            got=str(value),
        )
    return price
