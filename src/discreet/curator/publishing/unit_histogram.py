"""Units by how much of them there is: what profiles and private choices of limits count.

An inner total over all rows of a unit makes *one row for each unit*. So a unit is in exactly one
bin of a histogram, limits of 1 cut nothing, and adding or removing a unit moves one cell by one.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

from discreet.releases.histogram import BEYOND
from discreet.sql.rows.fields import projected
from discreet.tables.catalog import Limits
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.comparison import MOST_VALUES
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountUnits
from discreet.tables.plans.contain import contain, row_limits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.prune import prune
from discreet.tables.relations.relation import Field, Filter, Relation
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total

_INTEGER = ColumnType.INTEGER

Ends = tuple[int, ...]
"""The last number of each bin."""


def totals_of_units(
    source: Relation,
    keys: tuple[int, ...],
    totals: Sequence[tuple[str, Total, Expression | None]],
) -> InnerAggregate:
    """Return one row for each unit and combination of the keys, with named totals of its rows."""
    made = tuple(InnerTotal(total=total, value=value) for _, total, value in totals)
    names = (name for name, _, _ in totals)
    shape = tuple(
        Field(name=name, type=total.type(), nullable=total.total is not Total.COUNT_ROWS)
        for name, total in zip(names, made, strict=True)
    )
    kept = tuple(source.fields()[i] for i in keys)
    return InnerAggregate(source=source, keys=keys, totals=made, shape=(*kept, *shape))


def binned(value: Expression, ends: Sequence[int]) -> Expression:
    """Return the end of the bin that a number falls in."""
    branches: list[Expression] = []
    for end in ends:
        last = Literal(_INTEGER, end)
        branches += (call("<=", [value, last]), last)
    return call("case", [*branches, Literal(_INTEGER, BEYOND)])


def by_bins(by_unit: Relation, values: Sequence[Expression], keys: Sequence[Ends]) -> BoundedPlan:
    """Return the plan that counts the units of each bin, of each of the fields by itself."""
    relation = projected(by_unit, values, [field.name for field in by_unit.fields()])
    sets = tuple(
        KeySet(places=(i,), rows=tuple((key,) for key in all_of_them))
        for i, all_of_them in enumerate(keys)
    )
    plan = BoundedPlan(
        relation=relation,
        keys=PublicKeys(fields=tuple(range(len(keys))), sets=sets),
        limits=Limits(rows_per_group=1, groups_per_unit=1),
        aggregates=(CountUnits(),),
    )
    return contain(prune(plan))


# ---- Units by what a question's limits are about: rows in their busiest group, and groups.


def units_by_limits(
    plan: BoundedPlan, rows: Ends, groups: Ends, in_all: Ends = (), *, sharing: int
) -> BoundedPlan:
    """Return the plan that counts the units of another one by what its limits would cut.

    There is one grouping for all numbers together: for rows in the busiest group and for groups, if
    there is more than one end, and for the rows ``in_all`` groups together, if there is any. Rows
    of no group are left out first, where the keys can be listed. If there are several grouping
    sets, the rows of a unit in all groups stand for those in its busiest one.
    """
    totals = _totals_by_limits(plan, is_over_all=bool(in_all))
    bins = [(place, ends) for place, ends in enumerate((rows, groups)) if len(ends) > 1]
    bins += [(2, in_all)] if in_all else []
    values = [binned(FieldValue(_INTEGER, place), ends) for place, ends in bins]
    keys = tuple(product(*((*ends, BEYOND) for _, ends in bins)))
    places = tuple(range(len(bins)))
    counted = BoundedPlan(
        relation=projected(totals, values, [totals.fields()[place].name for place, _ in bins]),
        keys=PublicKeys(fields=places, sets=(KeySet(places=places, rows=keys),)),
        limits=Limits(rows_per_group=1, groups_per_unit=1),
        aggregates=(CountUnits(),),
    )
    return contain(prune(counted), sharing=sharing)


def _totals_by_limits(plan: BoundedPlan, *, is_over_all: bool) -> Relation:
    """Return one row for each unit: its rows in the busiest group, its groups, and all its rows."""
    fields = plan.keys.fields
    if not fields:
        return totals_of_units(plan.relation, (), [(_BUSIEST, Total.COUNT_ROWS, None)])
    pairs = totals_of_units(_in_groups(plan), fields, [("n", Total.COUNT_ROWS, None)])
    is_one = not isinstance(plan.keys, PublicKeys) or len(plan.keys.sets) == 1
    number = FieldValue(_INTEGER, len(fields))
    rows = (_BUSIEST, Total.MAXIMUM if is_one else Total.SUM, number)
    every = [("all_rows", Total.SUM, number)] if is_over_all else []
    return totals_of_units(pairs, (), [rows, ("groups", Total.COUNT_ROWS, None), *every])


_BUSIEST = "rows"


def _in_groups(plan: BoundedPlan) -> Relation:
    """Return the rows that are in a group of public keys, as far as these can be listed."""
    if not isinstance(plan.keys, PublicKeys) or len(plan.keys.sets) != 1:
        return plan.relation
    (keys,) = plan.keys.sets
    conditions = []
    for i, place in enumerate(keys.places):
        index = plan.keys.fields[place]
        kind = plan.relation.fields()[index].type
        conditions.append(_among(FieldValue(kind, index), _values(keys, i)))
    condition = conditions[0] if len(conditions) == 1 else call("and", conditions)
    return Filter(source=plan.relation, condition=condition)


def _values(keys: KeySet, place: int) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(row[place] for row in keys.rows))


def _among(value: FieldValue, keys: Sequence[Key]) -> Expression:
    if len(keys) > MOST_VALUES:
        return call("not", [call("is_null", [value])])
    return call("in", [value, *(Literal(value.type, key) for key in keys)])


def counts_all_cut(plan: BoundedPlan) -> bool:
    """Tell whether the units that limits cut are exactly those beyond the histogram's bins.

    So it is if the rows in groups are told from the others: of one grouping set with keys that can
    be listed, and that are all combinations of their values. Where only so many rows of a unit are
    looked at, the histogram may look at others.
    """
    if (
        row_limits(plan.relation)
        or not isinstance(plan.keys, PublicKeys)
        or len(plan.keys.sets) != 1
    ):
        return False
    (keys,) = plan.keys.sets
    sizes = [len(_values(keys, i)) for i in range(len(keys.places))]
    return prod(sizes) == len(keys.rows) and max(sizes, default=1) <= MOST_VALUES
