"""Keys that a column has from a public table: read for each question, before it is charged."""

from collections.abc import Callable

from attrs import evolve

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.column import Column, Key
from discreet.tables.relations.relation import Distinct, Relation
from discreet.tables.relations.scan import PublicScan

MOST_FROM_TABLE = 100_000
"""How many keys a column may have from a public table."""

PublicRows = Callable[[Relation], tuple[tuple[Key | None, ...], ...]]


def with_read_keys(table: Table, catalog: Catalog, public_rows: PublicRows) -> Table:
    """Return a private table with the keys that its columns have from public tables.

    Guarantee:
        Public rows alone are read, so the keys are public, whatever is in the private table. They
        are part of the column from then on, as if they were listed: the name of a question has them
        in it, so with another public file it is another question. Rows whose value is not among
        them are in no group.

        Each value is a key once, in the order of values, and NULL is none.
    """
    if all(column.keys_from is None for column in table.columns):
        return table
    columns = (_with_keys(column, catalog, public_rows) for column in table.columns)
    return evolve(table, columns=tuple(columns))


def _with_keys(column: Column, catalog: Catalog, public_rows: PublicRows) -> Column:
    origin = column.keys_from
    if origin is None:
        return column
    public = catalog.table(origin.table)
    assert isinstance(public, PublicTable)  # the declaration was refused else
    scan = PublicScan(table=public, columns=(public.column(origin.column),))
    rows = public_rows(Distinct(source=scan))
    keys = tuple(dict.fromkeys(key for (key,) in rows if key is not None))
    if not 1 <= len(keys) <= MOST_FROM_TABLE:
        raise DeclarationError(
            f"{origin} has the keys of {column.name}, and too few or too many of them",
            must=f"have between 1 and {MOST_FROM_TABLE:,} values",
            got=f"{len(keys):,}",
            next="Look at the file of the public table; or leave keys out and join with the table"
            " to group by its columns",
        )
    return evolve(column, keys=keys)
