"""Choose limits from a profile: the least expected error, of what is cut and of the noise.

Guarantee:
    The choice looks at the profile, which is public, at declarations and at the price. So it costs
    nothing, and the plan with the limits that are chosen is an ordinary plan: a filter that is
    valid for adaptive choices admits it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.curator.limits.groups_kept import grouped_column
from discreet.curator.limits.likely_histograms import PICTURES, LikelyProfile
from discreet.curator.limits.limits_error import (
    Allocation,
    Proposal,
    counts_units,
    error_of,
    expected,
)
from discreet.curator.profile.one_table import only_table
from discreet.curator.profile.stored_profile import profile_for
from discreet.project.project import Project
from discreet.releases.histogram import count_bins
from discreet.releases.profile import Profile
from discreet.tables.catalog import Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan


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
    profile = profile_for(project, plan.relation)
    return None if profile is None else best_limits(plan, profile, shares)


def best_limits(plan: BoundedPlan, profile: Profile, shares: Allocation) -> Proposal | None:
    """Return the best of a public grid of limits, or None if there is no noise for any of them.

    Noise hides who is in the tail of a histogram, so there are several pictures of a profile
    (:mod:`discreet.curator.limits.likely_histograms`), and for each of them there are best limits.
    Those are taken whose error is the fewest times the least one, by the geometric mean over all
    pictures: a plain one would listen to those alone in which limits are worst.
    """
    column = grouped_column(plan, profile) if plan.keys.fields else None
    pictures = LikelyProfile.of(profile, column)
    found: dict[Limits, Proposal] = {}

    def tried(all_limits: Sequence[Limits]) -> list[Proposal]:
        for limits in all_limits:
            if limits not in found:
                with suppress(RefusedQuery):
                    found[limits] = expected(plan, pictures, shares, limits)
        return [found[limits] for limits in all_limits if limits in found]

    rows, groups = _candidates(plan, profile)
    for place in _LIGHT_TO_HEAVY:
        _search(tried, rows, groups, place)
    tried(_over_all(plan, rows))
    if not found:
        return None
    errors = np.stack([one.errors for one in found.values()])
    least = np.maximum(errors.min(axis=0), _LEAST)
    times = np.exp(np.log(np.maximum(errors, _LEAST) / least).mean(axis=1))
    # Of those that are as good to a hundredth the first is taken: what noise alone decides is odd.
    chosen = list(found.values())[int(np.argmin(np.round(times, 2)))]
    otherwise = pictures.without_unsure()
    least_then = min(error_of(plan, otherwise, one) for one in found.values())
    worse = error_of(plan, otherwise, chosen) / max(least_then, _LEAST)
    return evolve(chosen, worse_if_noise=worse)


_LIGHT_TO_HEAVY = (PICTURES // 8, PICTURES // 2, PICTURES - 1 - PICTURES // 8)
"""For which pictures the best limits are looked for."""

_LEAST = 1e-9
"""An error of nothing would be infinitely better than any other."""


def _search(
    tried: Callable[[Sequence[Limits]], list[Proposal]],
    rows: Sequence[int],
    groups: Sequence[int],
    place: int,
) -> None:
    """Look for the least error: first by the rows, then by the groups, then by the rows again."""

    def error(one: Proposal) -> float:
        return float(one.errors[place])

    first = [Limits(rows_per_group=one, groups_per_unit=groups[-1]) for one in rows]
    best = min(tried(first), key=error, default=None)
    if best is None:
        return
    for name, numbers in (("groups_per_unit", groups), ("rows_per_group", rows)):
        others = tried([evolve(best.limits, **{name: number}) for number in numbers])
        best = min([best, *others], key=error)


def _over_all(plan: BoundedPlan, rows: Sequence[int]) -> list[Limits]:
    """Return limits on all rows of a unit together, where that is another thing than in groups.

    The other two follow; but where groups are private, the number of groups stays.
    """
    if not plan.keys.fields or counts_units(plan):
        return []
    most = None if isinstance(plan.keys, PublicKeys) else plan.limits.groups_per_unit
    return [
        Limits(rows_per_group=one, groups_per_unit=most or one, rows_per_unit=one) for one in rows
    ]


def _candidates(plan: BoundedPlan, profile: Profile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rows = (plan.limits.rows_per_group,) if counts_units(plan) else profile.rows.ends
    if not plan.keys.fields:
        return rows, (1,)
    if isinstance(plan.keys, PublicKeys):
        most = max(len(keys.rows) for keys in plan.keys.sets)
        return rows, tuple(end for end in count_bins(most) if end <= profile.rows.ends[-1])
    # How many groups there are is not known, and each costs units a higher threshold.
    return rows, (plan.limits.groups_per_unit,)
