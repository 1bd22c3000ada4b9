"""Bound: question to bounded plan. Here one unit's reach is limited, from declarations alone."""

from discreet.curator.question import Question
from discreet.tables.limits import Limits
from discreet.tables.plan import BoundedPlan


def bound(question: Question) -> BoundedPlan:
    """Return the plan in which each unit is held to the table's limits.

    With fewer keys than ``groups_per_unit`` (one, without GROUP BY) a unit cannot reach more
    groups than there are, so the limit is the smaller of the two. Keys are public, so this is.
    """
    declared = question.table.limits
    return BoundedPlan(
        table=question.table,
        where=question.where,
        keys=question.keys,
        limits=Limits(
            rows_per_group=declared.rows_per_group,
            groups_per_unit=min(declared.groups_per_unit, len(question.keys.rows)),
        ),
        aggregates=question.aggregates,
    )
