"""One column of an answer as text for people, with its error bars."""

import datetime
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import field, frozen

from discreet.releases.cells import decimals_for, rough_text, text
from discreet.releases.left_out import Ends
from discreet.tables.arithmetic.columns import Column, Scalar, column, day_of, scalars
from discreet.tables.arithmetic.enclosures import Interval, Intervals
from discreet.tables.arithmetic.ratios import Integers, Ratios, add, times, whole


def texts(values: Ratios) -> list[str]:
    """Return numbers without an error bar, as :mod:`discreet.releases.cells` has them."""
    if values.is_whole():
        found = zip(values.rounded_down().tolist(), values.known.tolist(), strict=True)
        return [str(number) if known else "NULL" for number, known in found]
    return [text(Fraction(top, low)) if known else "NULL" for top, low, known in values.pairs()]


def nearest_texts(values: Ratios, decimals: int) -> list[str]:
    """Return the nearest numbers of so many decimals, without zeros at the end.

    Example:
        >>> nearest_texts(Ratios.of([Fraction(5, 2), Fraction(-1, 3)]), 2)
        ['2.5', '-0.33']
    """
    tops = add(times(values.tops, whole([2 * 10**decimals])), values.bottoms)
    return _written(tops // times(values.bottoms, whole([2])), decimals)


def lower_texts(values: Ratios, decimals: int) -> list[str]:
    """Return the largest numbers of so many decimals that are not above."""
    return _written(times(values.tops, whole([10**decimals])) // values.bottoms, decimals)


def upper_texts(values: Ratios, decimals: int) -> list[str]:
    """Return the smallest numbers of so many decimals that are not below.

    Example:
        >>> third = Ratios.of([Fraction(1, 3)])
        >>> upper_texts(third, 2), lower_texts(third, 2), upper_texts(third.negative(), 2)
        (['0.34'], ['0.33'], ['-0.33'])
    """
    return _written(-(times(-values.tops, whole([10**decimals])) // values.bottoms), decimals)


def _written(units: Integers, decimals: int) -> list[str]:
    if not decimals:
        return list(map(str, units.tolist()))
    sizes, unit = abs(units), 10**decimals
    wholes, parts = sizes // unit, sizes % unit
    signs = np.where(units < 0, "-", "").tolist()
    found = zip(signs, wholes.tolist(), parts.tolist(), strict=True)
    return [
        f"{sign}{one}.{part:0{decimals}d}".rstrip("0") if part else f"{sign}{one}"
        for sign, one, part in found
    ]


BAR, RANGE, UNKNOWN = "±", "(… to …)", "unknown"
"""How noise is shown: one error bar for a column, an interval in a row, or that there is none."""

TOTAL = "[… to …]"
"""How noise and what limits left out are shown together."""

SAMPLE = "{… to …}"
"""How noise and who is in the table are shown together."""

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
    """The interval of each row, if they have no common error bar; None if there is no noise."""
    totals: Ends | None = None
    """Where the number of all rows lies, if limits may have left out some."""
    samples: Ends | None = None
    """Where the number of the population lies, if that is asked for."""
    asides: tuple[str, ...] = ()
    """What stands beside each value that noisy counts chose: which others it may be."""
    is_undefined: bool = False
    """Whether NULL means that the noisy numbers allow no value."""
    is_total_alone: bool = False
    """Whether the noise by itself is not shown, because it is nearly all there is."""

    def mark(self) -> str | None:
        """Return how noise is shown, to be explained below the table; None if it is not."""
        if self.is_total_alone:
            return None
        if self.bar is not None:
            return BAR
        return RANGE if self.intervals is not None and self.intervals.lows.known.any() else None

    def has_total(self) -> bool:
        """Tell whether some row has an end of a total interval, to be explained below the table."""
        ends = self.totals
        return ends is not None and bool((ends.lows.known | ends.highs.known).any())

    def is_unknown(self) -> bool:
        """Tell whether some row says that its noise, its total or its value is unknown."""
        has_value = np.array([value is not None for value in scalars(self.values)], dtype=bool)
        found = ~has_value if self.is_undefined else np.zeros(len(has_value), dtype=bool)
        if self.intervals is not None and self.bar is None:
            found = found | (has_value & ~self.intervals.known)
        if self.totals is not None:
            found = found | (has_value & ~(self.totals.lows.known | self.totals.highs.known))
        return bool(found.any())

    def has_samples(self) -> bool:
        """Tell whether there are sampling intervals, to be explained below the table."""
        return self.samples is not None

    def texts(self) -> list[str]:
        """Return what to show in each row.

        A value with noise of which no interval is known says so, and has few digits: what is least
        certain must not look the most certain.
        """
        if self.totals is not None:
            return _with_ends(self._values_shown(), self.values, self.totals, TOTAL)
        if self.samples is not None:
            return _with_ends(self._noise_texts(), self.values, self.samples, SAMPLE)
        return self._noise_texts()

    def _values_shown(self) -> list[str]:
        """Return what stands before the total interval."""
        if not self.is_total_alone or self.bar is None or not isinstance(self.values, Ratios):
            return self._noise_texts()
        return nearest_texts(self.values, decimals_for([self.bar]))

    def _noise_texts(self) -> list[str]:
        if self.intervals is not None and self.bar is None:
            found = _with_intervals(self.values, self.intervals)
            return [_as_unknown(one) for one in found] if self.is_undefined else found
        if isinstance(self.values, Ratios) and self.bar is not None:
            return _with_bar(self.values, self.bar)
        values = self.values
        found = texts(values) if isinstance(values, Ratios) else [text(value) for value in values]
        asides = self.asides or ("",) * len(found)
        return [shown + aside for shown, aside in zip(found, asides, strict=True)]


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


def _with_intervals(values: Column, intervals: Intervals) -> list[str]:
    if not isinstance(values, Ratios):
        return _days_with_intervals(values, intervals)
    least = intervals.least_width()
    decimals = decimals_for([] if least is None else [least / 2])
    found = zip(
        nearest_texts(values, decimals),
        lower_texts(intervals.lows, decimals),
        upper_texts(intervals.highs, decimals),
        (values.known & intervals.known).tolist(),
        values.scalars(),
        strict=True,
    )
    return [
        f"{number} ({low} to {high})" if known else _unknown(value)
        for number, low, high, known, value in found
    ]


def _unknown(value: Scalar | None) -> str:
    return text(None) if value is None else f"{rough_text(value)} ({UNKNOWN})"


def _as_unknown(shown: str) -> str:
    return UNKNOWN if shown == text(None) else shown


def _days_with_intervals(values: Sequence[Scalar | None], intervals: Intervals) -> list[str]:
    """Return days with the days between which they lie; of other values nothing is known."""
    lows, highs = _day_texts(intervals.lows), _day_texts(intervals.highs)
    found = zip(values, lows, highs, intervals.known.tolist(), strict=True)
    return [
        f"{value} ({low} to {high})"
        if known and isinstance(value, datetime.date)
        else _unknown(value)
        for value, low, high, known in found
    ]


def _day_texts(days: Ratios) -> list[str]:
    return [str(day_of(number)) for number in days.rounded_down().tolist()]


def _end_texts(values: Column, ends: Ends) -> tuple[list[str], list[str]]:
    if not isinstance(values, Ratios):
        return _day_texts(ends.lows), _day_texts(ends.highs)
    widths = ends.highs.minus(ends.lows).least_positive()
    if widths is None:  # at most one end of each is known: how far it is from the value counts
        sides = (values.minus(ends.lows), ends.highs.minus(values))
        far = [side.least_positive() for side in sides]
        widths = min((one for one in far if one is not None), default=None)
    decimals = 0 if values.is_whole() else decimals_for([] if widths is None else [widths / 2])
    return lower_texts(ends.lows, decimals), upper_texts(ends.highs, decimals)


def _with_ends(shown: list[str], values: Column, ends: Ends, mark: str) -> list[str]:
    """Return what is shown of each value, and where the number of all rows or people lies."""
    first, last = mark[0], mark[-1]
    found = zip(
        shown,
        *_end_texts(values, ends),
        ends.lows.known.tolist(),
        ends.highs.known.tolist(),
        (value is not None for value in scalars(values)),
        strict=True,
    )
    return [
        one
        if not is_known or _is_unknown(one)
        else f"{one} {first}{_between(low, high, is_low, is_high)}{last}"
        for one, low, high, is_low, is_high, is_known in found
    ]


def _is_unknown(shown: str) -> bool:
    return shown.endswith(f"({UNKNOWN})")


def _between(low: str, high: str, is_low: bool, is_high: bool) -> str:
    if is_low and is_high:
        return f"{low} to {high}"
    if is_low:
        return f"{low} or more"
    return f"{high} or less" if is_high else UNKNOWN
