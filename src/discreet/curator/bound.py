"""Bound: question to bounded plan. Here one unit's reach is limited, from declarations alone."""

from discreet.sql.question import Question
from discreet.tables.plans.contain import contain
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.prune import prune
from discreet.tables.plans.take_sides import take_sides


def bound(question: Question, *, sharing: int = 1) -> BoundedPlan:
    """Return the plan in which each unit is held to the question's limits.

    The limits are the tables' declared ones, or those that the query gives. Any limits keep the
    guarantee: wider ones count more of each unit, and cost more noise. Fields that nothing uses are
    left out of the plan, conditions stand on the side of a join that they are about, and what one
    unit can make an engine do is contained; ``sharing`` questions that are answered together share
    it.
    """
    plan = BoundedPlan(
        relation=question.relation,
        keys=question.keys,
        limits=question.limits,
        aggregates=question.aggregates,
    )
    return contain(prune(take_sides(plan)), sharing=sharing)
