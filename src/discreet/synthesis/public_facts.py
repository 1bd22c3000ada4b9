"""What the owner asserts to be public of a table: what cannot be, and how many rows there are.

Nothing of it is measured, and nothing is paid for it: that it may be known, whoever is in the data,
is the owner's word, as it is for declared keys and ranges. Rows that are drawn hold to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.core.counted import counted
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.marginals.junction_tree import Columns
from discreet.synthesis.marginals.measurement import Measurement
from discreet.synthesis.marginals.value_blocks import refined

EXACT = 1e-6
"""The variance of what is known: so little that it weighs more than any noise."""

Mask = tuple[Columns, NDArray[np.bool_]]
"""Columns, and True for each cell of theirs in which no row can be."""


@frozen
class Impossible:
    """Cells of some columns that no row has at once."""

    columns: Columns
    cells: tuple[tuple[int, ...], ...]
    """For each column, which of its cells."""


@frozen
class Totals:
    """How many rows have some values of a column."""

    column: int
    counts: tuple[tuple[int, int], ...]
    """Cells, and how many rows each has."""


@frozen(kw_only=True, slots=False)
class PublicFacts:
    """All that is asserted of a table whose columns have so many cells."""

    sizes: tuple[int, ...]
    impossible: tuple[Impossible, ...] = ()
    totals: tuple[Totals, ...] = ()
    rows: int | None = None
    """How many rows there are, if that is said, or follows."""

    def with_sizes(self, sizes: Iterable[int]) -> "PublicFacts":
        """Return the same where the values of columns that are not named were found meanwhile."""
        return evolve(self, sizes=tuple(sizes))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asserted."""
        return not self.impossible and not self.totals and self.rows is None

    @property
    def groups(self) -> tuple[Columns, ...]:
        """The columns that cannot have some values at once."""
        return tuple(one.columns for one in self.impossible)

    def divided(self, column: int) -> Integers:
        """Return a division of a column's cells in which those that differ here are apart."""
        found = np.zeros(self.sizes[column], dtype=np.int64)
        for one in self.impossible:
            if column in one.columns:
                inside = np.zeros(len(found), dtype=np.int64)
                inside[list(one.cells[one.columns.index(column)])] = 1
                found = refined(found, inside)
        for total in self.totals:
            if total.column == column:
                apart = np.zeros(len(found), dtype=np.int64)
                for number, (cell, _) in enumerate(total.counts):
                    apart[cell] = number + 1
                found = refined(found, apart)
        return found

    @cached_property
    def divisions(self) -> tuple[Integers, ...]:
        """The divisions of all columns."""
        return tuple(self.divided(column) for column in range(len(self.sizes)))

    def masks(self, values: Sequence[CoarseValues]) -> list[Mask]:
        """Return what cannot be, in tables of values that keep apart what differs here."""
        found: list[Mask] = []
        for one in self.impossible:
            mask = np.ones((), dtype=bool)
            for column, cells in zip(one.columns, one.cells, strict=True):
                mask = mask[..., None] & _inside(values[column], cells)
            found.append((one.columns, mask))
        for total in self.totals:
            nobody = [cell for cell, count in total.counts if count == 0]
            if nobody:
                found.append(((total.column,), _inside(values[total.column], nobody)))
        return found

    def measurements(self, values: Sequence[CoarseValues]) -> list[Measurement]:
        """Return what is known to be so many rows."""
        found = []
        if self.rows is not None:
            found.append(Measurement.of((), np.array(float(self.rows)), EXACT))
        for total in self.totals:
            counts = np.zeros(values[total.column].size)
            is_known = np.zeros(len(counts), dtype=bool)
            for value, count in self.wanted(total, values[total.column]).items():
                counts[value], is_known[value] = count, True
            variances = np.full(len(counts), EXACT)
            found.append(Measurement((total.column,), counts, variances, is_known))
        return found

    @staticmethod
    def wanted(total: Totals, values: CoarseValues) -> dict[int, int]:
        """Return how many rows each value has, of those of which it is known."""
        return {int(values.numbers[cell]): count for cell, count in total.counts}

    def in_words(self, names: Sequence[str]) -> str:
        """Say what is asserted, of columns with these names."""
        found = []
        if self.impossible:
            columns = dict.fromkeys(some.columns for some in self.impossible)
            shown = (" with ".join(names[one] for one in some) for some in columns)
            found.append(f"some values of {', '.join(shown)} cannot be")
        if self.totals:
            named = ", ".join(names[one.column] for one in self.totals)
            found.append(f"values of {named} have so many rows")
        if self.rows is not None:
            found.append(
                f"{'there is' if self.rows == 1 else 'there are'} {counted(self.rows, 'row')}"
            )
        return " and ".join(found)

    def to_json(self) -> dict[str, Any]:
        """Return them as plain values."""
        return {
            "sizes": list(self.sizes),
            "impossible": [
                {"columns": list(one.columns), "cells": [list(some) for some in one.cells]}
                for one in self.impossible
            ],
            "totals": [
                {"column": one.column, "counts": [list(pair) for pair in one.counts]}
                for one in self.totals
            ],
            "rows": self.rows,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "PublicFacts":
        """Read what :meth:`to_json` wrote."""
        return PublicFacts(
            sizes=tuple(data["sizes"]),
            impossible=tuple(
                Impossible(tuple(one["columns"]), tuple(map(tuple, one["cells"])))
                for one in data["impossible"]
            ),
            totals=tuple(
                Totals(one["column"], tuple((cell, count) for cell, count in one["counts"]))
                for one in data["totals"]
            ),
            rows=data["rows"],
        )


def _inside(values: CoarseValues, cells: Sequence[int]) -> NDArray[np.bool_]:
    found = np.zeros(values.size, dtype=bool)
    found[values.numbers[list(cells)]] = True
    return found
