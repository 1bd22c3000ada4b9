"""A bounded plan as text: whose privacy, the groups, the limits, and one line for each operator."""

from collections.abc import Sequence
from functools import singledispatch

from discreet.core.contribution import Contribution
from discreet.tables.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
    SumSquares,
    SumValues,
)
from discreet.tables.column import Bounds
from discreet.tables.keyset import Keys, PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.show_expression import field_names, show_expression
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
            *(f"{_aggregate(part, names)}: {_moves(reach)}" for part, reach in aggregates),
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


def _aggregate(aggregate: Aggregate, names: Sequence[str]) -> str:
    where = "" if aggregate.where is None else f" where {show_expression(aggregate.where, names)}"
    return _inner(aggregate, names) + where


def _range(bounds: Bounds) -> str:
    return f"{bounds.lower} to {bounds.upper} by {bounds.step}"


@singledispatch
def _inner(aggregate: Aggregate, names: Sequence[str]) -> str:
    raise TypeError(f"no text for {type(aggregate).__name__}")


@_inner.register
def _(aggregate: CountRows, names: Sequence[str]) -> str:
    return "count rows"


@_inner.register
def _(aggregate: CountUnits, names: Sequence[str]) -> str:
    return "count units"


@_inner.register
def _(aggregate: CountDistinct, names: Sequence[str]) -> str:
    return f"count distinct {show_expression(aggregate.value, names)}"


@_inner.register
def _(aggregate: SumValues, names: Sequence[str]) -> str:
    value = show_expression(aggregate.value, names)
    return f"sum {value} in {_range(aggregate.bounds)} around {aggregate.centre}"


@_inner.register
def _(aggregate: SumSquares, names: Sequence[str]) -> str:
    value = show_expression(aggregate.value, names)
    centre = f"around {aggregate.centre} less {aggregate.offset}"
    return f"sum of squares {value} in {_range(aggregate.bounds)} {centre}"


@_inner.register
def _(aggregate: QuantileValues, names: Sequence[str]) -> str:
    value = show_expression(aggregate.value, names)
    return f"quantile {aggregate.quantile} of {value} in {_range(aggregate.bounds)}"
