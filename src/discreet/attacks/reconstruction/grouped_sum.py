"""What the printed sum of a group tells about each of its members."""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact


@frozen(kw_only=True)
class GroupedSum:
    """The printed sum of a group's values, each of which lies in a known range."""

    people: int = field(converter=check.whole, validator=check.positive)
    total: Fraction = field(converter=exact)
    low: Fraction = field(converter=exact)
    high: Fraction = field(converter=exact)

    def __attrs_post_init__(self) -> None:
        if not self.people * self.low <= self.total <= self.people * self.high:
            raise InvalidArgument(
                "No values in this range have the sum of a group",
                must=f"be from {self.low} to {self.high} for each of its people",
            )


def value_range(group: GroupedSum) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest value that a member of the group can have.

    Guarantee:
        The others have at least ``low`` and at most ``high`` each, so a member has at most the
        total less the lowest that they can be, and at least the total less the highest. Both are
        reached. A sum of ``people * high`` gives every value away [Gro14, section 2.6], however
        the group was formed; so does one of ``people * low``.

    Example:
        >>> least, most = value_range(GroupedSum(people=2, total=240, low=0, high=120))
        >>> least == most == 120
        True
    """
    others = group.people - 1
    least = max(group.low, group.total - others * group.high)
    most = min(group.high, group.total - others * group.low)
    return least, most
