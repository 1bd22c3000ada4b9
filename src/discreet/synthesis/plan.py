"""The plan of a synthesis: which rows are counted by which values, and what is measured of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument, RefusedQuery, UnknownTable
from discreet.core.loss import PrivacyLoss, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.releases import ReleaseSize
from discreet.project.passage import KIND, Leg, Passage, StoredBody
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.sql.rows.fields import projected
from discreet.synthesis.counted.value_cells import (
    MOST_KEYS,
    ValueCells,
    rows_in_cells,
)
from discreet.synthesis.found_cells import as_if_found, declared_cells, with_found
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.price import SynthesisPrice, synthesis_price
from discreet.synthesis.private_bins import Dividing, dividing
from discreet.tables.catalog import Limits, Table
from discreet.tables.column import Key
from discreet.tables.expression import FieldValue
from discreet.tables.keyset import LONGEST_KEY, PrivateKeys
from discreet.tables.plans.aggregate import CountRows, CountUnits
from discreet.tables.plans.contain import contain
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BOUNDING, BoundedPlan
from discreet.tables.relations.read_keys import with_read_keys
from discreet.tables.relations.scan import Scan

VERSION = 1
"""The version of what is measured and how: a release of another one is not taken for it."""

SYNTHESIS = "synthesis"
"""What a description says of what is measured for synthetic rows."""

PUBLISHED = "published counts"
"""What a description says of counts that are published by a method."""


@frozen
class CountingPlan:
    """What counts rows of a table by cells, so that it can be told what counts the same rows."""

    table: Table
    cells: tuple[ValueCells, ...]
    rows_per_unit: int
    plan: BoundedPlan


@frozen(kw_only=True)
class SynthesisPlan:
    """What is counted, what is measured, and what it costs. All of it is public."""

    table: Table
    cells: tuple[ValueCells, ...]
    """Those of a column without declared values are found when it is paid for."""
    rows_per_unit: int
    plan: BoundedPlan
    keys_plans: tuple[BoundedPlan, ...]
    """For each column without declared values, in order, how many units have which; for one with
    private bins, how many rows each fine cell has."""
    price: SynthesisPrice
    tables: tuple[tuple[int, ...], ...] | None
    is_tree: bool
    has_residuals: bool = False

    @property
    def loss(self) -> PrivacyLoss:
        """What is charged."""
        return self.price.charged

    def mechanism(self, cells: Sequence[ValueCells]) -> MarginalMechanism:
        """Return what measures columns with these cells."""
        return MarginalMechanism(
            columns=tuple(one.counted() for one in cells),
            rows_per_unit=self.rows_per_unit,
            price=self.price.of_noise,
            tables=self.tables,
            is_tree=self.is_tree,
            has_residuals=self.has_residuals,
        )

    def name(self) -> str:
        """Return the name under which it is stored: equal for what is equal."""
        measured = self.mechanism(self.cells)
        return digest(
            {
                "synthesis": VERSION,
                "plan": self.plan.to_json(),
                "keys": [plan.to_json() for plan in self.keys_plans],
                "cells": [[one.inner, one.size] for one in self.cells],
                "price": self.price.event.to_json(),
                "tables": None if self.tables is None else list(map(list, self.tables)),
                "most": [measured.most_values, measured.most_cells, self.is_tree],
                "rounds": 1 + self.has_residuals,
            }
        )

    def require_possible(self) -> None:
        """Refuse what could fail after the charge: with few values found, and with many."""
        for count in (0, MOST_KEYS):
            found = [as_if_found(one, count) for one in self.cells]
            self.mechanism(found).require_possible()
        for one in self.cells:
            if one.fine is not None:
                self._dividing(one).bins.event()

    def passage(self) -> Passage:
        """Return what goes through the gate."""
        self.require_possible()
        return Passage(
            name=self.name(),
            loss=self.loss,
            legs=(self._leg({}),),
            size=self.largest_release,
            description={
                KIND: SYNTHESIS,
                "sql": self.in_words(),
                "columns": [one.column.name for one in self.cells],
                "event": self.price.event.to_json(),
            },
        )

    def counting(self) -> CountingPlan:
        """Return which rows it counts."""
        return CountingPlan(self.table, self.cells, self.rows_per_unit, self.plan)

    def in_words(self) -> str:
        """Say what it is."""
        names = ", ".join(one.column.name for one in self.cells)
        return f"synthetic rows of {self.table.name} with {names}"

    def largest_release(self) -> ReleaseSize:
        """Return the most that can be stored: all columns, and as many tables as are measured."""
        found = [as_if_found(one, MOST_KEYS) for one in self.cells]
        cells = 2 * sum(one.size for one in found) + self.mechanism(found).most_measured()
        texts = sum(one.is_open for one in self.cells) * MOST_KEYS * LONGEST_KEY * 4
        return ReleaseSize(bytes=24 * cells + texts + 100_000, cells=cells)

    def with_keys(self, found: Mapping[str, Sequence[Key]]) -> tuple[ValueCells, ...]:
        """Return the cells of all columns, with the values that were found for some."""
        return with_found(self.cells, found)

    def _leg(self, found: Mapping[str, list[Key]]) -> Leg:
        """Return the leg that finds the next column's values, or else the one that measures."""
        if len(found) == len(self.keys_plans):
            return Leg(plan=self.plan, published=partial(self._published, found))
        number = len(found)
        cells = [one for one in self.cells if one.is_open][number]

        def published(exact: ExactAggregates, rng: Rng) -> Leg:
            return self._leg({**found, cells.column.name: self._found(cells, exact, rng)})

        following = (*self.keys_plans[number + 1 :], self.plan)
        return Leg(plan=self.keys_plans[number], published=published, following=following)

    def _found(self, cells: ValueCells, exact: ExactAggregates, rng: Rng) -> list[Key]:
        """Return the values of a column that enough units have, or where its bins end."""
        if cells.fine is not None:
            return list(exact.measure(0, self._dividing(cells), rng))
        number = [one for one in self.cells if one.keys == ()].index(cells)
        rows, _, _ = exact.select(self.price.keys[number], rng, most=MOST_KEYS)
        return [key for (key,) in rows if key is not None]

    def _dividing(self, cells: ValueCells) -> Dividing:
        price = self.price.of_bins
        assert price is not None
        return dividing(cells, rows_per_unit=self.rows_per_unit, price=price)

    def _published(
        self, found: Mapping[str, list[Key]], exact: ExactAggregates, rng: Rng
    ) -> StoredBody:
        cells = self.with_keys(found)
        measured = exact.measure(0, _Measuring(cells, self.mechanism(cells)), rng)
        return {
            KIND: "marginals",
            "version": VERSION,
            "bounding": BOUNDING,
            "cost": self.loss.to_json(),
            "table": self.table.name,
            "cells": [one.to_json() for one in cells],
            "counted": digest(self.plan.to_json()),
            "rows_per_unit": self.rows_per_unit,
            "keys": dict(found),
            "measured": measured,
        }


