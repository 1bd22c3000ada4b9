"""What of a row's law hides another row: a uniform part, and how far a row can move it."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

Interval = tuple[Fraction, Fraction]

FARTHEST = Fraction(10**100)
"""Numbers beyond this are no measurements, and would not fit where they are shown."""


@frozen
class Hidden:
    """The uniform part of a row's law.

    With probability ``mass`` a row is a sum of ``terms`` independent uniform numbers, in each
    dimension, and otherwise anything; whether it is may be told to everybody. If ``rows`` is above
    1 such a row alone is not uniform: the sum of so many of them is, with probability ``share``.

    Attributes:
        mass: How likely a row is to be hidden.
        points: Of how many points of a grid the uniform numbers are, by dimension; None is an
            interval.
        shifts: How far a row can be from what the simulator inserts, by dimension, in lengths of
            the interval or steps of the grid.
        terms: How many uniform numbers make one row.
        rows: How many hidden rows make one uniform number.
        share: How likely they are to.
    """

    mass: Fraction = field(converter=exact, validator=check.probability)
    points: tuple[int | None, ...]
    shifts: tuple[Fraction, ...]
    terms: int = 1
    rows: int = 1
    share: Fraction = Fraction(1)

    @property
    def is_whole(self) -> bool:
        """Whether every row is uniform, so that nothing of its law is given away."""
        return self.mass == self.share == self.rows == 1

    @property
    def dimensions(self) -> int:
        """How many numbers a row has."""
        return len(self.shifts)


class RowLaw(Protocol):
    """What is asserted of every row: each is drawn from this law, independently of the others."""

    @property
    def clamps(self) -> tuple[Interval, ...]:
        """Between which public numbers each row lies, by dimension."""

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """What the simulator inserts for a missing row, by dimension; it depends on clamps only."""

    def members(self) -> tuple["RowLaw", ...]:
        """Return the laws of which this one is; itself, if it is no family."""

    def hidden(self) -> Hidden:
        """Return the uniform part."""

    def __hash__(self) -> int: ...

    def words(self) -> str:
        """Return the assertion in a sentence."""

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted, with the kind of law under ``law``."""


def interval(value: Sequence[Number], what: str) -> Interval:
    """Return two exact ends in order; refuse anything else.

    Example:
        >>> interval((0, "0.5"), "a clamp")
        (Fraction(0, 1), Fraction(1, 2))
    """
    if isinstance(value, str) or len(value) != 2:
        raise InvalidArgument(f"{what} has two ends", must="be two numbers", got=str(value)[:64])
    if any(isinstance(end, float) and math.isinf(end) for end in value):
        raise _unbounded(what)
    low, high = exact(value[0]), exact(value[1])
    if not low < high:
        raise InvalidArgument(
            f"{what} is empty", must="have a lower end below its upper end", got=f"{low} to {high}"
        )
    if max(abs(low), abs(high)) > FARTHEST or high - low < 1 / FARTHEST:
        raise InvalidArgument(
            f"{what} is out of range",
            must="have ends of at most 1e100 in size, and be at least 1e-100 wide",
            next="Use another unit",
        )
    return low, high


def _unbounded(what: str) -> InvalidArgument:
    return InvalidArgument(
        f"{what} must end somewhere",
        must="be finite: without clamps, one row can move a sum without limit",
        next="Clip rows to public clamps first; what lies beyond then counts as the clamp",
    )


def intervals(value: Sequence[Any], what: str) -> tuple[Interval, ...]:
    """Return one interval for each dimension; two numbers alone are one dimension."""
    if value is None:
        raise _unbounded(what)
    if len(value) == 2 and not isinstance(value[0], (tuple, list)):
        return (interval(value, what),)
    if not value:
        raise InvalidArgument(f"{what} is empty", must="have one interval a dimension")
    return tuple(interval(one, what) for one in value)


def inside(inner: Sequence[Interval], outer: Sequence[Interval], what: str) -> None:
    """Refuse an interval that is not inside its clamps."""
    if len(inner) != len(outer):
        raise InvalidArgument(
            f"{what} and the clamps differ in dimension",
            must="have one interval each for every dimension",
            got=f"{len(inner)} and {len(outer)}",
        )
    for (low, high), (least, most) in zip(inner, outer, strict=True):
        if low < least or high > most:
            raise InvalidArgument(
                f"{what} is outside the clamps",
                must=f"lie between {least} and {most}",
                got=f"{low} to {high}",
            )


def pairs(ends: Sequence[Interval]) -> list[list[str]]:
    """Return intervals as texts that JSON keeps exactly."""
    return [[str(low), str(high)] for low, high in ends]


def spelt(ends: Sequence[Interval]) -> str:
    """Return intervals in words."""
    return " × ".join(f"[{_short(low)}, {_short(high)}]" for low, high in ends)


def _short(value: Fraction) -> str:
    return str(value) if value.denominator < 10**4 else f"{float(value):.6g}"
