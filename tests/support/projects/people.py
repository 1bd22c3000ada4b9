"""Random people: a crowd with few rows each, and a person that tries everything."""

import datetime
import math
from collections.abc import Callable
from typing import Any

from attrs import frozen

from discreet.tables.catalog import Catalog, Table
from discreet.tables.column import Column, ColumnType
from tests.support.projects.dice import Dice
from tests.support.projects.random_catalogs import DAYS
from tests.support.projects.world import Row, Rows, World, position, start, unit_of

WORDS = ("flu", "cold", "cough", "Measles", "", "o'\"né;--", "50%", "a_b")
DISTRICTS = ("north", "south", "east", "west", "nowhere")
CLINICS = ("a", "b", "c", "d", "elsewhere")
HUGE = 2**63 - 1


def random_world(dice: Dice, catalog: Catalog, *, tame: bool = False) -> World:
    """Return a crowd of a few to forty people, most of them with few rows."""
    ids = _ids(dice, catalog, dice.between(1, dice.pick((4, 12, 40))), tame=tame)
    private: Rows = {table.name: [] for table in catalog.tables}
    for table in catalog.tables:
        for person in ids:
            for _ in range(dice.weighted(((2, 0), (5, 1), (3, 2), (1, dice.between(3, 9))))):
                private[table.name].append(random_row(dice, table, person, tame=tame))
    return World(catalog=catalog, private=private, public=random_public(dice))


def random_public(dice: Dice) -> Rows:
    """Return public rows; some keys are there twice, some not at all."""
    regions = ("hill", "coast", None)
    districts = [(name, dice.pick(regions), dice.between(0, 50)) for name in DISTRICTS[:4]]
    if dice.chance(40):
        districts.append(("north", dice.pick(regions), 7))
    prices = [
        (clinic, dice.between(1, 3), dice.between(0, 20) / 2)
        for clinic in dice.some(CLINICS[:4], 4)
        for _ in range(dice.pick((1, 1, 2)))
    ]
    return {"districts": districts, "prices": prices}


def _ids(dice: Dice, catalog: Catalog, count: int, *, tame: bool) -> list[Any]:
    if catalog.tables[0].columns[0].type is ColumnType.TEXT:
        return [f"p{i}" if i else "o'\"né;--" for i in range(count)]
    if tame:
        return list(range(count))
    return [dice.pick((i, -i, i * 10**15)) if i else -HUGE for i in range(count)]


def random_row(dice: Dice, table: Table, person: Any, *, tame: bool = False) -> Row:
    """Return a row of a person, with values in and out of bounds (in them, if tame)."""
    return (person, *(_value(dice, column, tame=tame) for column in table.columns[1:]))


def _value(dice: Dice, column: Column, *, tame: bool) -> Any:
    if dice.chance(8):
        return None
    return _VALUES[column.type](dice, column, tame)


def _integer(dice: Dice, column: Column, tame: bool) -> int:
    if column.keys is not None:
        return dice.between(0, 4)
    if tame:
        return dice.between(-50, 100)
    assert column.bounds is not None
    low, high = int(column.bounds.lower), int(column.bounds.upper)
    return dice.pick((low, high, dice.between(low, high), dice.between(low - 9, high + 9)))


def _real(dice: Dice, column: Column, tame: bool) -> float:
    if tame:
        return dice.between(-40, 400) / 4
    assert column.bounds is not None
    low, high = float(column.bounds.lower), float(column.bounds.upper)
    inside = low + (high - low) * dice.below(1000) / 1000
    return dice.pick((low, high, inside, inside, low - 1, high + 0.1, math.nan, 1e300))


def _text(dice: Dice, column: Column, _: bool) -> str:
    options = {"sex": ("f", "m", "m", "x"), "district": DISTRICTS, "clinic": CLINICS}
    return dice.pick(options.get(column.name, WORDS))


def _date(dice: Dice, column: Column, tame: bool) -> datetime.date:
    if not tame and dice.chance(5):
        return datetime.date(1, 1, 1)
    return DAYS.first + datetime.timedelta(days=dice.below(DAYS.days))


_VALUES: dict[ColumnType, Callable[[Dice, Column, bool], Any]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: lambda dice, _, __: dice.chance(50),
    ColumnType.DATE: _date,
}


# ---- One more unit.


@frozen(kw_only=True)
class Unit:
    """All rows of one unit that joins or leaves; nobody's rows, if they have no owner."""

    name: str
    rows: Rows
    is_nobody: bool = False


