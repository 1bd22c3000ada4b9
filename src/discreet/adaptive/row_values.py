"""What a question says of each row, as whole steps of its declared range."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.adaptive.guarantee import STEPS
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact

RowFunction = Callable[[Any], Any]
"""A function of one row; its value may depend on nothing else."""

CHECKED = 64
"""Of a function of many rows at once, so many are looked at one by one."""


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

    def at(self, share: Fraction) -> Fraction:
        """Return the number at a share of the range."""
        return self.low + share * self.width


@frozen(eq=False)
class RowValues:
    """The value of a question for each row, in steps from 0 to ``STEPS``.

    Attributes:
        steps: The values. Those outside of the declared range were put to its ends, and those that
            were no number, or raised an error, to the middle.
        is_outside: For each row, whether its value was one of those. How many there are is as
            exact as an answer without noise would be, and must not be told.
    """

    steps: NDArray[np.int64]
    is_outside: NDArray[np.bool_]

    def outside(self) -> "RowValues":
        """Return whether rows were outside, as the values of a question of its own."""
        return RowValues(self.is_outside.astype(np.int64) * STEPS, np.zeros_like(self.is_outside))


def row_values(function: RowFunction, rows: Sequence[Any], within: DeclaredRange) -> RowValues:
    """Ask each row by itself, so that no value can depend on another row.

    Example:
        >>> found = row_values(lambda row: row / 2, [0, 1, 2, 8, "x"], DeclaredRange(0, 1))
        >>> (found.steps / STEPS).tolist(), found.is_outside.tolist()
        ([0.0, 0.5, 1.0, 1.0, 0.5], [False, False, False, True, True])
    """
    values = np.array([_value(function, row) for row in rows], dtype=np.float64)
    return _in_steps(values, within)


def batch_values(function: RowFunction, rows: Any, within: DeclaredRange) -> RowValues:
    """Ask all rows at once, for speed, and some of them again by themselves.

    Args:
        function: Takes an array of rows and returns one number for each. It must treat each row
            by itself. If a row that is asked alone has another value, it is refused. If it raises
            an error, every row is asked alone: one row must not spoil the values of others.
        rows: The rows.
        within: The declared range.

    Example:
        >>> rows = np.arange(8.0)
        >>> (batch_values(lambda x: x / 7, rows, DeclaredRange(0, 1)).steps / STEPS).round(2)[-1]
        np.float64(1.0)
        >>> batch_values(lambda x: x / x.max(), rows, DeclaredRange(0, 1))
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: A question looks at more than one row...
    """
    count = len(rows)
    try:
        values = np.asarray(function(rows), dtype=np.float64)
    except Exception:
        alone_values = [_alone(function, rows, place) for place in range(count)]
        return _in_steps(np.array(alone_values), within)
    if values.shape != (count,):
        raise InvalidArgument(
            "A question about all rows at once has no value for each",
            must="give an array with one number for each row",
            next="Nothing was asked. Ask with a function of one row",
        )
    found = _in_steps(values, within)
    for place in {(count - 1) * step // CHECKED for step in range(CHECKED + 1)}:
        alone = _alone(function, rows, place)
        one = _in_steps(np.array([alone]), within).steps[0]
        # The last bits may depend on how many numbers are added at once.
        if abs(int(one) - int(found.steps[place])) > 1:
            raise InvalidArgument(
                "A question looks at more than one row at a time",
                must="give each row a value that depends on that row alone",
                next="Nothing was asked. Ask with a function of one row",
            )
    return found


def _alone(function: RowFunction, rows: Any, place: int) -> float:
    try:
        return float(np.asarray(function(rows[place : place + 1]), dtype=np.float64).reshape(()))
    except Exception:
        return math.nan


def _value(function: RowFunction, row: Any) -> float:
    # Whatever a question does with a row, it must not stop the others from being counted.
    try:
        value = function(row)
    except Exception:
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number or a fraction beyond all floats
        return math.inf if value > 0 else -math.inf
    except Exception:
        return math.nan


def _in_steps(values: NDArray[np.float64], within: DeclaredRange) -> RowValues:
    low, width = float(within.low), float(within.width)
    failed = np.isnan(values)
    with np.errstate(over="ignore"):
        share = np.where(failed, 0.5, (np.where(failed, low, values) - low) / width)
    outside = failed | (values < float(within.low)) | (values > float(within.high))
    steps = np.floor(np.clip(share, 0.0, 1.0) * STEPS + 0.5).astype(np.int64)
    return RowValues(steps, outside)
