"""Interval arithmetic: for each function, where its value lies if its arguments lie in intervals.

None stands for an interval of which nothing is known. Ends are exact, or rounded outwards.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from discreet.core.numbers import exp_bounds, log_bounds, sqrt_bounds
from discreet.core.rounding import short_down, short_up
from discreet.releases.estimates import numbers

Interval = tuple[Fraction, Fraction]
Enclosure = Callable[..., Interval | None]

KEPT = 512
"""Significant bits of the ends of an interval, at most."""


def outwards(interval: Interval | None) -> Interval | None:
    """Return an interval with ends of sensible length and size, which is no smaller."""
    if interval is None or any(numbers.kept(end) is None for end in interval):
        return None
    return short_down(interval[0], KEPT), short_up(interval[1], KEPT)


def hull(intervals: Sequence[Interval]) -> Interval:
    """Return the smallest interval around several.

    Example:
        >>> hull([(Fraction(1), Fraction(2)), (Fraction(0), Fraction(1))])
        (Fraction(0, 1), Fraction(2, 1))
    """
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def within(interval: Interval, lower: Fraction, upper: Fraction) -> Interval:
    """Return both ends moved into a range, in which the true value is known to lie."""
    low, high = (min(max(end, lower), upper) for end in interval)
    return low, high


def ratio(a: Interval, b: Interval) -> Interval | None:
    """Return where a quotient lies; nothing is known if the divisor may be zero."""
    if b[0] <= 0 <= b[1]:
        return None
    quotients = [x / y for x, y in product(a, b)]
    return min(quotients), max(quotients)


def square(a: Interval) -> Interval:
    """Return where a square lies."""
    ends = [end * end for end in a]
    return (Fraction(0) if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _times(a: Interval, b: Interval) -> Interval:
    products = [x * y for x, y in product(a, b)]
    return min(products), max(products)


def _absolute(a: Interval) -> Interval:
    ends = [abs(end) for end in a]
    return (Fraction(0) if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _rising(work: Callable[[Fraction], Fraction | None]) -> Enclosure:
    """Return the enclosure of an exact function that never falls, given all other arguments."""

    def enclose(a: Interval, *others: Interval) -> Interval | None:
        if any(other[0] != other[1] for other in others):
            return None
        low, high = (work(end, *(other[0] for other in others)) for end in a)
        return None if low is None or high is None else (low, high)

    return enclose


def _whole_ratio(a: Interval, b: Interval) -> Interval | None:
    quotient = ratio(a, b)
    return None if quotient is None else (_truncated(quotient[0]), _truncated(quotient[1]))


def _truncated(value: Fraction) -> Fraction:
    return Fraction(math.trunc(value))


def _root(a: Interval) -> Interval | None:
    if a[1] < 0:
        return None
    low = max(a[0], Fraction(0))  # where the argument is negative there is no true value to miss
    bits = 64 + max(low.denominator.bit_length(), a[1].denominator.bit_length())
    return sqrt_bounds(low, bits)[0], sqrt_bounds(a[1], bits)[1]


def _logarithm(a: Interval) -> Interval | None:
    return None if a[0] <= 0 else (log_bounds(a[0])[0], log_bounds(a[1])[1])


def _logarithm_to(base: int) -> Enclosure:
    def enclose(a: Interval) -> Interval | None:
        natural = _logarithm(a)
        return None if natural is None else ratio(natural, log_bounds(Fraction(base)))

    return enclose


def _exponential(a: Interval) -> Interval | None:
    if numbers.exponential(a[1]) is None:
        return None
    return exp_bounds(a[0], bits=96)[0], exp_bounds(a[1], bits=96)[1]


def _power(a: Interval, b: Interval) -> Interval | None:
    exponent = b[0]
    if b[0] != b[1] or exponent.denominator != 1 or not 0 <= exponent <= numbers.LARGEST_POWER:
        return None
    if exponent % 2 == 0:
        low, high = _absolute(a)
        return low ** int(exponent), high ** int(exponent)
    return a[0] ** int(exponent), a[1] ** int(exponent)


ENCLOSURES: dict[str, Enclosure] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": _times,
    "/": ratio,
    "//": _whole_ratio,
    "neg": lambda a: (-a[1], -a[0]),
    "abs": _absolute,
    "floor": _rising(lambda value: Fraction(math.floor(value))),
    "ceil": _rising(lambda value: Fraction(math.ceil(value))),
    "trunc": _rising(_truncated),
    "sign": _rising(numbers.sign),
    "round": _rising(numbers.rounded),
    "integer": _rising(numbers.rounded),
    "real": lambda a: a,
    "sqrt": _root,
    "ln": _logarithm,
    "log10": _logarithm_to(10),
    "log2": _logarithm_to(2),
    "exp": _exponential,
    "power": _power,
    "nullif": lambda a, _: a,
}
"""The enclosure of each function that has one, for arguments that have a value without noise.

What skips arguments without one (COALESCE, GREATEST and the like) is in ``interval``; of the others
nothing is known.
"""
