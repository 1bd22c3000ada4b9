"""The level of a bound: how often it may fail."""

from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


def level(beta: Number) -> Fraction:
    """Return ``beta`` exactly, refusing what does not lie strictly between 0 and 1.

    Example:
        >>> level("0.05")
        Fraction(1, 20)
    """
    value = exact(beta)
    if not 0 < value < 1:
        raise InvalidArgument(
            "beta is out of range", must="lie strictly between 0 and 1", got=str(value)
        )
    return value
