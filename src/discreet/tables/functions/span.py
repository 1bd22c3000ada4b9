"""A span: the lowest and the highest value that a number is thought to have, and its grid."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.tables.column import LARGEST_BOUND, LARGEST_STEPS, Bounds, ColumnType, DateRange

ONE = Fraction(1)

FINENESS = 10_000
"""A number without a grid gets a step of about one part in this many of its range."""


@frozen
class Span:
    """A closed range of numbers, perhaps one number, perhaps on a grid of ``step``."""

    lower: Fraction
    upper: Fraction
    step: Fraction | None

    def is_sensible(self) -> bool:
        """Tell whether floating-point numbers reach the ends."""
        return max(abs(self.lower), abs(self.upper)) <= LARGEST_BOUND


def hull(spans: Sequence[Span]) -> Span:
    """Return the smallest span that holds all of them, on a grid that all of their grids are on.

    Example:
        >>> whole, half = Fraction(1), Fraction(1, 2)
        >>> hull([Span(whole, whole * 4, whole), Span(half, half, half)])
        Span(lower=Fraction(1, 2), upper=Fraction(4, 1), step=Fraction(1, 2))
    """
    return Span(
        min(span.lower for span in spans),
        max(span.upper for span in spans),
        common_step([span.step for span in spans]),
    )


def common_step(steps: Sequence[Fraction | None]) -> Fraction | None:
    """Return the largest step that divides all of them, or None if one has no grid."""
    known = [step for step in steps if step is not None]
    if len(known) < len(steps):
        return None
    scale = math.lcm(*(step.denominator for step in known))
    return Fraction(math.gcd(*(int(step * scale) for step in known)), scale)


def rounded(span: Span, rounding: Callable[[Fraction], int]) -> Span:
    """Return the span of whole numbers that a rounding, which never falls, makes of a span."""
    return Span(Fraction(rounding(span.lower)), Fraction(rounding(span.upper)), ONE)


def days_between(later: DateRange, earlier: DateRange) -> Span:
    """Return the span of the number of days from one date to another."""
    lower, upper = later.first - earlier.last, later.last - earlier.first
    return Span(Fraction(lower.days), Fraction(upper.days), ONE)


def to_bounds(span: Span, kind: ColumnType) -> Bounds | None:
    """Return valid bounds that hold the span, or None if there are none.

    The ends move outwards to the grid. Without a grid, or if it is too fine to count in, the step
    is the power of ten that is about 1/10,000 of the range; for integers at least 1. A single
    number gets a range of one step.

    Example:
        >>> bounds = to_bounds(Span(Fraction(0), Fraction(10, 3), None), ColumnType.REAL)
        >>> bounds.upper, bounds.step
        (Fraction(16667, 5000), Fraction(1, 10000))
    """
    step = span.step if span.step is not None and _fits(span, span.step) else _decimal_step(span)
    if kind is ColumnType.INTEGER:
        step = Fraction(max(1, math.ceil(step)))
    lower = math.floor(span.lower / step) * step
    upper = math.ceil(span.upper / step) * step
    try:
        return Bounds(lower=lower, upper=upper if upper > lower else lower + step, step=step)
    except InvalidArgument:
        return None


def _fits(span: Span, step: Fraction) -> bool:
    largest = max(abs(span.lower), abs(span.upper))
    return step * LARGEST_BOUND >= 1 and largest / step <= LARGEST_STEPS - 1


def _decimal_step(span: Span) -> Fraction:
    width = span.upper - span.lower or abs(span.upper) or Fraction(1)
    size = max(width / FINENESS, max(abs(span.lower), abs(span.upper)) / 10**15, 1 / LARGEST_BOUND)
    return power_of_ten(size)


def power_of_ten(size: Fraction) -> Fraction:
    """Return the largest power of ten that is at most ``size``.

    Example:
        >>> power_of_ten(Fraction(1, 3)), power_of_ten(Fraction(250))
        (Fraction(1, 10), Fraction(100, 1))
    """
    digits = len(str(size.numerator)) - len(str(size.denominator))
    power = Fraction(10) ** digits
    return power if power <= size else power / 10
