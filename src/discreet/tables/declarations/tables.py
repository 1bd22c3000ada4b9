"""Tables in ``discreet.toml``, private and public."""

from collections.abc import Sequence
from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import (
    LARGEST_LIMIT,
    IdSpace,
    Limits,
    Period,
    PeriodLength,
    Previews,
    PrivacyUnit,
    PublicTable,
    Table,
)
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.columns import CALENDAR, is_auto, read_columns
from discreet.tables.declarations.python_values import read_frame
from discreet.tables.declarations.section import TABLE, TEXT, YES_OR_NO, Section
from discreet.tables.declarations.sources import read_source, require_partitions
from discreet.tables.source_files import overlap

# ---- Units in ``discreet.toml``: a column, a column and a period, or each row by itself.

_LIMITS = "Limits that are known are written as rows_per_group = 5, groups_per_unit = 3"

_OWNERS = (ColumnType.INTEGER, ColumnType.TEXT)


def read_unit(section: Section, id_space: str, columns: tuple[Column, ...]) -> PrivacyUnit:
    """Return the unit of a private table. Plain text is the column that names the owner."""
    value = section.get("unit", TEXT, TABLE)
    if isinstance(value, str):
        owner = _unit_column(section, ("unit",), value, columns, _OWNERS)
        return PrivacyUnit(id_space=id_space, column=owner)
    unit = section.sub("unit")
    if unit.has("each_row"):
        if not unit.get("each_row", YES_OR_NO):
            raise DeclarationError(f"{unit.place('each_row')} says nothing", must="be true")
        unit.finish()
        return PrivacyUnit(id_space=id_space, column=None)
    owner = _unit_column(unit, ("column",), unit.get("column", TEXT), columns, _OWNERS)
    period = _period(unit, columns) if unit.has("period") or unit.has("date") else None
    unit.finish()
    return PrivacyUnit(id_space=id_space, column=owner, period=period)


def _period(unit: Section, columns: tuple[Column, ...]) -> Period:
    length = unit.choice("period", [length.value for length in PeriodLength])
    day = _unit_column(unit, ("date",), unit.get("date", TEXT), columns, CALENDAR)
    kinds = {column.name: column.type for column in columns}
    has_times = True if kinds[day] is ColumnType.TIMESTAMP else None
    return Period(length=PeriodLength(length), column=day, has_times=has_times)


def _unit_column(
    section: Section,
    key: tuple[str, ...],
    name: str,
    columns: tuple[Column, ...],
    kinds: Sequence[ColumnType],
) -> str:
    """Return the declared name of the column that is meant, if it is of one of the kinds."""
    place = section.place(*key)
    found = [column for column in columns if column.name.lower() == name.lower()]
    if not found:
        raise DeclarationError(
            f"{place} names no declared column",
            must=f"be one of {', '.join(column.name for column in columns)}",
            got=name,
        )
    if found[0].codes is not None and found[0].codes.is_all:
        raise DeclarationError(
            f"{place} names a column of labels, of which many people have the same",
            must="be a column that names people, as it is stored",
        )
    if found[0].type not in kinds:
        raise DeclarationError(
            f"{place} names a column of another type",
            must=f"be a column of type {' or '.join(kind.value for kind in kinds)}",
            got=found[0].type.value,
        )
    return found[0].name


def require_one_unit(section: Section, tables: tuple[Table, ...]) -> None:
    """Refuse tables of one id space whose units are of different kinds.

    A budget bounds what is told about one unit. If a row were the unit in one table and a person in
    another, the sum of what both tell would bound nothing that anybody could name.
    """
    first: dict[str, tuple[Table, str]] = {}
    for table in tables:
        _require_one_zone(section, table, tables)
        kind = unit_kind(table)
        other, known = first.setdefault(table.unit.id_space, (table, kind))
        if kind != known:
            raise DeclarationError(
                f"{section.place(table.name, 'unit')} is another kind of unit than that of "
                f"{other.name}",
                must=f"be {known}, as in every table of the id space {table.unit.id_space}",
                got=kind,
                next="Declare an id space of its own for it, with a budget of its own",
            )


def _require_one_zone(section: Section, table: Table, tables: tuple[Table, ...]) -> None:
    """Refuse periods that begin at different moments: a day of one zone is none of another.

    Dates, and timestamps without a zone, are days as they are written.
    """
    zone = _period_zone(table)
    for other in tables:
        known = _period_zone(other) if other.unit.id_space == table.unit.id_space else None
        if zone is not None and known is not None and zone != known:
            raise DeclarationError(
                f"{section.place(table.name, 'unit')} has periods in another time zone than "
                f"{other.name}",
                must=f"be in one zone in every table of the id space {table.unit.id_space}",
                got=f"{zone} and {known}",
            )


