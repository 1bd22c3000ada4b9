"""Match declared columns with the columns that a source has, by name alone."""

from collections.abc import Sequence

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table


def match_columns(table: Table | PublicTable, names: Sequence[str]) -> dict[str, int]:
    """Return the position of each declared column in a source whose columns are ``names``.

    A name matches in its own spelling, or else in any case if just one column does. A name that
    could mean two columns is refused: which of them is the unit must never be a guess.
    """
    return {column.name: _position(table, column.name, names) for column in table.columns}


def _position(table: Table | PublicTable, name: str, names: Sequence[str]) -> int:
    exactly = [i for i, found in enumerate(names) if found == name]
    in_any_case = [i for i, found in enumerate(names) if found.casefold() == name.casefold()]
    if not in_any_case:
        raise DeclarationError(f"The source of {table.name} lacks a declared column", got=name)
    if len(in_any_case) > 1:
        raise DeclarationError(
            f"The source of {table.name} has a column twice",
            must="have each declared name once, in whatever case",
            got=name,
        )
    return (exactly or in_any_case)[0]
