"""The work of the outermost SELECT for one row: keys, conditions, values, limits and totals."""

from collections.abc import Sequence

from attrs import evolve

from discreet.tables.aggregate import Aggregate, CountDistinct, CountUnits
from discreet.tables.expression import Expression
from discreet.tables.functions.work import COPIED, NOTHING, PLAIN, TEXT, Steps
from discreet.tables.keyset import LONGEST_KEY, PrivateKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.value import Value, value_of

SET = Steps(150)
"""Putting a row into its group of one grouping set."""

PRIVATE = Steps(500)
"""Finding the groups, and counting their units, if keys are private."""

KEY, PRIVATE_KEY = Steps(50), Steps(200)
"""More for each key of a group; private ones are compared and copied more often."""

FOUND, FOUND_KEY = Steps(2_500), Steps(50)
"""A private group that leaves the engine, is put in order and chosen from; more for each key."""

SORT = Steps(350)
"""Putting the rows of a unit in order; more for each value and each condition that goes along."""

SORTED_VALUE, SORTED_CONDITION = Steps(100), Steps(30)

TOTAL = Steps(50)
"""Adding a row to an aggregate."""

CLAMP = PLAIN * 8


def outermost_work(plan: BoundedPlan, fields: Sequence[Value]) -> Steps:
    """Return the work for one row of the relation, over all grouping sets.

    In each set a row is put in order once for the groups of its unit, twice for the sample of rows
    and twice for each distinct value, with all values of the row along.
    """
    ready = [field.ready() for field in fields]
    tests = [value_of(where, ready) for where in _conditions(plan.aggregates)]
    values = [value_of(value, ready) for value in _values(plan.aggregates)]
    keys = [_key(plan, ready[index]) for index in plan.keys.fields]
    counted = [value_of(a.value, ready) for a in plan.aggregates if isinstance(a, CountDistinct)]
    sort = SORT + SORTED_VALUE * len(values) + SORTED_CONDITION * len(tests) + _keeping(values)
    work = SET + KEY * len(keys) + TOTAL * len(plan.aggregates) + CLAMP * len(values)
    work += _sum([value.steps + _hashing(value) for value in [*tests, *values, *keys]])
    if isinstance(plan.keys, PrivateKeys):
        sort += _keeping(keys)
        work += PRIVATE + PRIVATE_KEY * len(keys) + _keeping(keys)
    work += sort * (_sorts(plan) + 2 * len(counted)) + _keeping(counted) * 2
    sets = 1 if isinstance(plan.keys, PrivateKeys) else len(plan.keys.sets)
    return work if sets == 1 else work * sets + _keeping([*ready, *values, *keys])


def found_work(plan: BoundedPlan) -> Steps:
    """Return the work for one group of a unit that was found, if keys are private.

    The keys of those that are not chosen stay in the engine's columns.
    """
    if not isinstance(plan.keys, PrivateKeys):
        return NOTHING
    return FOUND + FOUND_KEY * len(plan.keys.fields)


def _values(aggregates: Sequence[Aggregate]) -> list[Expression]:
    """Return what each aggregate looks at, if it looks at a value."""
    found = (getattr(aggregate, "value", None) for aggregate in aggregates)
    return [value for value in found if isinstance(value, Expression)]


def _sorts(plan: BoundedPlan) -> int:
    """Return how often the rows of a unit are put in order, beside the distinct values."""
    keys, most = plan.keys, plan.limits.groups_per_unit
    is_limited = isinstance(keys, PrivateKeys) or any(len(part.rows) > most for part in keys.sets)
    is_by_row = any(not isinstance(a, CountUnits | CountDistinct) for a in plan.aggregates)
    return is_limited + 2 * is_by_row


def _conditions(aggregates: Sequence[Aggregate]) -> list[Expression]:
    return list(dict.fromkeys(a.where for a in aggregates if a.where is not None))


def _key(plan: BoundedPlan, value: Value) -> Value:
    """Return a grouped field; a private text is cut."""
    if not isinstance(plan.keys, PrivateKeys) or not value.length:
        return evolve(value, steps=PLAIN)
    cut = TEXT + Steps(COPIED * min(value.length, LONGEST_KEY))
    return evolve(value, length=min(value.length, LONGEST_KEY), steps=cut)


def _hashing(value: Value) -> Steps:
    return Steps(2 * value.length)


def _keeping(values: Sequence[Value]) -> Steps:
    return _sum([value.keeping() for value in values])


def _sum(parts: Sequence[Steps]) -> Steps:
    return sum(parts, NOTHING)
