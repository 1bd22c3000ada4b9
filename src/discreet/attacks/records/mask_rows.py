"""Baselines to defeat: values cut off, moved, exchanged or joined, and rows left out.

None of them is privacy, and none has a guarantee: they are here to be attacked
(:mod:`discreet.attacks.records.unmask`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.records.coded_rows import CodedColumn, CodedRows, code_rows
from discreet.attacks.records.hierarchy import Hierarchy, forms
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli, discrete_laplace


@frozen(kw_only=True, eq=False, repr=False)
class MaskedRows:
    """Rows that were masked, and which row each of them was. Private."""

    rows: CodedRows
    source: IntArray


def _replaced(rows: CodedRows, name: str, values: Sequence[Any]) -> CodedRows:
    column = code_rows({name: values}).columns[name]
    return CodedRows(columns={**rows.columns, name: column}, rows=rows.rows)


def _all(rows: CodedRows) -> IntArray:
    return np.arange(rows.rows, dtype=np.int64)


def whole_values(rows: CodedRows, name: str) -> list[int | None]:
    """Return a column of whole numbers, ``None`` where one is missing."""
    values = rows.values(name, _all(rows))
    if any(
        value is not None and (isinstance(value, bool) or not isinstance(value, int))
        for value in values
    ):
        raise InvalidArgument(f"{name} has no whole numbers", must="be a column of integers")
    return values


def top_code(rows: CodedRows, *, column: str, cap: int) -> MaskedRows:
    """Replace what is above the cap by the cap.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> made = top_code(code_rows({"pay": [30, 900, None]}), column="pay", cap=100)
        >>> made.rows.values("pay", [0, 1, 2])
        [30, 100, None]
    """
    limit = check.whole(cap)
    values = [None if it is None else min(it, limit) for it in whole_values(rows, column)]
    return MaskedRows(rows=_replaced(rows, column, values), source=_all(rows))


def inject_noise(rows: CodedRows, *, columns: Sequence[str], scale: Number, rng: Rng) -> MaskedRows:
    """Add discrete Laplace noise to each value of some columns, once and for all.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"pay": [30, 40]})
        >>> inject_noise(rows, columns=["pay"], scale=5, rng=SystemRng()).rows
        CodedRows(2 rows of pay)
    """
    masked = rows
    for name in columns:
        noise = discrete_laplace(scale, rows.rows, rng).tolist()
        values = [
            None if value is None else value + moved
            for value, moved in zip(whole_values(rows, name), noise, strict=True)
        ]
        masked = _replaced(masked, name, values)
    return MaskedRows(rows=masked, source=_all(rows))


def random_order(count: int, rng: Rng) -> IntArray:
    """Return a random order. Two equal words in 2**64 would be kept as they stand."""
    return np.argsort(rng.words(count), kind="stable").astype(np.int64)


def swap_values(rows: CodedRows, *, columns: Sequence[str], share: Number, rng: Rng) -> MaskedRows:
    """Exchange the values of some columns, as they belong together, among a share of the rows.

    How often each value occurs stays exactly the same.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"zip": [1, 2, 3]})
        >>> made = swap_values(rows, columns=["zip"], share=1, rng=SystemRng())
        >>> sorted(made.rows.values("zip", [0, 1, 2]))
        [1, 2, 3]
    """
    if not 0 <= exact(share) <= 1:
        raise InvalidArgument("share is out of range", must="be from 0 to 1", got=str(share))
    chosen = np.flatnonzero(bernoulli(share, rows.rows, rng))
    source = _all(rows)
    # Each takes the values of the next in a random order, so nobody keeps their own.
    order = chosen[random_order(chosen.size, rng)]
    source[order] = np.roll(order, 1)
    changed = dict(rows.columns)
    for name in columns:
        column = rows.column(name)
        changed[name] = CodedColumn(codes=column.codes[source], values=column.values)
    return MaskedRows(rows=CodedRows(columns=changed, rows=rows.rows), source=_all(rows))


def sample_rows(rows: CodedRows, *, share: Number, rng: Rng) -> MaskedRows:
    """Publish each row with this probability, in a random order."""
    if not 0 < exact(share) <= 1:
        raise InvalidArgument("share is out of range", must="be above 0 and up to 1")
    chosen = np.flatnonzero(bernoulli(share, rows.rows, rng))
    if chosen.size == 0:
        raise InvalidArgument("No row was chosen", next="Choose a larger share, or try again")
    source = chosen[random_order(chosen.size, rng)]
    return MaskedRows(rows=rows.take(source), source=source)


def collapse(rows: CodedRows, *, column: str, hierarchy: Hierarchy, step: int = 1) -> MaskedRows:
    """Join the values of a column that are one value at a step of a hierarchy.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> from discreet.attacks.records.hierarchy import NumberIntervals
        >>> rows = code_rows({"age": [31, 38]})
        >>> made = collapse(rows, column="age", hierarchy=NumberIntervals(widths=[10]))
        >>> made.rows.class_sizes(["age"]).tolist()
        [2, 2]
    """
    found = rows.column(column)
    shown = code_rows({column: forms(hierarchy, found.values, step)}).columns[column]
    joined = CodedColumn(codes=shown.codes[found.codes], values=shown.values)
    return MaskedRows(
        rows=CodedRows(columns={**rows.columns, column: joined}, rows=rows.rows), source=_all(rows)
    )
