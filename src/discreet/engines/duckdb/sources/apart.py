"""Apart: which tables read the same files, under whatever names."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.source_files import fitting_files, overlap, stored_table

Identity = tuple[int, int, tuple[str, str] | None]
"""Device and number of a file, and the table in it if it is a database."""


def require_apart(catalog: Catalog) -> None:
    """Refuse a public table whose file is a private table's, by link or by another spelling.

    What is written was compared before (:func:`~discreet.tables.source_files.overlap`);
    here the files themselves are, by their identity alone. A file that is not there cannot be
    read, so it is passed over.
    """
    for table in catalog.public_tables:
        require_public(table, catalog.tables)


def require_public(table: PublicTable, private: Iterable[Table]) -> frozenset[Identity]:
    """Refuse a public table that reads the file of a private one now; return its files.

    A name can lead to another file from one moment to the next. So this is asked before the rows of
    a public table are read and again before anybody sees them, and both times it must be the same.
    """
    own = _identities(table)
    if any(own & _identities(one) for one in private):
        raise DeclarationError(
            f"The public table {table.name} reads the file of a private one",
            must="have a file of its own: everybody may know all of it",
            next="Look where its links lead",
        )
    return frozenset(own)


@contextmanager
def held_apart(tables: Iterable[PublicTable], private: Iterable[Table]) -> Iterator[None]:
    """Refuse what was read in the block if a public table has, or got, another table's file.

    Guarantee:
        If the block ends without an error, then before it and after it no public table was a file
        of a private one, and each was the same files both times.

    Assumes:
        Nobody puts a file in place and the old one back while the block runs: that takes write
        access to the folder, with which the rows could be copied as well.
    """
    tables, private = tuple(tables), tuple(private)
    before = [require_public(table, private) for table in tables]
    yield
    for table, files in zip(tables, before, strict=True):
        if require_public(table, private) != files:
            raise DeclarationError(
                f"The files of the public table {table.name} were replaced while they were read",
                next="Ask again when they stay as they are",
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
