r"""What the limits and clamps of a plan leave out, read off the profile of its table.

Let :math:`N` be the rows of a unit in the table, and let a plan keep ``r`` rows in each of ``g``
groups. Filters, projections, inner totals and windows over one table never add rows to a unit, so
:math:`N` bounds the rows of a unit in the relation of such a plan. A join can; then nothing is
known, unless each row has at most one partner.

*First bound.* A unit in at most ``g`` groups keeps :math:`\sum_k \min(n_k, r) \ge \min(N, r)`
rows, so it loses at most :math:`(N - r)^+`. One in more groups keeps a row of each of ``g`` groups
at least, so it loses at most :math:`N - g \le (N - r)^+ + (r - g)^+`. The sum over units is that of
:math:`(N - r)^+`, which the histogram of rows bounds, and :math:`(r - g)^+` times the number of
units in more than ``g`` groups.

*Second bound.* A unit loses nothing unless it has more than ``r`` rows in its busiest group, or is
in more than ``g`` groups. There are so many such units at most, and they lose no more than all rows
of as many units with the most rows.

*Rows over all groups.* With a limit ``n`` on these the sample of ``n`` comes first; no more of its
rows are in a group (``r`` is at most ``n``), and it is in no more groups than the unit. One of it
in at most ``g`` groups keeps :math:`\min(N, n, r) = \min(N, r)` rows at least, and one in more
groups ``g`` of them, so the first bound holds as it is. For the second, units with more than ``n``
rows are cut as well; and these alone, besides those in more than ``g`` groups, can be missing from
a group.

The first is good where limits bind, the second where they hardly do. Both hold for every filter,
and of the rows of each group as of all of them. What clamps cut off the values of the rows that
count is worked out in :mod:`discreet.curator.cut.clampings`.

*Where limits were chosen privately*, the number of units that they cut was counted, with noise.
Each of them loses a row at least. By what was said above it loses at most :math:`M - \min(r, g)` of
the most rows :math:`M` that a unit has by declaration, and at most :math:`M - r` if it is in every
group that it can be in. If ``n`` rows are drawn over all groups, both are ``n``, and units that are
cut can be missing from a group.
"""

import math
from fractions import Fraction
from functools import partial

from attrs import evolve

from discreet.core.unit_words import A_UNIT, UNITS
from discreet.curator.cut.clampings import (
    BOUNDS,
    Clampings,
    added,
    clampings,
    has_clamps,
    narrower,
)
from discreet.curator.cut.cut_inside import with_inside
from discreet.curator.cut.cut_totals import of_totals, rows_held, times
from discreet.curator.cut.share_of_table import is_part_of_table, share_of_table
from discreet.curator.limits.groups_kept import grouped_column, is_wide_enough, keeps_all_groups
from discreet.curator.profile.one_table import is_monotone, looks_at_all, only_table, to_profile
from discreet.curator.profile.stored_profile import FindProfile, find_profile
from discreet.project.project import Project
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.releases.body import ChosenPrivately
from discreet.releases.left_out import (
    COUNTED,
    UNCHANGED,
    UNKNOWN,
    Change,
    Clamping,
    LeftOut,
    unknown_left_out,
)
from discreet.releases.profile import Profile
from discreet.tables.catalog import Limits
from discreet.tables.plans.aggregate import Aggregate, Count, CountRows, CountUnits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumSquares, SumTotals, SumValues
from discreet.tables.plans.tighten import has_one_row

BETA = (1 - CONFIDENCE) / 2
"""How often what is said of the rows that were left out may be wrong."""


def left_out(
    project: Project,
    plan: BoundedPlan,
    *,
    can_leave_out: bool,
    chosen: ChosenPrivately | None = None,
    find: FindProfile | None = None,
) -> LeftOut | None:
    """Return what limits and clamps left out; None if they cannot leave out anything.

    Where limits were ``chosen`` privately, the number of units that they cut is known. Profiles are
    those of the data as they are now, unless there is another way to ``find`` them.
    """
    find = partial(find_profile, project) if find is None else find
    found = _left_out(plan, find, can_leave_out=can_leave_out, chosen=chosen)
    if found is not None and _totals(plan):
        found = evolve(found, clamps_totals=True)
    return with_inside(found, plan, find)


