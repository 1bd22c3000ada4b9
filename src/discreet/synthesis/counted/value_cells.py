"""The values of a column as cells: public lists, by what is declared, and values drawn from them.

A column with declared keys has a cell for each key. A number, date or time has a cell for each step
of its declared range, or for several of them together where there are many. NULL is a cell of its
own, the last one, unless the column is declared to have none.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core import optional
from discreet.core.arrow_arrays import rebuilt, value_array
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import uniform_integers
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows, Integers
from discreet.tables.column import Column, ColumnType, Key
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.cast import cast
from discreet.tables.plans.engine import FoundKeys

MOST_KEYS = 2_000
"""How many declared keys a column may have."""

OPEN = (ColumnType.TEXT, ColumnType.INTEGER)
"""Types of columns whose values can be found privately."""

MOST_CELLS = 128
"""Into how many cells a range is divided at most."""

_INTEGER = ColumnType.INTEGER
_SECONDS = 86_400
_EPOCH = datetime.date(1970, 1, 1)


@frozen
class FineGrid:
    """Cells of equal width that an engine counts, where those of the column are made of them."""

    width: int
    """How many steps each has."""
    last: int
    """The last step of all."""

    def cells(self, first: int) -> int:
        """Return how many there are from a first step on."""
        return (self.last - first) // self.width + 1


@frozen
class ValueCells:
    """The cells of one column."""

    column: Column
    keys: tuple[Key, ...] | None
    """The value of each cell, if each has one."""
    first: int = 0
    """The first step of a range: of numbers those of the grid, of dates days, of times seconds."""
    ends: tuple[int, ...] = ()
    """The last step of each cell of a range."""
    step: Fraction = Fraction(1)
    fine: FineGrid | None = None
    """What is counted, if where the cells end is found privately."""

    @property
    def is_open(self) -> bool:
        """Whether values, or where cells end, must still be found privately."""
        return self.keys == () or (self.fine is not None and not self.ends)

    @property
    def inner(self) -> int:
        """How many cells there are without that of NULL."""
        return len(self.ends) if self.keys is None else len(self.keys)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.inner + self.column.nullable

    @property
    def is_wide(self) -> bool:
        """Whether several values are in one cell, so that it is not known which of them it is."""
        starts = (self.first, *(end + 1 for end in self.ends[:-1]))
        is_single = all(start == end for start, end in zip(starts, self.ends, strict=False))
        return self.keys is None and (self.column.type is ColumnType.TIMESTAMP or not is_single)

    def counted(self) -> CountedColumn:
        """Return what is public of the column when it is counted."""
        has_order = self.keys is None or self.column.type not in _WITHOUT_ORDER
        return CountedColumn(self.size, has_order, self.column.nullable)

    def expression(self, value: FieldValue) -> Expression:
        """Return what an engine groups by: the value itself, or the number of its cell."""
        if self.keys is not None:
            return value
        if self.fine is not None:
            return self._divided(value, self.fine)
        if len(self.ends) > MOST_CELLS:
            return self._divided(value, FineGrid(self.ends[0] - self.first + 1, self.ends[-1]))
        branches: list[Expression] = [call("is_null", [value]), Literal(_INTEGER, -1)]
        for number, end in enumerate(self.ends[:-1]):
            branches += (self._is_up_to(value, end), Literal(_INTEGER, number))
        return call("case", [*branches, Literal(_INTEGER, len(self.ends) - 1)])

    def _divided(self, value: FieldValue, grid: FineGrid) -> Expression:
        """Return the number of the cell by arithmetic, where a list of all would be long."""
        ends = (Literal(_INTEGER, self.first), Literal(_INTEGER, grid.last))
        within = call("clamp", [self._steps(value, grid.last), *ends])
        since = call("-", [within, Literal(_INTEGER, self.first)])
        return call("//", [since, Literal(_INTEGER, grid.width)])

    def _steps(self, value: FieldValue, last: int) -> Expression:
        """Return the step of a value: of a number on the grid, of a date the day."""
        kind = value.type
        day = Literal(ColumnType.TEXT, "day")
        if kind is ColumnType.DATE:
            return call("date_diff", [day, Literal(kind, _EPOCH), value])
        if kind is ColumnType.TIMESTAMP:
            midnight = datetime.datetime.combine(_EPOCH, datetime.time())
            return call("date_diff", [day, Literal(kind, midnight), value])
        if kind is ColumnType.TIME:
            second = Literal(ColumnType.TEXT, "second")
            return call("date_diff", [second, Literal(kind, datetime.time()), value])
        if kind is _INTEGER and self.step == 1:
            return value
        ends = (self.first * self.step, last * self.step)
        clamped = call("clamp", [value, *(Literal(ColumnType.REAL, str(one)) for one in ends)])
        steps = call("/", [clamped, Literal(ColumnType.REAL, str(self.step))])
        half = call("+", [steps, Literal(ColumnType.REAL, "1/2")])
        return cast(call("floor", [half]), _INTEGER)

    def grouped_by(self) -> tuple[Key, ...]:
        """Return what the engine's groups have for each cell, or fine one, but that of NULL."""
        if self.keys is not None:
            return self.keys
        return tuple(range(len(self.ends) if self.fine is None else self.fine.cells(self.first)))

    def numbers_of_groups(self) -> Integers:
        """Return the cell of each of the engine's groups, and of NULL."""
        groups = len(self.grouped_by())
        numbers = np.arange(groups, dtype=np.int64)
        if self.fine is not None:
            numbers = np.searchsorted(self.ends, self.first + numbers * self.fine.width)
        return np.append(numbers, self.inner) if self.column.nullable else numbers

    def _is_up_to(self, value: FieldValue, end: int) -> Expression:
        """Return the condition that a value is in the cell that ends there, or before it.

        A number belongs to the step that it is rounded to, as in a sum; a date or a time to its
        day or second.
        """
        kind = value.type
        if kind is ColumnType.DATE:
            return call("<=", [value, Literal(kind, _EPOCH + datetime.timedelta(days=end))])
        if kind is ColumnType.TIMESTAMP:
            after = _EPOCH + datetime.timedelta(days=end + 1)
            midnight = datetime.datetime.combine(after, datetime.time())
            return call("<", [value, Literal(kind, midnight)])
        if kind is ColumnType.TIME:
            return call("<", [value, Literal(kind, _time(end + 1))])
        border = (end + Fraction(1, 2)) * self.step
        if kind is _INTEGER:
            return call("<=", [value, Literal(_INTEGER, -((-border).__floor__()) - 1)])
        return call("<", [value, Literal(kind, str(border))])

    def draw(self, numbers: Integers, rng: Rng) -> Any:
        """Return an Arrow array of values in cells; within one, all are equally likely."""
        is_null = numbers >= self.inner
        inside = np.where(is_null, 0, numbers)
        if self.keys and self.column.type is _INTEGER:
            listed = np.array(self.keys, dtype=np.int64)
            return rebuilt(optional.load("pyarrow").int64(), listed[inside], ~is_null)
        if self.keys is not None:
            pool = value_array(self.keys, _arrow_type(self.column.type))
            return pool.take(rebuilt(optional.load("pyarrow").int64(), inside, ~is_null))
        starts = np.array([self.first, *(end + 1 for end in self.ends[:-1])], dtype=np.int64)
        widths = np.array(self.ends, dtype=np.int64) - starts + 1
        steps = starts[inside] + _within(widths[inside], rng)
        return self._values(steps, is_null, rng)

    def _values(self, steps: Integers, is_null: Any, rng: Rng) -> Any:
        arrow = optional.load("pyarrow")
        kind = self.column.type
        if kind is ColumnType.REAL:
            top, bottom = self.step.numerator, self.step.denominator
            return rebuilt(arrow.float64(), steps * (top / 1.0) / bottom, ~is_null)
        if kind is _INTEGER:
            return rebuilt(arrow.int64(), steps * int(self.step), ~is_null)
        if kind is ColumnType.DATE:
            return rebuilt(arrow.date32(), steps.astype(np.int32), ~is_null)
        if kind is ColumnType.TIMESTAMP:
            seconds = steps * _SECONDS + _within(np.full(len(steps), _SECONDS), rng)
            return rebuilt(arrow.timestamp("us"), seconds * 1_000_000, ~is_null)
        return rebuilt(arrow.time64("us"), steps * 1_000_000, ~is_null)

    def labels(self) -> tuple[str, ...]:
        """Return what each cell is called."""
        null = ("NULL",) if self.column.nullable else ()
        if self.keys is not None:
            return (*(str(key) for key in self.keys), *null)
        starts = (self.first, *(end + 1 for end in self.ends[:-1]))
        pairs = zip(starts, self.ends, strict=True)
        shown = (
            self._label(start) if start == end else f"{self._label(start)} to {self._label(end)}"
            for start, end in pairs
        )
        return (*shown, *null)

    def label_of_run(self, first: int, last: int) -> str:
        """Return what cells from one to another are called together, the last not being NULL."""
        if self.keys is not None:
            return f"{self.keys[first]} to {self.keys[last]}"
        start = self.ends[first - 1] + 1 if first else self.first
        return f"{self._label(start)} to {self._label(self.ends[last])}"

    def _label(self, step: int) -> str:
        kind = self.column.type
        if kind in (ColumnType.DATE, ColumnType.TIMESTAMP):
            return (_EPOCH + datetime.timedelta(days=step)).isoformat()
        if kind is ColumnType.TIME:
            return _time(step).isoformat()
        return f"{float(step * self.step):g}"

    def to_json(self) -> dict[str, Any]:
        """Return the cells as plain values; what a column means besides is not in it."""
        dated = datetime.date | datetime.time
        keys = self.keys
        return {
            "name": self.column.name,
            "type": self.column.type.value,
            "nullable": self.column.nullable,
            "keys": None
            if keys is None
            else [key.isoformat() if isinstance(key, dated) else key for key in keys],
            "first": self.first,
            "ends": list(self.ends),
            "step": str(self.step),
            **({} if self.fine is None else {"fine": [self.fine.width, self.fine.last]}),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "ValueCells":
        """Read what :meth:`to_json` wrote."""
        kind = ColumnType(data["type"])
        keys = data["keys"]
        return ValueCells(
            Column(name=data["name"], type=kind, nullable=data["nullable"]),
            None if keys is None else tuple(_READ[kind](key) for key in keys),
            data["first"],
            tuple(data["ends"]),
            Fraction(data["step"]),
            FineGrid(*data["fine"]) if "fine" in data else None,
        )

    def description(self) -> str:
        """Say in words how values are divided into cells."""
        null = ", and NULL" if self.column.nullable else ""
        if self.fine is not None:
            count = f"{len(self.ends)}" if self.ends else f"at most {MOST_CELLS}"
            return f"{count} cells, divided privately where the rows are{null}"
        if self.is_open:
            return "values that enough units have, found privately"
        if self.keys is not None:
            return f"{len(self.keys):,} values{null}"
        each = self.ends[0] - self.first + 1
        noun = {
            ColumnType.DATE: "day",
            ColumnType.TIMESTAMP: "day",
            ColumnType.TIME: "second",
        }.get(self.column.type, "step")
        if each > 1:
            noun += "s"
        if noun.startswith("step"):
            noun += f" of {float(self.step):g}"
        if self.column.type is ColumnType.TIMESTAMP:
            null = f", without the time of day{null}"
        return f"{counted(len(self.ends), 'cell')} of {each} {noun}{null}"


def rows_in_cells(keys: FoundKeys, counts: IntArray, cells: Sequence[ValueCells]) -> CountedRows:
    """Return what an engine found as counted rows, by the cells of each column."""
    found = CountedRows.found(
        keys, counts, [(one.grouped_by(), one.column.nullable) for one in cells]
    )
    if all(one.fine is None for one in cells):
        return found
    return found.grouped([one.numbers_of_groups() for one in cells])


_READ: Mapping[ColumnType, Callable[[Any], Key]] = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.BOOLEAN: bool,
    ColumnType.DATE: datetime.date.fromisoformat,
    ColumnType.TIMESTAMP: datetime.datetime.fromisoformat,
    ColumnType.TIME: datetime.time.fromisoformat,
}
"""How keys are read back from plain values."""

