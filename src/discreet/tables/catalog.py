"""The catalogue: everything that ``discreet.toml`` declares."""

from enum import Enum
from pathlib import Path

from attrs import frozen

from discreet.core.errors import UnknownColumn, UnknownTable
from discreet.core.loss import PrivacyLoss
from discreet.tables.column import Column
from discreet.tables.limits import Limits


@frozen(kw_only=True)
class IdSpace:
    """All tables about the same people, and the most that may ever be told about one of them."""

    name: str
    unit: str
    """What one unit is, in the owner's words: a person, a household."""
    cap: PrivacyLoss


@frozen(kw_only=True)
class PrivacyUnit:
    """Whose privacy: a column of the table that names one unit of the id space in each row."""

    id_space: str
    column: str


class SourceFormat(Enum):
    """The kinds of file that a table can be read from."""

    CSV = "csv"
    PARQUET = "parquet"


@frozen(kw_only=True)
class Source:
    """Where the rows of a table are."""

    path: Path
    format: SourceFormat


@frozen(kw_only=True)
class Table:
    """One private table: each row belongs to exactly one unit."""

    name: str
    source: Source
    unit: PrivacyUnit
    columns: tuple[Column, ...]
    limits: Limits

    def column(self, name: str) -> Column:
        """Return the declared column, by its name in any case."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        raise UnknownColumn(
            f"No column '{name}' in {self.name}",
            next=f"Columns: {', '.join(column.name for column in self.columns)}",
        )


@frozen(kw_only=True)
class Catalog:
    """The declared id spaces and tables, and where the ledger is."""

    id_spaces: tuple[IdSpace, ...]
    tables: tuple[Table, ...]
    ledger: Path

    def table(self, name: str) -> Table:
        """Return the declared table, by its name in any case."""
        for table in self.tables:
            if table.name.lower() == name.lower():
                return table
        raise UnknownTable(
            f"No table '{name}' is declared",
            next=f"Tables: {', '.join(table.name for table in self.tables)}",
        )

    def id_space(self, name: str) -> IdSpace:
        """Return the declared id space; a table's id space always exists (checked on reading)."""
        return next(space for space in self.id_spaces if space.name == name)