def _left_out(
    plan: BoundedPlan,
    find: FindProfile,
    *,
    can_leave_out: bool,
    chosen: ChosenPrivately | None,
) -> LeftOut | None:
    """Return the same of limits and of the clamps of aggregates alone."""
    table = only_table(plan.relation)
    if not looks_at_all(plan.relation):
        reason = f"only so many rows of {A_UNIT} are looked at, so that its work stays small"
        return _unknown(plan, reason) if is_monotone(plan.relation) else _nothing(plan, reason)
    counted = chosen if chosen is not None and chosen.is_exact else None
    is_asked = table is not None and (can_leave_out or has_clamps(plan))
    profile = find(table) if table is not None and is_asked else None
    is_refuted = profile is not None and profile.is_refuted
    if not can_leave_out:
        most = None if table is None or is_refuted else table.most_rows_per_unit
        return by_clamps(plan, profile, most=1 if has_one_row(plan) else most)
    if table is not None and is_wide_enough(plan, table) and not is_refuted:
        return by_clamps(plan, profile, most=table.most_rows_per_unit)
    if table is None:
        if counted is not None:
            return bounded_by_units(plan, counted, None)
        return _unknown(plan, "a profile says nothing about rows that were joined")
    if profile is None and counted is not None:
        return bounded_by_units(plan, counted, table.most_rows_per_unit)
    if profile is None:
        advice = f"the owner can: {to_profile(table)}"
        return _unknown(plan, f"nobody has measured how many; {advice}")
    return bounded_by(plan, profile)


def by_clamps(
    plan: BoundedPlan, profile: Profile | None, within: Fraction = BETA, *, most: int | None
) -> LeftOut | None:
    """Return what clamps cut where limits leave out nothing; None if they cut nothing either.

    ``most`` is how many rows of a unit there are in a group at most.
    """
    beta = float(within) / (_parts(plan) + _totals(plan))
    found = _clampings(plan, profile, beta)
    each = tuple(
        of_totals(part, _beyond(plan, profile, part, beta, most), clamping)
        if isinstance(part, SumTotals)
        else _change(part, UNCHANGED, Fraction(0), clamping)
        for part, clamping in zip(plan.aggregates, found, strict=True)
    )
    by_chance = _by_chance(plan, profile, found, most=most)
    if not any(found) and not by_chance and all(change == UNCHANGED for change in each):
        return None
    return LeftOut(
        rows=UNCHANGED,
        share=None,
        each=each,
        beta=Fraction(0) if profile is None else within,
        clamps=found,
        by_limits=False,
        by_chance=by_chance,
        worked_out=None if profile is None else partial(_by_clamps_again, plan, profile, most),
        reason=_not_known(plan, profile) if any(None in change for change in each) else "",
    )


def _by_clamps_again(
    plan: BoundedPlan, profile: Profile | None, most: int | None, within: Fraction
) -> LeftOut:
    found = by_clamps(plan, profile, within, most=most)
    assert found is not None  # whether anything is cut does not depend on a probability
    return found


def _clampings(plan: BoundedPlan, profile: Profile | None, beta: float) -> Clampings:
    return clampings(plan, only_table(plan.relation), profile, beta)


def _parts(plan: BoundedPlan) -> int:
    """Return among how many bounds the probability is shared, those of limits not counted."""
    return max(1, BOUNDS * sum(aggregate.grid is not None for aggregate in plan.aggregates))


def _totals(plan: BoundedPlan) -> int:
    """Return how many totals are clamped as a whole; each needs one more bound."""
    return sum(isinstance(part, SumTotals) for part in plan.aggregates)


def _not_known(plan: BoundedPlan, profile: Profile | None) -> str:
    """Say why it is not known how much was cut where limits leave out nothing."""
    table = only_table(plan.relation)
    if table is None:
        return "a profile says nothing about rows that were joined"
    if profile is None:
        return f"nobody has measured how much; the owner can: {to_profile(table)}"
    if profile.rows.most is None:
        return f"most_rows_per_unit of {table.name} is not known"
    return f"the profile of {table.name} does not bound how much"


def _nothing(plan: BoundedPlan, reason: str) -> LeftOut:
    return unknown_left_out((UNKNOWN for _ in plan.aggregates), reason)


