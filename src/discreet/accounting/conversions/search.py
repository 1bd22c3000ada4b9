"""Where to look: orders and ε near the best ones, found with floats and settled exactly."""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.core.errors import Unsupported
from discreet.core.rounding import short_up

_LOWEST, _HIGHEST, _A_DECADE = -6, 30, 4
_FIRST_STEP = Fraction(1, 2**44)
_SHORT = 48


def best_order(objective: Callable[[float], float], limit: Fraction | None = None) -> Fraction:
    r"""Return an order above 1, and below ``limit``, at which ``objective`` is about least.

    Whatever it returns is a valid order: a bad choice makes a bound larger, never wrong. A coarse
    look over all sizes of :math:`\alpha - 1` finds the neighbourhood, thirds narrow it down.

    Example:
        >>> round(float(best_order(lambda order: (order - 3) ** 2)), 6)
        3.0
        >>> best_order(lambda order: -order, Fraction(5)) < 5
        True
    """
    top = float(_HIGHEST)
    if limit is not None and limit < 10**_HIGHEST:
        top = math.log10(float(limit - 1)) - 1e-9
    steps = range((_HIGHEST - _LOWEST) * _A_DECADE)
    grid = [g for g in (_LOWEST + step / _A_DECADE for step in steps) if g < top] + [top]

    def at(size: float) -> float:
        try:
            value = objective(1 + 10**size)
        except (ArithmeticError, ValueError):
            return math.inf
        return value if value == value else math.inf

    _, place = min((at(size), index) for index, size in enumerate(grid))
    low, high = grid[max(0, place - 1)], grid[min(len(grid) - 1, place + 1)]
    for _ in range(60):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if at(first) <= at(second):
            high = second
        else:
            low = first
    gap = Fraction(10 ** ((low + high) / 2))
    order = 1 + Fraction(round(gap * 2**40 / _power(gap)), 2**40) * _power(gap)
    return order if limit is None or order < limit else (1 + limit) / 2


def _power(value: Fraction) -> Fraction:
    """Return the power of two near ``value``."""
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())


def least_above(
    start: Fraction,
    *,
    estimate: Callable[[float], float],
    certain: Callable[[Fraction], bool],
) -> Fraction:
    """Return a number at or just above the least one from ``start`` on at which ``certain`` holds.

    ``estimate(gap)`` is at most 0 where it is believed to hold at ``start + gap``; it must hold
    for every larger number if it holds for one. Floats propose, and ``certain`` decides.
    """
    if certain(start):
        return start
    low, high = 0.0, 1.0
    while estimate(high) > 0:
        low, high = high, 2 * high
        if high > 1e15:
            raise Unsupported(
                "No ε of a sensible size is enough", next="Use a larger δ, or a smaller loss"
            )
    if low == 0.0:
        while low == 0.0 and high > 1e-200:
            if estimate(high / 16) > 0:
                low = high / 16
            else:
                high /= 16
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (low, middle) if estimate(middle) <= 0 else (middle, high)
    gap, step = Fraction(high), _FIRST_STEP
    while not certain(candidate := start + short_up(gap * (1 + step), _SHORT)):
        step *= 16
        if step > 2**40:
            raise Unsupported("No ε could be certified", next="Use a larger δ")
    return candidate
