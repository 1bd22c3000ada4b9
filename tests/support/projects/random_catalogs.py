"""Random declarations: patients and visits of one id space, and two public tables."""

import datetime
from fractions import Fraction
from pathlib import Path

from discreet.core.loss import Approximate
from discreet.tables.catalog import (
    Catalog,
    IdSpace,
    Limits,
    Period,
    PeriodLength,
    PrivacyUnit,
    PublicTable,
    Table,
)
from discreet.tables.column import Bounds, Column, ColumnType, DateRange
from discreet.tables.source import Source, SourceFormat
from tests.support.projects.dice import Dice

DAYS = DateRange(first=datetime.date(2025, 1, 1), last=datetime.date(2025, 3, 31))

Range = tuple[int, int, int | str]
"""The ends of a range, and its step."""

INTEGER_BOUNDS: tuple[Range, ...] = (
    (0, 100, 1),
    (-10, 4, 1),
    (18, 90, 1),
    (-100, 100, 5),
    (0, 1, 1),
)
REAL_BOUNDS: tuple[Range, ...] = (
    (0, 10, "0.25"),
    (-3, 3, "0.5"),
    (0, 200, 1),
    (-1, 100, "0.1"),
    (-8, -2, 2),
)

LOOSE_INTEGER: tuple[Range, ...] = ((-1_000_000, 1_000_000, 1),)
LOOSE_REAL: tuple[Range, ...] = ((-100_000, 100_000, "0.25"),)
"""Bounds that no value of a tame project reaches."""


UNIT_KINDS = ("person", "period", "row")
"""The kinds of privacy unit that a declaration can have."""

_WEIGHTS = {"person": 8, "period": 2, "row": 1}


def random_catalog(dice: Dice, *, kinds: tuple[str, ...] = UNIT_KINDS) -> Catalog:
    """Return random declarations, whose units are of one of the ``kinds``."""
    kind = dice.weighted([(_WEIGHTS[kind], kind) for kind in kinds])
    unit_type = dice.pick((ColumnType.INTEGER, ColumnType.TEXT))
    length = dice.pick(tuple(PeriodLength)) if dice.chance(40) else PeriodLength.DAY
    integers, reals = dice.pick(INTEGER_BOUNDS), dice.pick(REAL_BOUNDS)
    tables = tuple(
        _private(dice, name, make(dice, integers, reals), kind, unit_type, length)
        for name, make in (("patients", _patients), ("visits", _visits))
    )
    return _catalog(tables)


def loose_catalog(dice: Dice) -> Catalog:
    """Return declarations whose limits and bounds no tame project reaches."""
    unit_type = dice.pick((ColumnType.INTEGER, ColumnType.TEXT))
    limits = Limits(rows_per_group=10_000, groups_per_unit=200)
    tables = tuple(
        Table(
            name=name,
            source=_source(name),
            unit=PrivacyUnit(id_space="people", column="person"),
            columns=(
                Column(name="person", type=unit_type),
                *make(dice, LOOSE_INTEGER[0], LOOSE_REAL[0]),
            ),
            limits=limits,
        )
        for name, make in (("patients", _patients), ("visits", _visits))
    )
    return _catalog(tables)


def _catalog(tables: tuple[Table, ...]) -> Catalog:
    return Catalog(
        id_spaces=(IdSpace(name="people", unit="a person", cap=Approximate(100, "1e-3")),),
        tables=tables,
        ledger=Path("/nowhere/ledger"),
        public_tables=(
            PublicTable(name="districts", source=_source("districts"), columns=_districts()),
            PublicTable(name="prices", source=_source("prices"), columns=_prices()),
        ),
    )


def _private(
    dice: Dice,
    name: str,
    columns: tuple[Column, ...],
    kind: str,
    unit_type: ColumnType,
    length: PeriodLength,
) -> Table:
    column = "person" if name == "patients" or dice.chance(50) else "patient_id"
    period = Period(length=length, column="day") if kind == "period" else None
    return Table(
        name=name,
        source=_source(name),
        unit=PrivacyUnit(
            id_space="people", column=None if kind == "row" else column, period=period
        ),
        columns=(Column(name=column, type=unit_type), *columns),
        limits=Limits(
            rows_per_group=dice.pick((1, 1, 2, 3, 5)), groups_per_unit=dice.pick((1, 2, 3, 20))
        ),
    )


def _patients(dice: Dice, integers: Range, reals: Range) -> tuple[Column, ...]:
    return (
        Column(name="sex", type=ColumnType.TEXT, keys=("f", "m")),
        Column(name="district", type=ColumnType.TEXT),
        Column(name="age", type=ColumnType.INTEGER, bounds=_bounds(integers)),
        Column(name="weight", type=ColumnType.REAL, bounds=_bounds(reals)),
        Column(name="smoker", type=ColumnType.BOOLEAN),
        Column(name="day", type=ColumnType.DATE, dates=DAYS),
    )


def _visits(dice: Dice, integers: Range, reals: Range) -> tuple[Column, ...]:
    clinics = ("a", "b", "c", "d")[: dice.between(1, 4)]
    return (
        Column(name="clinic", type=ColumnType.TEXT, keys=clinics),
        Column(name="ward", type=ColumnType.INTEGER, keys=(1, 2, 3), bounds=_bounds((1, 3, 1))),
        Column(name="diagnosis", type=ColumnType.TEXT),
        Column(name="stay", type=ColumnType.INTEGER, bounds=_bounds(integers)),
        Column(name="cost", type=ColumnType.REAL, bounds=_bounds(reals)),
        Column(name="urgent", type=ColumnType.BOOLEAN),
        Column(name="day", type=ColumnType.DATE, dates=DAYS),
    )


def _districts() -> tuple[Column, ...]:
    return (
        Column(name="district", type=ColumnType.TEXT),
        Column(name="region", type=ColumnType.TEXT),
        Column(name="size", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=50)),
    )


def _prices() -> tuple[Column, ...]:
    return (
        Column(name="clinic", type=ColumnType.TEXT),
        Column(name="level", type=ColumnType.INTEGER, bounds=Bounds(lower=1, upper=3)),
        Column(name="price", type=ColumnType.REAL, bounds=Bounds(lower=0, upper=10, step="0.5")),
    )


def _bounds(span: Range) -> Bounds:
    lower, upper, step = span
    return Bounds(lower=lower, upper=upper, step=Fraction(str(step)))


def _source(name: str) -> Source:
    return Source(path=Path(f"/nowhere/{name}.parquet"), format=SourceFormat.PARQUET)
