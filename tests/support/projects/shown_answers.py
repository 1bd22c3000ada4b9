"""Answers made by hand: outputs of a query, exact integers of a few rows, noise that is chosen."""

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sqlglot
from attrs import evolve, field, frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import UnknownColumn
from discreet.core.loss import Pure
from discreet.curator.price.price import Drawn, PricedPlan
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import Noisy
from discreet.ledger.order import Charge, Receipt, Ticket
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.mechanisms.selection.quantile import Quantile
from discreet.releases.body import Body
from discreet.releases.release import Release
from discreet.sql.aggregates.clamps import ChooseBounds, nothing_chosen
from discreet.sql.expressions.expression import resolve_expression
from discreet.sql.outputs.outputs import OrderItem, Outputs, resolve_outputs
from discreet.tables.catalog import Limits, Period, PeriodLength, PrivacyUnit, Table
from discreet.tables.column import Bounds, Column, ColumnType, Key
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
)
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumSquares, SumValues
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import Scan
from discreet.tables.source import Source, SourceFormat

LIMITS = Limits(rows_per_group=3, groups_per_unit=2)

COLUMNS = (
    Column(name="person", type=ColumnType.TEXT, nullable=False),
    Column(name="clinic", type=ColumnType.TEXT),
    Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=110)),
    Column(
        name="cost",
        type=ColumnType.REAL,
        bounds=Bounds(lower=0, upper=10, step="1/4"),
        nullable=False,
    ),
    Column(name="urgent", type=ColumnType.BOOLEAN),
    Column(name="day", type=ColumnType.DATE),
    Column(name="weight", type=ColumnType.REAL),
    Column(name="code", type=ColumnType.INTEGER),
    Column(name="stay", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=10), nullable=False),
)


def visits(period: Period | None = None) -> Scan:
    """Return the relation that the tests ask about."""
    table = Table(
        name="visits",
        source=Source(path=Path("/data/visits.csv"), format=SourceFormat.CSV),
        unit=PrivacyUnit(id_space="people", column="person", period=period),
        columns=COLUMNS,
        limits=LIMITS,
    )
    return Scan.of(table)


BY_MONTH = Period(length=PeriodLength.MONTH, column="day")


@frozen(kw_only=True)
class HandScope:
    """A scope over one relation, grouped by some of its columns."""

    relation: Relation
    keys: tuple[Expression, ...] = ()
    key_names: tuple[str, ...] = ()
    has_private_keys: bool = False
    choose: ChooseBounds = nothing_chosen

    def row(self, node: Any) -> Expression:
        """Return the row-wise expression of a node."""
        return resolve_expression(node, self._column)

    def _column(self, node: Any) -> Expression:
        names = [part.name for part in self.relation.fields()]
        if node.name not in names:
            raise UnknownColumn(f"No column '{node.name}' in visits")
        index = names.index(node.name)
        return FieldValue(self.relation.fields()[index].type, index)


def outputs(sql: str, relation: Relation | None = None) -> Outputs:
    """Return the outputs of a query over ``visits``."""
    select = sqlglot.parse_one(sql, dialect="duckdb")
    group = select.args.get("group")
    plain = HandScope(relation=relation or visits())
    keys = tuple(plain.row(node) for node in group.expressions) if group else ()
    scope = HandScope(
        relation=plain.relation,
        keys=keys,
        key_names=tuple(node.sql() for node in group.expressions) if group else (),
    )
    having, order = select.args.get("having"), select.args.get("order")
    limit, offset = select.args.get("limit"), select.args.get("offset")
    return resolve_outputs(
        items=[(item.alias_or_name, item.unalias()) for item in select.expressions],
        having=having.this if having else None,
        order=[
            OrderItem(node=item.this, descending=bool(item.args.get("desc")))
            for item in (order.expressions if order else ())
        ],
        limit=int(limit.expression.this) if limit else None,
        offset=int(offset.expression.this) if offset else None,
        scope=scope,
    )


Row = Sequence[Any]
"""The values of one row, in the order of the columns."""

_CALLS: dict[str, Callable[..., Any]] = {
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "<": operator.lt,
    "*": operator.mul,
    "+": operator.add,
}


def _evaluated(expression: Expression, row: Row) -> Any:
    if isinstance(expression, FieldValue):
        return row[expression.index]
    if isinstance(expression, Literal):
        is_number = expression.type in (ColumnType.INTEGER, ColumnType.REAL)
        return Fraction(str(expression.value)) if is_number else expression.value
    assert isinstance(expression, Call)
    values = [_evaluated(argument, row) for argument in expression.arguments]
    if expression.function == "is_null":
        return values[0] is None
    if expression.function == "not":
        return None if values[0] is None else not values[0]
    if expression.function == "and":
        return all(values)
    if expression.function == "cast":
        return values[0]
    return None if None in values else _CALLS[expression.function](*values)


