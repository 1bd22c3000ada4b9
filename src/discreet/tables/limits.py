"""Contribution limits: how much of one unit may enter an answer."""

from typing import ClassVar

from attrs import field, frozen

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument

LARGEST_LIMIT = 1_000_000


def _within(_: object, attribute: object, value: int) -> None:
    if not 1 <= value <= LARGEST_LIMIT:
        name = getattr(attribute, "name", "limit")
        raise InvalidArgument(
            f"{name} is out of range", must=f"lie between 1 and {LARGEST_LIMIT:,}", got=str(value)
        )


@frozen(kw_only=True)
class Limits:
    """At most ``groups_per_unit`` groups of one unit count, and ``rows_per_group`` rows in each.

    Example:
        >>> Limits(rows_per_group=2, groups_per_unit=5)
        Limits(rows_per_group=2, groups_per_unit=5)
    """

    stored_as: ClassVar[str] = "Limits"
    rows_per_group: int = field(converter=whole, validator=_within)
    groups_per_unit: int = field(converter=whole, validator=_within)
