"""Runs of cells: between which values something is asked, as cells of a column."""

import datetime
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.tables.column import ColumnType

_EPOCH = datetime.date(1970, 1, 1)


@frozen
class CellRun:
    """The cells of a column from one to another, with both."""

    first: int
    last: int


def run_of_cells(cells: ValueCells, asked: Any) -> CellRun:
    """Return the cells of a value, or those from one value to another, with both.

    A value within a cell stands for all of it, and one beyond the range for the nearest cell.

    Example:
        >>> from discreet.synthesis.counted.value_cells import value_cells
        >>> from discreet.tables.column import Bounds, Column
        >>> age = Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=99))
        >>> run_of_cells(value_cells(age), (20, 29))
        CellRun(first=20, last=29)
    """
    low, high = asked if isinstance(asked, tuple | list) and len(asked) == 2 else (asked, asked)
    run = CellRun(_cell(cells, low), _cell(cells, high))
    if run.first > run.last:
        raise InvalidArgument(
            f"A run of '{cells.column.name}' begins where it ends, or before",
            must="be a value, or two of them, the lower one first",
        )
    return run


def runs_of_columns(
    cells: Sequence[ValueCells], sizes: Sequence[int], between: Mapping[str, Any]
) -> list[CellRun]:
    """Return a run of each column: as asked for by its name, or else of all its cells."""
    if not isinstance(between, Mapping):
        raise InvalidArgument(
            "What is asked for is not said by columns",
            must='be like {"age": (20, 29)}',
            got=type(between).__name__,
        )
    names = [one.column.name for one in cells]
    asked = {str(name).lower(): value for name, value in between.items()}
    for name in between:
        if str(name).lower() not in {one.lower() for one in names}:
            raise InvalidArgument(f"'{name}' was not counted", must=f"be one of {', '.join(names)}")
    return [
        run_of_cells(one, asked[name.lower()]) if name.lower() in asked else CellRun(0, size - 1)
        for one, name, size in zip(cells, names, sizes, strict=True)
    ]


def _cell(cells: ValueCells, value: Any) -> int:
    if value is None and cells.column.nullable:
        return cells.inner
    if cells.keys is not None:
        if not isinstance(value, Hashable) or value not in cells.keys:
            raise InvalidArgument(
                f"That is no value of '{cells.column.name}'",
                must=f"be one of {', '.join(map(str, cells.keys[:8]))}"
                + (", ..." if len(cells.keys) > 8 else ""),
                got=repr(value)[:40],
            )
        return cells.keys.index(value)
    return min(bisect_left(cells.ends, _step(cells, value)), len(cells.ends) - 1)


def _step(cells: ValueCells, value: Any) -> int:
    """Return the step of a range that a value is rounded to: a day, a second, a step of a grid."""
    kind = cells.column.type
    if kind is ColumnType.TIME and isinstance(value, datetime.time):
        return value.hour * 3600 + value.minute * 60 + value.second
    if kind in (ColumnType.DATE, ColumnType.TIMESTAMP):
        if isinstance(value, str):
            value = _day(value)
        if isinstance(value, datetime.date):
            return value.toordinal() - _EPOCH.toordinal()
    elif kind in (ColumnType.INTEGER, ColumnType.REAL):
        return (exact(value) / cells.step + exact("1/2")).__floor__()
    raise InvalidArgument(
        f"That is no value of '{cells.column.name}'",
        must=f"be of its type, {kind.value}",
        got=type(value).__name__,
    )


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(
            "That is no date", must="be written as 2025-12-31", got=text[:40]
        ) from None
