"""The smallest integer that will do: a search in which every answer is checked."""

from collections.abc import Callable

from discreet.core.errors import InvalidArgument

_FURTHEST = 1 << 80


def smallest(will_do: Callable[[int], bool], *, start: int = 0, near: int | None = None) -> int:
    """Return an integer from ``start`` that will do although the one before it does not.

    If everything above one that will do does too, it is the smallest. The promise does not need
    that: both neighbours are looked at. The search begins at ``near``, if somebody has a guess.

    Example:
        >>> smallest(lambda n: n * n >= 50), smallest(lambda n: n * n >= 50, near=11)
        (8, 8)
    """
    high, step = None, 1
    low = start if near is None else max(start, near)
    while will_do(low):
        if low == start:
            return start
        high, low, step = low, max(start, low - step), 2 * step
    if high is None:
        low, high = _beyond(will_do, low)
    while high - low > 1:
        middle = (low + high) // 2
        if will_do(middle):
            high = middle
        else:
            low = middle
    return high


def _beyond(will_do: Callable[[int], bool], low: int) -> tuple[int, int]:
    """Return two integers of which the higher one will do, in strides that double."""
    step = 1
    while not will_do(low + step):
        low, step = low + step, 2 * step
        if step > _FURTHEST:
            raise InvalidArgument("No sensible number will do", must="ask for less")
    return low, low + step
