"""The rules of the gate for one id space: what failures do, how many at once, and when."""

from fractions import Fraction
from typing import Any

from attrs import Attribute, asdict, field, fields, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, LedgerError
from discreet.core.loss import Pure
from discreet.ledger.tally import writable

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
