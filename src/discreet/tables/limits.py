"""Contribution limits: how much of one unit may enter an answer."""

from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.loss import short

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

    def multiplied(self, each: Fraction | int) -> str:
        """Say how much all that counts of one unit adds, if a row adds ``each``.

        Example:
            >>> Limits(rows_per_group=2, groups_per_unit=5).multiplied(3)
            '3 × 2 rows a group × 5 groups = 30'
        """
        total = Fraction(each * self.rows_per_group * self.groups_per_unit)
        rows = "1 row" if self.rows_per_group == 1 else f"{self.rows_per_group} rows"
        shown = f"{short(Fraction(each))} × {rows} a group × {self.groups_in_words()}"
        return f"{shown} = {short(total)}"

    def groups_in_words(self) -> str:
        """Say how many groups of one unit count."""
        return "1 group" if self.groups_per_unit == 1 else f"{self.groups_per_unit} groups"
