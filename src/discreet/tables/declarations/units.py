"""Units in ``discreet.toml``: a column, a column and a period, or each row by itself."""

from collections.abc import Sequence

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Period, PeriodLength, PrivacyUnit, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.section import TABLE, TEXT, YES_OR_NO, Section

_OWNERS = (ColumnType.INTEGER, ColumnType.TEXT)


def read_unit(section: Section, id_space: str, columns: tuple[Column, ...]) -> PrivacyUnit:
    """Return the unit of a private table. Plain text is the column that names the owner."""
    value = section.get("unit", TEXT, TABLE)
    if isinstance(value, str):
        owner = _column(section, ("unit",), value, columns, _OWNERS)
        return PrivacyUnit(id_space=id_space, column=owner)
    unit = section.sub("unit")
    if unit.has("each_row"):
        if not unit.get("each_row", YES_OR_NO):
            raise DeclarationError(f"{unit.place('each_row')} says nothing", must="be true")
        unit.finish()
        return PrivacyUnit(id_space=id_space, column=None)
    owner = _column(unit, ("column",), unit.get("column", TEXT), columns, _OWNERS)
    period = _period(unit, columns) if unit.has("period") or unit.has("date") else None
    unit.finish()
    return PrivacyUnit(id_space=id_space, column=owner, period=period)


def _period(unit: Section, columns: tuple[Column, ...]) -> Period:
    length = unit.choice("period", [length.value for length in PeriodLength])
    day = _column(unit, ("date",), unit.get("date", TEXT), columns, (ColumnType.DATE,))
    return Period(length=PeriodLength(length), column=day)


def _column(
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


def unit_kind(table: Table) -> str:
    """Return what kind of unit a table has, in words that are the same for the same kind.

    Example:
        >>> from discreet.tables.catalog import Source, SourceFormat
        >>> from discreet.tables.limits import Limits
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
