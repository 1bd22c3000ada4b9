"""Bounded plans made by hand, for tests of what a plan costs."""

from fractions import Fraction
from pathlib import Path

from discreet.tables.catalog import Limits, Period, PrivacyUnit, Table
from discreet.tables.column import Bounds, Column, ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.keyset import ONE_ROW, Keys, KeySet, PrivateKeys, PublicKeys
from discreet.tables.plans.aggregate import Aggregate, QuantileValues
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumValues
from discreet.tables.relations.scan import Scan
from discreet.tables.source import Source, SourceFormat

AGE = Bounds(lower=0, upper=100)
COLUMNS = (
    Column(name="person", type=ColumnType.INTEGER, nullable=False),
    Column(name="city", type=ColumnType.TEXT),
    Column(name="age", type=ColumnType.INTEGER, bounds=AGE),
    Column(name="day", type=ColumnType.DATE, nullable=False),
)
PRIVATE = PrivateKeys(fields=(1,), allowed=(None,))
FOUR_KEYS = PublicKeys(
    fields=(1,), sets=(KeySet(places=(0,), rows=(("a",), ("b",), ("c",), ("d",))),)
)


def table(*, period: Period | None = None, unit: str | None = "person") -> Table:
    """Return a table of people, their city and their age."""
    return Table(
        name="people",
        source=Source(path=Path("people.parquet"), format=SourceFormat.PARQUET),
        unit=PrivacyUnit(id_space="everybody", column=unit, period=period),
        columns=COLUMNS,
        limits=Limits(rows_per_group=2, groups_per_unit=3),
    )


def make_plan(
    *aggregates: Aggregate,
    keys: Keys = ONE_ROW,
    rows_per_group: int = 2,
    groups_per_unit: int = 3,
    period: Period | None = None,
    unit: str | None = "person",
) -> BoundedPlan:
    """Return the plan of some aggregates over that table."""
    return BoundedPlan(
        relation=Scan.of(table(period=period, unit=unit)),
        keys=keys,
        limits=Limits(rows_per_group=rows_per_group, groups_per_unit=groups_per_unit),
        aggregates=aggregates,
    )


def equal_weights(plan: BoundedPlan) -> tuple[Fraction, ...]:
    """Return the same weight for every aggregate."""
    return (Fraction(1, len(plan.aggregates)),) * len(plan.aggregates)


def ages(*, centre: int = 0) -> SumValues:
    """Return the sum of ages."""
    return SumValues(value=FieldValue(ColumnType.INTEGER, 2), bounds=AGE, centre=centre)


def age_quantile(quantile: str = "1/2", *, upper: int = 100) -> QuantileValues:
    """Return a quantile of ages."""
    return QuantileValues(
        value=FieldValue(ColumnType.INTEGER, 2),
        bounds=Bounds(lower=0, upper=upper),
        quantile=Fraction(quantile),
    )
