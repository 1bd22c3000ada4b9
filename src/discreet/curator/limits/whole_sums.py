r"""Sums of a question in two ways: of some rows of a unit, or of all of them, clamped as a whole.

Guarantee:
    What is compared here is read off a profile, which is public. It is about utility alone.

Utility:
    Let a unit have :math:`n` rows in a group, of a value that is :math:`v` on average and at most
    :math:`h`. A limit of :math:`r` rows leaves out :math:`(n - r)^+ v`, at the noise of :math:`rh`.
    A total that is clamped to :math:`t` loses about :math:`(nv - t)^+`, at the noise of :math:`t`:
    as much as a limit of :math:`t/v` rows, and the noise of :math:`v/h` times as many. What a
    profile knows of :math:`v` is the largest and the smallest value of units: the middle of their
    averages is taken. A single value above :math:`t` is cut as well. That supposes that who has
    many rows has values as others do; what it is at most, if not, is said beside it.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core.errors import DiscreetError
from discreet.core.loss import Pure, Zcdp
from discreet.curator.limits.groups_kept import grouped_column, keeps_all_groups
from discreet.curator.limits.heavy_units import IF_ALIKE, at_most, most_together
from discreet.curator.limits.likely_histograms import LikelyProfile
from discreet.curator.limits.limits_error import (
    Allocation,
    expected_cut,
    groups_shown,
    limits_given,
)
from discreet.curator.limits.offered_sql import number_in_sql, value_in_sql
from discreet.curator.profile.one_table import column_of
from discreet.curator.profile.stored_profile import profile_for
from discreet.project.noise import mechanism_for
from discreet.project.project import Project
from discreet.releases.estimates.estimate import TotalOf
from discreet.releases.histogram import Floats
from discreet.releases.profile import Profile
from discreet.releases.values import Values
from discreet.sql.question import Question
from discreet.tables.catalog import Limits
from discreet.tables.column import Bounds
from discreet.tables.expression import FieldValue
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals, SumValues


@frozen(kw_only=True)
class SumComparison:
    """A sum of a column in both ways, at best: what is cut off a group, and the noise."""

    column: str
    value: str
    """What is added up, as a query writes it."""
    total: Fraction
    """The upper end of a total, where it is clamped as a whole."""
    whole_cut: float
    whole_most: float
    """As the cut, if those with the most rows have the largest values."""
    whole_noise: float
    limits: Limits
    """The limits, where rows are left out."""
    sampled_cut: float
    sampled_most: float
    sampled_noise: float
    is_whole: bool
    """Whether the question clamps totals."""

    @property
    def sql(self) -> str:
        """The sum with totals that are clamped as a whole."""
        ends = f"(0, {number_in_sql(self.total)})"
        return f"SUM({self.value}, contribution_bounds_per_group => {ends})"

    @property
    def whole(self) -> float:
        """The error of clamping as a whole."""
        return self.whole_cut + self.whole_noise

    @property
    def sampled(self) -> float:
        """The error of sampling rows."""
        return self.sampled_cut + self.sampled_noise

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "column": self.column,
            "sql": self.sql,
            "now": "whole" if self.is_whole else "sampled",
            "errs_less": "whole" if self.whole < self.sampled else "sampled",
            "whole": {
                "upper": str(self.total),
                "cut": self.whole_cut,
                "most_cut": self.whole_most,
                "noise": self.whole_noise,
            },
            "sampled": {
                "cut": self.sampled_cut,
                "most_cut": self.sampled_most,
                "noise": self.sampled_noise,
            }
            | self.limits.given(),
        }

    def __str__(self) -> str:
        """Say which of the two errs less."""
        is_less = self.whole < self.sampled
        better = "clamping totals as a whole" if is_less else "leaving out rows"
        whole, sampled = self.whole_most + self.whole_noise, self.sampled_most + self.sampled_noise
        supposed = "" if (whole < sampled) is is_less else f" {IF_ALIKE}"
        is_even = f"{self.whole:,.0f}" == f"{self.sampled:,.0f}"
        judged = "both err alike here" if is_even else f"{better} errs less here{supposed}"
        return (
            f"{self.sql} would cut about {self.whole_cut:,.0f} off the sum of a group"
            f"{at_most(self.whole_cut, self.whole_most, self.whole_noise)}, with noise of about"
            f" {self.whole_noise:,.0f}; rows that are left out, at best with"
            f" {limits_given(self.limits)}, about {self.sampled_cut:,.0f}"
            f"{at_most(self.sampled_cut, self.sampled_most, self.sampled_noise)}, with noise of"
            f" about {self.sampled_noise:,.0f}: {judged}"
        )


def compare_sums(
    project: Project, question: Question, plan: BoundedPlan, shares: Allocation
) -> Iterator[SumComparison]:
    """Yield a comparison for each sum of a column that has a profile of its values."""
    profile = profile_for(project, plan.relation)
    if profile is None:
        return
    shown = {
        output.estimate.index
        for output in question.view.outputs
        if isinstance(output.estimate, TotalOf)
    }
    parts = shares(plan).aggregates
    for index in sorted(shown):
        aggregate, part = plan.aggregates[index], parts.get(index)
        name = _column(plan, aggregate)
        if name not in profile.values or part is None:
            continue
        assert isinstance(aggregate, SumValues | SumTotals)
        with suppress(DiscreetError):  # where there is no noise that we can draw, nothing is said
            yield _Sum(
                plan=plan,
                profile=profile,
                values=profile.values[name],
                name=name,
                aggregate=aggregate,
                part=part,
            ).compared()


def _column(plan: BoundedPlan, aggregate: object) -> str:
    """Return the column whose plain sum of no negative values this is, or nothing."""
    if not isinstance(aggregate, SumValues | SumTotals):
        return ""
    is_plain = isinstance(aggregate, SumTotals) or aggregate.centre == 0
    is_wide = isinstance(aggregate, SumTotals) and aggregate.is_wide
    value = aggregate.looked_at
    if not is_plain or is_wide or aggregate.grid.lower < 0 or not isinstance(value, FieldValue):
        return ""
    column = column_of(plan.relation, value.index)
    return "" if column is None else column.name


@frozen(kw_only=True)
class _Sum:
    """One sum, and what a profile says of its rows and values."""

    plan: BoundedPlan
    profile: Profile
    values: Values
    name: str
    aggregate: SumValues | SumTotals
    part: Pure | Zcdp

    def compared(self) -> SumComparison:
        """Return both ways at best; the number of groups is not changed."""
        column = grouped_column(self.plan, self.profile) if self.plan.keys.fields else None
        pictures = LikelyProfile.of(self.profile, column)
        groups = self.plan.limits.groups_per_unit
        tried = [
            Limits(rows_per_group=rows, groups_per_unit=groups) for rows in self.profile.rows.ends
        ]
        cuts = {
            limits: self._each * expected_cut(evolve(self.plan, limits=limits), pictures)
            for limits in (self.plan.limits, *tried)
        }
        limits = min(cuts, key=lambda one: cuts[one] + self._noise(self._rows_bounds, one))
        totals = {self._total(one): one for one in tried}
        if isinstance(self.aggregate, SumTotals):
            asked = self.aggregate.bounds.upper
            held = float(asked) / self._each
            totals[asked] = min(tried, key=lambda one: abs(one.rows_per_group - held))
        total = min(totals, key=lambda one: self._whole_cut(one, cuts[totals[one]]) + self._of(one))
        return SumComparison(
            column=self.name,
            value=self._written,
            total=total,
            whole_cut=self._whole_cut(total, cuts[totals[total]]),
            whole_most=max(self._most(total), self._whole_cut(total, cuts[totals[total]])),
            whole_noise=self._of(total),
            limits=limits,
            sampled_cut=cuts[limits],
            sampled_most=max(self._most_left_out(limits), cuts[limits]),
            sampled_noise=self._noise(self._rows_bounds, limits),
            is_whole=isinstance(self.aggregate, SumTotals),
        )

    def _most(self, total: Fraction) -> float:
        """Return what is cut off totals at most, and where a group may not count, with that.

        Of a unit in more groups than count one row is kept, at least.
        """
        end = float(total)
        if keeps_all_groups(self.plan):
            return self._together(lambda rows, value: np.maximum(rows * value - end, 0))
        return self._together(lambda rows, value: np.maximum(rows - 1, 0) * value)

    def _most_left_out(self, limits: Limits) -> float:
        """Return what limits leave out at most, of which a unit keeps one row at least."""
        kept = limits.rows_per_group if keeps_all_groups(evolve(self.plan, limits=limits)) else 1
        return self._together(lambda rows, value: np.maximum(rows - kept, 0) * value)

    def _together(self, each: Callable[[Floats, Floats], Floats]) -> float:
        """Return what is cut off a group if those with the most rows have the largest values."""
        first, step = self.values.bins.ends[0], float(self.values.bins.step)
        highest = float(self._rows_bounds.upper)

        def cut(rows: Floats, far: Floats) -> Floats:
            return each(rows, np.clip((first + far) * step, 0, highest))

        return most_together(self.profile.rows, self.values.above, cut) / groups_shown(self.plan)

    @property
    def _written(self) -> str:
        value = self.aggregate.looked_at
        assert isinstance(value, FieldValue)
        return value_in_sql(self.plan.relation.fields()[value.index], self._rows_bounds)

    @property
    def _rows_bounds(self) -> Bounds:
        return self.aggregate.grid

    @property
    def _each(self) -> float:
        """About how much a row adds: between the largest and the smallest value of units."""
        bins, above, below = self.values.bins, self.values.above, self.values.below
        ups, downs = (max(float(one.cleaned.sum()), 1.0) for one in (above, below))
        largest = bins.ends[0] + above.total() / ups
        smallest = bins.ends[-1] + 1 - below.total() / downs
        steps = (largest + smallest) / 2
        bounds, step = self._rows_bounds, float(bins.step)
        return min(max(steps * step, float(bounds.step)), float(bounds.upper))

    def _total(self, limits: Limits) -> Fraction:
        """Return a short number of about what so many rows add up to, on the grid."""
        about = limits.rows_per_group * self._each
        unit = 10.0 ** (math.floor(math.log10(about)) - 1)
        step = self._rows_bounds.step
        return max(math.ceil(Fraction(math.ceil(about / unit) * unit) / step), 1) * step

    def _whole_cut(self, total: Fraction, by_rows: float) -> float:
        """Return what is cut: of many rows, or of single values that are larger than a total."""
        if total >= self._rows_bounds.upper:
            return by_rows  # no row adds more than that, in either way
        first, reaching = self.values.bins.ends[0], self.values.above
        step = self.values.bins.step
        single = reaching.beyond(math.floor(total / step) - first) * float(step)
        return max(by_rows, single / groups_shown(self.plan))

    def _of(self, total: Fraction) -> float:
        """Return the noise of totals."""
        rows = self._rows_bounds
        whole = SumTotals(
            value=self.aggregate.value,
            rows=rows,
            bounds=Bounds(lower=0, upper=total, step=rows.step),
        )
        noise = mechanism_for(whole, self.plan.reach(), self.part)
        return float(noise.spread * rows.step)

    def _noise(self, rows: Bounds, limits: Limits) -> float:
        """Return the noise of rows."""
        sampled = SumValues(value=self.aggregate.value, bounds=rows)
        reach = evolve(self.plan, limits=limits).reach()
        return float(mechanism_for(sampled, reach, self.part).spread * rows.step)
