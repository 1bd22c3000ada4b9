"""Attacks on masked rows: what was cut off is in a total, and what was moved is still nearest."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.reconstruction.grouped_sum import GroupedSum, value_range
from discreet.attacks.records.coded_rows import CodedRows
from discreet.attacks.records.linkage import LinkedRows
from discreet.attacks.records.mask_rows import MaskedRows, whole_values
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


@frozen(kw_only=True)
class UnmaskedShare:
    """How many masked rows an adversary linked to a list, and how many of the links are right."""

    rows: int
    linked: int
    right: int

    def __str__(self) -> str:
        """Return the numbers in a sentence."""
        share = f"{self.right / self.linked:.1%}" if self.linked else "none"
        return (
            f"{self.linked:,} of {self.rows:,} masked rows are linked to one person, and "
            f"{self.right:,} of the links ({share}) are right."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the numbers for other programs."""
        return {"rows": self.rows, "linked": self.linked, "right": self.right}


def score_links(found: LinkedRows, masked: MaskedRows) -> UnmaskedShare:
    """Return how many links are right, for the owner who made the rows and knows.

    The list must be the rows before they were masked, in their order.
    """
    right = masked.source[found.released] == found.public
    return UnmaskedShare(
        rows=masked.rows.rows, linked=int(found.released.size), right=int(right.sum())
    )


def link_nearest(released: CodedRows, public: CodedRows, *, on: Sequence[str]) -> LinkedRows:
    r"""Link rows to the entries of a list that are nearest to them, and they to the entries.

    Columns are divided by their deviation on the list. Rows without a value are left out.

    Guarantee:
        A link is a pair each of which is nearer to the other than to anything else. Independent
        noise of deviation :math:`\sigma` in each of :math:`m` columns moves a row by about
        :math:`\sigma\sqrt{m}`, while its distance to the other people grows with every column too:
        in sparse rows nearest is still right. How often it is, only somebody with the truth can
        tell (:func:`score_links`).

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> listed = code_rows({"age": [20, 40, 60], "pay": [10, 90, 30]})
        >>> moved = code_rows({"age": [61, 38], "pay": [31, 92]})
        >>> found = link_nearest(moved, listed, on=["age", "pay"])
        >>> found.released.tolist(), found.public.tolist()
        ([0, 1], [2, 1])
    """
    if not on:
        raise InvalidArgument("There is nothing to join on", must="be one column or more")
    (ours, mine), (theirs, their) = _points(released, on), _points(public, on)
    spread = theirs.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    trees = [optional.load("scipy.spatial").cKDTree(one / scale) for one in (ours, theirs)]
    nearest = trees[1].query(ours / scale)[1]
    back = trees[0].query(theirs / scale)[1]
    mutual = np.flatnonzero(back[nearest] == np.arange(len(ours)))
    return LinkedRows(
        released=mine[mutual],
        public=their[nearest[mutual]],
        released_rows=released.rows,
        public_rows=public.rows,
    )


def _points(rows: CodedRows, on: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    columns = [
        [np.nan if value is None else float(value) for value in whole_values(rows, name)]
        for name in on
    ]
    points = np.array(columns).T
    kept = np.flatnonzero(~np.isnan(points).any(axis=1)).astype(np.int64)
    if kept.size == 0:
        raise InvalidArgument("No row has a value in all of these columns", got=", ".join(on))
    return points[kept], kept


def undo_top_code(
    values: Sequence[int | None], *, cap: int, total: Number, high: Number
) -> tuple[Fraction, Fraction] | None:
    """Return what each value at the cap can have been, from a true total that is printed too.

    ``None`` if no value is at the cap.

    Guarantee:
        The total less the values below the cap is what those at the cap add up to, and each of them
        is from the cap to ``high``: a grouped sum, whose members have the range of
        :func:`~discreet.attacks.reconstruction.grouped_sum.value_range`. A single one is known.

    Assumes:
        Nobody with a missing value is in the total, and nobody has more than ``high``.

    Example:
        >>> least, most = undo_top_code([30, 100, 50], cap=100, total=1080, high=10**6)
        >>> least == most == 1000
        True
    """
    below = [value for value in values if value is not None and value < cap]
    count = sum(value is not None and value >= cap for value in values)
    if not count:
        return None
    return value_range(
        GroupedSum(people=count, total=exact(total) - sum(below), low=cap, high=high)
    )
