"""What an owner should know about the stored types of private tables although they can be read."""

from collections.abc import Iterator

from discreet.engines.duckdb.sources.examine import Examined, examine
from discreet.engines.duckdb.sources.stored_columns import StoredKind
from discreet.tables.catalog import Catalog, Table


def source_cautions(catalog: Catalog) -> tuple[str, ...]:
    """Return every caution, as sentences; they follow from names and types, and no row is read.

    No sentence quotes the name of a file: there might be one for each person.
    """
    return tuple(words for table in catalog.tables for words in _about(table, examine(table)))


def _about(table: Table, files: Examined) -> Iterator[str]:
    for name in files[0]:
        columns = [file[name] for file in files]
        empty = sum(column.kind is StoredKind.EMPTY for column in columns)
        if empty:
            where = "its file stores" if len(files) == 1 else "some of its files store"
            yield f"{table.name}.{name} is NULL where {where} no type for it."
        types = sorted({column.stored for column in columns if column.kind is not StoredKind.EMPTY})
        if len(types) > 1:
            yield (
                f"{table.name}.{name} is stored as {' and '.join(types[:3])} in different files. "
                "Each is read by itself, and what does not read as its declared type is NULL."
            )
        kinds = {column.kind for column in columns}
        if name == table.unit.column and kinds & {StoredKind.FLOAT, StoredKind.DECIMAL}:
            yield (
                f"{table.name}.{name} names units and is stored with a fraction. Rows in which it "
                "is not a whole number, or too large to be exact, are nobody's."
            )