def _unknown(plan: BoundedPlan, reason: str) -> LeftOut:
    is_one = not plan.keys.fields and only_table(plan.relation) is not None
    units = Fraction(0) if is_one else None
    found = _clampings(plan, None, float(BETA))
    pairs = zip(plan.aggregates, found, strict=True)
    each = (_change(aggregate, COUNTED, units, one) for aggregate, one in pairs)
    return unknown_left_out(each, reason, found)


def bounded_by(plan: BoundedPlan, profile: Profile, within: Fraction = BETA) -> LeftOut:
    """Return the bounds that follow from a profile: all at once, except as rarely as is said.

    Proof. There are at most five, and one more for each further limit and total, by which the
    probability is divided: units in more groups than count, the least and the most rows beyond the
    limit, units with more in their busiest group, and the rows of those with the most. Clamps have
    as many parts again as they need. By the union bound all hold at once. Units and rows are whole
    numbers, so rounding down an upper bound keeps it true; but one that becomes 0 may be wrong as
    often as any other, so an aggregate is surely whole only if no bound with a probability says so
    (``by_chance``).
    """
    limits = plan.limits
    shared = (5 if limits.rows_per_unit is None else 6) + _totals(plan)
    # Clamps have their part of the probability only if there are any.
    beta = float(within) / shared
    cutting = _clampings(plan, profile, beta)
    if any(cutting):
        beta = float(within) / (shared + _parts(plan))
        cutting = _clampings(plan, profile, beta)
    units = Fraction(0) if keeps_all_groups(plan) else _whole(_units_cut(plan, profile, beta))
    low, high = profile.rows.amount_beyond(limits.rows_per_group, beta)
    found = [] if high is None else [_whole(high) + _excess(limits) * units]
    second = _second(plan, profile, beta)
    found += [] if second is None else [_whole(second)]
    most = min(found) if found else None
    is_part = is_part_of_table(plan.relation)
    is_whole = is_part is False and not plan.keys.fields
    share = share_of_table(plan, profile, most)
    rows = (Fraction(math.floor(low)) if is_whole else Fraction(0), most)
    lost = units + _whole(_units_beyond(plan, profile, beta))
    return LeftOut(
        rows=rows,
        share=None if is_part else share,
        of_table=share if is_part else None,
        table=profile.table,
        each=tuple(
            of_totals(part, _beyond(plan, profile, part, beta, None), clamping)
            if isinstance(part, SumTotals)
            else _change(part, rows, lost, clamping)
            for part, clamping in zip(plan.aggregates, cutting, strict=True)
        ),
        beta=within,
        clamps=cutting,
        by_chance=_by_chance(plan, profile, cutting, by_limits=True),
        worked_out=partial(bounded_by, plan, profile),
        reason="" if most is not None else f"most_rows_per_unit of {profile.table} is not known",
    )


def _beyond(
    plan: BoundedPlan,
    profile: Profile | None,
    aggregate: SumTotals,
    beta: float,
    most: int | None,
) -> Fraction | None:
    """Return how many rows are beyond those that totals hold, at most, if nothing else is cut.

    ``most`` is how many rows of a unit there are in a group, as far as that is known.
    """
    if most is not None and most <= rows_held(aggregate):
        return Fraction(0)
    is_cut = not keeps_all_groups(plan) or plan.limits.rows_per_unit is not None
    if profile is None or is_cut:
        return None
    high = profile.rows.amount_beyond(rows_held(aggregate), beta)[1]
    return None if high is None else _whole(high)


def bounded_by_units(
    plan: BoundedPlan, chosen: ChosenPrivately, most: int | None, within: Fraction = BETA
) -> LeftOut:
    """Return the bounds that follow from the number of units that limits cut."""
    limits, cut = plan.limits, chosen.units_cut
    margin = error_of(chosen.noise, within)
    low, high = (max(Fraction(0), cut + sign * margin) for sign in (-1, 1))
    keeps_all = keeps_all_groups(plan)
    kept = limits.rows_per_group
    kept = kept if keeps_all else min(kept, limits.groups_per_unit)
    lost = None if most is None else high * max(most - kept, 0)
    rows = (Fraction(0) if plan.keys.fields else low, lost if high else Fraction(0))
    units = Fraction(0) if keeps_all and limits.rows_per_unit is None else high
    known = f"{int(low):,} to {int(high):,} {UNITS} have more than counts"
    is_bounded = most is not None or not high
    found = _clampings(plan, None, float(within))
    return LeftOut(
        rows=rows,
        share=None,
        each=tuple(
            _change(part, rows, units, clamping)
            for part, clamping in zip(plan.aggregates, found, strict=True)
        ),
        beta=within,
        clamps=found,
        by_chance=_by_chance(plan, None, found, by_limits=True),
        worked_out=partial(bounded_by_units, plan, chosen, most),
        reason="" if is_bounded else f"{known}; how many rows they have is not known",
    )


