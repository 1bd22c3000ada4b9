r"""How many rows of a group are rounded at most, where no count of the answer tells.

The declared ``most_rows`` of a table bounds the rows of every group, for no relation about one
table has more. So does its profile: a unit with ``N`` rows has :math:`\min(N, r)` of them in a
group at most that keeps ``r`` rows of each; where totals are clamped as a whole, and so all rows
are added up, the declared number of rows of a unit is such an ``r``.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve

from discreet.curator.profile.one_table import only_table
from discreet.curator.profile.stored_profile import FindProfile
from discreet.releases.profile import Profile
from discreet.releases.rounding import Rounded
from discreet.releases.view import View
from discreet.tables.catalog import Table
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals

RowsKnown = Callable[[Fraction], Fraction | None]


def with_rows_rounded(view: View, plan: BoundedPlan, find: FindProfile) -> View:
    """Return a view that knows how many rows are rounded, as far as that is known."""
    table = only_table(plan.relation)
    if table is None or not any(map(_is_summed, view.roundings)):
        return view
    profile, pairs = find(table), zip(view.roundings, plan.aggregates, strict=True)
    return evolve(
        view,
        roundings=tuple(
            one and evolve(one, rows=_rows(plan, part, table, profile)) for one, part in pairs
        ),
    )


def _is_summed(rounded: Rounded | None) -> bool:
    return rounded is not None and rounded.is_summed


def _rows(
    plan: BoundedPlan, part: Aggregate, table: Table, profile: Profile | None
) -> RowsKnown | None:
    kept: int | None = plan.limits.rows_per_group
    if isinstance(part, SumTotals):
        is_believed = profile is not None and not profile.is_refuted
        kept = table.most_rows_per_unit if is_believed else None
    measured = None if kept is None else profile
    if measured is None and table.most_rows is None:
        return None

    def rows(beta: Fraction) -> Fraction | None:
        found = [] if table.most_rows is None else [table.most_rows]
        if measured is not None and kept is not None:
            found.append(math.ceil(measured.most_kept(kept, float(beta))))
        return Fraction(min(found))

    return rows