_WITHOUT_ORDER = (ColumnType.TEXT, ColumnType.BOOLEAN)


def value_cells(column: Column, most: int = MOST_CELLS) -> ValueCells:
    """Return the cells of a column, which follow from what is declared of it.

    A range is divided into at most so many.
    """
    keys = (False, True) if column.type is ColumnType.BOOLEAN else column.keys
    if keys is not None and len(keys) <= MOST_KEYS:
        return ValueCells(column, tuple(keys))
    if column.type in (ColumnType.INTEGER, ColumnType.REAL) and column.bounds is not None:
        bounds = column.bounds
        return _divided(column, bounds.lower_steps, bounds.upper_steps, bounds.step, most)
    if column.type in (ColumnType.DATE, ColumnType.TIMESTAMP) and column.dates is not None:
        first, last = ((day - _EPOCH).days for day in (column.dates.first, column.dates.last))
        return _divided(column, first, last, Fraction(1), most)
    if column.type is ColumnType.TIME:
        return _divided(column, 0, _SECONDS - 1, Fraction(1), most)
    if column.type in OPEN and column.keys is None:
        # What too few units have is NULL in the rows, whatever is declared.
        return ValueCells(evolve(column, nullable=True), ())
    raise InvalidArgument(
        f"The values of '{column.name}' cannot be listed",
        must=f"have a declared range, or at most {MOST_KEYS:,} keys",
        got="neither" if column.keys is None else f"{len(column.keys):,} keys",
        next="Declare them, or leave the column out",
    )


def _divided(column: Column, first: int, last: int, step: Fraction, most: int) -> ValueCells:
    width = -(-(last - first + 1) // most)
    ends = (*range(first + width - 1, last, width), last)
    return ValueCells(column, None, first, ends, step)


def _within(widths: Integers, rng: Rng) -> Integers:
    """Return a number from 0 to below each width; the words decide on nothing private."""
    words = uniform_integers(1 << 53, len(widths), rng)
    return (np.asarray(words, dtype=np.float64) * 2.0**-53 * widths).astype(np.int64)


def _time(second: int) -> datetime.time:
    hours, rest = divmod(second, 3600)
    return datetime.time(hours, *divmod(rest, 60))


def _arrow_type(kind: ColumnType) -> Any:
    arrow = optional.load("pyarrow")
    return {
        ColumnType.TEXT: arrow.string(),
        ColumnType.INTEGER: arrow.int64(),
        ColumnType.BOOLEAN: arrow.bool_(),
        ColumnType.DATE: arrow.date32(),
        ColumnType.TIMESTAMP: arrow.timestamp("us"),
        ColumnType.TIME: arrow.time64("us"),
    }[kind]
