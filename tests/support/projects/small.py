"""A small clinic in memory, with fixed declarations: for cases that are made by hand."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate
from discreet.tables.catalog import Catalog, IdSpace, Limits, PrivacyUnit, PublicTable, Table
from discreet.tables.column import Bounds, Column, ColumnType, DateRange
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.source import Source, SourceFormat
from tests.support.projects.memory import Exact, MemoryEngine, reveal
from tests.support.projects.neighbours import Moved, check_neighbours
from tests.support.projects.plan import plan_of
from tests.support.projects.world import Row, Rows, World, with_rows

FIRST_DAY = datetime.date(2025, 1, 1)


def small_catalog(
    *, rows_per_group: int = 2, groups_per_unit: int = 3, rows_per_unit: int | None = None
) -> Catalog:
    """Return the declarations; all limits are alike."""
    limits = Limits(
        rows_per_group=rows_per_group, groups_per_unit=groups_per_unit, rows_per_unit=rows_per_unit
    )
    unit = PrivacyUnit(id_space="people", column="person")
    return Catalog(
        id_spaces=(IdSpace(name="people", unit="a person", cap=Approximate(100, "1e-3")),),
        tables=(
            Table(
                name="patients",
                source=_source("patients"),
                unit=unit,
                columns=_PATIENTS,
                limits=limits,
            ),
            Table(
                name="visits", source=_source("visits"), unit=unit, columns=_VISITS, limits=limits
            ),
        ),
        ledger=Path("/nowhere/ledger"),
        public_tables=(
            PublicTable(name="districts", source=_source("districts"), columns=_DISTRICTS),
            PublicTable(name="clinics", source=_source("clinics"), columns=_CLINICS),
        ),
    )


def _source(name: str) -> Source:
    return Source(path=Path(f"/nowhere/{name}.parquet"), format=SourceFormat.PARQUET)


_TEXT, _INTEGER, _REAL = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.REAL

_PATIENTS = (
    Column(name="person", type=_TEXT),
    Column(name="sex", type=_TEXT, keys=("f", "m")),
    Column(name="age", type=_INTEGER, bounds=Bounds(lower=0, upper=100)),
    Column(name="district", type=_TEXT),
)
_VISITS = (
    Column(name="person", type=_TEXT),
    Column(name="clinic", type=_TEXT, keys=("a", "b", "c", "d")),
    Column(name="diagnosis", type=_TEXT),
    Column(name="cost", type=_REAL, bounds=Bounds(lower=0, upper=10, step="0.25")),
    Column(name="stay", type=_INTEGER, bounds=Bounds(lower=-10, upper=4)),
    Column(name="urgent", type=ColumnType.BOOLEAN),
    Column(
        name="day",
        type=ColumnType.DATE,
        dates=DateRange(first=FIRST_DAY, last=datetime.date(2025, 12, 31)),
    ),
)
_DISTRICTS = (Column(name="district", type=_TEXT), Column(name="region", type=_TEXT))
_CLINICS = (
    Column(name="clinic", type=_TEXT),
    Column(name="level", type=_INTEGER, bounds=Bounds(lower=1, upper=3)),
)


def patient(person: str | None, **values: Any) -> Row:
    """Return a row of patients, with ordinary values where none are given."""
    usual = {"sex": "f", "age": 40, "district": "north"} | values
    return (person, usual["sex"], usual["age"], usual["district"])


def visit(person: str | None, clinic: str | None = "a", **values: Any) -> Row:
    """Return a row of visits, with ordinary values where none are given."""
    usual: dict[str, Any] = {
        "diagnosis": "flu",
        "cost": 2.5,
        "stay": 1,
        "urgent": False,
        "day": FIRST_DAY,
    }
    usual |= values
    return (
        person,
        clinic,
        *(usual[name] for name in ("diagnosis", "cost", "stay", "urgent", "day")),
    )


def small_world(
    patients: Sequence[Row], visits: Sequence[Row], catalog: Catalog | None = None
) -> World:
    """Return a world with these people; a public district and a public clinic are there twice."""
    public: Rows = {
        "districts": [("north", "hill"), ("north", "coast"), ("south", "coast"), ("void", None)],
        "clinics": [("a", 1), ("b", 2), ("c", 3), ("d", 3), ("d", 1)],
    }
    private: Rows = {"patients": list(patients), "visits": list(visits)}
    return World(catalog=catalog or small_catalog(), private=private, public=public)


CROWD = small_world(
    [patient(f"p{i}", sex="fm"[i % 2], age=i * 7 % 100) for i in range(20)],
    [
        visit(f"p{i % 15}", "abcd"[i % 4], diagnosis=f"d{i % 3}", cost=i % 11, stay=i % 6 - 4)
        for i in range(40)
    ],
)


def seen(engine: MemoryEngine, world: World, sql: str) -> tuple[BoundedPlan, Exact]:
    """Return the plan of a query and its exact aggregates."""
    engine.tables = world.arrow()
    plan = plan_of(sql, world.catalog, engine)
    return plan, reveal(engine, plan)


def moved_by(
    engine: MemoryEngine,
    world: World,
    sql: str,
    *,
    patients: Sequence[Row] = (),
    visits: Sequence[Row] = (),
    is_nobody: bool = False,
) -> list[Moved]:
    """Return what one more person moves, after asserting that it is within what was declared."""
    plan, first = seen(engine, world, sql)
    added = {"patients": patients, "visits": visits}
    engine.tables = world.arrow(with_rows(world, added))
    return check_neighbours(plan, first, reveal(engine, plan), is_nobody=is_nobody)


# ---- What a trap looks at.


def loose_world(patients: Sequence[Row] = (), visits: Sequence[Row] = ()) -> World:
    """Return a world whose limits hold back nobody."""
    return small_world(patients, visits, small_catalog(rows_per_group=10_000, groups_per_unit=100))


def first_exact(engine: MemoryEngine, world: World, sql: str) -> list[int]:
    """Return the first exact aggregate of a query."""
    column = seen(engine, world, sql)[1].columns[0]
    assert isinstance(column, np.ndarray)
    found: list[int] = column.tolist()
    return found


def by_name(parts: Sequence[Moved]) -> dict[str, Contribution]:
    """Return what was moved of each aggregate, whatever order the plan has them in."""
    assert len({part.aggregate for part in parts}) == len(parts)
    return {part.aggregate: part.found for part in parts}
