"""One column of an answer as text, with its error bars."""

from collections.abc import Sequence
from fractions import Fraction

from attrs import field, frozen

from discreet.releases.cell import decimals_for, text
from discreet.releases.estimates.columns import Column, column
from discreet.releases.estimates.enclosures import Interval, Intervals
from discreet.releases.estimates.ratios import Ratios
from discreet.releases.number_texts import lower_texts, nearest_texts, texts, upper_texts

BAR, RANGE = "±", "(… to …)"
"""How noise is shown: one error bar for a column, or an interval in each row."""

_EXACT_DECIMALS = 6


def _values(values: Column) -> Column:
    return values if isinstance(values, Ratios) else column(list(values))


def _intervals(given: Intervals | Sequence[Interval | None] | None) -> Intervals | None:
    return given if given is None or isinstance(given, Intervals) else Intervals.of(given)


@frozen(kw_only=True)
class ShownColumn:
    """The values of one output, and what is known of the noise in them.

    Utility:
        The numbers that are shown are rounded, and the claim is made about them: an error bar that
        is shown is not below the true one plus what rounding the value can add, and an interval
        that is shown holds the true one.
    """

    name: str
    values: Column = field(converter=_values)
    bar: Fraction | None = None
    """The error bar, if all rows have the same one."""
    intervals: Intervals | None = field(default=None, converter=_intervals)
    """The interval of each row, if they have no common error bar."""

    def mark(self) -> str | None:
        """Return how noise is shown, to be explained below the table; None if it is not."""
        if self.bar is not None:
            return BAR
        return RANGE if self.intervals is not None and self.intervals.lows.known.any() else None

    def texts(self) -> list[str]:
        """Return what to show in each row."""
        if not isinstance(self.values, Ratios):
            return [text(value) for value in self.values]
        if self.bar is not None:
            return _with_bar(self.values, self.bar)
        if self.intervals is not None and self.mark() is not None:
            return _with_intervals(self.values, self.intervals)
        return texts(self.values)


def _with_bar(values: Ratios, bar: Fraction) -> list[str]:
    decimals = decimals_for([bar])
    fine = 10**_EXACT_DECIMALS
    if values.is_whole(fine) and (bar * fine).denominator == 1:
        decimals = _EXACT_DECIMALS  # nothing needs to be rounded
    else:
        bar += Fraction(1, 2 * 10**decimals)
    (above,) = upper_texts(Ratios.of([bar]), decimals)
    found = zip(nearest_texts(values, decimals), values.known.tolist(), strict=True)
    return [f"{number} ± {above}" if known else "NULL" for number, known in found]


def _with_intervals(values: Ratios, intervals: Intervals) -> list[str]:
    least = intervals.least_width()
    decimals = decimals_for([] if least is None else [least / 2])
    both = values.known & intervals.lows.known
    found = zip(
        nearest_texts(values, decimals),
        lower_texts(intervals.lows, decimals),
        upper_texts(intervals.highs, decimals),
        both.tolist(),
        strict=True,
    )
    shown = [f"{value} ({low} to {high})" if known else None for value, low, high, known in found]
    if both.all():
        return [line for line in shown if line is not None]
    plain = texts(values)
    return [other if line is None else line for line, other in zip(shown, plain, strict=True)]
