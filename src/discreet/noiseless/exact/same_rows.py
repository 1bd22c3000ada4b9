"""Other names of the same rows: a second declaration of a table must not hide a subtraction."""

from collections.abc import Iterable

from discreet.core.errors import RefusedQuery
from discreet.ledger.ledger import Ledger
from discreet.tables.catalog import Catalog, Table
from discreet.tables.source_files import may_share_rows


def names_of_rows(catalog: Catalog, table: Table, released: Iterable[str]) -> frozenset[str]:
    """Return other names that the rows of a table have, or may have had.

    Two tables of one source have the same rows. A table of which something was ``released``, and
    which is not declared any more, may be this one under its earlier name.
    """
    declared = {one.name: one for one in catalog.tables}
    same = {name for name, one in declared.items() if may_share_rows(one.source, table.source)}
    gone = {name for name in released if name not in declared}
    return frozenset((same | gone) - {table.name})


def require_one_id_space(catalog: Catalog, ledger: Ledger, table: Table) -> None:
    """Refuse an exact number of rows that are, or may have been, in another id space too.

    The ledger looks at the earlier releases of one id space, and ends the worst-case claim of one.
    The same rows in two would be looked at in neither beside the other, and what is said of the
    other one would go on. An id space with exact numbers that has no table any more may be this one
    under its earlier name, and so may one whose table is now in another. (A second id space that is
    declared afterwards is not even opened: :mod:`discreet.project.exact_rows`.)
    """
    spaces = {
        one.unit.id_space for one in catalog.tables if may_share_rows(one.source, table.source)
    }
    own = table.unit.id_space
    for other in sorted(spaces - {own}):
        raise RefusedQuery(
            f"The rows of '{table.name}' are in the id space '{other}' too",
            must="be in one id space alone, whose answers are looked at and whose claim ends",
            next=f"Publish with noise, or take the other table of these rows out of '{other}'",
        )
    for other in ledger.spent_spaces():
        if other != own and _is_gone(catalog, ledger, other):
            raise RefusedQuery(
                f"Exact numbers were published in '{other}' of a table that is not there any more",
                must="be of other rows, and that is not declared",
                next=f"Declare '{other}' and its tables as they were, or publish with noise",
            )


def _is_gone(catalog: Catalog, ledger: Ledger, id_space: str) -> bool:
    """Tell whether exact numbers of an id space are of a table that went elsewhere, or may have."""
    noted = ledger.claims(id_space)
    within = {one.name for one in catalog.tables if one.unit.id_space == id_space}
    elsewhere = {one.name for one in catalog.tables} - within
    released = {one.claim.asserted["table"] for one in noted.claims}
    return noted.is_void and (not within or not released.isdisjoint(elsewhere))
