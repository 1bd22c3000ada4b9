"""The intervals of an answer: of its noise, of all rows, and of a population."""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from attrs import frozen

from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.answer_frame import IntervalKind
from discreet.releases.body import Body
from discreet.releases.estimates.estimate import (
    Calculation,
    Estimate,
    MeanOf,
    QuantileOf,
    SelectedOf,
    TotalOf,
)
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.rules import intervals_within
from discreet.releases.headline import Moved, moved_far
from discreet.releases.left_out import COUNTS, Ends, LeftOut, range_of, total_ends
from discreet.releases.mode import ModeCells, mode_cells, rivals_of_all
from discreet.releases.rounding import CHOICE, RoundedOutput, RoundingBound
from discreet.releases.sampling import PopulationSample
from discreet.releases.view import Output, View, intervals, margins
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.column import ColumnType


@frozen(kw_only=True)
class AnswerIntervals:
    """All that intervals of the outputs of one answer are made from."""

    view: View
    body: Body
    left_out: LeftOut | None
    groups: Groups

    def of(self, kind: IntervalKind) -> Callable[[Output, Fraction], Ends]:
        """Return what finds the intervals of a kind, for an output and a probability."""
        rules = (self.total, self.noise, self.sampling)
        return dict(zip(IntervalKind, rules, strict=True))[kind]

    def noise(self, output: Output, beta: Fraction) -> Ends:
        """Return for each row where the value without noise lies."""
        return Ends.of(intervals(output, self.groups, self.body, beta=beta))

    def sampling(self, output: Output, beta: Fraction) -> Ends:
        """Return for each row where the number of the population lies."""
        estimate = output.estimate
        find = partial(self._sampled, estimate)
        rows = self._rounding.expected_rows(self.groups, self._expected_rows)
        found = self._rounding.ends(estimate, self.groups, rows, find, beta)
        return self._in_range(estimate, found)

    def _sampled(self, estimate: Estimate, beta: Fraction) -> Ends:
        known = PopulationSample(view=self.view, body=self.body, left_out=self.left_out, beta=beta)
        return Ends.of(known.intervals(estimate, self.groups))

    def _expected_rows(self, count: int, beta: Fraction) -> Ratios:
        return self._sampled(TotalOf(ColumnType.INTEGER, count), beta).highs

    def _in_range(self, estimate: Estimate, found: Ends) -> Ends:
        """Return ends within the range of the values, if it is a mean or a quantile of them."""
        if isinstance(estimate, QuantileOf):
            drawn = self.groups.ends.get(estimate.index)
            return found if drawn is None else found.clipped(drawn.lower, drawn.upper)
        if not isinstance(estimate, MeanOf):
            return found
        cut = self.left_out
        return found.clipped(
            *range_of(estimate, None if cut is None else cut.clamping(estimate.total))
        )

    def total(self, output: Output, beta: Fraction) -> Ends:
        """Return for each row where the value without noise, limits, clamps and rounding lies."""
        estimate, rounding = output.estimate, self._rounding
        if rounding.touches(estimate) and not rounding.is_plain(estimate):
            return self._worked_out(estimate, beta)
        find = partial(self._on_the_grid, output)
        rows = rounding.most_rows(self.groups, margins(self.body))
        return self._in_range(estimate, rounding.ends(estimate, self.groups, rows, find, beta))

    def _worked_out(self, estimate: Estimate, beta: Fraction) -> Ends:
        """Return the same of what is worked out of rounded values."""
        plain = margins(self.body)
        rounded = self._rounding.margins(plain)
        if self.left_out is None:
            return Ends.of(intervals_within(estimate, self.groups, rounded, beta=beta))
        return total_ends(estimate, self.groups, plain, self.left_out, beta=beta, rounded=rounded)

    def _on_the_grid(self, output: Output, beta: Fraction) -> Ends:
        """Return the same of values as they are rounded."""
        if self.left_out is None:
            return self.noise(output, beta)
        margin, estimate = margins(self.body), output.estimate
        found = total_ends(estimate, self.groups, margin, self.left_out, beta=beta)
        if isinstance(estimate, TotalOf | SelectedOf):
            is_count = self.body.aggregates[estimate.index].kind in COUNTS
            return found.not_below_zero() if is_count else found
        return found

    def has_total(self, output: Output) -> bool:
        """Tell whether the total interval is another one than that of noise."""
        is_cut = self.left_out is not None and self.left_out.touches(output.estimate)
        return is_cut or self.is_rounded(output) or not self._rounding.is_known(output.estimate)

    def moved_far(self) -> list[Moved]:
        """Return in how many rows limits or clamps may have moved each output far.

        Total intervals are compared with those of as much of the probability as noise has in them.
        """
        cut = self.left_out
        if cut is None:
            return []
        beta = 1 - CONFIDENCE
        found = self._changed_mode(cut)
        for output in self.view.outputs:
            if output.is_noisy() and cut.touches(output.estimate):
                noise = intervals(output, self.groups, self.body, beta=beta - cut.beta)
                ends = self.total(output, beta)
                found += [] if ends.are_nearly(noise) else [moved_far(output.name, noise, ends)]
        return found

    def _changed_mode(self, cut: LeftOut) -> list[Moved]:
        """Return in how many groups the most frequent value of all rows may be another one."""
        mode = self.view.mode
        if mode is None:
            return []
        values = rivals_of_all(mode, self.view.possible_groups(self.body), self.body, cut)
        unsure = 0 if values is None else sum(len(some) > 1 for some in values)
        of = 0 if values is None else len(values)
        return [Moved(name=mode.name, rows=unsure, of=of, is_choice=True)]

    def sure_modes(self, kind: IntervalKind) -> dict[str, list[bool]]:
        """Tell for each row of a mode whether no other value may be it, by name of the output."""
        found, of_all = self._mode, kind is IntervalKind.TOTAL
        return {} if found is None else {found.name: found.are_sure(of_all=of_all)}

    def mode_asides(self, name: str, kind: IntervalKind) -> tuple[str, ...]:
        """Return what to show beside each value of an output, if it is a mode."""
        found = self._mode
        if found is None or found.name != name:
            return ()
        return found.asides(of_all=kind is IntervalKind.TOTAL)

    def rivals(self) -> dict[str, Any]:
        """Return which other values a mode may be, as plain values; nothing if there is none."""
        return {} if self._mode is None else {"rivals": {self._mode.name: self._mode.to_json()}}

    @cached_property
    def _mode(self) -> ModeCells | None:
        mode = self.view.mode
        if mode is None:
            return None
        possible = self.view.possible_groups(self.body)
        return mode_cells(mode, possible, self.groups, self.body, self.left_out)

    def is_rounded(self, output: Output) -> bool:
        """Tell whether the total interval is wider because values are rounded."""
        plain = margins(self.body)
        return self._rounding.matters(output.estimate, self.groups, plain, 1 - CONFIDENCE)

    def on_rounding(self) -> list[str]:
        """Say which values are rounded, where that matters."""
        noisy = [output for output in self.view.outputs if output.is_noisy()]
        found = (
            RoundedOutput(
                name=one.name,
                estimate=one.estimate,
                is_seen=self._shows_rounding(one),
                needs_count=self._rounding.needs_count(one.estimate),
            )
            for one in noisy
            if self.is_rounded(one) or not self._rounding.is_known(one.estimate)
        )
        return self._rounding.notes([*found, *self._rounded_choices()])

    def _rounded_choices(self) -> list[RoundedOutput]:
        """Return by which rounded numbers the rows that are shown were chosen."""
        if self.view.mode is not None:
            return []
        plain, rounding, beta = margins(self.body), self._rounding, 1 - CONFIDENCE
        before, after = self.view.possible_groups, self.view.groups_with_windows
        having = [] if self.view.having is None else [self.view.having]
        return [
            RoundedOutput(name=CHOICE, estimate=number, is_seen=False)
            for tests, find in ((having, before), (self.view.choosing(), after))
            for test in tests
            for number in _compared(test)
            if rounding.touches(number) and rounding.matters(number, find(self.body), plain, beta)
        ]

    def _shows_rounding(self, output: Output) -> bool:
        """Tell whether the total interval takes account of rounding, and is known anywhere."""
        if not self._rounding.is_known(output.estimate):
            return False
        found = self.total(output, 1 - CONFIDENCE)
        return bool((found.lows.known | found.highs.known).any())

    @property
    def _rounding(self) -> RoundingBound:
        return RoundingBound(roundings=self.view.roundings, body=self.body)


def _compared(test: Estimate) -> list[Estimate]:
    """Return the numbers that a condition looks at."""
    if isinstance(test, Calculation) and test.type is ColumnType.BOOLEAN:
        return [number for argument in test.arguments for number in _compared(argument)]
    return [test]
