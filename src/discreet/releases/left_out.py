r"""What limits and clamps left out of an answer, and where the numbers without them lie.

*Noise* is what a mechanism added, and its interval is known exactly. *Total* is noise together with
what the limits left out and what clamps cut: an interval for the number of all rows, with their
values as they are. It follows from a profile of the table, and where nobody has made one, or nobody
knows how much a unit can have at most or how far values reach, one end or both are unknown.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve, field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.unit_words import put_in
from discreet.releases.estimates.estimate import (
    Calculation,
    Estimate,
    MeanOf,
    SelectedOf,
    TotalOf,
    indices,
)
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.linear import linear
from discreet.releases.estimates.margins import AnyMargins, Coarse, Margin, Margins, further
from discreet.releases.estimates.rules import intervals_of, intervals_within
from discreet.releases.profile import Share
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Ratios, choose, larger, smaller

Change = tuple[Fraction | None, Fraction | None]
"""By how much an exact number changes if nothing is left out: at least, and at most."""

UNCHANGED: Change = (Fraction(0), Fraction(0))
COUNTED: Change = (Fraction(0), None)
"""Of what only grows if nothing is left out: nobody knows how far."""

UNKNOWN: Change = (None, None)


_RAREST = Fraction(1, 10**290)
"""What is rarer is too rare for the floating point of a profile's bounds."""


