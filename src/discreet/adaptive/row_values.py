"""What a question says of each row, as whole steps of its declared range."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from discreet.adaptive.guarantee import STEPS
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact

RowFunction = Callable[[Any], Any]
"""A function of one row; its value may depend on nothing else."""

CHECKED = 64
"""Of a function of many rows at once, so many are looked at one by one."""

CHECKED_OF_MANY = 8
"""The same for each of many functions."""


_FARTHEST = 2**30
_SMALLEST = Fraction(1, 2**900)
_LARGEST = Fraction(2**900)


@frozen
class DeclaredRange:
    """The range that the values of a question are declared to have."""

    low: Fraction = field(converter=exact)
    high: Fraction = field(converter=exact)

    def __attrs_post_init__(self) -> None:
        if not self.low < self.high:
            raise InvalidArgument(
                "A range is empty",
                must="have an upper end above its lower one",
                got=f"{self.low} to {self.high}",
            )
        # Values are floats. They must tell the steps of the range apart (see ROUNDING).
        farthest = max(abs(self.low), abs(self.high))
        if not (self.width >= _SMALLEST and farthest <= min(_LARGEST, self.width * _FARTHEST)):
            raise InvalidArgument(
                "A range is too wide, too narrow, or too far from 0 for how narrow it is",
                must="be one that floating-point numbers can be told apart in",
                next="Let the function subtract a number and divide by one, and declare what is "
                "left",
            )

    @property
    def width(self) -> Fraction:
        """How wide it is."""
        return self.high - self.low

    @property
    def as_floats(self) -> tuple[float, float]:
        """The lower end and the width, as floats."""
        return float(self.low), float(self.width)

    def at(self, share: Fraction) -> Fraction:
        """Return the number at a share of the range."""
        return self.low + share * self.width


@define(frozen=True, eq=False, slots=False)
class RowValues:
    """The value of a question for each row, in steps from 0 to ``STEPS``.

    Attributes:
        values: The values in steps; or yes and no, which are ``STEPS`` and 0. Those outside of the
            declared range were put to its ends, and those that were no number, or raised an error,
            to the middle.
        beyond: For each row, whether its value was one of those; None if there are none.
    """

    values: NDArray[np.int64] | NDArray[np.bool_]
    beyond: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """The values in steps."""
        found: NDArray[np.int64] = self.values.astype(np.int64)
        return found * STEPS if self.values.dtype == np.bool_ else found

    def total(self) -> int:
        """Return the sum over rows. It is private."""
        if self.values.dtype == np.bool_:
            return STEPS * int(np.count_nonzero(self.values))
        return int(self.values.sum())

    @cached_property
    def is_outside(self) -> NDArray[np.bool_]:
        """For each row, whether its value was outside of the range, or none."""
        return np.zeros(len(self), dtype=np.bool_) if self.beyond is None else self.beyond

    def outside(self) -> "RowValues":
        """Return whether rows were outside, as the values of a question of its own.

        How many there are is as exact as an answer without noise would be, and must not be told.
        """
        return RowValues(self.is_outside)


def require_a_function(function: Any, of: str = "a row") -> None:
    """Refuse what cannot be called.

    Example:
        >>> require_a_function("age > 40")
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: A question is a function of a row...
    """
    if not callable(function):
        raise InvalidArgument(
            f"A question is a function of {of}", must="be one", next="Nothing was asked"
        )


def require_functions(functions: Any) -> None:
    """Refuse what is no list of functions."""
    if not isinstance(functions, Sequence):
        raise InvalidArgument(
            "Several questions are a list of functions", must="be one", next="Nothing was asked"
        )
    for one in functions:
        require_a_function(one)


def row_values(function: RowFunction, rows: Sequence[Any], within: DeclaredRange) -> RowValues:
    """Ask each row by itself, so that no value can depend on another row.

    Example:
        >>> found = row_values(lambda row: row / 2, [0, 1, 2, 8, "x"], DeclaredRange(0, 1))
        >>> (found.steps / STEPS).tolist(), found.is_outside.tolist()
        ([0.0, 0.5, 1.0, 1.0, 0.5], [False, False, False, True, True])
    """
    values = np.array([_value(function, row) for row in rows], dtype=np.float64)
    return _in_steps(values, within)


def batch_values(
    function: RowFunction, rows: Any, within: DeclaredRange, *, checked: int = CHECKED
) -> RowValues:
    """Ask all rows at once, for speed, and some of them again by themselves.

    Args:
        function: Takes an array of rows and returns one number for each. It must treat each row
            by itself. If a row that is asked alone has another value, it is refused. If it raises
            an error, or does not give one value for each, every row is asked alone: one row must
            not spoil the values of others.
        rows: The rows.
        within: The declared range.
        checked: How many are asked again.

    Example:
        >>> rows = np.arange(8.0)
        >>> (batch_values(lambda x: x / 7, rows, DeclaredRange(0, 1)).steps / STEPS).round(2)[-1]
        np.float64(1.0)
        >>> batch_values(lambda x: x / x.max(), rows, DeclaredRange(0, 1))
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: A question looks at more than one row...
    """
    return _in_steps(_asked_at_once(function, rows, within, checked), within)


def batch_total(
    function: RowFunction, rows: Any, within: DeclaredRange, *, checked: int = CHECKED
) -> int:
    """Return the total of ``batch_values``, without keeping the steps of each row. It is private.

    Example:
        >>> batch_total(lambda x: x / 4, np.arange(5.0), DeclaredRange(0, 1)) / STEPS
        2.5
    """
    values = _asked_at_once(function, rows, within, checked)
    if _is_condition(values, within):
        return STEPS * int(np.count_nonzero(values))
    numbers, ends = values.astype(np.float64, copy=False), within.as_floats
    room = np.empty(min(_PART, len(numbers)))
    parts = (numbers[begin : begin + _PART] for begin in range(0, len(numbers), _PART))
    return sum(_total(part, ends, room) for part in parts)


_PART = 1 << 15
"""So many values at a time stay near the processor."""


def _asked_at_once(
    function: RowFunction, rows: Any, within: DeclaredRange, checked: int
) -> NDArray[np.float64] | NDArray[np.bool_]:
    count = len(rows)
    try:
        values = _numbers(function(rows))
    except Exception:
        values = None
    if values is None or values.shape != (count,):
        return np.array([_alone(function, rows, place) for place in range(count)])
    looked = sorted({(count - 1) * step // checked for step in range(checked + 1)})
    alone = np.array([_alone(function, rows, place) for place in looked])
    ends = within.as_floats
    apart = _steps(alone, ends) - _steps(values[looked].astype(np.float64), ends)
    # The last bits may depend on how many numbers are added at once.
    if (np.abs(apart) > 1).any():
        raise InvalidArgument(
            "A question looks at more than one row at a time",
            must="give each row a value that depends on that row alone",
            next="Nothing was asked. Ask with a function of one row",
        )
    return values


def _numbers(found: Any) -> NDArray[np.float64] | NDArray[np.bool_]:
    """Return values as numbers, or as yes and no; what is masked is none."""
    if isinstance(found, np.ma.MaskedArray):
        found = np.ma.filled(np.ma.asarray(found, dtype=np.float64), np.nan)
    values = np.asarray(found)
    if values.dtype == np.bool_:
        return values
    return np.asarray(values, dtype=np.float64) if values.dtype.kind in "fiu" else _parsed(values)


def _parsed(values: NDArray[Any]) -> NDArray[np.float64]:
    # Of a complex number the real part would be taken.
    return np.array([float(one) for one in values.tolist()], dtype=np.float64)


def _alone(function: RowFunction, rows: Any, place: int) -> float:
    try:
        return float(_numbers(function(rows[place : place + 1])).reshape(()))
    except Exception:
        return math.nan


def _value(function: RowFunction, row: Any) -> float:
    # Whatever a question does with a row, it must not stop the others from being counted.
    try:
        value = function(row.copy() if isinstance(row, dict | list) else row)
    except Exception:
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number or a fraction beyond all floats
        return math.inf if value > 0 else -math.inf
    except Exception:
        return math.nan


def _in_steps(values: NDArray[np.float64] | NDArray[np.bool_], within: DeclaredRange) -> RowValues:
    if _is_condition(values, within):
        return RowValues(values.astype(np.bool_, copy=False))
    numbers = values.astype(np.float64, copy=False)
    outside = np.isnan(numbers) | (numbers < float(within.low)) | (numbers > float(within.high))
    return RowValues(_steps(numbers, within.as_floats), outside)


def _is_condition(values: NDArray[Any], within: DeclaredRange) -> bool:
    return values.dtype == np.bool_ and within.low == 0 and within.high == 1


_MARK = float(2**52 // STEPS)
"""Floats from here to twice as much are a step apart: to add it rounds to the nearest step."""

_FIRST = int(np.float64(_MARK).view(np.int64))
"""What it is if its bits are read as a whole number; a step more is one more."""


def _steps(values: NDArray[np.float64], ends: tuple[float, float]) -> NDArray[np.int64]:
    """Return values in whole steps."""
    return _marked(values, ends, np.empty(len(values))) - _FIRST


def _total(values: NDArray[np.float64], ends: tuple[float, float], room: NDArray[Any]) -> int:
    """Return the sum of steps. That of all bits is right but for multiples of 2^64."""
    marked = _marked(values, ends, room[: len(values)])
    return (int(np.add.reduce(marked)) - len(values) * _FIRST) % 2**64


def _marked(
    values: NDArray[np.float64], ends: tuple[float, float], room: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return steps and ``_FIRST``, in the room that is given; four passes over the values."""
    low, width = ends
    share = values
    if ends != (0, 1):
        with np.errstate(over="ignore"):
            share = (values - low) / width
    marked: NDArray[np.int64] = np.add(share, _MARK, out=room).view(np.int64)
    if np.minimum.reduce(marked) < _FIRST or np.maximum.reduce(marked) > _FIRST + STEPS:
        # Some are outside, or are no number.
        inside = np.clip(np.where(np.isnan(share), 0.5, share), 0, 1)
        np.add(inside, _MARK, out=room)
    return marked
