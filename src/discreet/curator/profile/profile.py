r"""Profile a table: private histograms of its units by how much they contribute.

Guarantee:
    A histogram is the grouping of a relation that has *one row for each unit* (an inner total over
    all rows of the unit: how many there are, or the largest or smallest value) by the bin that its
    number falls in. Having no value is a bin too. So a unit is in exactly one group of
    each grouping set, with one row, and limits of 1 cut nothing; adding or removing a unit moves
    one cell of each histogram by one. All histograms of a table are paid for together: of
    :math:`H` of them each has noise for a part :math:`1/H` of the price.
"""

import datetime
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from attrs import evolve, frozen

from discreet.core.errors import InvalidArgument, UnknownTable
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.curator.price.allocate import Shares
from discreet.curator.price.price import PricedPlan, price
from discreet.curator.profile.measured_as import MEASURED_AS, measured_as
from discreet.curator.profile.stored_profile import (
    find_profile,
    has_few_keys,
    profile_name,
    profile_of,
    with_void,
)
from discreet.curator.profile.unreadable import unreadable_plan
from discreet.curator.publishing.largest_release import largest_release
from discreet.curator.publishing.publish import leg_of
from discreet.curator.publishing.unit_histogram import binned, by_bins, totals_of_units
from discreet.ledger.releases import SMALL, ReleaseSize
from discreet.project.charged import charged
from discreet.project.passage import Passage, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.releases.histogram import BEYOND, count_bins
from discreet.releases.profile import (
    BUSIEST,
    GROUPS,
    LARGEST,
    ROWS,
    SMALLEST,
    UNREADABLE,
    Profile,
)
from discreet.releases.value_bins import ABOVE, NO_VALUE, ValueBins, value_bins
from discreet.tables.catalog import LARGEST_LIMIT, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Filter, Relation
from discreet.tables.relations.scan import Scan
from discreet.tables.relations.totals import Total

_INTEGER = ColumnType.INTEGER

USUAL_MOST = 10_000
"""Up to how many rows of a unit there are bins, if nobody declared how many it has at most."""


@frozen(kw_only=True)
class PricedProfile:
    """The plans of a profile with their noise, and what they cost together."""

    plans: tuple[PricedPlan, ...]
    passage: Passage


def profile(
    project: Project,
    name: str,
    *,
    terms: Terms,
    keys: Sequence[str] | None = None,
    values: Sequence[str] = (),
    unreadable: Sequence[str] = (),
    analyst: str,
    fresh: bool = False,
) -> Profile:
    """Return the profile of a table: the one of this version, or a new one that is charged.

    ``keys`` are the columns with declared keys whose groups are counted; by default all of them.
    ``values`` are the columns of numbers and dates whose values are looked at; by default none.
    ``unreadable`` are those of which the units are counted that have something in it which could
    not be read; by default none.
    """
    table = private_table(project, name)
    stored = None if fresh else find_profile(project, table)
    if stored is None:
        priced = price_profile(project, table, terms, keys, values, unreadable)
        passed = go_through(project, priced.passage, analyst=analyst, fresh=fresh)
        given = passed.is_stored
        stored = profile_of(project, table, passed.bodies, passed.receipt, is_stored=given)
    # One that somebody else made, perhaps at this moment, can be of other columns.
    if stored.is_stored:
        _require_counted(stored, [table.column(key).name for key in keys or ()])
        _require_values(stored, [table.column(value).name for value in values])
        _require_unreadable(stored, [table.column(one).name for one in unreadable])
    return with_void(project, stored)


def _require_counted(stored: Profile, keys: Sequence[str]) -> None:
    missing = [name for name in keys if name not in stored.groups]
    if missing:
        raise InvalidArgument(
            f"The profile of {stored.table} for these data has no groups of {', '.join(missing)}",
            got=f"groups of {', '.join(stored.groups) or 'nothing'}",
            next="Ask for a fresh one (fresh=True), which is paid for again and takes its place",
        )


def _require_values(stored: Profile, values: Sequence[str]) -> None:
    missing = [name for name in values if name not in stored.values]
    if missing:
        raise InvalidArgument(
            f"The profile of {stored.table} for these data has no values of {', '.join(missing)}",
            got=f"values of {', '.join(stored.values) or 'nothing'}",
            next="Ask for a fresh one (fresh=True), which is paid for again and takes its place",
        )


