"""A free answer: what is public already, in the forms that a release has."""

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, Never

from attrs import field, frozen

from discreet.accounting.losses.loss_json import decimals
from discreet.core import check, optional
from discreet.core.errors import NothingReleased, RefusedQuery
from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.loss import PrivacyLoss, Pure
from discreet.core.terminal_text import text_table
from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.answer_frame import AnswerFrame, IntervalKind
from discreet.releases.answer_rows import AnswerRows
from discreet.releases.cells import Cell
from discreet.releases.cells import text as cell_text
from discreet.releases.shown_answer import MOST_ROWS_IN_HTML
from discreet.tables.column import ColumnType


@frozen(kw_only=True)
class FreeAnswer(AnswerRows):
    """An answer for which no private row was read. Nothing was charged, and nothing is noisy.

    It has the forms of a :class:`~discreet.releases.release.Release`, but no error bars, for its
    values are exact; and no receipt, for the ledger knows nothing of it. To ask for one of these is
    an error that says so.
    """

    content: AnswerFrame = field(repr=False)
    why: str
    """Why it is free, in a sentence."""
    remarks: tuple[str, ...] = ()
    is_stored: bool = field(default=False, init=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.content.without_ends().names

    @cached_property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows, in order."""
        return tuple(zip(*self.content.without_ends().columns, strict=True))

    @property
    def cost(self) -> PrivacyLoss:
        """Nothing."""
        return Pure(0)

    def errors(self) -> dict[str, int | float]:
        """Return no error bars: nothing is noisy."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must know besides the values."""
        return (f"Free: {self.why}", *self.remarks)

    def with_intervals(self, intervals: str) -> "FreeAnswer":
        """Return the same: there are no intervals."""
        check.chosen(IntervalKind, intervals, noun="kind of interval")
        return self

    def frame(self, *, errors: bool = True, intervals: str | None = None) -> AnswerFrame:
        """Return the columns with names and types.

        There are no intervals to put beside them; but an answer without rows, which a tool asks
        for to see its columns, has those for the ends too.
        """
        content = (self if intervals is None else self.with_intervals(intervals)).content
        return content if errors else content.without_ends()

    def to_arrow(self, *, errors: bool = True, intervals: str | None = None) -> Any:
        """Return the rows as an Arrow table; the metadata of its schema says that it is free."""
        return self.frame(errors=errors, intervals=intervals).to_arrow(self._about())

    def to_pandas(self, *, errors: bool = True, intervals: str | None = None) -> Any:
        """Return the rows as a pandas data frame; ``attrs["discreet"]`` says that it is free."""
        return self.frame(errors=errors, intervals=intervals).to_pandas(self._about())

    def to_polars(self, *, errors: bool = True, intervals: str | None = None) -> Any:
        """Return the rows as a Polars data frame."""
        return optional.load("polars").from_arrow(self.to_arrow(errors=errors, intervals=intervals))

    def to_json(self) -> dict[str, Any]:
        """Return everything, as plain values, with the keys that a release has."""
        return {
            "columns": list(self.columns),
            "rows": [list(map(_plain, row)) for row in self.rows],
            "free": self.why,
            "errors": {"confidence": float(CONFIDENCE), "half_width": {}, "intervals": {}},
            "intervals": {},
            "totals": {},
            "unknown": {},
            "notes": list(self.notes()),
            "limits": None,
            "limits_cut": None,
            "cost": self.cost.to_json(),
            "decimals": {"cost": decimals(self.cost)},
            "stored": False,
            "offered": None,
            "receipt": None,
        }

    def __getattr__(self, name: str) -> Never:
        """Refuse what only a release has, such as a receipt, intervals or a card."""
        raise nothing_released("A free answer", name)

    def __str__(self) -> str:
        """Show the rows as a table, and the notes below it."""
        table = text_table(list(self.columns), [list(map(_shown, row)) for row in self.rows])
        return "\n".join([table, *self.notes()])

    def _repr_html_(self) -> str:
        beyond = len(self.rows) - MOST_ROWS_IN_HTML
        more = [f"{beyond:,} more rows are in rows and in to_pandas()"] if beyond > 0 else []
        rows = [list(map(_shown, row)) for row in self.rows[:MOST_ROWS_IN_HTML]]
        return html_page(html_table(list(self.columns), rows), html_notes([*more, *self.notes()]))

    def _about(self) -> dict[str, Any]:
        return {"free": self.why, "notes": list(self.notes()), "cost": self.cost.to_json()}


def nothing_released(what: str, name: str) -> NothingReleased:
    """Return the refusal of a part that only private answers have."""
    return NothingReleased(
        f"{what} has no '{name[:40]}'",
        next="Nothing private was released, nothing was charged, and nothing in it is noisy",
    )


def _plain(value: Cell) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, str | int | float) else value.isoformat()