def _by_chance(
    plan: BoundedPlan,
    profile: Profile | None,
    cutting: Clampings,
    *,
    by_limits: bool = False,
    most: int | None = None,
) -> frozenset[int]:
    """Return of which aggregates a bound may be wrong, so that a bound of 0 does not prove it.

    Limits that keep all groups leave out no unit, whatever a profile or a noisy number says.
    """
    keeps_units = keeps_all_groups(plan) and plan.limits.rows_per_unit is None
    most = most if profile is None or most is not None else profile.rows.most

    def is_unsure(part: Aggregate, clamping: Clamping | None) -> bool:
        if isinstance(part, SumTotals):
            is_held = most is not None and most <= rows_held(part)
            return profile is not None and (clamping is not None or not is_held)
        is_kept = isinstance(part, CountUnits) and keeps_units
        return (by_limits and not is_kept) or (profile is not None and clamping is not None)

    pairs = enumerate(zip(plan.aggregates, cutting, strict=True))
    return frozenset(index for index, pair in pairs if is_unsure(*pair))


def _excess(limits: Limits) -> int:
    return max(limits.rows_per_group - limits.groups_per_unit, 0)


def _units_cut(plan: BoundedPlan, profile: Profile, beta: float) -> float:
    """Return how many units are in more groups than count, at most."""
    most = plan.limits.groups_per_unit
    column = grouped_column(plan, profile)
    known = profile.rows if column is None else profile.groups[column]
    return known.number_beyond(most, beta)[1]


def _units_beyond(plan: BoundedPlan, profile: Profile, beta: float) -> float:
    """Return how many units have more rows than count over all groups, at most."""
    most = plan.limits.rows_per_unit
    return 0.0 if most is None else profile.rows.number_beyond(most, beta)[1]


def _second(plan: BoundedPlan, profile: Profile, beta: float) -> float | None:
    column = grouped_column(plan, profile)
    limit = plan.limits.rows_per_group
    busiest = profile.rows if column is None else profile.busiest[column]
    cut = busiest.number_beyond(limit, beta)[1] + _units_beyond(plan, profile, beta)
    if not keeps_all_groups(plan):
        cut += _units_cut(plan, profile, beta)
    return profile.rows.amount_of_largest(math.floor(cut), beta)


def _whole(number: float) -> Fraction:
    """Return the largest whole number that is not above a bound: units and rows are whole."""
    return Fraction(math.floor(number))


def _change(
    aggregate: Aggregate, rows: Change, units: Fraction | None, clamping: Clamping | None
) -> Change:
    """Return by how much an aggregate of a group changes if nothing is left out.

    A sum changes by the values of the rows that are left out, and by what its clamp takes off the
    others; or by the clamped values of those, and by what the clamp takes off all rows.
    """
    least, most = rows
    if isinstance(aggregate, CountUnits):
        return (Fraction(0), units)
    if isinstance(aggregate, Count):
        is_plain = isinstance(aggregate, CountRows) and aggregate.where is None
        return (least if is_plain else Fraction(0), most)
    if isinstance(aggregate, SumValues):
        grid, centre = aggregate.bounds, aggregate.centre * aggregate.step
        found = times(most, grid.lower - centre, grid.upper - centre)
        if clamping is None:
            return found
        ends = [
            None if end is None else end - centre for end in (clamping.lowest, clamping.highest)
        ]
        by_values = added(times(most, *ends), clamping.taken)
        return narrower(by_values, added(found, clamping.taken_of_all))
    if isinstance(aggregate, SumTotals):
        return of_totals(aggregate, None, clamping)
    if isinstance(aggregate, SumSquares) and clamping is None:
        low, high = -aggregate.offset, aggregate.largest_square() - aggregate.offset
        return times(most, low * aggregate.step, high * aggregate.step)
    return UNKNOWN if most != 0 or clamping is not None else UNCHANGED
