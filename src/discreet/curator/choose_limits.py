"""Choose limits from a profile: the least expected error, of what is cut and of the noise.

Guarantee:
    The choice looks at the profile, which is public, at declarations and at the price. So it costs
    nothing, and the plan with the limits that are chosen is an ordinary plan: a filter that is
    valid for adaptive choices admits it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.curator.allocate import Shares
from discreet.curator.left_out import grouped_column, keeps_all_groups
from discreet.curator.one_table import only_table
from discreet.curator.stored_profile import find_profile
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.project.noise import mechanism_for
from discreet.project.project import Project
from discreet.releases.histogram import Histogram, count_bins
from discreet.releases.profile import Profile
from discreet.tables.catalog import Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountUnits
from discreet.tables.plans.plan import BoundedPlan

Allocation = Callable[[BoundedPlan], Shares]
"""How the price is split over the aggregates of a plan."""


@frozen(kw_only=True)
class Proposal:
    """Limits, and the error to expect of a count with them, in rows of a group."""

    limits: Limits
    cut: float
    """About how many rows of a group are left out."""
    noise: float
    """About how much the noise of a count is."""
    hidden: float = 0.0
    """How much more may be left out, of units that the noise of the profile hides."""

    def error_if(self, *, hidden: bool) -> float:
        """Return all of it together, with or without what may be hidden."""
        return self.cut + self.noise + (self.hidden if hidden else 0)

    def times(self, least: Mapping[bool, float]) -> float:
        """Return how many times the least error its own is, at worst."""
        return max(self.error_if(hidden=one) / (least[one] or 1) for one in least)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "rows_per_group": self.limits.rows_per_group,
            "groups_per_unit": self.limits.groups_per_unit,
            "rows_cut_in_a_group": self.cut,
            "noise": self.noise,
        }

    def __str__(self) -> str:
        """Say it in words."""
        limits = self.limits
        return (
            f"rows_per_group = {limits.rows_per_group}, groups_per_unit ="
            f" {limits.groups_per_unit} would leave out about {self.cut:,.0f} rows of a group, with"
            f" noise of about {self.noise:,.0f}"
        )


def require_proposal(project: Project, plan: BoundedPlan, shares: Allocation) -> Limits:
    """Return the limits that are chosen, or say what is missing."""
    found = propose(project, plan, shares)
    if found is None:
        table = only_table(plan.relation)
        whose = "of joined tables" if table is None else f"of {table.name}"
        raise RefusedQuery(
            "The limits of a batch can be chosen only from a profile",
            must="have one, for the data as they are now",
            got=f"none {whose}",
            next="Have the owner run discreet profile, give rows_per_group and groups_per_unit, or"
            " ask one by one: then limits are chosen privately, for a part of the price",
        )
    return found.limits


def propose(project: Project, plan: BoundedPlan, shares: Allocation) -> Proposal | None:
    """Return the limits with the least expected error, if the table has a profile."""
    table = only_table(plan.relation)
    profile = None if table is None else find_profile(project, table)
    return None if profile is None else best_limits(plan, profile, shares)


def best_limits(plan: BoundedPlan, profile: Profile, shares: Allocation) -> Proposal | None:
    """Return the best of a public grid of limits, or None if there is no noise for any of them.

    The tail of a histogram is hidden by its noise: nobody may be there, or as many as noise can
    hide. For each of the two there are best limits. Those are taken whose error is the fewest
    times the least one, whichever of the two is true.
    """
    found: dict[Limits, Proposal] = {}
    for hidden in (False, True):
        _search(plan, profile, shares, found, hidden=hidden)
    if not found:
        return None
    least = {
        hidden: min(one.error_if(hidden=hidden) for one in found.values())
        for hidden in (False, True)
    }
    return min(found.values(), key=lambda one: one.times(least))


def _search(
    plan: BoundedPlan,
    profile: Profile,
    shares: Allocation,
    found: dict[Limits, Proposal],
    *,
    hidden: bool,
) -> None:
    """Look for the least error: first by the rows, then by the groups, then by the rows again."""
    rows, groups = _candidates(plan, profile)

    def tried(all_limits: Iterable[Limits]) -> Iterator[Proposal]:
        for limits in all_limits:
            with suppress(RefusedQuery):
                if limits not in found:
                    found[limits] = expected(plan, profile, shares, limits)
                yield found[limits]

    def error(one: Proposal) -> float:
        return one.error_if(hidden=hidden)

    first = (Limits(rows_per_group=one, groups_per_unit=groups[-1]) for one in rows)
    best = min(tried(first), key=error, default=None)
    if best is None:
        return
    for name, numbers in (("groups_per_unit", groups), ("rows_per_group", rows)):
        others = tried([evolve(best.limits, **{name: number}) for number in numbers])
        best = min([best, *others], key=error)


def _candidates(plan: BoundedPlan, profile: Profile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rows = profile.rows.ends
    if not plan.keys.fields:
        return rows, (1,)
    if isinstance(plan.keys, PublicKeys):
        most = max(len(keys.rows) for keys in plan.keys.sets)
        return rows, tuple(end for end in count_bins(most) if end <= max(rows[-1], 1))
    # How many groups there are is not known, and each costs units a higher threshold.
    return rows, (plan.limits.groups_per_unit,)


SOME_GROUPS = 10
"""How many private groups are reckoned with, at least."""


def expected(plan: BoundedPlan, profile: Profile, shares: Allocation, limits: Limits) -> Proposal:
    """Return what is to be expected of the plan with these limits."""
    tried = evolve(plan, limits=limits)
    some = max(SOME_GROUPS, limits.groups_per_unit)
    groups = tried.keys.size() if isinstance(tried.keys, PublicKeys) else some
    cut, most = (_cut(tried, profile, hidden=one) / max(groups, 1) for one in (False, True))
    noise = _noise(tried, shares(tried))
    return Proposal(limits=limits, cut=cut, hidden=max(most - cut, 0.0), noise=noise)


def _cut(plan: BoundedPlan, profile: Profile, *, hidden: bool) -> float:
    """Return about how many rows are left out over all groups."""
    limits, rows = plan.limits, profile.rows

    def lost(histogram: Histogram, limit: int) -> float:
        return histogram.beyond(limit) + (histogram.hidden_beyond(limit) if hidden else 0.0)

    beyond = lost(rows, limits.rows_per_group)
    if not plan.keys.fields:
        return beyond
    column = grouped_column(plan, profile)
    busiest = rows if column is None else profile.busiest[column]
    groups = rows if column is None else profile.groups[column]
    units = max(float(rows.cleaned.sum()), 1.0)
    pairs = max(groups.total(), units)
    one = lost(busiest, limits.rows_per_group)
    every = min(one * pairs / units, beyond)
    by_rows = math.sqrt(one * every)
    if keeps_all_groups(plan):
        return by_rows
    a_pair = min(float(limits.rows_per_group), rows.total() / pairs)
    return by_rows + a_pair * lost(groups, limits.groups_per_unit)


def _noise(plan: BoundedPlan, shares: Shares) -> float:
    reach = plan.reach()
    drawn = {
        index: mechanism_for(plan.aggregates[index], reach, share)
        for index, share in shares.aggregates.items()
    }
    return float(noise_in_rows(plan, drawn))


def noise_in_rows(plan: BoundedPlan, drawn: Mapping[int, AggregateMechanism]) -> Fraction:
    """Return the largest spread of the noise, in rows: over what one row can move."""
    found = [Fraction(0)]
    for index, noise in drawn.items():
        aggregate = plan.aggregates[index]
        if isinstance(aggregate, CountUnits):
            continue  # one row more of a unit changes nothing in it
        one = aggregate.contribution(Limits(rows_per_group=1, groups_per_unit=1)).bound("linf")
        found.append(noise.spread / one)
    return max(found)