def _period_zone(table: Table) -> str | None:
    period = table.unit.period
    return None if period is None else table.column(period.column).zone


def unit_kind(table: Table) -> str:
    """Return what kind of unit a table has, in words that are the same for the same kind.

    Example:
        >>> from discreet.tables.catalog import Limits, Source, SourceFormat
        >>> from pathlib import Path
        >>> unit_kind(Table(name="t", unit=PrivacyUnit(id_space="p", column=None), columns=(),
        ...                 source=Source(path=Path("/t.csv"), format=SourceFormat.CSV),
        ...                 limits=Limits(rows_per_group=1, groups_per_unit=1)))
        'each row by itself'
    """
    unit = table.unit
    if unit.column is None:
        return "each row by itself"
    kind = table.column(unit.column).type.value
    owner = f"what a column of {'whole numbers' if kind == 'integer' else kind} names"
    return (
        owner if unit.period is None else f"{owner}, in each {unit.period.length.value} by itself"
    )


MOST_ROWS = 2**62


def read_tables(section: Section, id_spaces: tuple[IdSpace, ...], root: Path) -> tuple[Table, ...]:
    """Return the private tables; those of one id space have one kind of unit."""
    known = {space.name for space in id_spaces}
    tables = tuple(_table(name, section.sub(name), known, root) for name in section.names())
    section.refuse_repeats([table.name.lower() for table in tables])
    require_one_unit(section, tables)
    return tables


def read_public_tables(
    section: Section, root: Path, private: tuple[Table, ...]
) -> tuple[PublicTable, ...]:
    """Return the public tables; no name is also that of a private one."""
    if not section.data:
        return ()
    tables = tuple(_public_table(name, section.sub(name), root) for name in section.names())
    section.refuse_repeats([table.name.lower() for table in tables])
    for table in tables:
        for other in private:
            _require_apart(section, table, other)
    return tables


def _require_apart(section: Section, table: PublicTable, private: Table) -> None:
    """Refuse a public table that has the name of a private one, or that would publish its rows."""
    if table.name.lower() == private.name.lower():
        raise DeclarationError(
            f"{section.place(table.name)} has the name of a private table",
            must="have a name of its own",
            got=table.name,
        )
    if overlap(table.source, private.source):
        raise DeclarationError(
            f"{section.place(table.name, 'source')} would make private rows public",
            must=f"be apart from the source of the private table {private.name}",
            got=table.source.path.name,
        )


def _table(name: str, section: Section, id_spaces: set[str], root: Path) -> Table:
    source = read_frame(name, section) or read_source(section, root)
    id_space = section.get("id_space", TEXT)
    if id_space not in id_spaces:
        raise DeclarationError(
            f"{section.place('id_space')} names no id space",
            must=f"be one of {', '.join(sorted(id_spaces))}",
            got=id_space,
        )
    columns = read_columns(section.sub("columns"))
    require_partitions(section, source, columns)
    unit = read_unit(section, id_space, columns)
    limits = _limits(section, unit)
    most_rows = _optional_most(section, "most_rows")
    most_rows_per_unit = _optional_most(section, "most_rows_per_unit")
    auto_limits = is_auto(section, "limits", otherwise=_LIMITS)
    previews = _previews(section)
    section.finish()
    return Table(
        name=name,
        source=source,
        unit=unit,
        columns=columns,
        limits=limits,
        most_rows=most_rows,
        most_rows_per_unit=most_rows_per_unit,
        auto_limits=auto_limits,
        previews=previews,
    )


def _previews(section: Section) -> Previews:
    section.get_or("previews", "", TEXT)
    if not section.has("previews"):
        return Previews.REFUSED
    return Previews(section.choice("previews", [choice.value for choice in Previews]))


def _limits(section: Section, unit: PrivacyUnit) -> Limits:
    """Return the declared limits; one on all rows of a unit is enough."""
    over_all = None
    if section.has("rows_per_unit"):
        over_all = section.whole("rows_per_unit", LARGEST_LIMIT)
    # One row has one group and one row in it, unless a join with a public table copies it.
    usual = 1 if unit.column is None and over_all is None else over_all
    return Limits(
        rows_per_group=section.whole("rows_per_group", LARGEST_LIMIT, default=usual),
        groups_per_unit=section.whole("groups_per_unit", LARGEST_LIMIT, default=usual),
        rows_per_unit=over_all,
    )


def _optional_most(section: Section, key: str) -> int | None:
    return section.whole(key, MOST_ROWS) if section.has(key) else None


def _public_table(name: str, section: Section, root: Path) -> PublicTable:
    source = read_frame(name, section) or read_source(section, root)
    columns = read_columns(section.sub("columns"))
    require_partitions(section, source, columns)
    section.finish()
    return PublicTable(name=name, source=source, columns=columns)
