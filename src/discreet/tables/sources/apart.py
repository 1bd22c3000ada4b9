"""Apart: which tables read the same files, under whatever names."""

import os
from contextlib import suppress

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.sources.source_files import fitting_files, overlap, stored_table

Identity = tuple[int, int, tuple[str, str] | None]
"""Device and number of a file, and the table in it if it is a database."""


def require_apart(catalog: Catalog) -> None:
    """Refuse a public table whose file is a private table's, by link or by another spelling.

    What is written was compared before (:func:`~discreet.tables.sources.source_files.overlap`);
    here the files themselves are, by their identity alone. A file that is not there cannot be
    read, so it is passed over.
    """
    private = {identity for table in catalog.tables for identity in _identities(table)}
    for table in catalog.public_tables:
        if private & _identities(table):
            raise DeclarationError(
                f"The public table {table.name} reads the file of a private one",
                must="have a file of its own: everybody may know all of it",
                next="Look where its links lead",
            )


def share_rows(first: Table, second: Table) -> bool:
    """Tell whether two tables read a file in common, by what is written or by links."""
    if overlap(first.source, second.source):
        return True
    return bool(_identities(first) & _identities(second))


def _identities(table: Table | PublicTable) -> set[Identity]:
    stored = None if table.source.table is None else stored_table(table.source.table)
    found = set()
    with suppress(OSError):
        for file in fitting_files(table.source):
            with suppress(OSError):
                status = os.stat(file)
                found.add((status.st_dev, status.st_ino, stored))
    return found
