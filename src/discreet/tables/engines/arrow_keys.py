"""Keys as Arrow tables, and back."""

from collections.abc import Sequence
from typing import Any

from discreet.core import optional
from discreet.tables.column import ColumnType, Key
from discreet.tables.keyset import KeySet

_ARROW_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "int64",
    ColumnType.BOOLEAN: "bool_",
    ColumnType.DATE: "date32",
}


def keys_relation(keyset: KeySet, kinds: Sequence[ColumnType], first: int) -> Any:
    """Return the keys of one grouping set, with the number of each group; ``first`` begins them."""
    arrow = optional.load("pyarrow")
    data = {
        f"k{place}": _array([row[i] for row in keyset.rows], kinds[place])
        for i, place in enumerate(keyset.places)
    }
    numbers = arrow.array(range(first, first + len(keyset.rows)), arrow.int64())
    return arrow.table(data | {"g": numbers})


def values_relation(values: Sequence[Key], kind: ColumnType) -> Any:
    """Return single values as a relation of one column."""
    return optional.load("pyarrow").table({"k": _array(values, kind)})


def _array(values: Sequence[Key], kind: ColumnType) -> Any:
    arrow = optional.load("pyarrow")
    return arrow.array(values, getattr(arrow, _ARROW_TYPES[kind])())


def key_values(column: Any) -> list[Key | None]:
    """Return the values of a column of keys."""
    values: list[Key | None] = column.to_pylist()
    return values