def _require_unreadable(stored: Profile, columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in stored.unreadable]
    if missing:
        raise InvalidArgument(
            f"The profile of {stored.table} for these data does not say what of"
            f" {', '.join(missing)} could not be read",
            got=f"that of {', '.join(stored.unreadable) or 'nothing'}",
            next="Ask for a fresh one (fresh=True), which is paid for again and takes its place",
        )


def private_table(project: Project, name: str) -> Table:
    """Return the private table of that name."""
    found = project.catalog.table(name)
    if not isinstance(found, Table):
        raise UnknownTable(
            f"'{name}' is a public table", must="be private: of a public one everything is known"
        )
    return found


def price_profile(
    project: Project,
    table: Table,
    terms: Terms,
    keys: Sequence[str] | None,
    values: Sequence[str] = (),
    unreadable: Sequence[str] = (),
) -> PricedProfile:
    """Return the plans of the profile, each with its part of the price."""
    if not terms.has_price() or terms.accuracy is not None or terms.delta is not None:
        raise InvalidArgument(
            "A profile has a price", must="be an ε or a ρ", next="Give epsilon=0.1, for example"
        )
    plans = profile_plans(table, keys, values, unreadable)
    histograms = sum(_histograms(plan) for plan in plans)
    cap = project.catalog.id_space(table.unit.id_space).cap
    whole = terms.price()
    assert isinstance(whole, Pure | Zcdp)
    shares = [whole * Fraction(_histograms(plan), histograms) for plan in plans]
    priced = [
        price(plan, Shares(aggregates={0: share}), cap)
        for plan, share in zip(plans, shares, strict=True)
    ]
    event = ComposedEvent.of([one.event for one in priced])
    loss = charged(event, cap)
    priced = [evolve(one, loss=loss) for one in priced]
    passage = Passage(
        name=profile_name(table),
        loss=loss,
        legs=tuple(map(leg_of, priced)),
        size=lambda: _size(priced),
        description={
            "sql": _written(table, plans),
            "event": event.to_json(),
            MEASURED_AS: measured_as(table, plans),
        },
        is_batch=True,
    )
    return PricedProfile(plans=tuple(priced), passage=passage)


def _size(priced: Iterable[PricedPlan]) -> ReleaseSize:
    return sum(map(largest_release, priced), SMALL)


def _histograms(plan: BoundedPlan) -> int:
    assert isinstance(plan.keys, PublicKeys)
    return len(plan.keys.sets)


_PROFILE_OF = "profile of "
"""How the ledger tells a profile from a question, which begins with a word of SQL."""


def _written(table: Table, plans: Iterable[BoundedPlan]) -> str:
    names = [plan.relation.fields()[i].name for plan in plans for i in plan.keys.fields]
    return f"{_PROFILE_OF}{table.name} by {', '.join(names)}"


def is_profile(text: str) -> bool:
    """Tell whether what the ledger says was asked is a profile."""
    return text.startswith(_PROFILE_OF)


def profile_plans(
    table: Table,
    keys: Sequence[str] | None = None,
    values: Sequence[str] = (),
    unreadable: Sequence[str] = (),
) -> tuple[BoundedPlan, ...]:
    """Return a plan for the rows of a unit, and some for its groups and its values.

    The last are for what could not be read.
    """
    if table.unit.column is None:
        raise InvalidArgument(
            f"A row of {table.name} is a unit", next="Each contributes one row: nothing is cut"
        )
    columns = [column for column in table.columns if column.keys]
    if keys is not None:
        columns = [_with_keys(table, name) for name in dict.fromkeys(keys)]
    measured = [table.column(name) for name in dict.fromkeys(values)]
    doubtful = [table.column(name) for name in dict.fromkeys(unreadable)]
    return (
        _of_rows(table),
        *(_of_groups(table, column) for column in columns),
        *(_of_values(table, column) for column in measured),
        *(unreadable_plan(table, column, UNREADABLE + column.name) for column in doubtful),
    )


def _with_keys(table: Table, name: str) -> Column:
    column = table.column(name)
    if not column.keys:
        raise InvalidArgument(
            f"'{name}' has no declared keys", must="be a column with keys", got=name
        )
    return column


