"""Tables in ``discreet.toml``, private and public."""

from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import IdSpace, PublicTable, Table
from discreet.tables.declarations.columns import read_columns
from discreet.tables.declarations.section import TEXT, Section
from discreet.tables.declarations.sources import read_source
from discreet.tables.declarations.units import read_unit, require_one_unit
from discreet.tables.limits import LARGEST_LIMIT, Limits
from discreet.tables.source_files import overlap

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
    source = read_source(section, root)
    id_space = section.get("id_space", TEXT)
    if id_space not in id_spaces:
        raise DeclarationError(
            f"{section.place('id_space')} names no id space",
            must=f"be one of {', '.join(sorted(id_spaces))}",
            got=id_space,
        )
    columns = read_columns(section.sub("columns"))
    unit = read_unit(section, id_space, columns)
    # One row has one group and one row in it, unless a join with a public table copies it.
    usual = 1 if unit.column is None else None
    limits = Limits(
        rows_per_group=section.whole("rows_per_group", LARGEST_LIMIT, default=usual),
        groups_per_unit=section.whole("groups_per_unit", LARGEST_LIMIT, default=usual),
    )
    has_cap = section.has("most_rows")
    most_rows = section.whole("most_rows", MOST_ROWS, default=MOST_ROWS)
    section.finish()
    return Table(
        name=name,
        source=source,
        unit=unit,
        columns=columns,
        limits=limits,
        most_rows=most_rows if has_cap else None,
    )


def _public_table(name: str, section: Section, root: Path) -> PublicTable:
    source = read_source(section, root)
    columns = read_columns(section.sub("columns"))
    section.finish()
    return PublicTable(name=name, source=source, columns=columns)