@frozen
class _Measuring:
    """Hands what an engine found to the mechanism, as counted rows."""

    cells: tuple[ValueCells, ...]
    mechanism: MarginalMechanism

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> dict[str, Any]:
        """Return what was measured, as plain values."""
        rows = rows_in_cells(keys, counts, self.cells)
        return self.mechanism.release(rows, rng).to_json()


def private_table(project: Project, name: str) -> Table:
    """Return the private table of that name, with the keys that it has from public tables."""
    if not isinstance(name, str):
        raise InvalidArgument("A table has a name", must="be text", got=type(name).__name__)
    table = project.catalog.table(name)
    if not isinstance(table, Table):
        raise UnknownTable(
            f"'{name}' is a public table", must="be private: a public one can be given as it is"
        )
    return with_read_keys(table, project.catalog, project.engine.public_rows)


def synthesis_plan(
    table: Table,
    cap: PrivacyLoss,
    terms: Terms,
    *,
    columns: Sequence[str] | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    is_tree: bool = False,
    has_residuals: bool | None = False,
    rows_per_unit: int | None = None,
    quantiles: Sequence[str] | None = None,
) -> SynthesisPlan:
    """Return the plan for some columns of a table; without ``columns``, for all but the unit's.

    ``tables`` are those to measure, if they are not to be chosen privately; ``quantiles`` are the
    columns that are divided privately where the rows are. With no word about residuals they are
    measured where that costs next to nothing; of one column there are none.
    """
    counted = counted_table(table, columns, rows_per_unit, quantiles)
    cells, most = counted.cells, counted.rows_per_unit
    places = {one.column.name.lower(): place for place, one in enumerate(cells)}
    price = synthesis_price(terms, cap, counted.keys_limits, bins=counted.bins)
    twice = isinstance(price.of_noise, Zcdp) if has_residuals is None else has_residuals
    return SynthesisPlan(
        table=table,
        cells=cells,
        rows_per_unit=most,
        plan=bounded_plan(table, cells, most),
        keys_plans=counted.keys_plans,
        price=price,
        tables=None if tables is None else tuple(sorted({_table(places, one) for one in tables})),
        is_tree=is_tree,
        has_residuals=twice and tables is None and len(cells) > 1,
    )


@frozen(kw_only=True)
class CountedTable:
    """What is counted of a table: the cells of its columns, of so many rows of a unit."""

    cells: tuple[ValueCells, ...]
    rows_per_unit: int
    keys_plans: tuple[BoundedPlan, ...]
    """For each column without declared values, in order, how many units have which; for one with
    private bins, how many rows each fine cell has."""

    @property
    def bins(self) -> int:
        """How many columns have private bins."""
        return sum(one.fine is not None for one in self.cells)

    @property
    def keys_limits(self) -> list[Limits]:
        """The limits of each column without declared values."""
        opened = [one for one in self.cells if one.is_open]
        pairs = zip(opened, self.keys_plans, strict=True)
        return [plan.limits for one, plan in pairs if one.fine is None]


