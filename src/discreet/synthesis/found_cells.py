"""The cells of columns, of which values or bins are found privately if they are not declared."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from discreet.synthesis.counted.value_cells import MOST_CELLS, MOST_KEYS, ValueCells, value_cells
from discreet.synthesis.private_bins import binned_cells
from discreet.tables.catalog import Table
from discreet.tables.column import Column, Key

ALL_KEYS: tuple[Key, ...] = ("",) * MOST_KEYS
"""As many values as can be found for a column."""


def with_found(
    cells: Sequence[ValueCells], found: Mapping[str, Sequence[Key]]
) -> tuple[ValueCells, ...]:
    """Return the cells of columns, with what was found for those without declared ones."""
    return tuple(_as_found(one, found[one.column.name]) if one.is_open else one for one in cells)


def _as_found(cells: ValueCells, found: Sequence[Any]) -> ValueCells:
    """Return the cells of a column with the values, or the ends of bins, that were found."""
    if cells.fine is None:
        return evolve(cells, keys=tuple(found))
    return evolve(cells, ends=tuple(found))


def as_if_found(cells: ValueCells, count: int) -> ValueCells:
    """Return the cells of a column with so many values, as far as there can be, if none are known.

    Of bins there is one at least.
    """
    if not cells.is_open:
        return cells
    if cells.fine is None:
        return evolve(cells, keys=ALL_KEYS[:count])
    return evolve(cells, ends=tuple(range(max(1, min(count, MOST_CELLS)))))


def found_keys(
    table: Table,
    columns: Sequence[str],
    found: Mapping[str, Sequence[Key]],
    *,
    binned: Iterable[str] = (),
) -> tuple[ValueCells, ...]:
    """Return the cells of columns as they are declared, with values that were found for some.

    Those that are ``binned`` have bins that were found.
    """
    return with_found(declared_cells([table.column(one) for one in columns], set(binned)), found)


def declared_cells(columns: Iterable[Column], binned: Container[str]) -> tuple[ValueCells, ...]:
    """Return the cells of columns as they are declared; those of the binned are to be found."""
    return tuple(binned_cells(one) if one.name in binned else value_cells(one) for one in columns)
