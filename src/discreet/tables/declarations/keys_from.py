"""Keys from public tables in ``discreet.toml``: the column that is named must be there, and fit."""

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column
from discreet.tables.declarations.section import Section


def require_keys_from(
    section: Section, tables: tuple[Table, ...], public_tables: tuple[PublicTable, ...]
) -> None:
    """Refuse keys from a table that is not public, or from a column that is not there or fits not.

    A private table has no keys to give: its values would become public.
    """
    known = {table.name.lower(): table for table in public_tables}
    for table in tables:
        for column in table.columns:
            origin = column.keys_from
            if origin is None:
                continue
            place = (table.name, "columns", column.name, "keys")
            public = known.get(origin.table.lower())
            if public is None:
                raise DeclarationError(
                    f"{section.place(*place, 'table')} is no public table",
                    must=f"be one of {', '.join(one.name for one in public_tables)}"
                    if public_tables
                    else "be declared below public_tables",
                    got=origin.table,
                )
            _require_fitting(section, (*place, "column"), column, public)


def _require_fitting(
    section: Section, place: tuple[str, ...], column: Column, public: PublicTable
) -> None:
    assert column.keys_from is not None
    name = column.keys_from.column.lower()
    found = [other for other in public.columns if other.name.lower() == name]
    if not found:
        raise DeclarationError(
            f"{section.place(*place)} names no column of {public.name}",
            must=f"be one of {', '.join(other.name for other in public.columns)}",
            got=column.keys_from.column,
        )
    if found[0].type is not column.type:
        raise DeclarationError(
            f"{section.place(*place)} is of another type",
            must=f"be of type {column.type.value}, as the column that has these keys",
            got=found[0].type.value,
        )


def refuse_keys_from(section: Section, table: PublicTable) -> None:
    """Refuse keys of a public column from another table: its own values are its keys."""
    for column in table.columns:
        if column.keys_from is not None:
            raise DeclarationError(
                f"{section.place(table.name, 'columns', column.name, 'keys')} stands in a public"
                " table, whose own values are its keys",
                must="be left out",
            )
