r"""Which share of the rows of a table the limits of a question leave out, read off its profile.

Let :math:`b` be the rows of a unit in its busiest group, of :math:`N` in all groups, and let a plan
keep ``r`` rows in each of ``g`` groups, and perhaps ``n`` over all of them. At most ``r`` rows of
the busiest group count, so a unit loses at least :math:`(b - r)^+`. It keeps at most
:math:`\min(N, rg, n)` rows, and by what :mod:`discreet.curator.cut.left_out` says at least
:math:`\min(b, r, g)`. If :math:`L` rows are left out and :math:`K` are kept, the share is
:math:`L/(L + K)`: it grows with :math:`L` and falls with :math:`K`, so bounds on both give bounds
on it.

It is a share of *all* rows that are in groups. Of those that WHERE keeps it says nothing: if their
units are the ones with many rows, more of them are left out, and else fewer.
"""

from fractions import Fraction

from discreet.curator.limits.groups_kept import grouped_column
from discreet.curator.limits.likely_histograms import LikelyProfile
from discreet.curator.limits.limits_error import share_cut
from discreet.curator.profile.one_table import column_of, only_table
from discreet.releases.profile import Profile, Share, share_between
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.tighten import counts_rows
from discreet.tables.relations.relation import Filter, Projection, Relation
from discreet.tables.relations.scan import Scan


def share_of_table(plan: BoundedPlan, profile: Profile, most: Fraction | None) -> Share | None:
    """Return which share of the rows in groups limits would leave out without WHERE, if known.

    ``most`` is how many rows they leave out at most.
    """
    if is_part_of_table(plan.relation) is None or not counts_rows(plan):
        return None
    if not plan.keys.fields:
        return profile.rows_left_out(plan.limits.rows_per_group)
    column = grouped_column(plan, profile)
    if column is None or not _has_declared_keys(plan):
        return None
    return _of_groups(plan, profile, column, most)


def is_part_of_table(relation: Relation) -> bool | None:
    """Tell whether WHERE leaves a part of the rows of a table; None if rows were made of others."""
    is_part = False
    while isinstance(relation, Filter | Projection):
        is_part = is_part or isinstance(relation, Filter)
        relation = relation.source
    return is_part if isinstance(relation, Scan) else None


def reckoned_with(relation: Relation) -> str:
    """Say that numbers of rows which are left out are those of a whole table, if that is so."""
    table = only_table(relation)
    if table is None or is_part_of_table(relation) is False:
        return ""
    return f", reckoned with all rows of {table.name}: of those asked about it is that or less"


_BETA = 0.025 / 3
"""How often each of the three bounds here may be wrong; the rest is for the rows left out."""


def _has_declared_keys(plan: BoundedPlan) -> bool:
    """Tell whether the groups are those that a profile counts: one for each declared key."""
    column = column_of(plan.relation, plan.keys.fields[0])
    if column is None or not isinstance(plan.keys, PublicKeys) or len(plan.keys.sets) != 1:
        return False
    return {row[0] for row in plan.keys.sets[0].rows} == set(column.keys or ())


def _of_groups(plan: BoundedPlan, profile: Profile, column: str, most: Fraction | None) -> Share:
    limits, busiest = plan.limits, profile.busiest[column]
    in_a_group, smallest = limits.rows_per_group, min(limits.rows_per_group, limits.groups_per_unit)
    together = in_a_group * limits.groups_per_unit
    if limits.rows_per_unit is not None:
        together = min(together, limits.rows_per_unit)
    least, _ = busiest.amount_beyond(in_a_group, _BETA)
    fewest = busiest.least([min(start, smallest) for start in busiest.starts], _BETA)
    largest = profile.most_kept(together, _BETA)
    high = 1.0 if most is None else float(most) / max(float(most) + fewest, 1.0)
    about = share_cut(plan, LikelyProfile.of(profile, column))
    return share_between(about, least / max(least + largest, 1.0), high)
