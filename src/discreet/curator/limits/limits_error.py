"""The error to expect of limits: what they cut, read off a profile, and the noise they cost.

Guarantee:
    What is worked out here looks at a profile, which is public, at declarations and at the price.
    It is about utility alone: whatever it says, the noise is that of the limits which are taken.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.core.counted import counted
from discreet.curator.limits.groups_kept import keeps_all_groups
from discreet.curator.limits.likely_histograms import LikelyProfile
from discreet.curator.price.allocate import Shares
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.project.noise import mechanism_for
from discreet.releases.histogram import Floats
from discreet.tables.catalog import Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountUnits
from discreet.tables.plans.plan import BoundedPlan

Allocation = Callable[[BoundedPlan], Shares]
"""How the price is split over the aggregates of a plan."""


@frozen(kw_only=True)
class Proposal:
    """Limits, and the error to expect of a count with them, in rows of a group.

    Where units alone are counted, it is in units.
    """

    limits: Limits
    cut: float
    """About how many rows of a group are left out."""
    noise: float
    """About how much the noise of a count is."""
    errors: Floats = field(eq=False, repr=False)
    """All of it together, in each picture of the profile."""
    counts_units: bool = False
    """Whether units are counted, and not rows."""
    worse_if_noise: float = 1.0
    """How many times the least error it is, if some heavy units of the profile are noise alone."""

    @property
    def doubt(self) -> str:
        """Say so if noise of the profile may have decided, and what helps."""
        if self.worse_if_noise < _MUCH_WORSE:
            return ""
        return (
            " The profile is too noisy to be sure: a few heavy units decided this, who may be noise"
            f" alone, and then other limits err {self.worse_if_noise:,.0f} times less. A dearer"
            " profile tells, or a limit that is known from elsewhere."
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        cut = "units" if self.counts_units else "rows"
        return self.limits.given() | {
            f"{cut}_cut_in_a_group": self.cut,
            "noise": self.noise,
            "worse_if_noise": self.worse_if_noise,
        }

    def __str__(self) -> str:
        """Say it in words."""
        cut = counted(self.cut, "unit" if self.counts_units else "row")
        return (
            f"{limits_given(self.limits)} would leave out about {cut} of a group, with noise of"
            f" about {self.noise:,.0f}"
        )


_MUCH_WORSE = 4.0


def limits_given(limits: Limits) -> str:
    """Return limits as they are given; those that follow from rows_per_unit are not.

    Example:
        >>> limits_given(Limits(rows_per_group=2, groups_per_unit=3))
        'rows_per_group = 2, groups_per_unit = 3'
        >>> limits_given(Limits(rows_per_group=9, groups_per_unit=3, rows_per_unit=9))
        'groups_per_unit = 3, rows_per_unit = 9'
        >>> limits_given(Limits(rows_per_group=9, groups_per_unit=9, rows_per_unit=9))
        'rows_per_unit = 9'
    """
    over_all, given = limits.rows_per_unit, limits.given()
    shown = {name: n for name, n in given.items() if name == "rows_per_unit" or n != over_all}
    return ", ".join(f"{name} = {number}" for name, number in shown.items())


SOME_GROUPS = 10
"""How many private groups are reckoned with, at least."""


def expected(
    plan: BoundedPlan, profile: LikelyProfile, shares: Allocation, limits: Limits
) -> Proposal:
    """Return what is to be expected of the plan with these limits."""
    tried = evolve(plan, limits=limits)
    cut = _cut(tried, profile) / groups_shown(tried)
    noise = noise_with(plan, shares, limits)
    return Proposal(
        limits=limits,
        cut=float(np.median(cut)),
        noise=noise,
        errors=cut + noise,
        counts_units=counts_units(tried),
    )


def error_of(plan: BoundedPlan, profile: LikelyProfile, tried: Proposal) -> float:
    """Return the error to expect of limits that were tried, in the middle of other pictures."""
    return expected_cut(evolve(plan, limits=tried.limits), profile) + tried.noise


def expected_cut(plan: BoundedPlan, profile: LikelyProfile) -> float:
    """Return about how many rows, or units, the limits of a plan leave out of a group."""
    return float(np.median(_cut(plan, profile))) / groups_shown(plan)


def share_cut(plan: BoundedPlan, profile: LikelyProfile) -> float:
    """Return about which share of the rows the limits of a plan leave out over all groups.

    It is that of the middle picture. A unit keeps no more rows than its limits let through
    together, so the rest is left out in any case.
    """
    limits = plan.limits
    together = limits.rows_per_group * limits.groups_per_unit
    total = np.maximum(profile.rows.total(), 1.0)
    found = np.maximum(_cut(plan, profile), profile.rows.beyond(together))
    return float(np.median(np.minimum(found / total, 1.0)))


def noise_with(plan: BoundedPlan, shares: Allocation, limits: Limits) -> float:
    """Return about how much the noise of a count is with these limits."""
    tried = evolve(plan, limits=limits)
    return _noise(tried, shares(tried))


def groups_shown(plan: BoundedPlan) -> int:
    """Return how many groups there are; of private ones about how many are reckoned with."""
    if isinstance(plan.keys, PublicKeys):
        return max(plan.keys.size(), 1)
    return max(SOME_GROUPS, plan.limits.groups_per_unit)


def counts_units(plan: BoundedPlan) -> bool:
    """Tell whether rows make no difference, because units alone are counted."""
    return all(isinstance(aggregate, CountUnits) for aggregate in plan.aggregates)


def _cut(plan: BoundedPlan, profile: LikelyProfile) -> Floats:
    """Return about how many rows are left out over all groups; or units, if these are counted.

    Of what the limit on rows leaves, groups that do not count take their share: so a wider limit
    never leaves out more, and no limit more than there is. With ``rows_per_unit`` so many rows are
    drawn first. Another limit of the same size then cuts nothing more; of a smaller one and this,
    the one that cuts more is reckoned with.
    """
    limits, rows = plan.limits, profile.rows
    nothing = np.zeros(len(rows.units))
    if counts_units(plan):
        is_whole = keeps_all_groups(plan)
        return nothing if is_whole else profile.groups.beyond(limits.groups_per_unit)
    beyond = rows.beyond(limits.rows_per_group)
    if not plan.keys.fields:
        return beyond
    in_all, found = limits.rows_per_unit, nothing
    units = np.maximum(rows.units.sum(axis=1), 1.0)
    pairs = np.maximum(profile.groups.total(), units)
    if limits.rows_per_group != in_all:
        one = profile.busiest.beyond(limits.rows_per_group)
        every = np.minimum(one * pairs / units, beyond)
        found = np.sqrt(np.minimum(one, rows.total()) * every)
    if not keeps_all_groups(plan) and limits.groups_per_unit != in_all:
        share = np.minimum(profile.groups.beyond(limits.groups_per_unit) / pairs, 1.0)
        found = found + (rows.total() - found) * share
    return found if in_all is None else np.maximum(found, rows.beyond(in_all))


def _noise(plan: BoundedPlan, shares: Shares) -> float:
    reach = plan.reach()
    drawn = {
        index: mechanism_for(plan.aggregates[index], reach, share)
        for index, share in shares.aggregates.items()
    }
    if counts_units(plan):
        return float(max((noise.spread for noise in drawn.values()), default=0))
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
