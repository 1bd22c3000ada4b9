"""Tables of counts in which small cells are withheld, and what their totals give away."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.attacks.reconstruction.printed_table import read_whole
from discreet.core import check, optional
from discreet.core.errors import InvalidArgument, UnexpectedError
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import text_table

Place = tuple[int, int]
Printed = int | None
"""A number, or ``None`` where it is withheld."""

WITHHELD = ("", "d", "(d)", "*", "x")
"""How a file may say that a number is withheld, in small letters."""

MOST_TABLE_CELLS = 1_000_000
MOST_COUNT = 10**15
"""Larger counts are refused: the solver's floats would not tell them apart."""


def _row(values: Sequence[Any]) -> tuple[Printed, ...]:
    found = tuple(check.optional_whole(value) for value in values)
    if any(value is not None and not 0 <= value <= MOST_COUNT for value in found):
        raise InvalidArgument(
            "A count is below 0, or too large",
            must=f"be from 0 to {MOST_COUNT:,} in every cell and total",
        )
    return found


def _one(value: Any) -> Printed:
    return _row([value])[0]


def _rows(given: Sequence[Sequence[Any]]) -> tuple[tuple[Printed, ...], ...]:
    return tuple(_row(one) for one in given)


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(given)


@frozen(kw_only=True)
class CellTable:
    """Counts by two columns with their totals. A number that is withheld is ``None``.

    A table by one column is one with a single row.
    """

    rows: tuple[str, ...] = field(converter=_names)
    columns: tuple[str, ...] = field(converter=_names)
    cells: tuple[tuple[Printed, ...], ...] = field(converter=_rows)
    row_totals: tuple[Printed, ...] = field(converter=_row)
    column_totals: tuple[Printed, ...] = field(converter=_row)
    total: Printed = field(default=None, converter=_one)

    def __attrs_post_init__(self) -> None:
        shape = (len(self.rows), len(self.columns))
        widths = {len(one) for one in self.cells}
        is_whole = len(self.cells) == shape[0] and widths == {shape[1]}
        if not (is_whole and (len(self.row_totals), len(self.column_totals)) == shape):
            raise InvalidArgument(
                "The table is not whole",
                must="have a cell for each row and column, and a total for each of both",
            )
        if shape[0] * shape[1] > MOST_TABLE_CELLS or len(set(self.rows)) * len(
            set(self.columns)
        ) < (shape[0] * shape[1]):
            raise InvalidArgument(
                "The table is too large, or names something twice",
                must=f"have at most {MOST_TABLE_CELLS:,} cells, and every name once",
            )

    @property
    def withheld(self) -> tuple[Place, ...]:
        """Which cells are not printed."""
        return tuple(
            (row, column)
            for row, cells in enumerate(self.cells)
            for column, value in enumerate(cells)
            if value is None
        )

    def name(self, place: Place) -> str:
        """Return what a cell is called."""
        return f"{self.rows[place[0]]}, {self.columns[place[1]]}"

    def with_cells(self, values: Mapping[Place, Printed]) -> "CellTable":
        """Return the table with other values in some cells."""
        for row, column in values:
            if not (0 <= row < len(self.rows) and 0 <= column < len(self.columns)):
                raise InvalidArgument("There is no such cell", must="be one of the table")
        return evolve(
            self,
            cells=tuple(
                tuple(values.get((row, column), value) for column, value in enumerate(cells))
                for row, cells in enumerate(self.cells)
            ),
        )

    def __str__(self) -> str:
        """Return the table as it is printed, (D) where a number is withheld."""
        lines = [
            [name, *map(_shown, cells), _shown(total)]
            for name, cells, total in zip(self.rows, self.cells, self.row_totals, strict=True)
        ]
        last = ["total", *map(_shown, self.column_totals), _shown(self.total)]
        return text_table(["", *self.columns, "total"], [*lines, last])


def _shown(value: Printed) -> str:
    return "(D)" if value is None else f"{value:,}"


