"""Who stands alone: the share of rows that a few columns single out."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.records.coded_rows import CodedRows
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import text_table

MOST_SETS = 100_000

_MOST_SHOWN = 20


@frozen(kw_only=True)
class UniqueShare:
    """How many rows nobody else shares these columns with."""

    columns: tuple[str, ...]
    unique: int
    rows: int
    smallest: int
    """The least number of rows that agree in these columns: the k of k-anonymity."""

    @property
    def share(self) -> Fraction:
        """The share of rows that stand alone."""
        return Fraction(self.unique, self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the share for other programs."""
        return {
            "columns": list(self.columns),
            "unique": self.unique,
            "rows": self.rows,
            "smallest_class": self.smallest,
        }


@frozen(kw_only=True)
class UniquenessReport:
    """Sets of columns, those that single out most rows first."""

    shares: tuple[UniqueShare, ...]

    def __str__(self) -> str:
        """Return the first twenty as a table, and say how many there are."""
        table = text_table(
            ["columns", "rows alone", "share", "smallest class"],
            [
                [
                    ", ".join(one.columns),
                    f"{one.unique:,}",
                    f"{float(one.share):.1%}",
                    f"{one.smallest:,}",
                ]
                for one in self.shares[:_MOST_SHOWN]
            ],
        )
        left = len(self.shares) - _MOST_SHOWN
        return (
            table
            if left <= 0
            else f"{table}\n\n{left:,} more sets single out no more rows than these."
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Return all sets for other programs."""
        return [one.to_json() for one in self.shares]


def find_unique(
    rows: CodedRows,
    *,
    columns: Sequence[str] | None = None,
    most: int = 3,
    on_step: Callable[[int, int], None] | None = None,
) -> UniquenessReport:
    """Return for every set of at most so many columns how many rows it singles out.

    Guarantee:
        The counts are exact. Rows that stand alone in some columns do so in any more of them, so
        once a set singles out everybody every larger one does, and is not counted again. Whoever
        knows these columns of a person in the data, and knows that the person is there, knows the
        row if it stands alone [Swe02].

    Utility:
        One sort of the rows, or one count where the columns have few values, for each set.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"sex": ["F", "M", "F"], "zip": [1, 1, 2]})
        >>> best = find_unique(rows).shares[0]
        >>> best.columns, best.unique
        (('sex', 'zip'), 3)
    """
    names = list(rows.columns if columns is None else columns)
    size = check.at_least_one(most, "most")
    wanted = [found for width in range(1, size + 1) for found in combinations(names, width)]
    if not names or len(set(names)) != len(names) or len(wanted) > MOST_SETS:
        raise InvalidArgument(
            "These are no columns to search",
            must=f"be different ones, and at most {MOST_SETS:,} sets of them",
            got=f"{len(names)} columns and {len(wanted):,} sets",
        )
    found: dict[tuple[str, ...], UniqueShare] = {}
    for step, chosen in enumerate(wanted):
        smaller = (found[part] for part in combinations(chosen, len(chosen) - 1) if part)
        if any(part.unique == rows.rows for part in smaller):
            unique, least = rows.rows, 1
        else:
            unique, least = _alone(rows.keys(chosen), _width(rows, chosen))
        found[chosen] = UniqueShare(columns=chosen, unique=unique, rows=rows.rows, smallest=least)
        if on_step is not None:
            on_step(step + 1, len(wanted))
    ordered = sorted(found.values(), key=lambda one: (-one.unique, len(one.columns)))
    return UniquenessReport(shares=tuple(ordered))


def _width(rows: CodedRows, names: Sequence[str]) -> int:
    """Return how large a key may be, 0 where it was ranked in between."""
    width = 1
    for name in names:
        width *= max(1, len(rows.column(name).values))
    return width if width < 1 << 62 else 0


def _alone(keys: IntArray, width: int) -> tuple[int, int]:
    """Return how many keys occur once, and how often the rarest occurs."""
    if 0 < width <= 4 * keys.size:
        counts = np.bincount(keys)
        counts = counts[counts > 0]
    else:
        ordered = np.sort(keys)
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        counts = np.diff(np.append(starts, ordered.size))
    return int((counts == 1).sum()), int(counts.min())
