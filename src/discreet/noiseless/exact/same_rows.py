"""Other names of the same rows: a second declaration of a table must not hide a subtraction."""

from collections.abc import Iterable
from glob import glob
from pathlib import Path

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
    """Tell whether two tables are read from one place, however that is written."""
    first, second = one.source, other.source
    if not (first.format.is_file and second.format.is_file):
        return first is second
    return bool(_files(first.path) & _files(second.path)) and _may_be(first.table, second.table)


def _files(path: Path) -> set[tuple[int, int] | Path]:
    """Return what tells files apart, of all that a path or a pattern means; links are followed."""
    named = map(Path, glob(str(path), recursive=True))
    found = [one.stat() for one in named if one.exists()]
    return {(one.st_dev, one.st_ino) for one in found} or {path.resolve()}


def _may_be(one: str | None, other: str | None) -> bool:
    """Tell whether two names may mean one table: whoever names no schema may mean any."""
    if one is None or other is None:
        return True
    first, second = (tuple(name.casefold().split(".")) for name in (one, other))
    shorter = min(len(first), len(second))
    return first[-shorter:] == second[-shorter:]
