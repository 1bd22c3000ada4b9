"""A certified interval: the true number lies between its ends."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from attrs import field, frozen

from discreet.core.errors import InvalidArgument


@frozen
class Interval:
    """Two ends, with the true number between them; also when shown, rounded outwards.

    The only float ever held is infinity.

    Example:
        >>> Interval(Fraction(1, 4), Fraction(1, 3))
        [0.25, 0.333334]
        >>> Interval(Fraction(1), Fraction(2)).is_above(Fraction(1, 2))
        True
    """

    low: Fraction | float
    high: Fraction | float = field()

    @high.validator
    def _ordered(self, _: object, high: Fraction | float) -> None:
        if high < self.low:
            raise InvalidArgument("That is not an interval", must="have its lower end first")

    @classmethod
    def exactly(cls, value: Fraction | float) -> "Interval":
        """Return the interval that holds one number only."""
        return cls(value, value)

    def is_at_most(self, limit: Fraction) -> bool:
        """Tell whether the true number is certainly at most ``limit``."""
        return self.high <= limit

    def is_above(self, limit: Fraction) -> bool:
        """Tell whether the true number is certainly above ``limit``."""
        return self.low > limit

    def join(self, other: "Interval") -> "Interval":
        """Return an interval that holds the larger of the two true numbers."""
        return Interval(max(self.low, other.low), max(self.high, other.high))

    def __repr__(self) -> str:
        return f"[{_shown(self.low, ROUND_FLOOR)}, {_shown(self.high, ROUND_CEILING)}]"


INFINITE = Interval.exactly(math.inf)
"""The divergence of two laws, one of which has outcomes that the other never has."""


def _shown(value: Fraction | float, rounding: str) -> str:
    if isinstance(value, float):
        return str(value)
    context = Context(prec=6, rounding=rounding)
    digits = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{digits.normalize(context):g}"
