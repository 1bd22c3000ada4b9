"""Public bins for the values of a column: they follow from what is declared of it, alone.

Values are counted in whole steps, as a sum counts them: those of the declared grid, 1 for whole
numbers, a thousandth for others, and days for dates.
"""

import datetime
import math
from collections.abc import Iterable
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.releases.histogram import count_bins
from discreet.tables.column import Bounds, Column, ColumnType

MEASURED = (ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE)
"""The types of columns whose values have an order, and a distance."""

ABOVE, NO_VALUE = 2**62, -(2**62)
"""The keys of the bins for what is more than the last end, and for units without a value."""

_CAP = 10**9
"""Up to which size a number has bins, if no range is declared."""
_FINE = Fraction(1, 1_000)
"""The step of a real number, if none is declared."""
_SINGLE, _EVEN = 64, 20
_SHORT, _LONG = 62, 12 * 366
_FIRST_YEAR, _LAST_YEAR = 1900, 2100


@frozen(kw_only=True)
class ValueBins:
    """Bins of whole steps. The first is all that is below the range, and behind the last is more.

    Example:
        >>> bins = value_bins(Column(name="age", type=ColumnType.INTEGER))
        >>> bins.ends[0], bins.ends[-1], bins.is_declared
        (-1000000001, 1000000000, False)
    """

    type: ColumnType
    step: Fraction
    ends: tuple[int, ...]
    """The last step of each bin."""
    is_declared: bool
    """Whether the range that they cover is declared: then nobody should be beyond it."""

    @property
    def lowest(self) -> Fraction:
        """The lower end of the range, in the units of the column (or as a number of days)."""
        return (self.ends[0] + 1) * self.step

    @property
    def highest(self) -> Fraction:
        """The upper end of the range."""
        return self.ends[-1] * self.step

    def in_steps(self, value: Number | datetime.date) -> Fraction:
        """Return a value of the column in steps, perhaps between two of them."""
        is_date = isinstance(value, datetime.date)
        if is_date is not (self.type is ColumnType.DATE):
            wanted = "a date" if self.type is ColumnType.DATE else "a number"
            raise InvalidArgument("A bound has another type than its column", must=f"be {wanted}")
        if isinstance(value, datetime.date):
            return Fraction(value.toordinal())
        return exact(value) / self.step

    def value(self, steps: int) -> Fraction | datetime.date:
        """Return so many steps as a value of the column."""
        if self.type is ColumnType.DATE:
            return datetime.date.fromordinal(max(steps, 1))
        return steps * self.step


def value_bins(column: Column) -> ValueBins:
    """Return the bins of a column, which follow from its declared type and range."""
    if column.type not in MEASURED:
        raise InvalidArgument(
            f"The values of '{column.name}' have no order that a clamp could cut",
            must="be a column of numbers or dates",
            got=column.type.value,
        )
    if column.type is ColumnType.DATE:
        return _of_dates(column)
    if column.bounds is not None:
        return _within(column.type, column.bounds)
    step = Fraction(1) if column.type is ColumnType.INTEGER else _FINE
    most = math.floor(_CAP / step)
    ends = _growing(-most, most)
    return ValueBins(type=column.type, step=step, ends=ends, is_declared=False)


def _within(kind: ColumnType, bounds: Bounds) -> ValueBins:
    """Return a bin for each step of a short range; else some even ones, and growing ones."""
    low, high = bounds.lower_steps, bounds.upper_steps
    if high - low <= _SINGLE:
        ends: Iterable[int] = range(low - 1, high + 1)
    else:
        even = (low + (high - low) * i // _EVEN for i in range(1, _EVEN))
        ends = sorted({*even, *_growing(low, high)})
    return ValueBins(type=kind, step=bounds.step, ends=tuple(ends), is_declared=True)


def _growing(low: int, high: int) -> tuple[int, ...]:
    """Return ends that grow by a fifth on both sides of what in the range is nearest to zero."""
    middle = min(max(0, low), high)
    found = {low - 1, high}
    if high > middle:
        found |= {middle, *(middle + distance for distance in count_bins(high - middle))}
    if low < middle:
        found |= {middle - 1, *(middle - distance - 1 for distance in count_bins(middle - low))}
    return tuple(sorted(found))


def _of_dates(column: Column) -> ValueBins:
    first, last = datetime.date(_FIRST_YEAR, 1, 1), datetime.date(_LAST_YEAR, 12, 31)
    if column.dates is not None:
        first, last = column.dates.first, column.dates.last
    low, high = first.toordinal(), last.toordinal()
    if high - low <= _SHORT:
        ends: set[int] = set(range(low, high))
    else:
        months = range(1, 13) if high - low <= _LONG else (1,)
        starts = (
            datetime.date(year, month, 1).toordinal()
            for year in range(first.year, last.year + 1)
            for month in months
        )
        ends = {start - 1 for start in starts if low < start <= high}
    return ValueBins(
        type=column.type,
        step=Fraction(1),
        ends=tuple(sorted(ends | {low - 1, high})),
        is_declared=column.dates is not None,
    )
