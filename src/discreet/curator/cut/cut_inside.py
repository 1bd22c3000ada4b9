"""Clamps below the aggregates of a plan that surely cut: a profile refutes the ranges they rest on.

SUM and AVG of reals in a sub-query or a window move each value into its declared range. That range
is believed, as those of outer clamps are. Where the profile of a table shows that it is false, some
totals are cut, and a condition on them decides otherwise for some units. Which, and how many, no
histogram of values tells, so nothing is known of any number of the answer without that clamp.
"""

from collections.abc import Iterator

from attrs import evolve

from discreet.curator.profile.stored_profile import FindProfile
from discreet.releases.left_out import UNCHANGED, UNKNOWN, Clamping, LeftOut
from discreet.sql.outputs.remarks import moved_inside
from discreet.tables.column import Column
from discreet.tables.expression import Expression, fields_in
from discreet.tables.plans.expression_text import expression_text
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.made_from import is_column, parts_of
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import Scan


def with_inside(found: LeftOut | None, plan: BoundedPlan, find: FindProfile) -> LeftOut | None:
    """Return what was left out, and which totals below the aggregates were surely cut."""
    inside = tuple({one.text: one for one in _cut(plan, find)}.values())
    if not inside:
        return found
    if found is not None:
        return evolve(found, inside=inside)
    each = tuple(UNKNOWN for _ in plan.aggregates)
    return LeftOut(rows=UNCHANGED, share=None, each=each, by_limits=False, inside=inside)


def _cut(plan: BoundedPlan, find: FindProfile) -> Iterator[Clamping]:
    for source, value, grid in moved_inside(plan.relation):
        for scan, column in _columns(source, value):
            profile = find(scan.table)
            values = None if profile is None else profile.values.get(column.name)
            if profile is None or values is None or not values.is_refuted:
                continue
            is_plain = is_column(source, value)
            yield Clamping(
                text=expression_text(value, source.fields()),
                taken=UNKNOWN,
                taken_of_all=UNKNOWN,
                lowest=None,
                highest=None,
                units=profile.clamped(column.name, grid.lower, grid.upper) if is_plain else None,
                reason=f"values of {column.name} lie outside its declared min and max",
            )


def _columns(source: Relation, value: Expression) -> Iterator[tuple[Scan, Column]]:
    """Return the private columns that a value is made from."""
    for part in parts_of(source, value):
        scan = part.relation
        if isinstance(scan, Scan):
            for index in sorted(fields_in(part.value)):
                yield scan, scan.columns[index]
