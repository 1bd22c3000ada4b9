"""The catalogue: everything that ``discreet.toml`` declares."""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from attrs import Factory, evolve, field, frozen
from attrs.validators import optional

from discreet.core.canonical import IF_GIVEN, PRESENTATION
from discreet.core.check import optional_whole, whole
from discreet.core.contribution import Contribution, of_kept_rows
from discreet.core.errors import InvalidArgument, UnknownColumn, UnknownTable
from discreet.core.loss import PrivacyLoss, short
from discreet.tables.analyst import Analyst
from discreet.tables.column import Codes, Column, ColumnType
from discreet.tables.exact_declaration import ExactDeclaration
from discreet.tables.gate_settings import GateSettings
from discreet.tables.previews import Previews
from discreet.tables.source import Source, SourceFormat
from discreet.tables.unit_name import UnitName, unit_name

# ---- Contribution limits: how much of one unit may enter an answer.

LARGEST_LIMIT = 1_000_000


def _within(_: object, attribute: object, value: int) -> None:
    if not 1 <= value <= LARGEST_LIMIT:
        name = getattr(attribute, "name", "limit")
        raise InvalidArgument(
            f"{name} is out of range", must=f"lie between 1 and {LARGEST_LIMIT:,}", got=str(value)
        )


@frozen(kw_only=True)
class Limits:
    """At most ``groups_per_unit`` groups of one unit count, and ``rows_per_group`` rows in each.

    With ``rows_per_unit`` no more than so many rows of it count over all groups together. These are
    drawn first, whatever group they are in, so shares over groups survive; and since so many rows
    are in no more groups, and no more of them in one, the other two are never larger than it.

    Example:
        >>> Limits(rows_per_group=2, groups_per_unit=5)
        Limits(rows_per_group=2, groups_per_unit=5, rows_per_unit=None)
        >>> Limits(rows_per_group=20, groups_per_unit=5, rows_per_unit=10)
        Limits(rows_per_group=10, groups_per_unit=5, rows_per_unit=10)
    """

    stored_as: ClassVar[str] = "Limits"
    rows_per_group: int = field(converter=whole, validator=_within)
    groups_per_unit: int = field(converter=whole, validator=_within)
    rows_per_unit: int | None = field(
        default=None, converter=optional_whole, validator=optional(_within), metadata=IF_GIVEN
    )

    def __attrs_post_init__(self) -> None:
        """Make limits that mean the same the same."""
        if self.rows_per_unit is not None:
            for name in ("rows_per_group", "groups_per_unit"):
                object.__setattr__(self, name, min(getattr(self, name), self.rows_per_unit))

    def given(self) -> dict[str, int]:
        """Return the limits that there are, by their names."""
        most = {} if self.rows_per_unit is None else {"rows_per_unit": self.rows_per_unit}
        return {
            "rows_per_group": self.rows_per_group,
            "groups_per_unit": self.groups_per_unit,
        } | most

    def contribution(self, each: int) -> Contribution:
        """Return what one unit moves, if a row that counts adds at most ``each`` in size.

        Example:
            >>> Limits(rows_per_group=2, groups_per_unit=5, rows_per_unit=7).contribution(3).l1
            Fraction(21, 1)
        """
        return of_kept_rows(
            each=each,
            groups=self.groups_per_unit,
            in_a_group=self.rows_per_group,
            in_all=self.rows_per_unit,
        )

    def multiplied(self, each: Fraction | int) -> str:
        """Say how much all that counts of one unit adds, if a row adds ``each``.

        Example:
            >>> Limits(rows_per_group=2, groups_per_unit=5).multiplied(3)
            '3 × 2 rows a group × 5 groups = 30'
            >>> Limits(rows_per_group=2, groups_per_unit=5, rows_per_unit=7).multiplied(3)
            '3 × 7 rows over all groups = 21'
        """
        total = Fraction(each * self.rows_per_group * self.groups_per_unit)
        most = self.rows_per_unit
        if most is not None and most * each < total:
            counted = "1 row" if most == 1 else f"{most} rows"
            all_rows = short(Fraction(each * most))
            return f"{short(Fraction(each))} × {counted} over all groups = {all_rows}"
        rows = "1 row" if self.rows_per_group == 1 else f"{self.rows_per_group} rows"
        shown = f"{short(Fraction(each))} × {rows} a group × {self.groups_in_words()}"
        return f"{shown} = {short(total)}"

    def groups_in_words(self) -> str:
        """Say how many groups of one unit count."""
        return "1 group" if self.groups_per_unit == 1 else f"{self.groups_per_unit} groups"