@frozen(kw_only=True)
class Clamping:
    """What the clamp of one aggregate cuts off values, as far as it is known."""

    text: str
    """The value that is clamped, as a query writes it."""
    taken: Change
    """How much the values of the rows that count in a group are larger without the clamp."""
    taken_of_all: Change
    """How much those of all rows are, whether or not they count."""
    lowest: Fraction | None
    """Where values lie without the clamp, if that is known."""
    highest: Fraction | None
    units: Share | None
    """Which share of the units has such a value, if somebody has measured it."""
    reason: str
    """Why it is not known how much is cut, if so, in words."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "value": self.text,
            "units": None if self.units is None else self.units.to_json(),
            "known": None not in self.taken,
            "why_not": put_in(self.reason) or None,
        }


@frozen(kw_only=True)
class LeftOut:
    """What the limits and clamps of an answer left out, as far as it is known.

    The bounds hold all at once, except with the probability ``beta``.
    """

    rows: Change
    """How many rows, in all groups together."""
    share: Share | None
    """Which share of the rows that are asked about, if that is known."""
    of_table: Share | None = None
    """Where a part of a table is asked about: which share the limits leave out of all its rows."""
    table: str = ""
    """The table that this is about."""
    each: tuple[Change, ...]
    """By how much each aggregate of a group would change."""
    beta: Fraction = Fraction(0)
    reason: str = ""
    """Why nothing is known, if so, in words."""
    clamps: tuple[Clamping | None, ...] = ()
    """For each aggregate what its clamp cuts; None if surely nothing."""
    inside: tuple[Clamping, ...] = ()
    """What clamps below the aggregates surely cut: then nothing is known of any number."""
    clamps_totals: bool = False
    """Whether totals of units are clamped as a whole."""
    by_limits: bool = True
    """Whether limits can leave out anything; if not, it is all about clamps."""
    by_chance: frozenset[int] = frozenset()
    """The aggregates of which it may be more with the probability ``beta``, even if it is nothing
    otherwise."""
    worked_out: "Callable[[Fraction], LeftOut] | None" = field(default=None, eq=False, repr=False)
    """The same for another probability, where it depends on one."""

    def for_half_of(self, beta: Fraction) -> "LeftOut":
        """Return what holds except with half of a probability."""
        if beta == 2 * self.beta or self.worked_out is None:
            return self
        if not _RAREST <= beta < 1:
            raise InvalidArgument(
                "confidence is out of range",
                must="lie above 0, and below 1 by at least 1e-290",
                got="more" if beta < _RAREST else "less",
            )
        return self.worked_out(beta / 2)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        low, high = self.rows
        return {
            "rows": {"low": int(low or 0), "high": None if high is None else int(high)},
            "share": None if self.share is None else self.share.to_json(),
            "of_table": None if self.of_table is None else self.of_table.to_json(),
            "known": self.is_known,
            "why_not": put_in(self.reason) or None,
            "clamps": [clamping.to_json() for clamping in self.clampings()],
        }

    def because(self, reason: str) -> "LeftOut":
        """Return the same with another reason for not knowing more."""
        clamps = tuple(one and evolve(one, reason=one.reason and reason) for one in self.clamps)
        inside = tuple(evolve(one, reason=reason) for one in self.inside)
        return evolve(self, reason=reason, clamps=clamps, inside=inside)

    def clampings(self) -> tuple[Clamping, ...]:
        """Return what clamps cut, of each value once."""
        every = (*self.inside, *self.clamps)
        found = {one.text: one for one in reversed(every) if one is not None}
        return tuple(reversed(found.values()))

    def clamping(self, index: int) -> Clamping | None:
        """Return what the clamp of an aggregate cuts."""
        return self.clamps[index] if self.clamps else None

    @property
    def is_known(self) -> bool:
        """Whether the number of rows that were left out is bounded."""
        return self.rows[1] is not None

    def touches(self, estimate: Estimate) -> bool:
        """Tell whether an estimate may be another one if nothing is left out."""
        return any(self.may_change(index) for index in indices(estimate))

    def may_change(self, index: int) -> bool:
        """Tell whether an aggregate may be another number if nothing is left out."""
        is_anything = bool(self.inside) or index in self.by_chance
        return is_anything or self.each[index] != UNCHANGED

    def bounds(self, estimate: Estimate) -> bool:
        """Tell whether it is known how much is left out of all that an estimate is made of."""
        changes = [self.each[index] for index in indices(estimate)]
        is_bounded = self.is_known and not self.inside
        return is_bounded and all(None not in change for change in changes)

    @property
    def is_nothing(self) -> bool:
        """Whether surely nothing was left out."""
        is_sure = not self.inside and not self.by_chance
        return is_sure and all(change == UNCHANGED for change in self.each)


def unknown_left_out(
    each: Iterable[Change], reason: str, clamps: tuple[Clamping | None, ...] = ()
) -> LeftOut:
    """Return that it is not known how much was left out; counts can only have lost."""
    return LeftOut(rows=COUNTED, share=None, each=tuple(each), reason=reason, clamps=clamps)


@frozen(eq=False)
class Ends:
    """The two ends of an interval in each row; each of them may be unknown by itself."""

    lows: Ratios
    highs: Ratios

    @staticmethod
    def of(intervals: Intervals) -> "Ends":
        """Return intervals as ends."""
        return Ends(intervals.lows, intervals.highs)

    def not_below_zero(self) -> "Ends":
        """Return the ends of numbers that cannot be negative."""
        return self.clipped(Fraction(0), None)

    def clipped(self, lowest: Fraction | None, highest: Fraction | None) -> "Ends":
        """Return the ends of numbers that lie in a range, as far as that is known."""

        def inside(end: Ratios) -> Ratios:
            found = end
            if lowest is not None:
                found = larger(found, Ratios.constant(lowest, len(end)))
            if highest is not None:
                found = smaller(found, Ratios.constant(highest, len(end)))
            return found.where_known(end.known)

        return Ends(inside(self.lows), inside(self.highs))

    def are_half_known(self) -> bool:
        """Tell whether somewhere one end is known, and nowhere both."""
        low, high = self.lows.known, self.highs.known
        return bool((low ^ high).any() and not (low & high).any())

    def are_nearly(self, intervals: Intervals) -> bool:
        """Tell whether they are known, and hardly wider than the intervals."""
        are_known = self.lows.known & self.highs.known & intervals.known
        wide = self.highs.floats() - self.lows.floats()
        narrow = intervals.highs.floats() - intervals.lows.floats()
        return bool(are_known.all() and (wide <= _HARDLY * narrow).all())


_HARDLY = 1.5


def total_ends(
    estimate: Estimate,
    groups: Groups,
    margins: Margins,
    left_out: LeftOut,
    *,
    beta: Fraction,
    rounded: AnyMargins | None = None,
) -> Ends:
    r"""Return where an estimate of the exact numbers lies if no limit had left anything out.

    Utility:
        With probability at least :math:`1 - \beta` over the noise of the answer and of the profile
        the number is between the ends that are known.

        Proof. Except with half of the probability each exact number without limits is that
        with limits plus a change between the bounds; except with the other half of it each
        noisy number is within its margin of that with limits. By the union bound both hold, and
        then so does interval arithmetic over the two together. That nothing is left out is a bound
        like others: if it may be wrong, noise has half of the probability, not all of it. A mean
        over all rows is
        :math:`(1-f) m + f c` with the mean :math:`m` over the kept rows, the mean :math:`c` of the
        others, which is in the bounds of the value, and the part :math:`f` of the others; so it is
        lowest if :math:`c` is the lower bound and :math:`f` is largest. If a clamp cuts, then
        :math:`m` is the mean of clamped values and what was taken off over the number of kept
        rows, which is never more than the distance from the clamp to the end of the range; and
        :math:`c` is in the range.

        With margins of ``rounded`` values, of an estimate that is neither a sum of multiples nor a
        mean, it is the number of values as they are. Only rows that count are rounded: what the
        others would change is bounded by the range of the values themselves.
    """
    if left_out.inside and indices(estimate):
        return Ends.of(Intervals.unknown(groups.size))
    left_out = left_out.for_half_of(beta)
    rest = beta - left_out.beta
    changes = {index: left_out.each[index] for index in indices(estimate)}
    if not left_out.touches(estimate):
        return Ends.of(
            intervals_of(estimate, groups, margins, beta=beta)
            if rounded is None
            else intervals_within(estimate, groups, rounded, beta=beta)
        )
    coefficients = linear(estimate)
    if isinstance(estimate, SelectedOf):
        coefficients = {estimate.index: Fraction(1)}
    if coefficients is not None:
        found = intervals_of(estimate, groups, margins, beta=rest)
        ends = [_added(changes[i], multiple) for i, multiple in coefficients.items()]
        low, high = _summed(low for low, _ in ends), _summed(high for _, high in ends)
        return Ends(found.lows.plus(groups.constant(low)), found.highs.plus(groups.constant(high)))
    if isinstance(estimate, MeanOf) and left_out.is_known:
        return _of_mean(estimate, groups, margins, left_out, rest)
    if None in [end for change in changes.values() for end in change]:
        return Ends.of(Intervals.unknown(groups.size))
    widened = _widened(estimate, left_out)
    if widened is None:
        return Ends.of(Intervals.unknown(groups.size))
    return Ends.of(_enclosed(widened, groups, rounded or margins, changes, rest))


def _widened(estimate: Estimate, left_out: LeftOut) -> Estimate | None:
    """Return the estimate with means that are not held to a clamp which cuts; None if unknown."""
    if not any(left_out.clamping(index) for index in indices(estimate)):
        return estimate
    if isinstance(estimate, MeanOf):
        clamping = left_out.clamping(estimate.total)
        if clamping is None:
            return estimate
        if clamping.lowest is None or clamping.highest is None:
            return None
        return evolve(estimate, lower=clamping.lowest, upper=clamping.highest)
    if isinstance(estimate, Calculation):
        found = [_widened(argument, left_out) for argument in estimate.arguments]
        arguments = tuple(argument for argument in found if argument is not None)
        return evolve(estimate, arguments=arguments) if len(arguments) == len(found) else None
    return estimate if isinstance(estimate, TotalOf) else None


def _added(change: Change, multiple: Fraction) -> Change:
    ends = [None if end is None else multiple * end for end in change]
    return (ends[0], ends[1]) if multiple >= 0 else (ends[1], ends[0])


def _summed(ends: Iterable[Fraction | None]) -> Fraction | None:
    total = Fraction(0)
    for end in ends:
        if end is None:
            return None
        total += end
    return total


def _of_mean(
    estimate: MeanOf, groups: Groups, margins: Margins, left_out: LeftOut, beta: Fraction
) -> Ends:
    kept = Ends.of(intervals_of(estimate, groups, margins, beta=beta))
    most = left_out.rows[1]
    assert most is not None
    margin, one = groups.constant(margins(estimate.count, beta / 2)), groups.constant(1)
    fewest = groups.values[estimate.count].minus(margin)
    clamping = left_out.clamping(estimate.total)
    if clamping is not None:
        kept = _unclamped(estimate, groups, kept, clamping, larger(fewest, one))
    lowest, highest = map(groups.constant, range_of(estimate, clamping))
    cut = groups.constant(most)
    part = cut.over(larger(fewest, one).plus(cut))
    # Where perhaps no row is kept, all that is known is the range of the value.
    is_kept = fewest.compared(one, operator.ge)
    return Ends(
        choose(is_kept, kept.lows.plus(lowest.minus(kept.lows).times(part)), lowest),
        choose(is_kept, kept.highs.plus(highest.minus(kept.highs).times(part)), highest),
    )


def range_of(estimate: MeanOf, clamping: Clamping | None) -> Change:
    """Return where the values of a mean lie, as far as that is known."""
    if clamping is None:
        return estimate.lower, estimate.upper
    return clamping.lowest, clamping.highest


def _unclamped(
    estimate: MeanOf, groups: Groups, kept: Ends, clamping: Clamping, fewest: Ratios
) -> Ends:
    """Return where the mean of the rows that count lies, of their values without the clamp."""

    def further(distance: Fraction, taken: Fraction | None) -> Ratios:
        each = groups.constant(distance)
        return each if taken is None else smaller(each, groups.constant(taken).over(fewest))

    lows = highs = groups.constant(None)
    low, high = clamping.taken
    if clamping.lowest is not None:
        taken = None if low is None else -low
        lows = kept.lows.minus(further(estimate.lower - clamping.lowest, taken))
    if clamping.highest is not None:
        highs = kept.highs.plus(further(clamping.highest - estimate.upper, high))
    return Ends(lows, highs)


def _enclosed(
    estimate: Estimate,
    groups: Groups,
    margins: AnyMargins,
    changes: dict[int, Change],
    beta: Fraction,
) -> Intervals:
    def margin(index: int, share: Fraction) -> Margin:
        low, high = changes[index]
        assert low is not None
        assert high is not None
        found = margins(index, share)
        return found.further(low, high) if isinstance(found, Coarse) else further(found, low, high)

    return intervals_within(estimate, groups, margin, beta=beta)


COUNTS = {"count", "count_units", "count_distinct"}
"""Aggregates that are never negative, whatever the noise."""


def unmeasured(kinds: Sequence[str], *, can_leave_out: bool) -> LeftOut | None:
    """Return what is left out of such aggregates where nobody has measured it."""
    if can_leave_out:
        each = (COUNTED if kind in COUNTS else UNKNOWN for kind in kinds)
        return unknown_left_out(each, "nobody has said here how many")
    if COUNTS.issuperset(kinds):
        return None
    # What a clamp cuts is not said either.
    cut = tuple(UNCHANGED if kind in COUNTS else UNKNOWN for kind in kinds)
    return LeftOut(rows=UNCHANGED, share=None, each=cut, by_limits=False)
