"""Other names of the same rows: a second declaration of a table must not hide a subtraction."""

from collections.abc import Iterable

from discreet.core.errors import RefusedQuery
from discreet.ledger.ledger import Ledger
from discreet.tables.catalog import Catalog, Table


def names_of_rows(catalog: Catalog, table: Table, released: Iterable[str]) -> frozenset[str]:
    """Return other names that the rows of a table have, or may have had.

    Two tables of one source have the same rows. A table of which something was ``released``, and
    which is not declared any more, may be this one under its earlier name.
    """
    declared = {one.name: one for one in catalog.tables}
    same = {name for name, one in declared.items() if _is_one_source(one, table)}
    gone = {name for name in released if name not in declared}
    return frozenset((same | gone) - {table.name})


def require_one_id_space(catalog: Catalog, ledger: Ledger, table: Table) -> None:
    """Refuse exact numbers of rows of which another id space has some already.

    The ledger looks at earlier releases of one id space. The same rows in two would be looked at in
    neither beside the other.
    """
    spaces = {one.unit.id_space for one in catalog.tables if _is_one_source(one, table)}
    for other in sorted(spaces - {table.unit.id_space}):
        if ledger.is_void(other):
            raise RefusedQuery(
                f"Exact numbers of the rows of '{table.name}' were published in '{other}'",
                must="be published in one id space alone, or they could be subtracted unseen",
                next="Publish with noise",
            )


def _is_one_source(one: Table, other: Table) -> bool:
    if not (one.source.format.is_file and other.source.format.is_file):
        return one.source is other.source
    return (one.source.path, one.source.table) == (other.source.path, other.source.table)
