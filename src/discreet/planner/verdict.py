"""The verdict: achievable, open or impossible, and what says so."""

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from attrs import evolve, frozen

from discreet.adaptive.rows_needed import rounded_rows
from discreet.core.search import smallest
from discreet.planner.bounds.wanted import OTHER_MEASURE, LowerBound, Ruling, Wanted, implied

_PARTS = 4
"""Errors are tried in so many parts of a person."""
_HALVINGS = 60


class Feasibility(Enum):
    """Whether something can be done."""

    ACHIEVABLE = "achievable"
    OPEN = "open"
    IMPOSSIBLE = "impossible"


@frozen
class BoundReport:
    """What one lower bound says about what is wanted.

    Attributes:
        name: The bound.
        source: Where its proof is.
        error: An error, in people, that nobody can stay within by it; None if it refutes nothing.
        why_not: Why it does not apply; empty if it does.
    """

    name: str
    source: str
    error: Fraction | None
    why_not: str = ""

    def __str__(self) -> str:
        if self.why_not:
            return f"{self.name}: does not apply: {self.why_not}"
        if self.error is None:
            return f"{self.name}: refutes nothing here ({self.source})"
        return f"{self.name}: nobody within {float(self.error):,.4g} people ({self.source})"


def bound_reports(bounds: Sequence[LowerBound], wanted: Wanted) -> tuple[BoundReport, ...]:
    """Return what each bound says, the strongest first; those that do not apply are last."""
    found = [_report(bound, wanted) for bound in bounds]
    return tuple(sorted(found, key=lambda one: (bool(one.why_not), -(one.error or Fraction(-1)))))


def _report(bound: LowerBound, wanted: Wanted) -> BoundReport:
    """Look for a large error that the bound refutes; what is said was checked at that error."""
    ruling = ruling_of(bound, wanted)
    if ruling.why_not:
        return BoundReport(bound.name, bound.source, None, ruling.why_not)
    error = _largest_error(bound, wanted)
    if ruling.refutes:
        error = wanted.error if error is None else max(error, wanted.error)
    return BoundReport(bound.name, bound.source, error)


def _largest_error(bound: LowerBound, wanted: Wanted) -> Fraction | None:
    """Return an error that is refuted although the next one is not; errors have three digits."""

    def is_open(place: int) -> bool:
        error = _error(place)
        if error > wanted.people:
            return True
        return not ruling_of(bound, evolve(wanted, error=error)).refutes

    near = _place(wanted.error)
    place = smallest(is_open, near=near)
    return None if place == 0 else _error(place - 1)


def _error(place: int) -> Fraction:
    return Fraction(rounded_rows(place), _PARTS)


def _place(error: Fraction) -> int:
    """Return about the place of an error."""
    low, high = 0, 1
    while _error(high) < error:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _error(middle) <= error else (low, middle)
    return low


def is_refuted(bounds: Sequence[LowerBound], wanted: Wanted) -> bool:
    """Tell whether some bound refutes just what is wanted."""
    return any(ruling_of(bound, wanted).refutes for bound in bounds)


def ruling_of(bound: LowerBound, wanted: Wanted) -> Ruling:
    """Return what a bound says of the loss, or of one that it implies."""
    found = [bound.rule(evolve(wanted, loss=one)) for one in implied(wanted.loss)]
    if not found:
        return OTHER_MEASURE
    return min(found, key=lambda one: (not one.refutes, bool(one.why_not)))


def most_refuted_people(
    bounds: Sequence[LowerBound], wanted: Wanted, *, within: Fraction, start: int
) -> int | None:
    """Return a number of people, below ``start`` and large, with whom nobody can be within.

    The share ``within`` stays; the number has been checked, and no other is claimed.
    """

    def refuted(people: int) -> bool:
        return is_refuted(bounds, evolve(wanted, people=people, error=within * people))

    high = start
    for _ in range(_HALVINGS):
        low = high // 2
        if low < 1:
            return None
        if refuted(low):
            while high - low > max(1, low // 100):
                middle = (low + high) // 2
                low, high = (middle, high) if refuted(middle) else (low, middle)
            return low
        high = low
    return None
