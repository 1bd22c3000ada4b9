"""Examine sources, for their owner: what each file stores, and what would read as NULL or worse.

An analyst's question looks at none of this before it is charged. There, a file that does not fit
its declaration has NULL where it does not fit, so that nobody's file decides about others'.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.duckdb_source import no_such_table
from discreet.engines.duckdb.sources.opened import match_columns
from discreet.engines.duckdb.sources.stored_columns import (
    Found,
    StoredColumn,
    StoredKind,
    require_text,
    stored_columns,
    written,
)
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.column import ColumnType
from discreet.tables.source import Source, SourceFormat
from discreet.tables.source_files import fitting_files, overlap, source_files, stored_table

Examined = tuple[Mapping[str, StoredColumn], ...]
"""For each file, how it stores each declared column."""


def examine(table: Table | PublicTable) -> Examined:
    """Return how the files of a table store its columns, by names and types; no row is read.

    Refused are files that are not there or cannot be read, that lack a column or have it twice, and
    types of which some values cannot be handed over.
    """
    found = []
    for file in source_files(table.source, table.name):
        _require_no_pipe(table, file)
        columns = _columns(table, file)
        places = match_columns(table, [column.name for column in columns])
        found.append({name: columns[place] for name, place in places.items()})
        for name, column in found[-1].items():
            if column.kind is StoredKind.OTHER:
                raise _not_read(table, name, column)
            if column.kind is StoredKind.INSTANT and _lacks_zone(table, name):
                raise _no_zone(table, name, column)
    return tuple(found)


def require_source(table: Table | PublicTable) -> None:
    """Check that the source is there and has the declared columns; look at names and types.

    The files of a public table must also agree on the types; those of a private one are read each
    by itself.
    """
    files = examine(table)
    if not isinstance(table, PublicTable):
        return
    for name in files[0]:
        types = sorted({file[name].stored for file in files})
        if len(types) > 1:
            raise DeclarationError(
                f"Column '{name}' of {table.name} has two types in its files",
                must="be stored as one type in all files of the pattern",
                got=" and ".join(types[:2]),
                next="Convert it when the files are written",
            )


def _require_no_pipe(table: Table | PublicTable, file: Path) -> None:
    """Refuse what would be waited for without end, or be another one each time."""
    if table.source.frame is None and file.exists() and not (file.is_file() or file.is_dir()):
        raise DeclarationError(
            f"The source of {table.name} cannot be read",
            must="be a file, not a pipe or a device",
            got=file.name,
        )


def _columns(table: Table | PublicTable, file: Path) -> tuple[StoredColumn, ...]:
    """Return the columns of a file, with those that the names of folders are."""
    if table.source.format is SourceFormat.CSV and not table.source.text.has_header:
        require_text(file, table.source, table.name)
        return tuple(written(column.name) for column in table.columns)
    stored = _of_table(table, stored_columns(file, table.source, table.name, with_inner=True))
    folders = {name.casefold() for name in table.source.partitions}
    kept = (column for column in stored if column.name.casefold() not in folders)
    return (*kept, *map(written, table.source.partitions))


def _of_table(table: Table | PublicTable, found: Found) -> tuple[StoredColumn, ...]:
    if None in found:
        return found[None]
    meant = stored_table(table.source)
    for place, columns in found.items():
        if place is not None and (place[0].casefold(), place[1].casefold()) == meant:
            return columns
    raise no_such_table(table)


def _not_read(table: Table | PublicTable, name: str, column: StoredColumn) -> DeclarationError:
    return DeclarationError(
        f"Column '{name}' of {table.name} is stored as {column.stored}",
        must="be stored as a number, text, boolean, date, timestamp or time",
        next="Convert it in the frame, or do not declare it"
        if table.source.frame is not None
        else f"{_way_out(column.stored)}; until then it reads as NULL",
    )


def _way_out(stored: str) -> str:
    """Say what to do about a type that is not read."""
    if stored.startswith("struct<"):
        return 'Declare the fields that you want, each with its path: from = ["outer", "inner"]'
    if stored.startswith(("list<", "large_list<", "fixed_size_list<", "list_view<", "map<")):
        return "Write a row for each of its values, with whose it is, into a file of its own"
    return "Convert it when the file is written"


def _lacks_zone(table: Table | PublicTable, name: str) -> bool:
    column = table.column(name)
    return column.type is ColumnType.TIMESTAMP and column.zone is None


def _no_zone(table: Table | PublicTable, name: str, column: StoredColumn) -> DeclarationError:
    return DeclarationError(
        f"Column '{name}' of {table.name} is stored as {column.stored}: instants, of which each"
        " wall shows another time",
        must="have a zone declared, so that it is known what a day is",
        next='Add zone = "Europe/Berlin", or the one that is meant; until then it reads as NULL',
    )


# ---- Same people: whoever is in two tables of an id space has the same identifier in both.

_BROKEN = {StoredKind.FLOAT, StoredKind.DECIMAL}
_WHOLE = {StoredKind.TEXT, StoredKind.INTEGER, *_BROKEN}
"""What reads as the same whole number however it is stored: 5, 5.0 and the text 05."""


def require_same_people(catalog: Catalog) -> None:
    """Refuse identifiers that the same person could have in two forms, for the owner.

    A budget is about one unit. If somebody is 5 in one table and 5.0 in another, they are two
    units, and what is told about them is bounded for each alone. As text, numbers with a fraction
    are refused, and so are files of one id space that store identifiers in different ways. As whole
    numbers all of them are one.
    """
    first: dict[tuple[str, int], tuple[Table, StoredColumn]] = {}
    for table, place, column in _identifiers(catalog):
        name = table.unit.owner_columns()[place]
        is_text = table.column(name).type is ColumnType.TEXT
        if is_text and column.kind in _BROKEN:
            raise DeclarationError(
                f"Column '{name}' of {table.name} names units and is stored as {column.stored}",
                must="be stored as text or as integers where it is declared as text",
                next="Declare it as integer, or convert it when the file is written",
            )
        other, known = first.setdefault((table.unit.id_space, place), (table, column))
        kinds = {known.kind, column.kind}
        if len(kinds) > 1 and (is_text or not kinds <= _WHOLE):
            raise DeclarationError(
                f"The units of {table.unit.id_space} are stored in two ways, in {other.name} as "
                f"{known.kind.value} and in {table.name} as {column.kind.value}",
                must="be stored in one way, or one of them could count as two",
                next="Convert one of them, or declare both columns as integer",
            )


def _identifiers(catalog: Catalog) -> Iterator[tuple[Table, int, StoredColumn]]:
    """Yield how each file stores each part of whose rows they are; one without values is left out.

    The parts of a unit are numbered, and each is compared with the same one of other tables.
    """
    for table in catalog.tables:
        for file in examine(table) if table.unit.column is not None else ():
            for place, name in enumerate(table.unit.owner_columns()):
                if file[name].kind is not StoredKind.EMPTY:
                    yield table, place, file[name]


# ---- Apart: which tables read the same files, under whatever names.

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
    own = _identities(table.source)
    if any(_meet(own, _identities(one.source)) for one in private):
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
    return share_files(first.source, second.source)


def share_files(first: Source, second: Source) -> bool:
    """Tell whether two sources are a file in common now, under whatever names; no row is read."""
    return _meet(_identities(first), _identities(second))


def _meet(first: set[Identity], second: set[Identity]) -> bool:
    """Tell whether two tables are in one file; as a whole, a file is each table that is in it."""
    return any(
        one[:2] == other[:2] and (one[2] == other[2] or None in (one[2], other[2]))
        for one in first
        for other in second
    )


def _identities(source: Source) -> set[Identity]:
    found: set[Identity] = set()
    if source.frame is not None:
        return found  # in no file; whether it is another's frame was compared before
    stored = stored_table(source)
    with suppress(OSError):
        for file in fitting_files(source):
            with suppress(OSError):
                status = os.stat(file)
                found.add((status.st_dev, status.st_ino, stored))
    return found
