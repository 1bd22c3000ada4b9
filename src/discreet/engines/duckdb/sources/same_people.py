"""Same people: whoever is in two tables of an id space has the same identifier in both."""

from collections.abc import Iterator

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.examine import examine
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, StoredKind
from discreet.tables.catalog import Catalog, Table
from discreet.tables.column import ColumnType

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
    first: dict[str, tuple[Table, StoredColumn]] = {}
    for table, name, column in _identifiers(catalog):
        is_text = table.column(name).type is ColumnType.TEXT
        if is_text and column.kind in _BROKEN:
            raise DeclarationError(
                f"Column '{name}' of {table.name} names units and is stored as {column.stored}",
                must="be stored as text or as integers where it is declared as text",
                next="Declare it as integer, or convert it when the file is written",
            )
        other, known = first.setdefault(table.unit.id_space, (table, column))
        kinds = {known.kind, column.kind}
        if len(kinds) > 1 and (is_text or not kinds <= _WHOLE):
            raise DeclarationError(
                f"The units of {table.unit.id_space} are stored in two ways, in {other.name} as "
                f"{known.kind.value} and in {table.name} as {column.kind.value}",
                must="be stored in one way, or one person could be two units",
                next="Convert one of them, or declare both columns as integer",
            )


def _identifiers(catalog: Catalog) -> Iterator[tuple[Table, str, StoredColumn]]:
    """Yield how each file stores whose rows they are; a file that says it of no row is left out."""
    for table in catalog.tables:
        name = table.unit.column
        if name is None:
            continue
        for file in examine(table):
            if file[name].kind is not StoredKind.EMPTY:
                yield table, name, file[name]
