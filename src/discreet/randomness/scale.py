"""The scale of noise: an exact number within the range that the tables serve.

Noise of scale ``2**50`` goes beyond ``2**62``, where 64 bits leave no room to add it to a value,
with a probability below ``2**-5900`` (``e**-4096``); of a larger scale it would go there too often
to be passed over.
"""

from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

SMALLEST = Fraction(1, 1000)
LARGEST = Fraction(2**50)


def exact_scale(scale: Number) -> Fraction:
    """Return ``scale`` exactly, refusing one outside 1/1000 .. 2**50.

    Example:
        >>> exact_scale("7/2")
        Fraction(7, 2)
    """
    return _between("scale", exact(scale), SMALLEST, LARGEST)


def exact_variance(sigma_squared: Number) -> Fraction:
    """Return ``sigma_squared`` exactly, refusing one whose root is outside 1/1000 .. 2**50."""
    return _between("sigma_squared", exact(sigma_squared), SMALLEST**2, LARGEST**2)


def _between(name: str, value: Fraction, smallest: Fraction, largest: Fraction) -> Fraction:
    if not smallest <= value <= largest:
        raise InvalidArgument(
            f"{name} is out of range", must=f"be between {smallest} and {largest}", got=str(value)
        )
    return value
