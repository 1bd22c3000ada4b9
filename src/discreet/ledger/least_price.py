r"""The least price: what a question that touches private rows costs at least.

Each charged question can tell one bit that no noise covers: whether it was answered. A question may
also stop others, by failing or by being in flight. If it could cost next to nothing, so could any
number of such bits and failures. A least price makes none of them private; it limits how many can
be bought, and makes sure that whoever buys them uses up their share.

Guarantee:
    While a budget, its shares and its least price stay as they are, at most

    .. math:: \frac{\text{budget}}{\text{least price}} + 1 + \text{number of shares}

    questions are ever charged to it: 10,001 by default, where there are no shares.

    Proof. The *amount* of a loss is ε, ρ + ξ or μ²: a coordinate of the filter that admits charges
    (:mod:`discreet.accounting.filters.rules`), so the amounts of all charges add up to at most that
    of the budget. Each is at least the least price, or all that is left for the one who asks, and
    never 0. After the latter nothing is left of the budget, or of the share, and so it happens once
    for each of them.

Utility:
    The last part of a split budget can be spent, however small it is. A ten-thousandth of the
    budget is less than honest questions cost: its noise is 10,000 times that of the one question
    that spends the budget of an ε, and 100 times for a ρ or a μ². A batch is one charge, and fails
    as one: it is one bit, and pays the least price once. A stored release is free, because no row
    is touched for it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core.errors import BelowLeastPrice, Unsupported
from discreet.core.loss import Measure, PrivacyLoss, short

MOST_QUESTIONS = 10_000
"""How many questions at the least price use up a budget, if the owner does not say."""

_AMOUNTS: dict[Measure, tuple[str, Callable[[Any], Fraction]]] = {
    Measure.PURE: ("ε", lambda loss: loss.epsilon),
    Measure.APPROXIMATE: ("ε", lambda loss: loss.epsilon),
    Measure.ZCDP: ("ρ", lambda loss: loss.rho + loss.xi),
    Measure.APPROXIMATE_ZCDP: ("ρ", lambda loss: loss.rho + loss.xi),
    Measure.GAUSSIAN: ("μ²", lambda loss: loss.mu_squared),
}


def least_price(cap: PrivacyLoss, declared: Fraction | None) -> Fraction:
    """Return the least ε, ρ or μ²: the declared one, or a ten-thousandth of the budget.

    Example:
        >>> from discreet.core.loss import Pure
        >>> least_price(Pure(2), None)
        Fraction(1, 5000)
    """
    return amount(cap) / MOST_QUESTIONS if declared is None else declared


def amount(loss: PrivacyLoss) -> Fraction:
    """Return the one number of a loss that has a least price; an unknown measure is refused."""
    return _known(loss)[1](loss)


def is_enough(loss: PrivacyLoss, least: Fraction, rest: PrivacyLoss) -> bool:
    """Tell whether a loss is at least the least price, or all that is left (``rest``)."""
    asked = amount(loss)
    return asked > 0 and asked >= min(least, amount(rest))


def require_price(loss: PrivacyLoss, least: Fraction, rest: PrivacyLoss, id_space: str) -> None:
    """Refuse a loss below the least price, unless it is all that is left (``rest``)."""
    if is_enough(loss, least, rest):
        return
    raise BelowLeastPrice(
        f"A question about '{id_space}' costs more than that",
        must=f"cost at least {shown_price(loss, least)}",
        got=str(loss),
        next="Nothing was spent. Ask with a higher price; several questions can share one as a "
        "batch, and what was answered before is given again for nothing. The owner can declare "
        f"another id_spaces.{id_space}.least_price",
    )


def shown_price(loss: PrivacyLoss, least: Fraction) -> str:
    """Return a least price in the measure of a loss, for people.

    Example:
        >>> from discreet.core.loss import Zcdp
        >>> shown_price(Zcdp(1), Fraction(1, 5000))
        'ρ = 0.0002'
    """
    return f"{_known(loss)[0]} = {short(least)}"


def _known(loss: PrivacyLoss) -> tuple[str, Callable[[Any], Fraction]]:
    found = _AMOUNTS.get(loss.measure)
    if found is None:
        raise Unsupported(
            "No least price is known for this measure",
            must=f"be one of {', '.join(measure.value for measure in _AMOUNTS)}",
            got=loss.measure.value,
        )
    return found
