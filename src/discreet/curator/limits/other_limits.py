"""What other limits would give: their noise, and what they leave out as far as a profile says."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.curator.limits.groups_kept import grouped_column
from discreet.curator.limits.likely_histograms import LikelyProfile
from discreet.curator.limits.limits_error import (
    Allocation,
    expected,
    noise_with,
)
from discreet.curator.profile.stored_profile import profile_for
from discreet.project.project import Project
from discreet.tables.catalog import LARGEST_LIMIT, Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.tighten import counts_rows


@frozen(kw_only=True)
class OtherLimits:
    """Some limits, and what a count of a group would be like with them."""

    limits: Limits
    changed: str
    """The limit that is another than now, as it is given; nothing for those of now."""
    noise: float
    """About how much the noise is, in rows; in units, where these are counted."""
    cut: float | None
    """About how many are left out of a group; None if nobody has measured it."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return self.limits.given() | {"noise": self.noise, "cut_in_a_group": self.cut}


def other_limits(
    project: Project, plan: BoundedPlan, shares: Allocation
) -> tuple[OtherLimits, ...]:
    """Return the limits of a plan, and after them those of half and of twice the size."""
    profile = profile_for(project, plan.relation)
    pictures = None
    if profile is not None:
        column = grouped_column(plan, profile) if plan.keys.fields else None
        pictures = LikelyProfile.of(profile, column)
    found = []
    for changed, limits in {"": plan.limits, **dict(_nearby(plan))}.items():
        with suppress(RefusedQuery):
            cut = None if pictures is None else expected(plan, pictures, shares, limits).cut
            noise = noise_with(plan, shares, limits)
            found.append(OtherLimits(limits=limits, changed=changed, noise=noise, cut=cut))
    return tuple(found)


def _nearby(plan: BoundedPlan) -> Iterator[tuple[str, Limits]]:
    limits = plan.limits
    for name, most in _changing(plan).items():
        now = limits.given()[name]
        for number in (now // 2, min(2 * now, most)):
            if number >= 1 and number != now:
                yield f"{name} = {number}", _with(limits, name, number)


def _changing(plan: BoundedPlan) -> dict[str, int]:
    """Return the limits that make a difference, and how large they can be."""
    if plan.limits.rows_per_unit is not None:
        return {"rows_per_unit": LARGEST_LIMIT}
    rows = {"rows_per_group": LARGEST_LIMIT} if counts_rows(plan) else {}
    most = LARGEST_LIMIT if plan.keys.fields else 1
    if isinstance(plan.keys, PublicKeys):
        most = max((len(part.rows) for part in plan.keys.sets), default=1)
    return rows if most == 1 else {**rows, "groups_per_unit": most}


def _with(limits: Limits, name: str, number: int) -> Limits:
    """Return limits with another number; those that follow from rows_per_unit follow it."""
    if name != "rows_per_unit":
        return evolve(limits, **{name: number})
    follow = {
        other: number if now == limits.rows_per_unit else now
        for other, now in limits.given().items()
        if other != name
    }
    return Limits(**follow, rows_per_unit=number)


def other_limits_sentence(found: tuple[OtherLimits, ...], counted: str) -> str:
    """Say what the limits of the question and others give; nothing, if that is no news."""
    if len(found) < 2 or not any(one.noise for one in found):
        return ""
    now, *others = found
    if now.cut is None:
        said = [f"noise of about {_about(now.noise, counted)} now"]
        said += [f"{one.changed}: about {one.noise:,.0f}" for one in others]
        return f"{'; '.join(said)}. What is left out, nobody has measured"
    noise = _about(now.noise, counted)
    said = [f"noise of about {noise}, and about {now.cut:,.0f} of a group left out now"]
    said += [f"{one.changed}: about {one.noise:,.0f} and {one.cut:,.0f}" for one in others]
    return "; ".join(said)


def _about(noise: float, counted: str) -> str:
    written = f"{noise:,.0f}"
    return f"{written} {'row' if written == '1' and counted == 'rows' else counted}"
