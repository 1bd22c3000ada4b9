"""Whether limits keep every group of a unit, and which column makes the groups, read off a plan."""

from discreet.curator.profile.one_table import column_of
from discreet.releases.profile import Profile
from discreet.tables.catalog import Table
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan


def is_wide_enough(plan: BoundedPlan, table: Table) -> bool:
    """Tell whether the declared number of rows of a unit says that the limits cut nothing."""
    most = table.most_rows_per_unit
    over_all = plan.limits.rows_per_unit
    is_cut = over_all is not None and most is not None and most > over_all
    if most is None or most > plan.limits.rows_per_group or is_cut:
        return False
    return keeps_all_groups(plan) or most <= plan.limits.groups_per_unit


def keeps_all_groups(plan: BoundedPlan) -> bool:
    """Tell whether a unit counts in every group that a row of it which may count is in."""
    most = plan.limits.groups_per_unit
    return isinstance(plan.keys, PublicKeys) and all(len(k.rows) <= most for k in plan.keys.sets)


def grouped_column(plan: BoundedPlan, profile: Profile) -> str | None:
    """Return the profiled column that alone makes the groups, if it is passed on as it is."""
    sets = plan.keys.sets if isinstance(plan.keys, PublicKeys) else ()
    is_rolled_up = any(len(keys.places) != 1 for keys in sets)
    if len(plan.keys.fields) != 1 or is_rolled_up:
        return None
    column = column_of(plan.relation, plan.keys.fields[0])
    return column.name if column is not None and column.name in profile.groups else None
