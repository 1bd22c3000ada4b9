"""Linkage: a public list and published rows, joined on what both have."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.records.coded_rows import CodedRows, alike_columns, code_rows
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray


@frozen(kw_only=True, eq=False, repr=False)
class LinkedRows:
    """Which published row belongs to which entry of the list. Private: it names people."""

    released: IntArray
    """Places of published rows, each linked to one entry."""
    public: IntArray
    """The entry of each."""
    released_rows: int
    public_rows: int

    @property
    def share(self) -> Fraction:
        """The share of published rows that were linked."""
        return Fraction(int(self.released.size), self.released_rows)

    def __str__(self) -> str:
        """Return how many were linked, and nobody's name."""
        return (
            f"{self.released.size:,} of {self.released_rows:,} published rows "
            f"({float(self.share):.1%}) match one entry of the list, which matches no other row."
        )

    def __repr__(self) -> str:
        """Return how many were linked, and nobody's name."""
        return f"LinkedRows({self.released.size:,} of {self.released_rows:,})"

    def to_json(self) -> dict[str, Any]:
        """Return the matches for other programs."""
        return {
            "released_rows": self.released_rows,
            "public_rows": self.public_rows,
            "linked": [
                {"released_row": one, "public_row": other}
                for one, other in zip(self.released.tolist(), self.public.tolist(), strict=True)
            ],
        }


def link_rows(released: CodedRows, public: CodedRows, *, on: Sequence[str]) -> LinkedRows:
    """Join published rows with a public list, keeping what is unique in both.

    Guarantee:
        If every published person is on the list with the same values, each link is right: the
        person's own entry matches the row, and only one does [Swe02]. Then the share that is linked
        is the share of rows that are unique on these columns on the list. Of k-anonymous rows,
        k of 2 or more, none is linked, for no row is unique. Where the list is incomplete, a link
        is a guess. That both lack a value says nothing: such rows are not linked.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> medical = code_rows({"zip": [1, 1, 2], "born": [50, 51, 50], "ill": ["a", "b", "c"]})
        >>> voters = code_rows({"zip": [2, 1], "born": [50, 50], "name": ["Ann", "Bob"]})
        >>> found = link_rows(medical, voters, on=["zip", "born"])
        >>> medical.values("ill", found.released), voters.values("name", found.public)
        (['a', 'c'], ['Bob', 'Ann'])
    """
    if not on:
        raise InvalidArgument("There is nothing to join on", must="be one column or more")
    keys = _together(released, public, on)
    first = _once(keys[: released.rows], _is_known(released, on))
    second = _once(keys[released.rows :], _is_known(public, on))
    _, left, right = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    order = np.argsort(first[1][left])
    return LinkedRows(
        released=first[1][left][order],
        public=second[1][right][order],
        released_rows=released.rows,
        public_rows=public.rows,
    )


def _together(released: CodedRows, public: CodedRows, on: Sequence[str]) -> IntArray:
    """Return a number for each row of both, which says what it has in these columns."""
    tables = alike_columns([released, public], on)
    values = {
        name: [value for one in tables for value in one.values(name, np.arange(one.rows))]
        for name in on
    }
    return code_rows(values).keys(on)


def _is_known(rows: CodedRows, on: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows have a value in all of these columns."""
    known = np.ones(rows.rows, dtype=np.bool_)
    for name in on:
        column = rows.column(name)
        known &= np.array([value is not None for value in column.values])[column.codes]
    return known


def _once(keys: IntArray, is_known: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return the keys that occur once and are known, and where they are."""
    found, places, counts = np.unique(keys, return_index=True, return_counts=True)
    kept = (counts == 1) & is_known[places]
    return found[kept], places[kept].astype(np.int64)