def count_cells(
    rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]] | IntArray
) -> CellTable:
    """Return a whole table with all of its totals.

    Example:
        >>> count_cells(["a", "b"], ["x", "y"], [[1, 2], [3, 4]]).row_totals
        (3, 7)
    """
    found = np.asarray(counts, dtype=np.int64).reshape(len(rows), len(columns))
    return CellTable(
        rows=rows,
        columns=columns,
        cells=found.tolist(),
        row_totals=found.sum(axis=1).tolist(),
        column_totals=found.sum(axis=0).tolist(),
        total=int(found.sum()),
    )


def read_cells(lines: Sequence[Sequence[str]]) -> CellTable:
    """Return a table from the lines of a file: names first, totals in the last column and line.

    Example:
        >>> table = read_cells([["", "x", "total"], ["a", "D", "3"], ["total", "3", "3"]])
        >>> table.withheld, table.total
        (((0, 0),), 3)
    """
    filled = [line for line in lines if any(part.strip() for part in line)]
    head = [part.strip() for part in filled[0]] if filled else []
    widths = {len(line) for line in filled}
    if (
        len(filled) < 3
        or widths != {len(head)}
        or len(head) < 3
        or head[-1].lower() != "total"
        or filled[-1][0].strip().lower() != "total"
    ):
        raise InvalidArgument(
            "The table cannot be read",
            must='have a line of names that ends in "total", lines of counts, and a last line that'
            ' begins with "total"',
        )
    numbers = [[_number(part) for part in line[1:]] for line in filled[1:]]
    return CellTable(
        rows=[line[0].strip() for line in filled[1:-1]],
        columns=head[1:-1],
        cells=[line[:-1] for line in numbers[:-1]],
        row_totals=[line[-1] for line in numbers[:-1]],
        column_totals=numbers[-1][:-1],
        total=numbers[-1][-1],
    )


def _number(part: str) -> Printed:
    text = part.strip().replace(",", "")
    return None if text.lower() in WITHHELD else read_whole(text)


@frozen(kw_only=True)
class CellRange:
    """What a withheld cell can be: everything from the least to the most, both reached."""

    place: Place
    name: str
    least: int
    most: int | None
    """``None`` if nothing bounds it."""

    @property
    def width(self) -> int | None:
        """How much is open; 0 if the cell is known."""
        return None if self.most is None else self.most - self.least


