"""A world: declarations, rows of private tables as plain tuples, and public tables."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from attrs import frozen

from discreet.tables.catalog import Catalog, PeriodLength, PublicTable, Table
from discreet.tables.column import ColumnType

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]

ARROW = {
    ColumnType.INTEGER: pa.int64(),
    ColumnType.REAL: pa.float64(),
    ColumnType.TEXT: pa.string(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.TIMESTAMP: pa.timestamp("us"),
    ColumnType.TIME: pa.time64("us"),
}


@frozen(kw_only=True)
class World:
    """All tables of a project, in memory."""

    catalog: Catalog
    private: Rows
    public: Rows

    def table(self, name: str) -> Table:
        """Return a private table's declaration."""
        return next(table for table in self.catalog.tables if table.name == name)

    def arrow(self, private: Rows | None = None) -> dict[str, pa.Table]:
        """Return every table as Arrow, with other private rows if given."""
        rows = self.public | (self.private if private is None else private)
        tables: list[Table | PublicTable] = [*self.catalog.tables, *self.catalog.public_tables]
        return {table.name: to_arrow(table, rows[table.name]) for table in tables}


def to_arrow(table: Table | PublicTable, rows: Sequence[Row]) -> pa.Table:
    """Return rows as an Arrow table with the declared columns."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(table.columns)
    return pa.table(
        {
            column.name: pa.array(values, ARROW[column.type])
            for column, values in zip(table.columns, columns, strict=True)
        }
    )


def position(table: Table | PublicTable, name: str) -> int:
    """Return where a column is in a row."""
    return [column.name for column in table.columns].index(name)


def unit_of(table: Table, row: Row) -> tuple[Any, ...] | None:
    """Return who owns a row; None for nobody. Rows of row units are told apart by identity."""
    unit = table.unit
    if unit.column is None:
        return (id(row),)
    person = row[position(table, unit.column)]
    if unit.period is None:
        return None if person is None else (person,)
    day = row[position(table, unit.period.column)]
    return None if person is None or day is None else (person, start(day, unit.period.length))


def start(day: datetime.date, length: PeriodLength) -> datetime.date:
    """Return the first day of the period that a day, or the day of a timestamp, is in."""
    day = day.date() if isinstance(day, datetime.datetime) else day
    first = {
        PeriodLength.DAY: day,
        PeriodLength.WEEK: day - datetime.timedelta(days=day.weekday()),
        PeriodLength.MONTH: day.replace(day=1),
        PeriodLength.YEAR: day.replace(month=1, day=1),
    }
    return first[length]


def without_unit(world: World, unit: tuple[Any, ...]) -> Rows:
    """Return the private rows of everybody else."""
    return {
        name: [row for row in rows if unit_of(world.table(name), row) != unit]
        for name, rows in world.private.items()
    }


def with_rows(world: World, added: Mapping[str, Sequence[Row]]) -> Rows:
    """Return the private rows with more of them, half in front: every position changes."""
    result = {}
    for name, rows in world.private.items():
        new = list(added.get(name, ()))
        half = (len(new) + 1) // 2
        result[name] = [*new[:half], *rows, *new[half:]]
    return result
