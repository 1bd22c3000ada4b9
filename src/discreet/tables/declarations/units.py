"""Units in ``discreet.toml``: columns, columns and a period, or each row by itself."""

from collections.abc import Sequence

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Period, PeriodLength, PrivacyUnit, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.columns import CALENDAR
from discreet.tables.declarations.section import LIST, TABLE, TEXT, YES_OR_NO, Section

_KINDS = {ColumnType.INTEGER: "whole numbers", ColumnType.TEXT: "text"}
_OWNERS = tuple(_KINDS)


def read_unit(section: Section, id_space: str, columns: tuple[Column, ...]) -> PrivacyUnit:
    """Return the unit of a private table. Plain text is the column that names the owner.

    A list is of several columns that name it together.
    """
    value = section.get("unit", TEXT, LIST, TABLE)
    if not isinstance(value, dict):
        first, *others = _owners(section, "unit", columns)
        return PrivacyUnit(id_space=id_space, column=first, others=tuple(others) or None)
    unit = section.sub("unit")
    if unit.has("each_row"):
        if not unit.get("each_row", YES_OR_NO):
            raise DeclarationError(f"{unit.place('each_row')} says nothing", must="be true")
        unit.finish()
        return PrivacyUnit(id_space=id_space, column=None)
    first, *others = _owners(unit, "column", columns)
    period = _period(unit, columns) if unit.has("period") or unit.has("date") else None
    unit.finish()
    return PrivacyUnit(id_space=id_space, column=first, period=period, others=tuple(others) or None)


MOST_TOGETHER = 8
"""How many columns may name a unit together."""


def _owners(section: Section, key: str, columns: tuple[Column, ...]) -> list[str]:
    """Return the columns that name the owner: one, or several in their order."""
    value = section.get(key, TEXT, LIST)
    if isinstance(value, str):
        return [_unit_column(section, (key,), value, columns, _OWNERS)]
    if not 1 <= len(value) <= MOST_TOGETHER:
        raise DeclarationError(
            f"{section.place(key)} has no columns, or too many",
            must=f"name between 1 and {MOST_TOGETHER} columns",
            got=str(len(value)),
        )
    found = []
    for number, name in enumerate(value):
        if not isinstance(name, str):
            raise DeclarationError(
                f"{section.place(key, str(number))} has the wrong type", must="be text"
            )
        found.append(_unit_column(section, (key, str(number)), name, columns, _OWNERS))
    section.refuse_repeats(found, key)
    return found


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
            f"{place} names a column of labels, of which many units have the same",
            must="be a column that names units, as it is stored",
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
        _require_one_order(section, table, other)


def _require_one_order(section: Section, table: Table, other: Table) -> None:
    """Refuse columns of the same names in another order: a site would be taken for a person."""
    names = [[one.lower() for one in each.unit.owner_columns()] for each in (table, other)]
    if sorted(names[0]) == sorted(names[1]) and names[0] != names[1]:
        raise DeclarationError(
            f"{section.place(table.name, 'unit')} names its columns in another order than that of "
            f"{other.name}, and they are compared in order",
            must=f"be {', '.join(other.unit.owner_columns())}",
            got=", ".join(table.unit.owner_columns()),
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
        >>> from discreet.tables.catalog import Limits
        >>> from discreet.tables.source import Source, SourceFormat
        >>> from pathlib import Path
        >>> unit_kind(Table(name="t", unit=PrivacyUnit(id_space="p", column=None), columns=(),
        ...                 source=Source(path=Path("/t.csv"), format=SourceFormat.CSV),
        ...                 limits=Limits(rows_per_group=1, groups_per_unit=1)))
        'each row by itself'
    """
    unit = table.unit
    if unit.column is None:
        return "each row by itself"
    kinds = [_KINDS[table.column(name).type] for name in unit.owner_columns()]
    owner = f"what a column of {kinds[0]} names"
    if len(kinds) > 1:
        owner = f"what columns of {', '.join(kinds[:-1])} and {kinds[-1]} name together"
    return (
        owner if unit.period is None else f"{owner}, in each {unit.period.length.value} by itself"
    )
