"""From δ at every ε to ε at a δ: a search in which the answer itself is looked at."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from discreet.core.errors import InvalidArgument

LARGEST_EPSILON = Fraction(64)
"""Beyond this ε no promise is worth its name: odds could change by a factor of e^64."""

_SMALLEST = Fraction(1, 4096)
"""Nothing is looked for below this share of where the search begins."""

DIGITS = 4
"""How many digits an ε has."""

_NARROW = Fraction(1, 200)
_GUESSES, _LONGEST = 12, 40


def least_epsilon(
    delta_at: Callable[[Fraction], Fraction],
    delta: Fraction,
    *,
    start: Fraction = Fraction(1),
    largest: Fraction = LARGEST_EPSILON,
) -> Fraction | None:
    r"""Return an ε at which ``delta_at`` is at most ``delta``, close to the least; None if none is.

    Guarantee:
        The ε that is returned was handed to ``delta_at``, which said at most ``delta`` there. So it
        is a bound if ``delta_at`` is one, even where ``delta_at`` does not fall.

    Utility:
        It has four digits. If ``delta_at`` falls, the least ε is less than one part in a hundred
        below it, or it is below a 4096th of ``start``. None means that ``largest`` is not enough
        either.

    Example:
        >>> least_epsilon(lambda epsilon: 1 / (1 + epsilon), Fraction(1, 5))
        Fraction(4, 1)
    """
    if not 0 <= delta <= 1:
        raise InvalidArgument("delta is out of range", must="lie between 0 and 1", got=str(delta))
    if delta_at(Fraction(0)) <= delta:
        return Fraction(0)
    enclosure = _enclosed(delta_at, delta, min(start, largest), largest)
    return None if enclosure is None else _narrowed(delta_at, delta, *enclosure)


def _narrowed(
    delta_at: Callable[[Fraction], Fraction], delta: Fraction, low: Fraction, high: Fraction
) -> Fraction:
    """Return the upper end of an ever narrower interval, all ends of which were looked at.

    Where to look next is guessed on a straight line in the logarithm of δ, whose weight is halved
    at an end that stays (the Illinois rule); if that takes long, in the middle.
    """
    above, below = _height(delta_at(low), delta), _height(delta_at(high), delta)
    for step in range(_LONGEST):
        if high - low <= high * _NARROW:
            break
        share = above / (above - below) if step < _GUESSES else 0.5
        share = min(max(share, 0.01), 0.99) if math.isfinite(share) else 0.5
        middle = decimal_up(low + (high - low) * Fraction(share), DIGITS)
        if not low < middle < high:
            middle = (low + high) / 2
        found = delta_at(middle)
        if found <= delta:
            high, below, above = middle, _height(found, delta), above / 2
        else:
            low, above, below = middle, _height(found, delta), below / 2
    return high


def _height(found: Fraction, delta: Fraction) -> float:
    """Return how far above the target a δ is, in logarithms: only to guess with."""
    if found <= 0 or delta <= 0:
        return -math.inf if found <= delta else math.inf
    return math.log(found.numerator * delta.denominator) - math.log(
        found.denominator * delta.numerator
    )


def _enclosed(
    delta_at: Callable[[Fraction], Fraction], delta: Fraction, start: Fraction, largest: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Return an ε that is too small and one that will do, at most a factor of 2 apart if it can."""
    if delta_at(start) <= delta:
        high = start
        while high > start * _SMALLEST:
            half = decimal_up(high / 2, DIGITS)
            if delta_at(half) > delta:
                return half, high
            high = half
        return high, high
    low = start
    while low < largest:
        high = min(2 * low, largest)
        if delta_at(high) <= delta:
            return low, high
        low = high
    return None


def decimal_up(value: Fraction, digits: int) -> Fraction:
    """Return a decimal of so many digits that is not below ``value``, and next to it.

    Example:
        >>> decimal_up(Fraction(1, 3), 4), decimal_up(Fraction(1, 4), 4)
        (Fraction(1667, 5000), Fraction(1, 4))
    """
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
