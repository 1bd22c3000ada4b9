"""Scan: the rows of a declared table."""

from attrs import frozen

from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.relations.relation import Field, Owner, Relation


@frozen(kw_only=True)
class Scan(Relation):
    """The declared columns of a private table; rows without a unit are dropped."""

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
        parts = {name.lower(): i for i, name in enumerate(self.table.unit.key_columns())}
        return tuple(
            _field(column, parts.get(column.name.lower()) if self._is_part(column) else None)
            for column in self.columns
        )

    def _is_part(self, column: Column) -> bool:
        """Tell whether the column *is* a part of the unit; a date is only if periods are days."""
        unit = self.table.unit
        if unit.period is None or column.name.lower() != unit.period.column.lower():
            return True
        return unit.period.length.value == "day"

    def owner(self) -> Owner:
        """Return the declared unit."""
        unit = self.table.unit
        kind = ColumnType.INTEGER if unit.column is None else self.table.column(unit.column).type
        return Owner(unit=unit, type=kind)

    def inputs(self) -> tuple[Relation, ...]:
        """Return none: this is where rows come from."""
        return ()


@frozen(kw_only=True)
class PublicScan(Relation):
    """The declared columns of a public table."""

    table: PublicTable
    columns: tuple[Column, ...]

    @staticmethod
    def of(table: PublicTable) -> "PublicScan":
        """Return the scan of all declared columns."""
        return PublicScan(table=table, columns=table.columns)

    def used(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        return frozenset(column.name for column in self.columns)

    def fields(self) -> tuple[Field, ...]:
        """Return one field for each column."""
        return tuple(_field(column, None) for column in self.columns)

    def owner(self) -> None:
        """Return None: everybody may know these rows."""
        return

    def inputs(self) -> tuple[Relation, ...]:
        """Return none: this is where rows come from."""
        return ()


def _field(column: Column, unit_part: int | None) -> Field:
    return Field(
        name=column.name,
        type=column.type,
        bounds=column.bounds,
        dates=column.dates,
        keys=column.keys,
        nullable=column.nullable and unit_part is None,
        unit_part=unit_part,
    )
