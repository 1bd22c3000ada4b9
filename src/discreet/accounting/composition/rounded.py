"""Integers that stand for numbers in units of 2**-bits, rounded to one side throughout."""

from enum import Enum
from fractions import Fraction

from discreet.core.numbers import exp_bounds


class Side(Enum):
    """Which side of the truth a number is on."""

    LOWER = "lower"
    UPPER = "upper"

    @property
    def other(self) -> "Side":
        """The other side: for what is subtracted or divided by."""
        return Side.UPPER if self is Side.LOWER else Side.LOWER

    def whole(self, value: Fraction) -> int:
        """Round to an integer on this side.

        Example:
            >>> Side.LOWER.whole(Fraction(5, 2)), Side.UPPER.whole(Fraction(5, 2))
            (2, 3)
        """
        return self.divided(value.numerator, value.denominator)

    def divided(self, value: int, by: int) -> int:
        """Divide, rounding to this side; ``by`` is positive."""
        return value // by if self is Side.LOWER else -(-value // by)

    def shifted(self, value: int, bits: int) -> int:
        """Divide by ``2**bits``, rounding to this side."""
        return value >> bits if self is Side.LOWER else -(-value >> bits)

    def exp(self, x: Fraction, bits: int) -> int:
        """Return ``e**x`` for ``x <= 0`` in units of ``2**-bits``, rounded to this side."""
        low, high = exp_bounds(x, bits)
        return self.whole((low if self is Side.LOWER else high) * (1 << bits))
