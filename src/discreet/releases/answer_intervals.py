"""The intervals of an answer: of its noise, of all rows, and of a population."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from attrs import frozen

from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.answer_frame import IntervalKind
from discreet.releases.body import Body
from discreet.releases.estimates.estimate import Estimate, MeanOf, SelectedOf, TotalOf
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.ratios import Ratios, within
from discreet.releases.left_out import COUNTS, Ends, LeftOut, total_ends
from discreet.releases.rounding import RoundingBound
from discreet.releases.sampling import PopulationSample
from discreet.releases.view import Output, View, intervals, margins
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
        find, rows = partial(self._sampled, estimate), self._expected_rows
        found = self._rounding.ends(estimate, self.groups, rows, find, beta)
        return self._in_range(estimate, found)

    def _sampled(self, estimate: Estimate, beta: Fraction) -> Ends:
        known = PopulationSample(view=self.view, body=self.body, left_out=self.left_out, beta=beta)
        return Ends.of(known.intervals(estimate, self.groups))

    def _expected_rows(self, count: int, beta: Fraction) -> Ratios:
        return self._sampled(TotalOf(ColumnType.INTEGER, count), beta).highs

    def _most_rows(self, count: int, beta: Fraction) -> Ratios:
        margin = self.groups.constant(margins(self.body)(count, beta))
        return self.groups.values[count].plus(margin)

    def _in_range(self, estimate: Estimate, found: Ends) -> Ends:
        """Return the ends of a mean within the range of its values, unless a clamp cuts these."""
        if not isinstance(estimate, MeanOf) or not self._rounding.touches(estimate):
            return found
        if self.left_out is not None and self.left_out.clamping(estimate.total) is not None:
            return found
        low, high = map(self.groups.constant, (estimate.lower, estimate.upper))
        lows, highs = (within(end, low, high) for end in (found.lows, found.highs))
        return Ends(lows.where_known(found.lows.known), highs.where_known(found.highs.known))

    def total(self, output: Output, beta: Fraction) -> Ends:
        """Return for each row where the value without noise, limits, clamps and rounding lies."""
        estimate, find = output.estimate, partial(self._on_the_grid, output)
        found = self._rounding.ends(estimate, self.groups, self._most_rows, find, beta)
        return self._in_range(estimate, found)

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
        return is_cut or self.is_rounded(output)

    def is_rounded(self, output: Output) -> bool:
        """Tell whether the total interval is wider because values are rounded."""
        if not self._rounding.touches(output.estimate):
            return False
        beta, estimate = 1 - CONFIDENCE, output.estimate
        noise = self.noise(output, beta)
        return self._rounding.matters(estimate, self.groups, self._most_rows, noise, beta)

    def on_rounding(self) -> list[str]:
        """Say which values are rounded, where that matters."""
        noisy = [output for output in self.view.outputs if output.is_noisy()]
        return self._rounding.notes((one.estimate, self.is_rounded(one)) for one in noisy)

    @property
    def _rounding(self) -> RoundingBound:
        return RoundingBound(roundings=self.view.roundings, body=self.body)
