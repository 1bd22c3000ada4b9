"""Refusals in the owner's word for a unit: a door knows the declarations, and puts it in."""

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core.errors import DiscreetError
from discreet.tables.catalog import Catalog
from discreet.tables.unit_name import UNIT, UnitName


def units_of(catalog: Catalog, text: str) -> UnitName:
    """Return what units are called in the tables that a text names; it need not be good SQL.

    Where it names none of them, that is what they are called in all tables. Where there are two
    names, it is a unit.
    """
    lower = text.lower()
    named = [table for table in catalog.tables if table.name.lower() in lower]
    spaces = {table.unit.id_space for table in named or catalog.tables}
    found = {catalog.called(space.name) for space in catalog.id_spaces if space.name in spaces}
    return found.pop() if len(found) == 1 else UNIT


@contextmanager
def naming_units(catalog: Catalog, *texts: str) -> Iterator[None]:
    """Let errors say the owner's word for a unit, if one word fits all that was asked."""
    try:
        yield
    except DiscreetError as error:
        whole = "\n".join(text for text in texts if isinstance(text, str))
        error.name_units(units_of(catalog, whole).said)
        raise
