"""An answer from synthetic rows, with what the noise behind them may have done to it. It is free.

Synthetic rows look like rows, so people treat them as the truth. Here the same SQL is worked out
on them, and once more on rows that come from noise drawn anew: the model is taken for the truth,
measured again with the same noise, estimated again and sampled again (the parametric bootstrap).
How much answers differ then is how much noise and sampling may have moved this one. What the model
lacks moves none of them, and the answer says so: dependencies that were not measured, and where in
its cell a value is.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.protocols import Rng
from discreet.core.terminal_text import text_table
from discreet.engines.duckdb.public_room import select_in_room
from discreet.sql.aggregates.functions import has_aggregate
from discreet.sql.parse import parse
from discreet.sql.syntax.nodes import Node, listed
from discreet.synthesis.known_columns import KnownColumns
from discreet.synthesis.marginals.measured import MeasuredMarginals, MeasuredTable
from discreet.synthesis.synthetic_model import Allowed, SyntheticModel

_MOST_REPEATS = 1_000
_END = 0.975
"""The quantile at which the upper end of an error is, at 95 %."""
_ASIDE = 1.5
"""How much farther the value is from the truth on average than repeats are from the value. In
trials at prices at which a table is worth its noise, it was from 0.9 to 1.7 times as far."""


@frozen(kw_only=True, eq=False)
class SyntheticAnswer:
    """The rows of an answer, and for numbers that sum up rows how far noise may have moved them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    errors: dict[str, tuple[float | None, ...]]
    """By output, for each row the half-width at 95 %; None where repeats had too few such rows."""
    notes: tuple[str, ...]
    _table: Any = field(repr=False)

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table: beside ``n`` are ``n_low`` and ``n_high``.

        Its metadata says that it is an answer from synthetic rows, and what must be known.
        """
        arrow = optional.load("pyarrow")
        table = self._table
        for name, found in self.errors.items():
            values = [row[self.columns.index(name)] for row in self.rows]
            for end, sign in (("low", -1.0), ("high", 1.0)):
                ends = [
                    None if error is None else float(value) + sign * error
                    for value, error in zip(values, found, strict=True)
                ]
                free = free_name(f"{name}_{end}", table.schema.names)
                table = table.append_column(free, arrow.array(ends, arrow.float64()))
        facts = {"discreet.answer": "from synthetic rows", "discreet.notes": "; ".join(self.notes)}
        return table.replace_schema_metadata(facts)

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        return {
            "synthetic": True,
            "columns": list(self.columns),
            "rows": [[_plain(value) for value in row] for row in self.rows],
            "errors": {name: list(found) for name, found in self.errors.items()},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Show the rows with their errors, and what must be known about them."""
        shown = text_table(self.columns, self._cells())
        return "\n".join(["from synthetic rows", "", shown, "", *(f"- {n}" for n in self.notes)])

    def _repr_html_(self) -> str:
        table = html_table(self.columns, self._cells())
        return html_page(
            "<p><strong>from synthetic rows</strong></p>", table, html_notes(self.notes)
        )

    def _cells(self) -> list[list[str]]:
        return [
            [self._cell(name, number, value) for name, value in zip(self.columns, row, strict=True)]
            for number, row in enumerate(self.rows)
        ]

    def _cell(self, name: str, number: int, value: Any) -> str:
        text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        if name not in self.errors or value is None:
            return text
        error = self.errors[name][number]
        return f"{text} ± unknown" if error is None else f"{text} ± {error:.3g}"


RowsAgain = Callable[[Rng], Mapping[str, Any]]
"""Draws noise, model and rows anew: Arrow tables, by their names."""


def answer_from_rows(
    rows: Mapping[str, Any],
    sql: str,
    *,
    known: KnownColumns,
    drawn_again: RowsAgain,
    repeats: int,
    rng: Rng,
) -> SyntheticAnswer:
    """Return the answer to ``sql`` from Arrow tables of synthetic rows, by their names.

    ``known`` is what is known of the columns of these tables.
    """
    if isinstance(repeats, bool) or not 0 <= repeats <= _MOST_REPEATS:
        raise InvalidArgument(
            "repeats is out of range", must=f"lie between 0 and {_MOST_REPEATS:,}", got=str(repeats)
        )
    select = parse(sql).select
    ask = partial(select_in_room, select.sql("duckdb", comments=False))
    found = ask(rows)
    asked = {node.name.lower() for node in select.walk() if node.key == "column"}
    names = _told_apart(found.schema.names)
    found = found.rename_columns(names)
    summed = _summed(listed(select, "expressions"), found.schema.types)
    keys = [place for place in range(len(names)) if place not in summed]
    answers = _rows(found)
    spread: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {_key(row, keys): [] for row in answers}
    for _ in range(repeats if summed and len(spread) == len(answers) else 0):
        for row in _rows(ask(drawn_again(rng))):
            spread.get(_key(row, keys), []).append(row)
    errors = {
        names[place]: tuple(
            _error(spread[_key(row, keys)], place, repeats, row[place]) for row in answers
        )
        for place in summed
        if len(spread) == len(answers)
    }
    return SyntheticAnswer(
        columns=names,
        rows=answers,
        errors=errors,
        notes=(*_notes(errors, repeats), *known.lacking(asked)),
        table=found,
    )