def _shown(value: Cell) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value) if isinstance(value, datetime.time) else cell_text(_scalar(value))


def _scalar(value: Cell) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


# ---- Columns of Arrow as those of an answer.


def frame_of(table: Any) -> AnswerFrame:
    """Return an Arrow table of public rows as the columns of an answer.

    Example:
        >>> import pyarrow
        >>> frame_of(pyarrow.table({"n": [1, None]})).columns
        ([1, None],)
    """
    fields = list(table.schema)
    kinds = tuple(_kind(one.name, one.type) for one in fields)
    return AnswerFrame(
        names=tuple(one.name for one in fields),
        kinds=kinds,
        columns=tuple(
            [_cell(value, kind) for value in _values(one.name, column)]
            for one, column, kind in zip(fields, table.columns, kinds, strict=True)
        ),
        ends={},
    )


def typed(frame: AnswerFrame, columns: Sequence[tuple[str, ColumnType]]) -> AnswerFrame:
    """Return the columns under other names; a midnight is a day where a day is wanted.

    Example:
        >>> import pyarrow
        >>> midnight = datetime.datetime(2025, 1, 1)
        >>> days = frame_of(pyarrow.table({"a": [midnight]}))
        >>> typed(days, [("b", ColumnType.DATE)]).columns
        ([datetime.date(2025, 1, 1)],)
    """
    names, kinds = zip(*columns, strict=True)
    cells = tuple(
        [_as_kind(value, kind) for value in column]
        for column, kind in zip(frame.columns, kinds, strict=True)
    )
    return AnswerFrame(names=names, kinds=kinds, columns=cells, ends={})


def _as_kind(value: Cell, kind: ColumnType) -> Cell:
    if kind is ColumnType.DATE and isinstance(value, datetime.datetime):
        return value.date()
    if kind is ColumnType.INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _kind(name: str, kind: Any) -> ColumnType:
    types = optional.load("pyarrow").types
    tests = (
        (types.is_boolean, ColumnType.BOOLEAN),
        (types.is_integer, ColumnType.INTEGER),
        (types.is_null, ColumnType.INTEGER),
        (types.is_floating, ColumnType.REAL),
        (types.is_decimal, ColumnType.INTEGER if _is_whole(kind) else ColumnType.REAL),
        (types.is_string, ColumnType.TEXT),
        (types.is_large_string, ColumnType.TEXT),
        (types.is_date, ColumnType.DATE),
        (lambda one: types.is_timestamp(one) and one.tz is None, ColumnType.TIMESTAMP),
        (types.is_time, ColumnType.TIME),
    )
    for is_it, found in tests:
        if is_it(kind):
            return found
    raise RefusedQuery(
        f"'{name[:40]}' has values of a type that an answer does not have",
        must="be a number, text, boolean, date, timestamp or time",
        got=str(kind)[:40],
        next="Cast it, such as CAST(x AS TEXT)",
    )


def _is_whole(kind: Any) -> bool:
    return getattr(kind, "scale", 1) == 0


def _values(name: str, column: Any) -> list[Any]:
    """Return the values of a column as those of Python, which knows no day after year 9999."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        raise RefusedQuery(
            f"'{name[:40]}' has a day that no answer can show",
            must="be from year 1 to 9999",
            next="Leave such days out with WHERE, or cast them, such as CAST(x AS TEXT)",
        ) from None


def _cell(value: Any, kind: ColumnType) -> Cell:
    """Return a value as plain Python; what is no number is NULL."""
    if value is None:
        return None
    if kind is ColumnType.INTEGER:
        return int(value)
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    found: Cell = value
    return found
