"""Derivations: why one unit can move an aggregate by so much and no more, step by step."""

from fractions import Fraction
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.core.loss import short
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
from discreet.tables.keyset import PublicKeys
from discreet.tables.limits import Limits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation


def derivation(plan: BoundedPlan, aggregate: Aggregate, clamp: str | None) -> str:
    """Return how the contribution to one aggregate follows, as one sentence.

    ``clamp`` says where the range of the value comes from.

    Example:
        >>> _counted(Fraction(1), Limits(rows_per_group=2, groups_per_unit=3))
        '1 × 2 rows a group × 3 groups = 6'
    """
    return _derived(aggregate, plan.reach(), clamp)


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


@singledispatch
def _derived(aggregate: Aggregate, reach: Limits, clamp: str | None) -> str:
    raise Unsupported("This aggregate has no derivation", got=type(aggregate).__name__)


@_derived.register
def _(_: CountRows, reach: Limits, __: str | None) -> str:
    return f"a row adds 1: {_counted(Fraction(1), reach)}"


@_derived.register
def _(_: CountUnits, reach: Limits, __: str | None) -> str:
    return f"one unit adds 1 to each of its groups: 1 × {_groups(reach)} = {reach.groups_per_unit}"


@_derived.register
def _(_: CountDistinct, reach: Limits, __: str | None) -> str:
    return (
        f"at most {reach.rows_per_group} different values of one unit count in a group, and each"
        f" adds at most 1: {_counted(Fraction(1), reach)} (values that only people with more of"
        " them have may be missed, so the count tends to be low)"
    )


@_derived.register
def _(aggregate: SumValues, reach: Limits, clamp: str | None) -> str:
    step = aggregate.bounds.step
    largest = aggregate.largest() * step
    centred = f", less {short(aggregate.centre * step)}" if aggregate.centre else ""
    return (
        f"{_clamped(aggregate.bounds, clamp)}{centred}, so a row adds at most {short(largest)} in"
        f" size: {_counted(largest, reach)}"
    )


@_derived.register
def _(aggregate: SumSquares, reach: Limits, clamp: str | None) -> str:
    step = aggregate.bounds.step
    largest = max(abs(aggregate.offset), abs(aggregate.largest_square() - aggregate.offset))
    return (
        f"{_clamped(aggregate.bounds, clamp)}; the square of its distance from"
        f" {short(aggregate.centre * step)}, less {short(aggregate.offset * step**2)}, is at most"
        f" {short(largest * step**2)} in size: {_counted(largest * step**2, reach)}"
    )


@_derived.register
def _(aggregate: QuantileValues, reach: Limits, clamp: str | None) -> str:
    return (
        f"{_clamped(aggregate.bounds, clamp)}; one unit adds at most {reach.rows_per_group} values"
        f" to each of at most {_groups(reach)}, and in each a value is chosen by itself"
    )


def _clamped(bounds: Bounds, clamp: str | None) -> str:
    whose = "" if clamp is None else f" ({clamp})"
    return (
        f"a value is moved into {short(bounds.lower)} to {short(bounds.upper)}{whose} and rounded"
        f" to steps of {short(bounds.step)}"
    )


def _counted(each: Fraction, reach: Limits) -> str:
    total = each * reach.rows_per_group * reach.groups_per_unit
    rows = "1 row" if reach.rows_per_group == 1 else f"{reach.rows_per_group} rows"
    return f"{short(each)} × {rows} a group × {_groups(reach)} = {short(total)}"


def _groups(reach: Limits) -> str:
    return "1 group" if reach.groups_per_unit == 1 else f"{reach.groups_per_unit} groups"
