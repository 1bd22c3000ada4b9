"""How many groups one unit can be in, and whether its rows are paired, in words."""

from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation


def groups_sentence(plan: BoundedPlan) -> str:
    """Return how many groups one unit can be in, over all grouping sets."""
    reach, limit = plan.reach(), plan.limits.groups_per_unit
    if not isinstance(plan.keys, PublicKeys):
        return f"one unit counts in at most {limit} groups"
    if len(plan.keys.sets) == 1:
        only = len(plan.keys.sets[0].rows)
        if only <= limit:
            return f"there {_are(only)}, so one unit counts in at most {reach.groups_per_unit}"
        return f"one unit counts in at most {limit} of the {only:,} groups"
    parts = " + ".join(str(min(limit, len(part.rows))) for part in plan.keys.sets)
    return (
        f"one unit counts in at most {limit} groups of each of the {len(plan.keys.sets)} grouping"
        f" sets (fewer where there are fewer): {parts} = {reach.groups_per_unit}"
    )


def _are(groups: int) -> str:
    return "is 1 group" if groups == 1 else f"are {groups:,} groups"


def has_join(relation: Relation) -> bool:
    """Tell whether rows are paired anywhere below the aggregates."""
    return isinstance(relation, Join) or any(has_join(source) for source in relation.inputs())