def _steps(value: Any, bounds: Bounds) -> int:
    moved = min(max(Fraction(value), bounds.lower), bounds.upper)
    return math.floor(moved / bounds.step + Fraction(1, 2))


def exact_integer(aggregate: Aggregate, rows: Sequence[Row]) -> int:
    """Return the exact integer of an aggregate over rows that no limit leaves out."""
    kept = [r for r in rows if aggregate.where is None or _evaluated(aggregate.where, r) is True]
    if isinstance(aggregate, CountRows):
        return len(kept)
    if isinstance(aggregate, CountUnits):
        return len({row[0] for row in kept})
    if isinstance(aggregate, CountDistinct):
        return len({_evaluated(aggregate.value, row) for row in kept})
    assert isinstance(aggregate, SumValues | SumSquares | QuantileValues)
    values = [_steps(_evaluated(aggregate.value, row), aggregate.bounds) for row in kept]
    if isinstance(aggregate, SumValues):
        return sum(value - aggregate.centre for value in values)
    if isinstance(aggregate, SumSquares):
        return sum((value - aggregate.centre) ** 2 - aggregate.offset for value in values)
    place = min(len(values) - 1, math.floor(aggregate.quantile * len(values)))
    return sorted(values)[place]


@frozen(kw_only=True)
class Hand:
    """Rows in groups, and the noise of each aggregate, for bodies that are made by hand."""

    outputs: Outputs
    groups: dict[tuple[Key | None, ...], Sequence[Row]]
    fields: tuple[int, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()
    """For each grouping set its places; one with all fields, if not given."""
    sets: tuple[int, ...] = ()
    scale: Fraction = field(default=Fraction(1), converter=Fraction)

    def mechanisms(self) -> tuple[AggregateMechanism, ...]:
        """Return discrete Laplace noise for numbers, and a choice by rank for quantiles."""
        return tuple(
            Quantile(
                quantile=aggregate.quantile,
                lower=aggregate.bounds.lower_steps,
                upper=aggregate.bounds.upper_steps,
                scale=self.scale,
            )
            if isinstance(aggregate, QuantileValues)
            else DiscreteLaplace(scale=self.scale)
            for aggregate in self.outputs.aggregates
        )

    def exact(self) -> list[list[int]]:
        """Return the exact integers: a list for each aggregate, a number for each group."""
        return [
            [exact_integer(aggregate, rows) for rows in self.groups.values()]
            for aggregate in self.outputs.aggregates
        ]

    def body(self, noise: Sequence[Sequence[int]] | None = None) -> Body:
        """Return the body with this noise added, or with none."""
        values = self.exact()
        if noise is not None:
            values = [
                [v + z for v, z in zip(*pair, strict=True)]
                for pair in zip(values, noise, strict=True)
            ]
        places = self.places or (tuple(range(len(self.fields))),)
        keys = PublicKeys(
            fields=self.fields, sets=tuple(KeySet(places=part, rows=()) for part in places)
        )
        plan = BoundedPlan(
            relation=visits(), keys=keys, limits=LIMITS, aggregates=self.outputs.aggregates
        )
        priced = PricedPlan(
            plan=plan,
            groups=keys,
            answers=tuple(Drawn(mechanism, EVENT) for mechanism in self.mechanisms()),
            loss=Pure(Fraction(1, 2)),
        )
        noisy = Noisy(
            keys=tuple(self.groups),
            sets=self.sets or (0,) * len(self.groups),
            columns=tuple(np.array(column, dtype=np.int64) for column in values),
        )
        return publish(noisy, priced)

    def release(
        self, noise: Sequence[Sequence[int]] | None = None, *, is_cut: bool = False
    ) -> Release:
        """Return the release of that body: of all rows, or of how many nobody knows."""
        made = Release(view=self.outputs.view, body=self.body(noise), receipt=RECEIPT)
        return made if is_cut else evolve(made, left_out=None)


EVENT = DiscreteLaplace(scale=2).event(Contribution(l1=1))

RECEIPT = Receipt(
    ticket=Ticket(1, "0" * 64),
    charges=(Charge("people", Pure(Fraction(1, 2))),),
    plan_digest="0" * 64,
    data_version=1,
    release_digest="1" * 64,
    head="2" * 64,
)


def row(**values: Any) -> Row:
    """Return one row of ``visits``; what is not given is missing."""
    return [values.get(column.name) for column in COLUMNS]
