"""The rules of the gate for one id space: when failures suspend it, and when answers are due."""

from fractions import Fraction
from typing import Any

from attrs import Attribute, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument

SUSPEND_AFTER = 5
"""How many failed answers suspend an id space if the owner does not say."""

LONGEST_DEADLINE = 86_400
"""The longest deadline in seconds: a day."""


def _in_a_day(_: object, __: "Attribute[Fraction | None]", deadline: Fraction | None) -> None:
    if deadline is not None and not 0 < deadline <= LONGEST_DEADLINE:
        raise InvalidArgument(
            "deadline is out of range",
            must=f"be above 0 and at most {LONGEST_DEADLINE:,} seconds",
            got=str(deadline),
        )


@frozen(kw_only=True)
class GateRules:
    """What the owner declared about the gate of an id space.

    Example:
        >>> GateRules(id_space="patients", deadline="2.5").to_json()
        {'id_space': 'patients', 'suspend_after': 5, 'deadline': '5/2'}
    """

    id_space: str = field(validator=check.non_empty)
    suspend_after: int = field(
        default=SUSPEND_AFTER, converter=check.whole, validator=check.positive
    )
    """After so many failed answers the gate is shut, until the owner resumes."""
    deadline: Fraction | None = field(
        default=None, converter=check.optional_exact, validator=_in_a_day
    )
    """How many seconds after the charge every answer is handed over; ``None``: when it is ready."""

    def to_json(self) -> dict[str, Any]:
        """Return the rules as plain JSON values."""
        deadline = None if self.deadline is None else str(self.deadline)
        return {
            "id_space": self.id_space,
            "suspend_after": self.suspend_after,
            "deadline": deadline,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "GateRules":
        """Read rules that :meth:`to_json` wrote."""
        return GateRules(**data)
