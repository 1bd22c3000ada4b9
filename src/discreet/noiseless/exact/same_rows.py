"""Other names of the same rows: a second declaration of a table must not hide a subtraction."""

from collections.abc import Iterable
from pathlib import Path

from discreet.core.errors import RefusedQuery
from discreet.ledger.ledger import Ledger
from discreet.tables.catalog import Catalog, Table
from discreet.tables.source import Source
from discreet.tables.source_files import fitting_files, overlap


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
    """Refuse an exact number of rows that are, or may have been, in another id space too.

    The ledger looks at the earlier releases of one id space, and ends the worst-case claim of one.
    The same rows in two would be looked at in neither beside the other, and what is said of the
    other one would go on. An id space with exact numbers that has no table any more may be this one
    under its earlier name, and so may one whose table is now in another.
    """
    spaces = {one.unit.id_space for one in catalog.tables if _is_one_source(one, table)}
    own = table.unit.id_space
    for other in sorted(spaces - {own}):
        if ledger.is_void(other):
            raise RefusedQuery(
                f"Exact numbers of the rows of '{table.name}' were published in '{other}'",
                must="be published in one id space alone, or they could be subtracted unseen",
                next="Publish with noise",
            )
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


def _is_one_source(one: Table, other: Table) -> bool:
    """Tell whether two tables are read from one place, however that is written."""
    first, second = one.source, other.source
    if not (first.format.is_file and second.format.is_file):
        return overlap(first, second)
    return bool(_files(first) & _files(second)) and _may_be(first.table, second.table)


def _files(source: Source) -> set[tuple[int, int] | Path]:
    """Return what tells files apart, of all that a source means; links are followed."""
    try:
        found = [one.stat() for one in fitting_files(source) if one.exists()]
    except OSError:  # such as a folder of another table that cannot be read
        found = []
    return {(one.st_dev, one.st_ino) for one in found} or {source.path.resolve()}


def _may_be(one: str | None, other: str | None) -> bool:
    """Tell whether two names may mean one table: whoever names no schema may mean any."""
    if one is None or other is None:
        return True
    first, second = (tuple(name.casefold().split(".")) for name in (one, other))
    shorter = min(len(first), len(second))
    return first[-shorter:] == second[-shorter:]