def with_given(limits: Limits, given: Mapping[str, int]) -> Limits:
    """Return limits with those that are given instead.

    Where ``rows_per_unit`` is given alone, the other two follow: as many rows in a group, and as
    many groups, as it lets there be.

    Example:
        >>> with_given(Limits(rows_per_group=2, groups_per_unit=5), {"rows_per_unit": 9})
        Limits(rows_per_group=9, groups_per_unit=9, rows_per_unit=9)
    """
    most = given.get("rows_per_unit")
    if most is not None:
        Limits(rows_per_group=1, groups_per_unit=1, rows_per_unit=most)  # refused by its own name
    follow = {} if most is None else dict.fromkeys(("rows_per_group", "groups_per_unit"), most)
    return evolve(limits, **{**follow, **given})


@frozen(kw_only=True)
class IdSpace:
    """All tables about the same people, and the most that may ever be told about one of them."""

    name: str
    unit: str
    """What one unit is, in the owner's words: a person, a household."""
    cap: PrivacyLoss
    least_price: Fraction | None = None
    """The least ε or ρ that a question costs, as the budget is measured; ``None``: the usual."""
    units: str | None = None
    """What several units are called, if it does not follow from what one is."""

    @property
    def called(self) -> UnitName:
        """What units are called in messages."""
        return unit_name(self.unit, self.units)


class PeriodLength(Enum):
    """How long a period of a person is, where a unit is a person within a period."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@frozen(kw_only=True)
class Period:
    """A person is protected for each period by itself: the one that a column's day falls in."""

    stored_as: ClassVar[str] = "Period"
    length: PeriodLength
    column: str
    has_times: bool | None = field(default=None, metadata=IF_GIVEN)
    """True if the column has timestamps; a day of it is then no value of the column itself."""


@frozen(kw_only=True)
class PrivacyUnit:
    """Whose privacy: what owns each row of a private table.

    A column names the owner, or several columns do together; with a period, the owner is the person
    in that period (their other periods are other units). Without a column each row is a unit of its
    own.

    Guarantee:
        Two rows have one owner if and only if they agree in *every* column that names it: engines
        carry each along by itself, and never as one text, so that no value of one can look like a
        part of another.
    """

    stored_as: ClassVar[str] = "PrivacyUnit"
    id_space: str
    column: str | None
    period: Period | None = None
    others: tuple[str, ...] | None = field(default=None, metadata=IF_GIVEN)
    """Columns that name the owner together with the first; None if that one is enough."""

    def owner_columns(self) -> tuple[str, ...]:
        """Return the columns that name the owner, without that of a period."""
        return () if self.column is None else (self.column, *(self.others or ()))

    def key_columns(self) -> tuple[str, ...]:
        """Return the columns that say who owns a row."""
        owner = self.owner_columns()
        return owner if self.period is None else (*owner, self.period.column)

    def owner_text(self) -> str:
        """Return the columns that name the owner, in words.

        Example:
            >>> PrivacyUnit(id_space="people", column="site", others=("person",)).owner_text()
            'site and person'
        """
        return " and ".join(self.owner_columns())


_SourceReading = tuple[object, ...] | None


def _source_reading(table: "Table | PublicTable") -> _SourceReading:
    """Return how the source is read, besides its kind and its place, unless that is as usual."""
    source = table.source
    # Of files of DuckDB it is in no name: answers were stored before it was in any.
    inside = None if source.format is SourceFormat.DUCKDB else source.table
    found = (source.text.reading(), inside, source.partitions or None)
    return found if any(part is not None for part in found) else None


