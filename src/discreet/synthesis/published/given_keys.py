"""Values that whoever publishes lists for a column of which none are declared."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.synthesis.counted.value_cells import MOST_KEYS, OPEN, value_cells
from discreet.tables.catalog import Table
from discreet.tables.column import Column, ColumnType, Key
from discreet.tables.keyset import LONGEST_KEY

GivenKeys = Mapping[str, Sequence[Key]]
"""Lists of values by the name of their column: public, and never read from the rows."""


def columns_with_keys(table: Table, names: Sequence[str], keys: GivenKeys | None) -> list[Column]:
    """Return columns by their names, with the values that are given for some.

    What is not in such a list counts as NULL, whatever is declared. Whoever gives a list makes it
    up or has it from something that is public, such as the groups that a question found privately:
    so the cells are public, as those of declared keys are.
    """
    given = _by_column(table, names, keys)
    found = []
    for name in names:
        column = table.column(name)
        if name in given:
            column = evolve(column, keys=_listed(column, given[name]), nullable=True)
        found.append(column)
    return found


def _by_column(table: Table, names: Sequence[str], keys: Any) -> dict[str, Any]:
    if keys is None:
        return {}
    if not isinstance(keys, Mapping) or not all(isinstance(name, str) for name in keys):
        raise InvalidArgument(
            "keys has no lists of values by columns",
            must='be such as {"word": ["yes", "no"]}',
            got=type(keys).__name__,
            next="Nothing was charged",
        )
    found: dict[str, Any] = {}
    for name, values in keys.items():
        column = table.column(name)
        if column.name not in names or column.name in found:
            raise InvalidArgument(
                f"Values are given for '{column.name}', which is not counted, or twice",
                must=f"be given once, for some of {', '.join(names)}",
                next="Nothing was charged",
            )
        if column.type not in OPEN or not value_cells(column).is_open:
            raise InvalidArgument(
                f"The values of '{column.name}' are declared",
                must="be as they are declared",
                next="Nothing was charged. Leave it out of keys",
            )
        found[column.name] = values
    return found


def _listed(column: Column, values: Any) -> tuple[Key, ...]:
    is_list = isinstance(values, Sequence) and not isinstance(values, str | bytes)
    kind = str if column.type is ColumnType.TEXT else int
    listed = tuple(_read(column, one) for one in values) if is_list else ()
    is_typed = all(isinstance(one, kind) and not isinstance(one, bool) for one in listed)
    if not listed or not is_typed or len(set(listed)) < len(listed) or len(listed) > MOST_KEYS:
        raise InvalidArgument(
            f"The values given for '{column.name}' are no list of different values",
            must=f"be 1 to {MOST_KEYS:,} of the type {column.type.value}, each once",
            got=f"{len(listed):,} values" if is_list else type(values).__name__,
            next="Nothing was charged",
        )
    if any(len(str(one)) > LONGEST_KEY or not check.is_unicode(str(one)) for one in listed):
        raise InvalidArgument(
            f"A value given for '{column.name}' is too long, or not Unicode",
            must=f"have at most {LONGEST_KEY:,} characters, and no lone surrogates",
            next="Nothing was charged",
        )
    return listed


def _read(column: Column, value: Any) -> Any:
    """Return a whole number that is written as a text, as on the command line."""
    if column.type is ColumnType.INTEGER and isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value


_WHOLE = re.compile("-?[0-9]{1,18}")
