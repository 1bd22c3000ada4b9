"""The level of a bound: how often it may fail."""

from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

SMALLEST_LEVEL = Fraction(1, 10**300)
"""No bound is worked out for a smaller level: exact tails would take ever longer to find."""


def level(beta: Number) -> Fraction:
    """Return ``beta`` exactly, refusing what does not lie between 1e-300 and 1 (not 1 itself).

    Example:
        >>> level("0.05")
        Fraction(1, 20)
    """
    value = exact(beta)
    if not 0 < value < 1:
        raise InvalidArgument(
            "beta is out of range", must="lie strictly between 0 and 1", got=str(value)
        )
    if value < SMALLEST_LEVEL:
        raise InvalidArgument(
            "beta is out of range", must="be at least 1e-300", got="less", next="Ask for less"
        )
    return value
