"""Search whole numbers for the first at which something is within its limit."""

import math
from collections.abc import Callable

from discreet.core.errors import Unsupported

_FIRST_STEP = 1 << 10
_FARTHEST = 10**7
_WIDEST_STEP = 10**6


def first_within(over: Callable[[int], float], guess: int) -> int:
    """Return a number at which ``over`` is at most 0 and just before which it is above 0.

    ``over`` should fall. Steps grow until both sides are known; then a line through the two sides
    proposes, and a side that stays is weighed half (the Illinois rule). A proposal is strictly
    between the two, so the search ends.

    Example:
        >>> first_within(lambda x: 1000.5 - x, 3)
        1001
    """
    low, high, at_low, at_high = _two_sides(over, guess)
    last = 0
    while high - low > 1:
        middle = _between(low, high, at_low, at_high)
        value = over(middle)
        side = 1 if value <= 0 else -1
        if side > 0:
            high, at_high, at_low = middle, value, at_low / 2 if last == side else at_low
        else:
            low, at_low, at_high = middle, value, at_high / 2 if last == side else at_high
        last = side
    return high


def _two_sides(over: Callable[[int], float], guess: int) -> tuple[int, int, float, float]:
    value, step, place = over(guess), _FIRST_STEP, guess
    while True:
        after = place - step if value <= 0 else place + step
        found = over(after)
        if (found <= 0) != (value <= 0):
            ends = sorted(((place, value), (after, found)))
            return ends[0][0], ends[1][0], ends[0][1], ends[1][1]
        place, value, step = after, found, min(8 * step, _WIDEST_STEP)
        if abs(place) > _FARTHEST:
            raise Unsupported("No parameter of a sensible size is at the limit")


def _between(low: int, high: int, at_low: float, at_high: float) -> int:
    if not (math.isfinite(at_low) and math.isfinite(at_high)) or at_low == at_high:
        return (low + high) // 2
    place = low + math.ceil((high - low) * at_low / (at_low - at_high))
    return min(max(place, low + 1), high - 1)
