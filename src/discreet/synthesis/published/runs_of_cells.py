"""Runs of cells: between which values something is asked, as cells of a column."""

import datetime
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
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
    low, high = _ends(asked)
    if (low is None) != (high is None):
        raise InvalidArgument(
            f"A run of '{cells.column.name}' has NULL at one end",
            must="be between two values; NULL is asked for by itself",
        )
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
    runs = [
        run_of_cells(one, asked[name.lower()]) if name.lower() in asked else CellRun(0, size - 1)
        for one, name, size in zip(cells, names, sizes, strict=True)
    ]
    for run, name, size in zip(runs, names, sizes, strict=True):
        if run.last >= size:
            raise InvalidArgument(
                f"Rows without a value in '{name}' were left out", must="be a value, or two of them"
            )
    return runs


def stretched_runs(
    cells: Sequence[ValueCells], runs: Sequence[CellRun], between: Mapping[str, Any]
) -> dict[str, str]:
    """Return which values are counted in truth, of columns asked for by a part of a cell.

    Example:
        >>> from discreet.synthesis.counted.value_cells import value_cells
        >>> from discreet.tables.column import Bounds, Column
        >>> cost = Column(name="cost", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=999))
        >>> cells, asked = value_cells(cost), (100, 199)
        >>> stretched_runs([cells], [run_of_cells(cells, asked)], {"cost": asked})
        {'cost': '96 to 199'}
    """
    asked = {str(name).lower(): value for name, value in between.items()}
    return {
        one.column.name: one.label_of_run(run.first, run.last)
        for one, run in zip(cells, runs, strict=True)
        if one.column.name.lower() in asked and not _is_whole(one, run, asked)
    }


def whole_runs(
    cells: Sequence[ValueCells], sizes: Sequence[int], between: Mapping[str, Any]
) -> list[CellRun]:
    """Return a run of each column; refuse a part of a cell, of which nothing is known."""
    runs = runs_of_columns(cells, sizes, between)
    for name, counted in stretched_runs(cells, runs, between).items():
        raise InvalidArgument(
            f"A cell of '{name}' has other values besides",
            must=f"be whole cells, such as {counted}",
            next="Nothing was asked, and it costs nothing to ask again",
        )
    return runs


def _is_whole(cells: ValueCells, run: CellRun, asked: Mapping[str, Any]) -> bool:
    """Tell whether a run has no other values than what was asked for, within the range."""
    low, high = _ends(asked[cells.column.name.lower()])
    if cells.keys is not None or low is None:
        return True
    start = cells.ends[run.first - 1] + 1 if run.first else cells.first
    begins, ends = _exact_step(cells, low), _exact_step(cells, high, is_last=True)
    is_first, is_last = run.first == 0, run.last == len(cells.ends) - 1
    return (begins == start or (is_first and begins < start)) and (
        ends == cells.ends[run.last] or (is_last and ends > cells.ends[-1])
    )


def _exact_step(cells: ValueCells, value: Any, *, is_last: bool = False) -> Fraction:
    """Return the step of a value; between two of them if it is on none, as a moment of a day is.

    The last moment of a run is the day before it, and what has begun of its own day.
    """
    kind = cells.column.type
    if kind in (ColumnType.INTEGER, ColumnType.REAL):
        return exact(value) / cells.step
    step = Fraction(_step(cells, value))
    is_moment = kind is ColumnType.TIMESTAMP and isinstance(value, datetime.datetime)
    if is_moment and (is_last or value.time() != datetime.time()):
        step += Fraction(-1, 2) if is_last else Fraction(1, 2)
    return step


def _ends(asked: Any) -> tuple[Any, Any]:
    """Return from which value to which one is asked for."""
    if isinstance(asked, tuple | list) and len(asked) == 2:
        return asked[0], asked[1]
    return asked, asked


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