_READING = Factory(_source_reading, takes_self=True)

_ColumnReading = tuple[Codes | str | tuple[str, ...] | ColumnType | None, ...]
UnitReading = tuple[_ColumnReading, ...]
"""Codes and zone of each column that says who owns a row, its path if it has one, and that it is
read as a whole number if it is, unless its codes say so."""


def _unit_reading(table: "Table") -> UnitReading | None:
    """Return how the unit's columns are read, unless all are as they are stored."""
    known = _by_name(table.columns)
    owners = [known.get(name.lower()) for name in table.unit.key_columns()]
    found = tuple((None, None) if one is None else _reading(one) for one in owners)
    return found if any(part is not None for parts in found for part in parts) else None


def _reading(column: Column) -> _ColumnReading:
    path = () if column.stored_at is None else (column.stored_at,)
    is_number = column.type is ColumnType.INTEGER and column.codes is None
    return (column.codes, column.zone, *path, *((column.type,) if is_number else ()))


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
    most_rows_per_unit: int | None = field(default=None, metadata=PRESENTATION)
    """How many rows one unit has at most, as far as the public knows. Privacy never rests on it."""
    auto_limits: bool = field(default=False, metadata=PRESENTATION)
    """Whether limits are chosen from a profile, as soon as there is one."""
    previews: Previews = field(default=Previews.REFUSED, metadata=PRESENTATION)
    """What a look at rows is answered with. No row of the table ever is."""
    reading: _SourceReading = field(init=False, repr=False, default=_READING, metadata=IF_GIVEN)
    """What the rows are follows from it; a file may be moved, or packed, and stays the same."""
    unit_reading: UnitReading | None = field(
        init=False, repr=False, default=Factory(_unit_reading, takes_self=True), metadata=IF_GIVEN
    )
    """Who owns a row follows from it, whatever columns a question uses; so it is in all names. What
    was stored before it was in them, with codes, a zone or whole numbers, is not found any more."""

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
    reading: _SourceReading = field(init=False, repr=False, default=_READING, metadata=IF_GIVEN)

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
class Catalog:
    """The declared id spaces and tables, who may ask, and where the ledger is."""

    id_spaces: tuple[IdSpace, ...]
    tables: tuple[Table, ...]
    _ledger: Path | None = field(alias="ledger")
    """Where the ledger is; ``None`` if it is in the memory of this process."""
    anchors: tuple[Path, ...] = ()
    """Where else it is written how far the ledger is."""
    public_tables: tuple[PublicTable, ...] = ()
    analysts: tuple[Analyst, ...] = ()
    default: PrivacyLoss | None = None
    """What a question costs if neither it nor the connection says so."""
    engine: str = "duckdb"
    """What runs the plans, by its name."""
    name: str = field(default="", eq=False)
    """What the project is called: its folder. Tools put it in front of a schema."""
    gate: GateSettings = field(factory=GateSettings)
    exact: tuple[ExactDeclaration, ...] = ()
    """What the owner allows to be published exactly."""

    @property
    def is_in_memory(self) -> bool:
        """Whether the ledger is in the memory of this process, and gone with it."""
        return self._ledger is None

    @property
    def ledger(self) -> Path:
        """Where the ledger is, if it is in a file."""
        if self._ledger is None:
            raise InvalidArgument("The ledger is in memory", must="be in a file to have a place")
        return self._ledger

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

    def called(self, id_space: str) -> UnitName:
        """Return what units of an id space are called: where they have periods, by these too."""
        units = [table.unit for table in self.tables if table.unit.id_space == id_space]
        periods = {None if unit.period is None else unit.period.length.value for unit in units}
        named = self.id_space(id_space).called
        return named.within(periods.pop()) if len(periods) == 1 else named

    def id_space(self, name: str) -> IdSpace:
        """Return the declared id space; a table's id space always exists (checked on reading)."""
        return next(space for space in self.id_spaces if space.name == name)
