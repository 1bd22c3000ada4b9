"""Which cells of a column a question has counted together, and which of its keys are in them.

A question groups by a column, or by a function of one that never falls, such as the month of a day.
Its keys are then unions of cells, or parts of one; in general some keys together are some cells
together. What lies beyond a range is in the cells at its ends, and what is not declared in that of
NULL: of blocks with such a cell it is not known how many rows they have.
"""

import datetime
from collections.abc import Iterable, Mapping

import numpy as np
from attrs import field, frozen

from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.value_blocks import block_of, blocks
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.function import Mapped, Result, Without

MOST_VALUES = 100_000
"""Of so many values of a column it is worked out which group they are in."""

RISING = ("//", "year", "date_trunc")
"""Functions that never fall, if what divides is above 0. So what is beyond a range stays at its
ends: in no group, or in one that has a cell at an end."""


@frozen(eq=False)
class CellGroups:
    """Blocks of cells that are unions of keys as well."""

    numbers: Integers = field(repr=False)
    """The block of each cell."""
    keys: Mapping[Key, int] = field(repr=False)
    """The block of each key that counts rows of cells."""
    unknown: int
    """The block with all cells of which not all rows have a key; -1 if there is none."""

    @property
    def size(self) -> int:
        """How many blocks there are."""
        return int(self.numbers.max()) + 1

    def keys_of_blocks(self) -> Integers:
        """Return how many keys each block has; of the unknown one, 0."""
        found = np.bincount(list(self.keys.values()), minlength=self.size).astype(np.int64)
        if self.unknown >= 0:
            found[self.unknown] = 0
        return found


def cell_groups(
    cells: ValueCells, grouped_by: Expression, keys: Iterable[Key | None]
) -> CellGroups | None:
    """Return how keys and cells lie over each other; None if that cannot be known.

    ``grouped_by`` is over one field, the column itself.
    """
    values = cell_values(cells)
    if values is None or not _never_falls(cells, grouped_by):
        return None
    places = {key: place for place, key in enumerate(dict.fromkeys(keys)) if key is not None}
    of_cells = [cell for _, cell in values]
    none = len(places)
    worked_out = [_value_of(grouped_by, value) for value, _ in values]
    of_keys = [
        none if one is None or isinstance(one, Mapped) else places.get(one, none)
        for one in worked_out
    ]
    for cell in _open_cells(cells):
        of_cells.append(cell)
        of_keys.append(none)
    used, numbers = np.unique(of_keys, return_inverse=True)
    found = blocks(np.array(of_cells), numbers.astype(np.int64))
    block = block_of(numbers.astype(np.int64), found).tolist()
    named = dict(zip(used.tolist(), block, strict=True))
    return CellGroups(
        block_of(np.array(of_cells), found),
        {key: named[place] for key, place in places.items() if place in named},
        named.get(none, -1),
    )


def cell_values(cells: ValueCells) -> list[tuple[Key, int]] | None:
    """Return all declared values, each with its cell; None where they are no list."""
    if cells.keys is not None:
        return [(key, cell) for cell, key in enumerate(cells.keys)]
    is_whole = cells.column.type is ColumnType.INTEGER and cells.step == 1
    is_day = cells.column.type is ColumnType.DATE
    if not (is_whole or is_day) or cells.ends[-1] - cells.first >= MOST_VALUES:
        return None
    steps = np.arange(cells.first, cells.ends[-1] + 1)
    places = np.searchsorted(np.array(cells.ends), steps).tolist()
    epoch = datetime.date(1970, 1, 1)
    return [
        (epoch + datetime.timedelta(days=step) if is_day else step, place)
        for step, place in zip(steps.tolist(), places, strict=True)
    ]


def _open_cells(cells: ValueCells) -> list[int]:
    """Return the cells that have other rows as well: beyond a range, or without a value."""
    ends = [0, cells.inner - 1] if cells.keys is None else []
    return [*ends, cells.inner] if cells.column.nullable else ends


def _never_falls(cells: ValueCells, grouped_by: Expression) -> bool:
    """Tell whether a group has no rows but those with values in it, apart from the ends."""
    if isinstance(grouped_by, FieldValue):
        return True
    # A function of what is not declared could be a key; of numbers and days it is beyond the ends.
    if cells.keys is not None or not isinstance(grouped_by, Call):
        return False
    arguments = grouped_by.arguments
    others = [one for one in arguments if not isinstance(one, FieldValue)]
    is_plain = len(others) == len(arguments) - 1 and all(isinstance(o, Literal) for o in others)
    if grouped_by.function != "//":
        return is_plain and grouped_by.function in RISING
    divisor = arguments[1]
    return is_plain and isinstance(divisor, Literal) and _is_above_zero(divisor)


def _is_above_zero(divisor: Literal) -> bool:
    return isinstance(divisor.value, int) and divisor.value > 0


def _value_of(grouped_by: Expression, value: Key) -> Result:
    if not isinstance(grouped_by, Call):
        return value
    function = CALLED[grouped_by.function].on_keys
    assert not isinstance(function, Without)
    keys = [one.value if isinstance(one, Literal) else value for one in grouped_by.arguments]
    return function(grouped_by, *keys)