def _told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of outputs; of two of one name the second gets a number."""
    found: list[str] = []
    for name in names:
        found.append(free_name(name, found))
    return tuple(found)


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return the name, or the first of ``name_2``, ``name_3``, ... that is not taken.

    Example:
        >>> free_name("n", ["n", "n_2"]), free_name("m", ["n"])
        ('n_3', 'm')
    """
    numbers = itertools.count(2)
    free = name
    while free in taken:
        free = f"{name}_{next(numbers)}"
    return free


def rows_again(
    model: SyntheticModel,
    table: str,
    rows: int,
    rng: Rng,
    allowed: Mapping[int, Allowed] | None = None,
) -> Mapping[str, Any]:
    """Return the rows of a table that would be there in the place of so many, with new noise.

    ``allowed`` are the cells that some columns have in all of them, if rows were drawn like that.
    """
    again = model_again(model, rng)
    # How many rows there are was measured, too.
    count = round(rows * again.estimated.total / model.estimated.total)
    return {table: again.to_arrow(again.sample(count, rng, allowed), rng)}


def model_again(model: SyntheticModel, rng: Rng) -> SyntheticModel:
    """Return the model that would be estimated if this one were the truth, with new noise."""
    measured, total = model.measured, model.estimated.total

    def again(one: MeasuredTable) -> MeasuredTable:
        if len(one.columns) == 1:
            shares = model.shares(one.columns[0])
        else:
            shares = model.coarse_table(one.columns)
        exact = np.rint(total * shares).astype(np.int64)
        return evolve(one, values=one.noise.release(exact.ravel(), rng).reshape(exact.shape))

    redrawn: MeasuredMarginals = evolve(
        measured,
        first=tuple(map(again, measured.first)),
        tables=tuple(map(again, measured.tables)),
    )
    published = [
        one.drawn_again(model.grouped(one.columns, one.groups), total, rng)
        for one in model.published
    ]
    return SyntheticModel.of(model.cells, redrawn, published, model.facts, model.tours)


def _summed(items: Sequence[Node], kinds: Sequence[Any]) -> list[int]:
    """Return which outputs are numbers that sum up rows; with a star among them, none are known."""
    if len(items) != len(kinds):
        return []
    pairs = enumerate(zip(items, kinds, strict=True))
    return [place for place, (item, kind) in pairs if has_aggregate(item) and _is_number(kind)]


def _notes(errors: dict[str, tuple[float | None, ...]], repeats: int) -> tuple[str, ...]:
    lost = (
        (
            "rows that a limit left out, or that are nobody's, were not counted: numbers of rows"
            " and sums may be too small, and no ± shows that"
        ),
        "columns that were not measured together seem independent, and no ± shows that",
    )
    if not errors:
        return ("these rows are made up, and nothing here has an error bar", *lost)
    how = f"± is an estimate at 95 %, from noise that was drawn anew {repeats} times"
    same = "± 0 says that none of these changed it, and not that it is exact"
    unmoved = any(error == 0 for found in errors.values() for error in found)
    return ("these rows are made up", how, *([same] if unmoved else []), *lost)


def _rows(found: Any) -> tuple[tuple[Any, ...], ...]:
    columns = [column.to_pylist() for column in found.columns]
    return tuple(zip(*columns, strict=True))


def _key(row: Sequence[Any], keys: Sequence[int]) -> tuple[Any, ...]:
    return tuple(str(row[place]) for place in keys)


def _error(
    rows: Sequence[Sequence[Any]], place: int, repeats: int, value: float | None
) -> float | None:
    """Return the half-width, if at least half of the repeats have the row."""
    values = [float(row[place]) for row in rows if row[place] is not None]
    if value is None or len(values) < max(2, repeats / 2):
        return None
    if not math.isfinite(value) or not all(map(math.isfinite, values)):
        return None
    return half_width(float(value), values)


def half_width(value: float, repeats: Sequence[float]) -> float:
    """Return how far noise may have moved a value at 95 %, by what it is with noise drawn anew.

    A deviation of so few repeats is not known well, which Student's law allows for. And counts are
    not negative, so noise moves small ones upwards on average, and large ones downwards for that:
    how far the repeats are off on average is about how far the value itself is. It is a little
    less, as the model has fewer empty cells than the truth, so half of it is added again.

    Example:
        >>> round(half_width(10.0, [9.0, 11.0] * 10), 2)
        2.15
    """
    aside = abs(float(np.mean(repeats)) - value)
    times = float(optional.load("scipy.special").stdtrit(len(repeats) - 1, _END))
    return times * float(np.std(repeats, ddof=1)) + _ASIDE * aside


def _is_number(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "double", "float", "decimal"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no other word for it
    return value if isinstance(value, str | int | float | bool | None) else str(value)
