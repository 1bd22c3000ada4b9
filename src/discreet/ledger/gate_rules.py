r"""The rules of the gate for one id space: what failures do, how many at once, and when.

The least price: what a question that touches private rows costs at least.

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
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import Attribute, asdict, field, fields, frozen

from discreet.core import check
from discreet.core.errors import BelowLeastPrice, InvalidArgument, LedgerError, Unsupported
from discreet.core.loss import Measure, PrivacyLoss, Pure, short
from discreet.ledger.budget import writable
from discreet.ledger.chain import Kind, Latest, space

SUSPEND_AFTER = 5
"""How many failed answers suspend one counter if the owner does not say."""

COUNTERS_TO_SUSPEND_ALL = 4
"""How many full counters suspend everybody if the owner does not say.

One analyst alone should never stop the others, even with everything that is in flight: 12 failures
with the usual numbers. But each failure is a bit that no noise covers, whoever asked, so the sum
needs a limit as well. Four keep it at 20.
"""

MOST_IN_FLIGHT = 8
"""How many questions of one counter are in flight at once if the owner does not say.

As many can fail beyond the limit of failures, so it is of the size of that limit, and enough for
every processor of a usual machine.
"""

LONGEST_DEADLINE = 86_400
"""The longest deadline in seconds: a day."""

FIRST_RULES = ("id_space", "suspend_after", "deadline")
"""The rules that were written down before analysts were counted each by themselves."""


def _in_a_day(_: object, __: "Attribute[Fraction | None]", deadline: Fraction | None) -> None:
    if deadline is not None and not 0 < deadline <= LONGEST_DEADLINE:
        raise InvalidArgument(
            "deadline is out of range",
            must=f"be above 0 and at most {LONGEST_DEADLINE:,} seconds",
            got=str(deadline),
        )


def _no_less_than_one(rules: "GateRules", _: "Attribute[int | None]", total: int | None) -> None:
    if total is not None and total < rules.suspend_after:
        raise InvalidArgument(
            "suspend_all_after is out of range",
            must=f"be at least suspend_after, which is {rules.suspend_after}",
            got=str(total),
        )


def _above_zero(rules: object, place: "Attribute[Any]", price: Fraction | None) -> None:
    if price is not None and price <= 0:
        raise InvalidArgument("least_price is out of range", must="be above 0", got=str(price))
    if price is not None:
        writable(rules, place, Pure(price))


@frozen(kw_only=True)
class GateRules:
    """What the owner declared about the gate of an id space.

    Example:
        >>> rules = GateRules(id_space="patients", deadline="2.5")
        >>> rules.to_json()["deadline"], rules.most_failures
        ('5/2', 20)
    """

    id_space: str = field(validator=check.non_empty)
    suspend_after: int = field(
        default=SUSPEND_AFTER, converter=check.whole, validator=check.positive
    )
    """After so many failed answers in one counter the gate is shut for those counted in it."""
    suspend_all_after: int | None = field(
        default=None, converter=check.optional_whole, validator=_no_less_than_one
    )
    """After so many over all counters it is shut for everybody; ``None``: the usual multiple."""
    most_in_flight: int = field(
        default=MOST_IN_FLIGHT, converter=check.whole, validator=check.positive
    )
    """So many questions of one counter may be in flight at once."""
    least_price: Fraction | None = field(
        default=None, converter=check.optional_exact, validator=_above_zero
    )
    """The least ε or ρ that a question costs; ``None``: the usual part of the budget."""
    deadline: Fraction | None = field(
        default=None, converter=check.optional_exact, validator=_in_a_day
    )
    """How many seconds after the charge every answer is handed over; ``None``: when it is ready."""

    @property
    def most_failures(self) -> int:
        """After so many failed answers over all counters the gate is shut for everybody."""
        usual = COUNTERS_TO_SUSPEND_ALL * self.suspend_after
        return usual if self.suspend_all_after is None else self.suspend_all_after

    def to_json(self) -> dict[str, Any]:
        """Return the rules as plain JSON values."""
        return {
            name: str(value) if isinstance(value, Fraction) else value
            for name, value in asdict(self).items()
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "GateRules":
        """Read rules that :meth:`to_json` wrote; what was not written down yet is as usual."""
        unknown = set(data) - {one.name for one in fields(GateRules)}
        if unknown:
            raise LedgerError(
                "The ledger has rules of the gate that this version does not know",
                got=", ".join(sorted(unknown)),
                next="Nothing was spent. Use the version that wrote them, or a later one",
            )
        return GateRules(**data)


def rules_of(latest: Latest, id_space: str) -> GateRules:
    """Return the rules in force; the usual ones if the owner never declared any."""
    entry = latest(Kind.GATE, space(id_space))
    payload = {"id_space": id_space} if entry is None else entry.payload
    return _rules(tuple(payload.items()))


@lru_cache(maxsize=64)
def _rules(items: tuple[tuple[str, Any], ...]) -> GateRules:
    return GateRules.from_json(dict(items))


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
        >>> from discreet import Pure
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
        got=loss.shown(rounding=ROUND_FLOOR),
        next="Nothing was spent. Ask with a higher price; several questions can share one as a "
        "batch, and what was answered before is given again for nothing. The owner can declare "
        f"another id_spaces.{id_space}.least_price",
    )


def shown_price(loss: PrivacyLoss, least: Fraction) -> str:
    """Return a least price in the measure of a loss, for people.

    Example:
        >>> from discreet import Zcdp
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
