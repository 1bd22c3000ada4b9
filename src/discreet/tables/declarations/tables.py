"""Tables in ``discreet.toml``, private and public."""

from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import LARGEST_LIMIT, IdSpace, Limits, PrivacyUnit, PublicTable, Table
from discreet.tables.column import Column
from discreet.tables.declarations.columns import is_auto, read_columns
from discreet.tables.declarations.keys_from import refuse_keys_from
from discreet.tables.declarations.python_values import read_frame
from discreet.tables.declarations.section import TEXT, Section
from discreet.tables.declarations.sources import read_source, require_partitions
from discreet.tables.declarations.units import read_unit, require_one_unit
from discreet.tables.previews import Previews
from discreet.tables.source import Source, SourceFormat
from discreet.tables.source_files import overlap

_LIMITS = "Limits that are known are written as rows_per_group = 5, groups_per_unit = 3"

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
        refuse_keys_from(section, table)
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
    _require_paths(section, source, columns)
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


_WITH_PATHS = (SourceFormat.PARQUET, SourceFormat.ARROW, SourceFormat.JSON_LINES)
"""Kinds of file in which a column is looked for by its path."""


def _require_paths(section: Section, source: Source, columns: tuple[Column, ...]) -> None:
    """Refuse paths in files that are read by the names of columns alone."""
    for column in columns:
        is_stored = source.format in _WITH_PATHS and column.name not in source.partitions
        if column.stored_at is not None and not is_stored:
            raise DeclarationError(
                f"{section.place('columns', column.name, 'from')} is for columns of Parquet and"
                " Arrow files and of JSON lines",
                must="be left out, and the column be called as it is there",
                got=source.path.name,
                next="Convert the file to Parquet, or declare the column by its own name",
            )


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
    _require_paths(section, source, columns)
    section.finish()
    return PublicTable(name=name, source=source, columns=columns)
