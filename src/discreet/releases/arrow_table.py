"""Answers as Arrow tables, with the types that the outputs have rather than ones that were seen."""

from collections.abc import Sequence
from typing import Any

from discreet.core import optional
from discreet.releases.cell import Cell
from discreet.tables.column import ColumnType

_TYPES = {
    ColumnType.INTEGER: "int64",
    ColumnType.REAL: "float64",
    ColumnType.TEXT: "string",
    ColumnType.BOOLEAN: "bool_",
    ColumnType.DATE: "date32",
}


def arrow_table(
    names: Sequence[str], kinds: Sequence[ColumnType], columns: Sequence[Sequence[Cell]]
) -> Any:
    """Return columns as an Arrow table.

    Example:
        >>> arrow_table(["n"], [ColumnType.INTEGER], [[3, None]])["n"].to_pylist()
        [3, None]
    """
    arrow = optional.load("pyarrow")
    arrays = [_array(*pair) for pair in zip(columns, kinds, strict=True)]
    return arrow.table(dict(zip(names, arrays, strict=True)))


def _array(cells: Sequence[Cell], kind: ColumnType) -> Any:
    """Return one column; integers that 64 bits do not hold become the nearest floats."""
    arrow = optional.load("pyarrow")
    try:
        return arrow.array(cells, type=getattr(arrow, _TYPES[kind])())
    except OverflowError:
        floats = [float(value) if isinstance(value, int) else None for value in cells]
        return arrow.array(floats, type=arrow.float64())
