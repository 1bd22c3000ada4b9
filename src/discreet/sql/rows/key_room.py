"""Room for public keys: how many combinations the groups of one question may have in all."""

import math
from collections.abc import Sequence

from attrs import define

from discreet.core.errors import RefusedQuery
from discreet.tables.column import Key
from discreet.tables.keyset import LARGEST_KEYSET

Rows = Sequence[tuple[Key, ...]]

MOST_CELLS = 5_000_000
"""How many cells the keys may have: combinations times grouped columns, with those looked at."""

MOST_CHARACTERS = 50_000_000
"""How many characters of text all keys may have together, written out for every group."""


@define(eq=False)
class KeyRoom:
    """What the combinations of keys of one question have taken, over all of its grouping sets.

    Guarantee:
        The sizes are multiplied before a combination is made, so that a refusal costs no more than
        looking at the single keys.
    """

    _groups: int = 0
    _cells: int = 0
    _characters: int = 0

    def look(self, rows: Rows, columns: int) -> None:
        """Count rows that are looked at for some of their columns."""
        self._cells += len(rows) * columns
        self._require()

    def take(self, parts: Sequence[Rows]) -> None:
        """Count all combinations of one row of each part."""
        size = math.prod(map(len, parts))
        self._groups += size
        self._cells += size * sum(len(rows[0]) for rows in parts if rows)
        self._characters += sum(_characters(rows) * (size // len(rows)) for rows in parts if rows)
        self._require()

    def _require(self) -> None:
        taken = (
            (self._groups, LARGEST_KEYSET, "groups"),
            (self._cells, MOST_CELLS, "cells (groups times grouped columns)"),
            (self._characters, MOST_CHARACTERS, "characters of text"),
        )
        for got, most, what in taken:
            if got > most:
                raise RefusedQuery(
                    "The public keys have too many combinations",
                    must=f"have at most {most:,} {what}, over all grouping sets",
                    got=f"{got:,}",
                    next="Group by fewer columns, or by coarser or shorter values",
                )


def _characters(rows: Rows) -> int:
    return sum(len(key) for row in rows for key in row if isinstance(key, str))
