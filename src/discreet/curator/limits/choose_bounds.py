"""Choose bounds from a profile: the least expected error, of what a clamp cuts and of the noise.

Guarantee:
    The choice looks at the profile, which is public, at declarations and at the price. So it costs
    nothing, and the plan has the bounds that are chosen as it has any others: a filter that is
    valid for adaptive choices admits it.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.core.loss import Pure, Zcdp
from discreet.curator.limits.heavy_units import IF_ALIKE, at_most, most_together
from discreet.curator.limits.limits_error import SOME_GROUPS, Allocation
from discreet.curator.limits.offered_sql import name_in_sql, number_in_sql
from discreet.curator.price.allocate import Shares
from discreet.curator.profile.one_table import column_of
from discreet.curator.profile.stored_profile import profile_for
from discreet.project.noise import mechanism_for
from discreet.project.project import Project
from discreet.releases.estimates.estimate import MeanOf, parts
from discreet.releases.histogram import Floats, Histogram
from discreet.releases.profile import Profile
from discreet.releases.value_bins import MEASURED, value_bins
from discreet.releases.values import Values
from discreet.releases.view import ClampSource
from discreet.sql.aggregates.clamps import ChooseBounds, require_chosen
from discreet.sql.question import Question
from discreet.tables.column import Bounds, Column, ColumnType
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals, SumValues
from discreet.tables.relations.relation import Relation


def widest(relation: Relation, value: Expression, is_asked: bool) -> Bounds | None:
    """Return the widest bounds of a value whose bounds are to be chosen, until they are."""
    column = _column(relation, value)
    if column is None or not (is_asked or column.auto_bounds):
        return None
    bins = value_bins(column)
    return Bounds(lower=bins.lowest, upper=bins.highest, step=bins.step)


def _column(relation: Relation, value: Expression) -> Column | None:
    column = column_of(relation, value.index) if isinstance(value, FieldValue) else None
    is_number = column is not None and column.type in MEASURED and column.type is not _DATE
    return column if is_number else None


def _written(relation: Relation, value: Expression) -> str:
    """Return what a field is called where it is added up: in a sub-query it may be renamed."""
    assert isinstance(value, FieldValue)
    return relation.fields()[value.index].name


_DATE = ColumnType.DATE


def are_chosen(question: Question) -> bool:
    """Tell whether bounds of the question are to be chosen."""
    return ClampSource.CHOSEN in question.view.clamps


def choice(found: Mapping[str, Bounds]) -> ChooseBounds:
    """Return the choice of these bounds, by the names of columns."""

    def choose(relation: Relation, value: Expression, is_asked: bool) -> Bounds | None:
        column = _column(relation, value)
        if column is None or not (is_asked or column.auto_bounds):
            return None
        bounds = found.get(column.name)
        if bounds is None and column.bounds is None:
            require_chosen(value, relation.fields(), None)
        return bounds

    return choose


def choose_bounds(
    project: Project, question: Question, plan: BoundedPlan, shares: Allocation
) -> ChooseBounds:
    """Return the bounds with the least expected error, of columns whose values have a profile."""
    found = {}
    for proposal in propose_bounds(project, question, plan, shares(plan)):
        if proposal.source is ClampSource.CHOSEN:
            found[proposal.column] = proposal.bounds
    return choice(found)


def bounds_in(question: Question, plan: BoundedPlan) -> ChooseBounds:
    """Return the choice of the bounds that a question has already."""
    found = {}
    for aggregate, source in zip(plan.aggregates, question.view.clamps, strict=True):
        if source is ClampSource.CHOSEN and isinstance(aggregate.looked_at, FieldValue):
            column = column_of(plan.relation, aggregate.looked_at.index)
            if column is not None and aggregate.grid is not None:
                found[column.name] = aggregate.grid
    return choice(found)


@frozen(kw_only=True)
class BoundsProposal:
    """Bounds of a column, and the error to expect of a sum with them."""

    column: str
    written: str
    """What the query calls the column."""
    bounds: Bounds
    cut: float
    """About how much is cut off the sum of a group, if large values are those of anybody."""
    most_cut: float
    """About how much it is if those with the most rows have them."""
    noise: float
    """About how much the noise of it is."""
    source: ClampSource
    """Whose bounds the question has."""
    error_now: float
    """The error to expect with those."""

    @property
    def is_much_better(self) -> bool:
        """Whether the bounds of the question err far more."""
        return self.error_now > _MUCH * (self.cut + self.noise)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "column": self.column,
            "lower": str(self.bounds.lower),
            "upper": str(self.bounds.upper),
            "cut_off_a_group": self.cut,
            "most_cut_off_a_group": self.most_cut,
            "noise": self.noise,
            "error_now": self.error_now,
        }

    def __str__(self) -> str:
        """Say it in words."""
        low, high = number_in_sql(self.bounds.lower), number_in_sql(self.bounds.upper)
        name = name_in_sql(self.written)
        is_sure = self.most_cut + self.noise <= self.error_now
        least = "the least error in all" if is_sure else f"the least error {IF_ALIKE}"
        return (
            f"CLAMP({name}, {low}, {high}) would cut about {self.cut:,.0f} off the sum of a"
            f" group{at_most(self.cut, self.most_cut, self.noise)}, with noise of about"
            f" {self.noise:,.0f}: {least} (CLAMP({name}) chooses it), and about"
            f" {self.error_now:,.0f} now"
        )


_MUCH = 1.5


def propose_bounds(
    project: Project, question: Question, plan: BoundedPlan, shares: Shares
) -> Iterator[BoundsProposal]:
    """Yield the best bounds of each column that is clamped and whose values have a profile."""
    profile = profile_for(project, plan.relation)
    if profile is None:
        return
    means = {
        part.total
        for output in question.view.outputs
        for part in parts(output.estimate)
        if isinstance(part, MeanOf)
    }
    done = set()
    for index, aggregate in _sums_first(plan):
        if isinstance(aggregate, SumTotals):
            continue  # its range is that of totals
        column = _column(plan.relation, aggregate.looked_at) if aggregate.looked_at else None
        values = None if column is None else profile.values.get(column.name)
        source = question.view.clamps[index]
        if column is None or values is None or source is None or column.name in done:
            continue
        done.add(column.name)
        share = shares.aggregates.get(index)
        rate = _noise_of_a_step(plan, index, share)
        expected = _Expected(
            plan=plan, profile=profile, values=values, rate=rate, is_mean=index in means
        )
        best = expected.best()
        if best is not None and aggregate.grid is not None:
            low, high = best
            yield BoundsProposal(
                column=column.name,
                written=_written(plan.relation, aggregate.looked_at),
                bounds=Bounds(
                    lower=low * values.bins.step,
                    upper=high * values.bins.step,
                    step=values.bins.step,
                ),
                cut=expected.cut(low, high),
                most_cut=expected.most_cut(low, high),
                noise=expected.noise(low, high),
                source=source,
                error_now=expected.error_of(aggregate.grid),
            )


def _sums_first(plan: BoundedPlan) -> list[tuple[int, Any]]:
    pairs = enumerate(plan.aggregates)
    return sorted(pairs, key=lambda pair: not isinstance(pair[1], SumValues))


_MANY_STEPS = 10**6


def _noise_of_a_step(plan: BoundedPlan, index: int, share: Pure | Zcdp | None) -> float:
    """Return the spread of the noise for each step that a row can add; about none of a choice."""
    aggregate = plan.aggregates[index]
    if not isinstance(aggregate, SumValues) or share is None:
        return 0.0
    step = aggregate.bounds.step
    some = evolve(aggregate, bounds=Bounds(lower=0, upper=_MANY_STEPS * step, step=step), centre=0)
    with suppress(RefusedQuery):
        return float(mechanism_for(some, plan.reach(), share).spread) / _MANY_STEPS
    return 0.0


@frozen(kw_only=True)
class _Expected:
    """What is to be expected of a sum or a mean under a clamp, in steps or in values."""

    plan: BoundedPlan
    profile: Profile
    values: Values
    rate: float
    is_mean: bool

    def best(self) -> tuple[int, int] | None:
        """Return the best of all ends of bins, in steps; None if no unit stands out."""
        if not self.values.above.cleaned.any() or not self.values.below.cleaned.any():
            return None
        ends = self.values.bins.ends
        lows, highs = np.array(ends[:-1]) + 1, np.array(ends[1:])
        down = self._cut_below(lows.tolist())
        up = self._cut_above(highs.tolist())
        sizes = self._sizes(lows[:, None].astype(float), highs[None, :].astype(float))
        width = (highs[None, :] - lows[:, None]).astype(float)
        # Of equal ones the narrowest is taken.
        errors = down[:, None] + up[None, :] + self.rate * sizes + 1e-9 * (1 + self.rate) * width
        errors[width <= 0] = math.inf
        place = int(errors.argmin())
        low, high = int(lows[place // len(highs)]), int(highs[place % len(highs)])
        if self.is_mean:
            return low, high
        # Whatever is between zero and what counts can be kept without more noise.
        return min(low, max(0, ends[0] + 1)), max(high, min(0, ends[-1]))

    def cut(self, low: int, high: int) -> float:
        """Return about how much a clamp cuts off the sum of a group."""
        steps = float(self._cut_below([low])[0] + self._cut_above([high])[0])
        return steps * float(self.values.bins.step)

    def most_cut(self, low: int, high: int) -> float:
        """Return about how much it is if those with the most rows have the outermost values."""
        limits, bins = self.plan.limits, self.values.bins
        kept = limits.rows_per_unit or limits.rows_per_group * self._groups_of_a_unit

        def beyond(reaching: Histogram, limit: int) -> float:
            def cut(rows: Floats, far: Floats) -> Floats:
                return np.asarray(np.minimum(rows, kept) * np.maximum(far - limit, 0))

            return most_together(self.profile.rows, reaching, cut)

        steps = beyond(self.values.above, high - bins.ends[0])
        steps += beyond(self.values.below, bins.ends[-1] + 1 - low)
        return max(steps * float(bins.step) / self._groups, self.cut(low, high))

    def noise(self, low: int, high: int) -> float:
        """Return about how much the noise of the sum is."""
        size = float(self._sizes(np.array(float(low)), np.array(float(high))))
        return self.rate * size * float(self.values.bins.step)

    def error_of(self, bounds: Bounds) -> float:
        """Return the error to expect of the bounds that the question has."""
        step = self.values.bins.step
        low, high = math.ceil(bounds.lower / step), math.floor(bounds.upper / step)
        return self.cut(low, high) + self.noise(low, high)

    def _sizes(self, lows: Floats, highs: Floats) -> Floats:
        """Return how much a row adds at most: a mean is taken about the middle."""
        if self.is_mean:
            return np.asarray((highs - lows) / 2)
        return np.asarray(np.maximum(abs(lows), abs(highs)))

    def _cut_above(self, highs: list[int]) -> Floats:
        first, reaching = self.values.bins.ends[0], self.values.above
        zero = min(max(-first, 0), reaching.ends[-1])
        found = [_expected(reaching, high - first, zero) for high in highs]
        return np.array(found) * self._rows_of_a_unit

    def _cut_below(self, lows: list[int]) -> Floats:
        last, reaching = self.values.bins.ends[-1], self.values.below
        zero = min(max(last + 1, 0), reaching.ends[-1])
        found = [_expected(reaching, last + 1 - low, zero) for low in lows]
        return np.array(found) * self._rows_of_a_unit

    @property
    def _rows_of_a_unit(self) -> float:
        """Return about how many rows of a unit in a group have such a value.

        It is one at least, and all that count at most: the geometric mean of the two is taken.
        """
        rows = self.profile.rows
        units = max(float(rows.cleaned.sum()), 1.0)
        kept = max(rows.total() - rows.beyond(self.plan.limits.rows_per_group), units) / units
        return math.sqrt(kept) / self._groups

    @property
    def _groups(self) -> int:
        keys = self.plan.keys
        return max(keys.size() if isinstance(keys, PublicKeys) else SOME_GROUPS, 1)

    @property
    def _groups_of_a_unit(self) -> int:
        return min(self.plan.limits.groups_per_unit, self._groups)


_CAUTION = 0.5
"""How much counts of what the noise of a histogram may hide."""


def _expected(reaching: Histogram, limit: int, zero: int) -> float:
    return reaching.beyond(limit) + _CAUTION * reaching.hidden_near(limit, zero)
