"""Keys as Arrow tables, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core import optional
from discreet.core.arrow_arrays import integer_array, integers_of, value_array
from discreet.core.protocols import IntArray
from discreet.tables.column import ColumnType, Key
from discreet.tables.keyset import KeySet
from discreet.tables.plans.engine import KeyRow

_ARROW_TYPES = {
    ColumnType.TEXT: ("string",),
    ColumnType.INTEGER: ("int64",),
    ColumnType.BOOLEAN: ("bool_",),
    ColumnType.DATE: ("date32",),
    ColumnType.TIMESTAMP: ("timestamp", "us"),
    ColumnType.TIME: ("time64", "us"),
}
"""The name of each type, and its unit."""


def keys_relation(keyset: KeySet, kinds: Sequence[ColumnType], first: int) -> Any:
    """Return the keys of one grouping set, with the number of each group; ``first`` begins them."""
    arrow = optional.load("pyarrow")
    data = {
        f"k{place}": _array([row[i] for row in keyset.rows], kinds[place])
        for i, place in enumerate(keyset.places)
    }
    numbers = integer_array(range(first, first + len(keyset.rows)))
    return arrow.table(data | {"g": numbers})


def values_relation(values: Sequence[Key], kind: ColumnType) -> Any:
    """Return single values as a relation of one column."""
    return optional.load("pyarrow").table({"k": _array(values, kind)})


def _array(values: Sequence[Key], kind: ColumnType) -> Any:
    arrow = optional.load("pyarrow")
    name, *unit = _ARROW_TYPES[kind]
    return value_array(values, getattr(arrow, name)(*unit))


def key_values(column: Any) -> list[Key | None]:
    """Return the values of a column of keys."""
    values: list[Key | None] = column.to_pylist()
    return values


@frozen(repr=False, eq=False)
class ArrowKeys:
    """The keys of private groups, one column for each, as the engine returned them."""

    columns: tuple[Any, ...]

    def order(self) -> IntArray:
        """Return the numbers of the groups in the order of their keys, NULL last.

        Texts are put in order by their bytes, which is the order of their characters.
        """
        arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
        names = [str(number) for number in range(len(self.columns))]
        keys = arrow.table(list(self.columns), names=names)
        found = compute.sort_indices(keys, sort_keys=[(name, "ascending") for name in names])
        return integers_of(found)

    def rows(self, groups: Sequence[int]) -> tuple[KeyRow, ...]:
        """Return the keys of some groups; nothing is made of the others."""
        places = integer_array(groups)
        return tuple(zip(*(key_values(c.take(places)) for c in self.columns), strict=True))

    def places(self, field: int, values: Sequence[Key]) -> IntArray:
        """Return for each group where in ``values`` its key of one field is, or -1."""
        column = self.columns[field]
        is_whole = column.type == optional.load("pyarrow").int64() and not column.null_count
        if is_whole and values and all(type(value) is int for value in values):
            return _places(integers_of(column), np.array(values, dtype=np.int64))
        compute = optional.load("pyarrow.compute")
        wanted = value_array(values).cast(column.type)
        return integers_of(compute.index_in(column, wanted), null=-1)


def _places(numbers: IntArray, values: IntArray) -> IntArray:
    """Return where in ``values`` each number is first, or -1."""
    order = np.argsort(values, kind="stable")
    found = order[np.minimum(np.searchsorted(values[order], numbers), len(values) - 1)]
    return np.where(values[found] == numbers, found, np.int64(-1))
