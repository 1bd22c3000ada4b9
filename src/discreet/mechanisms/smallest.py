"""The smallest integer that will do: a search in which every answer is checked."""

from collections.abc import Callable

from discreet.core.errors import InvalidArgument

_FURTHEST = 1 << 80


def smallest(will_do: Callable[[int], bool], *, start: int = 0) -> int:
    """Return an integer from ``start`` that will do although the one before it does not.

    If everything above one that will do does too, it is the smallest. The promise does not need
    that: both neighbours are looked at.

    Example:
        >>> smallest(lambda n: n * n >= 50)
        8
    """
    if will_do(start):
        return start
    low, step = start, 1
    while not will_do(low + step):
        low, step = low + step, 2 * step
        if step > _FURTHEST:
            raise InvalidArgument("No sensible number will do", must="ask for less")
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if will_do(middle):
            high = middle
        else:
            low = middle
    return high