@frozen(kw_only=True)
class CellAudit:
    """What the totals of a table tell about each cell that is withheld."""

    ranges: tuple[CellRange, ...]

    @property
    def fixed(self) -> tuple[CellRange, ...]:
        """The cells that are known although they are withheld."""
        return tuple(one for one in self.ranges if one.width == 0)

    def __str__(self) -> str:
        """Return each withheld cell with what it can be."""
        if not self.ranges:
            return "No cell is withheld."
        head = f"{len(self.fixed):,} of {len(self.ranges):,} withheld cells are known exactly."
        table = text_table(
            ["withheld", "at least", "at most"],
            [
                [one.name, f"{one.least:,}", "any" if one.most is None else f"{one.most:,}"]
                for one in self.ranges
            ],
        )
        return f"{head}\n\n{table}"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the ranges for other programs."""
        return [{"cell": one.name, "least": one.least, "most": one.most} for one in self.ranges]


def audit_cells(
    table: CellTable,
    *,
    known: Mapping[Place, int] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> CellAudit:
    r"""Return the least and the greatest value of every withheld cell, exactly.

    ``known`` are cells that the adversary knows: of a cell of two people each knows the other.

    Guarantee:
        The withheld cells are whole numbers from 0 with known sums over rows, columns or the whole
        table. Rows (and the whole) are a nested family of sets, and so are columns; the incidence
        matrix of two nested families is totally unimodular, so the linear programmes that minimise
        and maximise a cell have whole solutions, and whole solutions of their duals. Both are
        rounded to whole numbers and checked in whole numbers: the first meets all totals, so its
        value is reached; the second proves that nothing beyond it is. Everything between is
        reached too: the matrix stays totally unimodular when the cell is set to a whole number
        [Sch86, chapter 19].

    Assumes:
        The totals are exact. A table that contradicts itself is refused.

    Example:
        >>> table = read_cells([
        ...     ["", "x", "y", "total"],
        ...     ["a", "D", "5", "7"],
        ...     ["b", "6", "9", "15"],
        ...     ["total", "8", "14", "22"],
        ... ])
        >>> audit_cells(table).ranges[0].least, audit_cells(table).ranges[0].most
        (2, 2)
    """
    asked = table.with_cells(dict(known or {}))
    system = WithheldSums(asked)
    places = asked.withheld
    ranges = []
    for number, place in enumerate(places):
        ranges.append(system.range_of(place))
        if on_step is not None:
            on_step(number + 1, len(places))
    return CellAudit(ranges=tuple(ranges))


class WithheldSums:
    """Sums of withheld cells that follow from what is printed."""

    def __init__(self, table: CellTable) -> None:
        """Take the sums of a table, which must not contradict themselves."""
        self.table = table
        self.number = {place: number for number, place in enumerate(table.withheld)}
        lines, sums = [], []
        for row, total in enumerate(table.row_totals):
            lines.append([(row, column) for column in range(len(table.columns))])
            sums.append(total)
        for column, total in enumerate(table.column_totals):
            lines.append([(row, column) for row in range(len(table.rows))])
            sums.append(total)
        lines.append([place for line in lines[: len(table.rows)] for place in line])
        sums.append(table.total)
        kept = [
            self._open(line, total)
            for line, total in zip(lines, sums, strict=True)
            if total is not None
        ]
        self.matrix = np.zeros((len(kept), len(self.number)), dtype=np.int64)
        for place, (members, _) in enumerate(kept):
            self.matrix[place, members] = 1
        self.sums = np.array([left for _, left in kept], dtype=np.int64)
        if (self.sums < 0).any() or (self.sums[~self.matrix.any(axis=1)] != 0).any():
            raise _contradiction()

    def _open(self, line: Sequence[Place], total: int) -> tuple[list[int], int]:
        """Return which withheld cells a line has, and what they add up to."""
        values = [self.table.cells[row][column] for row, column in line]
        left = total - sum(value for value in values if value is not None)
        return [self.number[place] for place in line if place in self.number], left

    def range_of(self, place: Place) -> CellRange:
        """Return what one cell can be."""
        goal = np.zeros(len(self.number), dtype=np.int64)
        goal[self.number[place]] = 1
        least, most = self._least(goal), self._least(-goal)
        if least is None:
            raise UnexpectedError("attacks/reconstruction/withheld_cells.py: below 0")
        return CellRange(
            place=place,
            name=self.table.name(place),
            least=least,
            most=None if most is None else -most,
        )

    def _least(self, goal: IntArray) -> int | None:
        """Return the least value of a goal, proved in whole numbers; ``None`` if there is none."""
        if not len(self.sums):
            return 0 if goal.max() > 0 else None
        found = optional.load("scipy.optimize").linprog(
            goal, A_eq=self.matrix, b_eq=self.sums, bounds=(0, None), method="highs-ds"
        )
        if found.status in (3, 4) and goal.min() < 0:
            return None
        if found.status == 2:
            raise _contradiction()
        if found.status != 0:
            raise UnexpectedError("attacks/reconstruction/withheld_cells.py: not solved")
        cells, prices = _whole(found.x), _whole(found.eqlin.marginals)
        value = int(goal @ cells)
        is_reached = (cells >= 0).all() and (self.matrix @ cells == self.sums).all()
        is_least = (goal - prices @ self.matrix >= 0).all() and int(prices @ self.sums) == value
        if not (is_reached and is_least):
            raise UnexpectedError("attacks/reconstruction/withheld_cells.py: no proof")
        return value


def _whole(values: NDArray[np.float64]) -> IntArray:
    return np.rint(values).astype(np.int64)


def _contradiction() -> InvalidArgument:
    return InvalidArgument(
        "The totals contradict the cells",
        must="be the sums of counts from 0 on",
        next="A table with noise cannot be audited: nothing can be told",
    )