def extreme_unit(dice: Dice, world: World) -> Unit:
    """Return a unit that is not in the world, made to move as much as it can."""
    style = dice.pick(tuple(_STYLES))
    newcomer = 77 if world.catalog.tables[0].columns[0].type is ColumnType.INTEGER else "new"
    day = DAYS.first + datetime.timedelta(days=dice.below(DAYS.days))
    person = _somebody(dice, world, day) or newcomer
    rows = {
        table.name: _one_unit(dice, table, person, day, _STYLES[style](dice, world, table))
        for table in world.catalog.tables
    }
    if world.catalog.tables[0].unit.column is None:
        rows = _one_row(dice, rows)
    if style == "nobody":
        rows = {name: [(None, *row[1:]) for row in some] for name, some in rows.items()}
        return Unit(
            name=style, rows=rows, is_nobody=world.catalog.tables[0].unit.column is not None
        )
    return Unit(name=style, rows=rows)


def _somebody(dice: Dice, world: World, day: datetime.date) -> Any:
    """Return a person who is there in other periods than that of ``day``, where units have one."""
    tables = world.catalog.tables
    period = tables[0].unit.period
    units = {unit_of(table, row) for table in tables for row in world.private[table.name]} - {None}
    if period is None or not units or dice.chance(30):
        return None
    person = dice.pick(sorted({unit[0] for unit in units if unit is not None}))
    return None if (person, start(day, period.length)) in units else person


def _one_unit(
    dice: Dice, table: Table, person: Any, day: datetime.date, rows: list[Row]
) -> list[Row]:
    """Return the rows as those of one unit: its person, and days of its period."""
    rows = [(person, *row[1:]) for row in rows]
    period = table.unit.period
    if period is None:
        return rows
    place = position(table, period.column)
    result = []
    for row in rows:
        inside = day - datetime.timedelta(days=dice.below(3))
        if start(inside, period.length) != start(day, period.length):
            inside = day
        result.append((*row[:place], inside, *row[place + 1 :]))
    return result


def _one_row(dice: Dice, rows: Rows) -> Rows:
    name = dice.pick([name for name, some in rows.items() if some] or list(rows))
    return {table: some[:1] if table == name else [] for table, some in rows.items()}


def _everywhere(choose: Callable[[Dice, Column], Any]) -> Callable[[Dice, World, Table], list[Row]]:
    """Return rows in every group, more of each than are let in."""

    def make(dice: Dice, world: World, table: Table) -> list[Row]:
        rows = []
        for i in range(min(36, 12 * (table.limits.rows_per_group + 1))):
            row = []
            for column in table.columns:
                if column.keys is not None or column.name in ("district", "clinic"):
                    options = column.keys or (DISTRICTS if column.name == "district" else CLINICS)
                    row.append(options[(i // 2) % len(options)])
                else:
                    row.append(choose(dice, column))
            rows.append(tuple(row))
        return rows

    return make


def _at(end: str, beyond: int) -> Callable[[Dice, Column], Any]:
    def choose(dice: Dice, column: Column) -> Any:
        if column.bounds is None:
            return _VALUES[column.type](dice, column, True)
        value = getattr(column.bounds, end) + beyond
        return int(value) if column.type is ColumnType.INTEGER else float(value)

    return choose


def _strange(dice: Dice, column: Column) -> Any:
    options = {
        ColumnType.INTEGER: (HUGE, -HUGE - 1, None, 0, 10**18),
        ColumnType.REAL: (math.nan, math.inf, -math.inf, None, 1e308, -1e308, 5e-324, -0.0),
        ColumnType.TEXT: (None, "", "x" * 200, "NULL", "nan", "1e999", "\u0000"),
        ColumnType.BOOLEAN: (None, True, False),
        ColumnType.DATE: (None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
    }
    return dice.pick(options[column.type])


def _equal(dice: Dice, world: World, table: Table) -> list[Row]:
    return [random_row(dice, table, None)] * 20


def _copy(dice: Dice, world: World, table: Table) -> list[Row]:
    return [row for row in world.private[table.name] if dice.chance(70)][:30]


def _various(dice: Dice, world: World, table: Table) -> list[Row]:
    return [random_row(dice, table, None) for _ in range(dice.between(1, 25))]


_STYLES: dict[str, Callable[[Dice, World, Table], list[Row]]] = {
    "everywhere at the upper clamp": _everywhere(_at("upper", 0)),
    "everywhere beyond the upper clamp": _everywhere(_at("upper", 10**9)),
    "everywhere at the lower clamp": _everywhere(_at("lower", 0)),
    "everywhere beyond the lower clamp": _everywhere(_at("lower", -(10**9))),
    "everywhere, strange values": _everywhere(_strange),
    "equal rows": _equal,
    "somebody else's rows": _copy,
    "various rows": _various,
    "nobody": _everywhere(_at("upper", 10**9)),
}


def one_of_the_crowd(dice: Dice, world: World) -> tuple[Any, ...] | None:
    """Return a unit that is in the world, or None if there is none."""
    units = [
        unit
        for name, rows in world.private.items()
        for row in rows
        if (unit := unit_of(world.table(name), row)) is not None
    ]
    return dice.pick(units) if units else None
