"""The catalogue: everything that ``discreet.toml`` declares."""

from enum import Enum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from attrs import field, frozen

from discreet.core.canonical import PRESENTATION
from discreet.core.errors import UnknownColumn, UnknownTable
from discreet.core.loss import PrivacyLoss
from discreet.tables.column import Column
from discreet.tables.gate_settings import GateSettings
from discreet.tables.limits import Limits


@frozen(kw_only=True)
class IdSpace:
    """All tables about the same people, and the most that may ever be told about one of them."""

    name: str
    unit: str
    """What one unit is, in the owner's words: a person, a household."""
    cap: PrivacyLoss
    least_price: Fraction | None = None
    """The least ε or ρ that a question costs, as the budget is measured; ``None``: the usual."""


class PeriodLength(Enum):
    """How long a period of a person is, where a unit is a person within a period."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@frozen(kw_only=True)
class Period:
    """A person is protected for each period by itself: the one that a date column falls in."""

    stored_as: ClassVar[str] = "Period"
    length: PeriodLength
    column: str


@frozen(kw_only=True)
class PrivacyUnit:
    """Whose privacy: what owns each row of a private table.

    A column names the owner; with a period, the owner is the person in that period (their other
    periods are other units). Without a column each row is a unit of its own.
    """

    stored_as: ClassVar[str] = "PrivacyUnit"
    id_space: str
    column: str | None
    period: Period | None = None

    def key_columns(self) -> tuple[str, ...]:
        """Return the columns that say who owns a row."""
        owner = () if self.column is None else (self.column,)
        return owner if self.period is None else (*owner, self.period.column)


class SourceFormat(Enum):
    """The kinds of file that a table can be read from."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    DUCKDB = "duckdb"


@frozen(kw_only=True)
class Source:
    """Where the rows of a table are: files of one kind, or a table of a database file."""

    path: Path
    """A file, or a pattern of file names; always absolute."""
    format: SourceFormat
    table: str | None = None
    """The table inside a database file."""


@frozen(kw_only=True)
class Table:
    """One private table: each row belongs to exactly one unit."""

    stored_as: ClassVar[str] = "Table"
    name: str
    source: Source = field(metadata=PRESENTATION)
    unit: PrivacyUnit
    columns: tuple[Column, ...] = field(metadata=PRESENTATION)
    limits: Limits = field(metadata=PRESENTATION)
    most_rows: int | None = field(default=None, metadata=PRESENTATION)
    """How many rows there are at most, as far as the public knows."""

    def column(self, name: str) -> Column:
        """Return the declared column, by its name in any case."""
        found = self._by_name.get(name.lower())
        if found is None:
            raise _no_column(self.name, self.columns, name)
        return found

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return _by_name(self.columns)


@frozen(kw_only=True)
class PublicTable:
    """One public table: everybody may know all of it, so it costs nothing to look at."""

    stored_as: ClassVar[str] = "PublicTable"
    name: str
    source: Source = field(metadata=PRESENTATION)
    columns: tuple[Column, ...] = field(metadata=PRESENTATION)

    def column(self, name: str) -> Column:
        """Return the declared column, by its name in any case."""
        found = self._by_name.get(name.lower())
        if found is None:
            raise _no_column(self.name, self.columns, name)
        return found

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return _by_name(self.columns)


def _by_name(columns: tuple[Column, ...]) -> dict[str, Column]:
    """Return the columns by their names in small letters; of two alike it is the first."""
    return {column.name.lower(): column for column in reversed(columns)}


def _no_column(table: str, columns: tuple[Column, ...], name: str) -> UnknownColumn:
    return UnknownColumn(
        f"No column '{name}' in {table}",
        next=f"Columns: {', '.join(column.name for column in columns)}",
    )


@frozen(kw_only=True)
class Analyst:
    """Somebody who asks, and their share of the budget of each id space that they may ask about."""

    name: str
    allocations: dict[str, PrivacyLoss]


@frozen(kw_only=True)
class Catalog:
    """The declared id spaces and tables, who may ask, and where the ledger is."""

    id_spaces: tuple[IdSpace, ...]
    tables: tuple[Table, ...]
    ledger: Path
    anchors: tuple[Path, ...] = ()
    """Where else it is written how far the ledger is."""
    public_tables: tuple[PublicTable, ...] = ()
    analysts: tuple[Analyst, ...] = ()
    default: PrivacyLoss | None = None
    """What a question costs if neither it nor the connection says so."""
    engine: str = "duckdb"
    """What runs the plans, by its name."""
    gate: GateSettings = field(factory=GateSettings)

    def table(self, name: str) -> Table | PublicTable:
        """Return the declared table, private or public, by its name in any case."""
        known: tuple[Table | PublicTable, ...] = (*self.tables, *self.public_tables)
        for table in known:
            if table.name.lower() == name.lower():
                return table
        raise UnknownTable(
            f"No table '{name}' is declared",
            next=f"Tables: {', '.join(table.name for table in known)}",
        )

    def id_space(self, name: str) -> IdSpace:
        """Return the declared id space; a table's id space always exists (checked on reading)."""
        return next(space for space in self.id_spaces if space.name == name)
