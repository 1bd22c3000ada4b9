"""Match declared columns with the columns that a source has, by name alone."""

from collections.abc import Sequence

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table


def match_columns(table: Table | PublicTable, names: Sequence[str]) -> dict[str, int]:
    """Return the position of each declared column in a source whose columns are ``names``.

    This is the owner's check: a column that is not found, or that could be two, is refused.
    """
    places = {}
    for name, found in find_columns(table, names).items():
        if found is None:
            is_there = any(other.casefold() == name.casefold() for other in names)
            raise _twice(table, name) if is_there else _lacking(table, name)
        places[name] = found
    return places


def find_columns(table: Table | PublicTable, names: Sequence[str]) -> dict[str, int | None]:
    """Return the position of each declared column, or ``None`` where it is not to be found.

    A name matches in any case, if just one column does. One that could mean two columns means none
    of them: which of them is the unit must never be a guess.
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name.casefold(), []).append(place)
    found = {column.name: places.get(column.name.casefold(), []) for column in table.columns}
    return {name: alike[0] if len(alike) == 1 else None for name, alike in found.items()}


def wanted_columns(table: Table | PublicTable, used: frozenset[str]) -> list[str]:
    """Return the declared columns that are used; one at least, because rows are counted by it."""
    names = [column.name for column in table.columns]
    return [name for name in names if name in used] or names[:1]


def _lacking(table: Table | PublicTable, name: str) -> DeclarationError:
    return DeclarationError(
        f"The source of {table.name} lacks a declared column",
        got=name,
        next="Where a file lacks it, it would read as NULL",
    )


def _twice(table: Table | PublicTable, name: str) -> DeclarationError:
    return DeclarationError(
        f"The source of {table.name} has a column twice",
        must="have each declared name once, in whatever case",
        got=name,
    )
