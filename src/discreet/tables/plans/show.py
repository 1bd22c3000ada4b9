"""A bounded plan as text: whose privacy, the groups, the limits, and one line for each operator."""

from collections.abc import Sequence

from discreet.core.contribution import Contribution
from discreet.tables.expression_text import field_names
from discreet.tables.keyset import Keys, PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.show_relation import show_relation
from discreet.tables.relations.relation import Owner


def show(plan: BoundedPlan) -> str:
    """Return the plan as text. All of it is public."""
    names = field_names(plan.relation.fields())
    rows, groups = plan.limits.rows_per_group, plan.limits.groups_per_unit
    limits = f"{_many(rows, 'row')} of a unit in each group, {_many(groups, 'group')} of a unit"
    aggregates = zip(plan.aggregates, plan.contributions(), strict=True)
    return "\n".join(
        [
            f"unit: {_owner(plan.owner())}",
            f"limits: {limits}",
            f"keys: {_keys(plan.keys, names)}",
            *(f"{part.plan_text(names)}: {_moves(reach)}" for part, reach in aggregates),
            *show_relation(plan.relation),
        ]
    )


def _owner(owner: Owner) -> str:
    unit = owner.unit
    column = "a row" if unit.column is None else unit.column
    period = "" if unit.period is None else f" and {unit.period.length.value}"
    return f"{column}{period} of {unit.id_space}"


def _keys(keys: Keys, names: Sequence[str]) -> str:
    grouped = [names[index] for index in keys.fields]
    if isinstance(keys, PrivateKeys):
        pairs = zip(grouped, keys.allowed, strict=True)
        shown = [name if known is None else f"{name} of {len(known)}" for name, known in pairs]
        return f"private ({', '.join(shown)})"
    assert isinstance(keys, PublicKeys)
    sets = [
        f"({', '.join(grouped[place] for place in part.places)}) {len(part.rows)}"
        for part in keys.sets
    ]
    return f"public {', '.join(sets)}"


def _moves(reach: Contribution) -> str:
    return f"a unit moves {_many(reach.l0, 'group')} by at most {reach.linf}"


def _many(count: int | None, word: str) -> str:
    shown = "any number of" if count is None else str(count)
    return f"{shown} {word}" if count == 1 else f"{shown} {word}s"