def counted_table(
    table: Table,
    columns: Sequence[str] | None,
    rows_per_unit: int | None,
    quantiles: Sequence[str] | None = None,
) -> CountedTable:
    """Return what is counted of some columns; without any named, of all but the unit's.

    They are in the order of the table: who names them in another one does not pay again.
    """
    named = columns_to_publish(table, columns)
    binned = _binned(table, named, quantiles)
    cells = declared_cells([one for one in table.columns if one.name in named], binned)
    most = rows_that_count(table, rows_per_unit)
    limits = Limits(rows_per_group=1, groups_per_unit=min(most, table.limits.groups_per_unit))
    plans = tuple(
        _keys_plan(table, one, limits) if one.fine is None else bounded_plan(table, [one], most)
        for one in cells
        if one.is_open
    )
    return CountedTable(cells=cells, rows_per_unit=most, keys_plans=plans)


def _binned(table: Table, named: Sequence[str], quantiles: Sequence[str] | None) -> set[str]:
    """Return the names of the columns that are divided privately."""
    if quantiles is None:
        return set()
    found = {table.column(one).name for one in list_of_names("quantiles", quantiles)}
    missing = sorted(found - set(named))
    if missing:
        raise InvalidArgument(
            f"'{missing[0]}' is not one of the columns", must=f"be among {', '.join(named)}"
        )
    return found


def _keys_plan(table: Table, cells: ValueCells, limits: Limits) -> BoundedPlan:
    """Return the plan that counts the units of each value of a column."""
    plan = BoundedPlan(
        relation=Scan(table=table, columns=(cells.column,)),
        keys=PrivateKeys(fields=(0,), allowed=(None,)),
        limits=limits,
        aggregates=(CountUnits(),),
    )
    return contain(plan)


def columns_to_publish(table: Table, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the given columns, or of all but those that name the unit."""
    owners = {name.lower() for name in table.unit.owner_columns()}
    if columns is None:
        names = [one.name for one in table.columns if one.name.lower() not in owners]
        if not names:
            raise InvalidArgument(
                f"No column of {table.name} is left", must="have one that does not name the unit"
            )
        return names
    names = [table.column(name).name for name in list_of_names("columns", columns)]
    if len(set(names)) < len(names):
        raise InvalidArgument("A column is named twice", must="be named once")
    if owners & {name.lower() for name in names}:
        raise RefusedQuery(
            f"'{table.unit.owner_text()}' says whose row it is",
            must="be left out: nobody's own name may be in what is published",
        )
    return names


def list_of_names(what: str, given: object) -> list[str]:
    """Return a list of at least one text."""
    names = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if not names or not all(isinstance(one, str) for one in names):
        raise InvalidArgument(
            f"{what} is not a list of names", must="have at least one text", got=repr(given)[:40]
        )
    return names


def rows_that_count(table: Table, given: int | None) -> int:
    """Return how many rows of one unit count: as given, or else as declared."""
    if table.unit.column is None:
        return 1
    limits = table.limits
    usual = limits.rows_per_unit or limits.rows_per_group * limits.groups_per_unit
    if given is None and table.most_rows_per_unit is not None:
        usual = min(usual, table.most_rows_per_unit)
    most = usual if given is None else given
    return Limits(rows_per_group=1, groups_per_unit=1, rows_per_unit=most).rows_per_unit or 1


def _table(places: dict[str, int], names: Sequence[str]) -> tuple[int, ...]:
    if len(list_of_names("a table", names)) < 2:
        raise InvalidArgument(
            "A table to measure has several columns",
            must="be a list of at least two names",
            next="Columns by themselves are always measured",
        )
    missing = [name for name in names if name.lower() not in places]
    if missing:
        raise InvalidArgument(
            f"'{missing[0]}' is not one of the columns", must=f"be among {', '.join(places)}"
        )
    found = sorted({places[name.lower()] for name in names})
    if len(found) < len(names):
        raise InvalidArgument("A column is twice in a table", must="be there once")
    return tuple(found)


def bounded_plan(table: Table, cells: Sequence[ValueCells], most: int) -> BoundedPlan:
    """Return the plan that counts the kept rows of each combination of values that is there."""
    scan = Scan(table=table, columns=tuple(one.column for one in cells))
    values = [one.expression(FieldValue(one.column.type, place)) for place, one in enumerate(cells)]
    relation = projected(scan, values, [one.column.name for one in cells])
    plan = BoundedPlan(
        relation=relation,
        keys=PrivateKeys(fields=tuple(range(len(cells))), allowed=(None,) * len(cells)),
        limits=Limits(rows_per_group=most, groups_per_unit=most, rows_per_unit=most),
        aggregates=(CountRows(),),
    )
    return contain(plan)