def _of_rows(table: Table) -> BoundedPlan:
    by_unit = totals_of_units(Scan(table=table, columns=()), (), [(ROWS, Total.COUNT_ROWS, None)])
    return _histogram_plan(by_unit, [count_bins(_furthest(table))])


def _furthest(table: Table) -> int:
    """Return up to how many rows of a unit there are bins: no limit can be wider."""
    return min(table.most_rows_per_unit or USUAL_MOST, LARGEST_LIMIT)


def _of_groups(table: Table, column: Column) -> BoundedPlan:
    """Return the plan that counts the groups of each unit, and the rows in its busiest one.

    Rows with another value than the declared keys are in no group, so they are left out first;
    but not if there are too many keys to list. Then a unit may seem to be in more groups than it
    is, never in fewer.
    """
    assert column.keys is not None
    scan = Scan(table=table, columns=(column,))
    known = _is_listed(column) if has_few_keys(column) else _is_there(column)
    pairs = totals_of_units(
        Filter(source=scan, condition=known), (0,), [("n", Total.COUNT_ROWS, None)]
    )
    largest = (BUSIEST + column.name, Total.MAXIMUM, FieldValue(_INTEGER, 1))
    by_unit = totals_of_units(pairs, (), [(GROUPS + column.name, Total.COUNT_ROWS, None), largest])
    bins = [count_bins(len(column.keys)), count_bins(_furthest(table))]
    return _histogram_plan(by_unit, bins)


def _of_values(table: Table, column: Column) -> BoundedPlan:
    """Return the plan that bins the largest and the smallest value of each unit."""
    bins = value_bins(column)
    value = FieldValue(column.type, 0)
    totals = [(LARGEST, Total.MAXIMUM, value), (SMALLEST, Total.MINIMUM, value)]
    named = [(first + column.name, total, one) for first, total, one in totals]
    by_unit = totals_of_units(Scan(table=table, columns=(column,)), (), named)
    values = [_value_bin(FieldValue(column.type, place), bins) for place in (0, 1)]
    return by_bins(by_unit, values, [(*bins.ends, ABOVE, NO_VALUE)] * 2)


def _value_bin(value: Expression, bins: ValueBins) -> Expression:
    """Return the end of the bin of a value, in steps."""
    missing = (call("is_null", [value]), Literal(_INTEGER, NO_VALUE))
    branches: list[Expression] = [*missing]
    for end in bins.ends:
        branches += (_is_up_to(value, end, bins), Literal(_INTEGER, end))
    return call("case", [*branches, Literal(_INTEGER, ABOVE)])


def _is_up_to(value: Expression, end: int, bins: ValueBins) -> Expression:
    r"""Return the condition that a value, rounded to the grid, is at most so many steps.

    A sum rounds :math:`x` to :math:`\lfloor x/s + 1/2 \rfloor` steps, which is at most :math:`e`
    if and only if :math:`x < (e + 1/2) s`.
    """
    if value.type is ColumnType.DATE:
        if end < 1:
            return call("<", [value, Literal(value.type, datetime.date.min)])
        return call("<=", [value, Literal(value.type, datetime.date.fromordinal(end))])
    border = (end + Fraction(1, 2)) * bins.step
    if value.type is _INTEGER:
        last = min(max(math.ceil(border) - 1, -(2**63)), 2**63 - 1)
        return call("<=", [value, Literal(_INTEGER, last)])
    return call("<", [value, Literal(value.type, str(border))])


def _is_listed(column: Column) -> Expression:
    keys = (Literal(column.type, key) for key in column.keys or ())
    return call("in", [FieldValue(column.type, 0), *keys])


def _is_there(column: Column) -> Expression:
    return call("not", [call("is_null", [FieldValue(column.type, 0)])])


def _histogram_plan(by_unit: Relation, bins: Sequence[tuple[int, ...]]) -> BoundedPlan:
    """Return the plan that counts the units of each bin of numbers."""
    values = [binned(FieldValue(ColumnType.INTEGER, i), ends) for i, ends in enumerate(bins)]
    return by_bins(by_unit, values, [(*ends, BEYOND) for ends in bins])
