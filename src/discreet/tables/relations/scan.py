"""Scan: the rows of a declared table."""

from functools import cached_property
from typing import ClassVar

from attrs import field, frozen

from discreet.core.canonical import PRESENTATION
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import LONGEST_TEXT, Column, ColumnType
from discreet.tables.relations.relation import Field, Relation, RowOwner

LONGEST_UNIT = 256
"""How many characters of a unit's own column a query sees; who owns a row is never cut."""

SHORTEST_CUT = 64
"""A column with declared keys is cut behind as many characters, or behind its longest key."""


@frozen(kw_only=True)
class Scan(Relation):
    """The declared columns of a private table; rows without a unit are dropped."""

    stored_as: ClassVar[str] = "Scan"
    table: Table
    columns: tuple[Column, ...]
    """The columns to read, of those that are declared; the unit's are read in any case."""

    @staticmethod
    def of(table: Table) -> "Scan":
        """Return the scan of all declared columns."""
        return Scan(table=table, columns=table.columns)

    def used(self) -> frozenset[str]:
        """Return the names of the columns to read: those asked for, and the unit's."""
        unit = (self.table.column(name).name for name in self.table.unit.key_columns())
        return frozenset({*(column.name for column in self.columns), *unit})

    def fields(self) -> tuple[Field, ...]:
        """Return one field for each column."""
        return self._fields

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        parts = {name.lower(): i for i, name in enumerate(self.table.unit.key_columns())}
        return tuple(
            _field(column, parts.get(column.name.lower()) if self._is_part(column) else None)
            for column in self.columns
        )

    def _is_part(self, column: Column) -> bool:
        """Tell whether the column *is* a part of the unit; a date is only if periods are days.

        A timestamp never is: many of them are in one period.
        """
        unit = self.table.unit
        if unit.period is None or column.name.lower() != unit.period.column.lower():
            return True
        return unit.period.length.value == "day" and not unit.period.has_times

    def lengths(self) -> tuple[int, ...]:
        """Return how many characters of each column count; 0 for what is no text."""
        units = {name.lower() for name in self.table.unit.key_columns()}
        return tuple(
            min(_length(column), LONGEST_UNIT) if column.name.lower() in units else _length(column)
            for column in self.columns
        )

    def owner(self) -> RowOwner:
        """Return the declared unit."""
        unit = self.table.unit
        kinds = [self.table.column(name).type for name in unit.owner_columns()]
        first = kinds[0] if kinds else ColumnType.INTEGER
        return RowOwner(unit=unit, type=first, others=tuple(kinds[1:]))

    def inputs(self) -> tuple[Relation, ...]:
        """Return none: this is where rows come from."""
        return ()


@frozen(kw_only=True)
class PublicScan(Relation):
    """The declared columns of a public table."""

    stored_as: ClassVar[str] = "PublicScan"
    table: PublicTable
    columns: tuple[Column, ...]
    longest: tuple[tuple[str, int], ...] = field(default=(), metadata=PRESENTATION)
    """The columns of which the longest text is known, and how many characters it has."""

    @staticmethod
    def of(table: PublicTable) -> "PublicScan":
        """Return the scan of all declared columns."""
        return PublicScan(table=table, columns=table.columns)

    def used(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        return frozenset(column.name for column in self.columns)

    def fields(self) -> tuple[Field, ...]:
        """Return one field for each column."""
        return self._fields

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        return tuple(_field(column, None) for column in self.columns)

    def lengths(self) -> tuple[int, ...]:
        """Return how many characters of each column count; 0 for what is no text."""
        known = dict(self.longest)
        return tuple(known.get(column.name, _length(column)) for column in self.columns)

    def owner(self) -> None:
        """Return None: everybody may know these rows."""
        return

    def inputs(self) -> tuple[Relation, ...]:
        """Return none: this is where rows come from."""
        return ()


def _length(column: Column) -> int:
    """Return how many characters of a stored text count.

    A value that is longer than all declared keys stays so when it is cut one character behind the
    longest of them, so it does not become a key.
    """
    if column.type is not ColumnType.TEXT:
        return 0
    if column.keys is None:
        return LONGEST_TEXT
    return 1 + max(SHORTEST_CUT, *(len(str(key)) for key in column.keys))


def _field(column: Column, unit_part: int | None) -> Field:
    return Field(
        name=column.name,
        type=column.type,
        bounds=column.bounds,
        dates=column.dates,
        keys=column.keys,
        nullable=column.nullable and unit_part is None,
        unit_part=unit_part,
        zone=column.zone,
    )
