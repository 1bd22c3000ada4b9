"""Boxes by private binary search: halve each at its noisy median, on one axis after another."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import CountedRows, sum_integers
from discreet.synthesis.counted.integer_noise import (
    IntegerNoise,
    loss_of,
    noise_for,
    share_of,
    table_contribution,
    whole_sizes,
)
from discreet.synthesis.intervals.box_counts import BoxCounts

MOST_DEPTH = 20


@frozen(kw_only=True)
class BoxSearch:
    r"""Build a k-d tree of boxes by noisy medians, and measure the boxes at its end.

    Each level halves all boxes on one axis, in turn. Where the median lies is found by binary
    search, of all boxes at the same time: the question at cell :math:`c` is the integer
    :math:`2\,\#\{x \le c\} - \#\{x\}` of each box, and if it is at least 0 with its noise, the
    median is at :math:`c` or before. If it is the last cell of a box, that cell is cut off, so that
    a value that many rows share ends up alone.

    Guarantee:
        Boxes of one level do not overlap. A row is in one of them, and moves its question by 1; so
        a unit with at most :math:`m` kept rows moves all questions of a step together by at most
        :math:`m` in :math:`\ell_1` and :math:`\ell_2`. On an axis of ``b`` bits a level has ``b``
        steps; the counts at the end are one more such question. Steps are chosen by noisy answers
        only, so losses add up: :math:`(\sum_l b_l)\,m/s + m/s'` with Laplace noise of scales
        :math:`s` and :math:`s'`, :math:`(\sum_l b_l)\,m^2/(2\sigma^2) + m^2/(2\sigma'^2)` of zCDP.

    Assumes:
        The cells of each axis are public. ``rng`` is unpredictable.

    Utility:
        Every box has about the same number of rows. A query has the noise of the boxes inside it,
        and of those that it cuts at most their rows: :meth:`BoxCounts.error` says how much that is.

    Example:
        >>> search = BoxSearch.calibrate(
        ...     sizes=(256, 256), depth=6, loss=Zcdp(rho="1/2"), rows_per_unit=1
        ... )
        >>> search.steps, search.loss(rows_per_unit=1)
        (48, Zcdp(ρ = 0.5))
    """

    sizes: tuple[int, ...] = field(converter=whole_sizes)
    depth: int = field(converter=check.whole, validator=check.positive)
    search_noise: IntegerNoise
    count_noise: IntegerNoise

    def __attrs_post_init__(self) -> None:
        """Refuse more boxes than anyone could read."""
        _require_depth(self.depth)

    @classmethod
    def calibrate(
        cls,
        *,
        sizes: Iterable[int],
        depth: int,
        loss: PrivacyLoss,
        rows_per_unit: int,
        search_share: Number = Fraction(1, 2),
    ) -> Self:
        """Return the search that spends exactly ``loss``, a share of it on where boxes end."""
        _require_depth(depth)
        across = whole_sizes(sizes)
        d_in = table_contribution(2**depth, rows_per_unit)
        steps, share = _steps(across, depth), exact(search_share)
        if not 0 < share < 1:
            raise InvalidArgument(
                "search_share is out of range", must="lie between 0 and 1", got=str(search_share)
            )
        return cls(
            sizes=across,
            depth=depth,
            search_noise=noise_for(share_of(loss, share / max(1, steps)), d_in),
            count_noise=noise_for(share_of(loss, 1 - share), d_in),
        )

    @property
    def steps(self) -> int:
        """The most steps of binary search, on all levels together."""
        return _steps(self.sizes, self.depth)

    def event(self, rows_per_unit: int) -> ComposedEvent:
        """Describe one search, of units with at most so many kept rows."""
        d_in = table_contribution(2**self.depth, rows_per_unit)
        return self.search_noise.event(d_in) * self.steps + self.count_noise.event(d_in)

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one search."""
        return loss_of(self.event(rows_per_unit), self.search_noise, self.count_noise)

    def measure(self, rows: CountedRows, rng: Rng) -> IntArray:
        """Return a line for each box: its first cells, its last cells, and its noisy count.

        The gate already holds the loss.
        """
        if rows.sizes != self.sizes:
            raise InvalidArgument(
                "The rows are not of these axes", must=f"have columns of {self.sizes} cells"
            )
        axes = len(self.sizes)
        boxes = np.array([[*[0] * axes, *(size - 1 for size in self.sizes)]], dtype=np.int64)
        home = np.zeros(len(rows.counts), dtype=np.int64)
        for level in range(self.depth):
            axis = level % axes
            ends = self._medians(rows, boxes, home, axis, rng)
            boxes, home = _halved(boxes, home, rows.codes[:, axis], axis, ends)
        counts = self.count_noise.release(sum_integers(home, rows.counts, len(boxes)), rng)
        return np.column_stack([boxes, counts])

    def estimate(self, measured: IntArray) -> BoxCounts:
        """Return the boxes, of which any box may be asked."""
        return BoxCounts(measured, self.count_noise)

    def _medians(
        self, rows: CountedRows, boxes: IntArray, home: IntArray, axis: int, rng: Rng
    ) -> IntArray:
        """Return the cell of each box up to which its lower half goes."""
        low, high = boxes[:, axis].copy(), boxes[:, len(self.sizes) + axis].copy()
        codes = rows.codes[:, axis]
        for _ in range((self.sizes[axis] - 1).bit_length()):
            middle = (low + high) // 2
            signs = np.where(codes <= middle[home], 1, -1)
            exact_values = sum_integers(home, rows.counts * signs, len(boxes))
            is_before = self.search_noise.release(exact_values, rng) >= 0
            is_open = low < high
            high = np.where(is_open & is_before, middle, high)
            low = np.where(is_open & ~is_before, middle + 1, low)
        return high


def _halved(
    boxes: IntArray, home: IntArray, codes: IntArray, axis: int, ends: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the halves of all boxes, and in which of them each combination of values is.

    A box of one cell stays as it is.
    """
    axes = boxes.shape[1] // 2
    last = boxes[:, axes + axis]
    cut = np.minimum(ends, last - 1)
    is_cut = boxes[:, axis] < last
    lower, upper = boxes.copy(), boxes[is_cut].copy()
    lower[is_cut, axes + axis] = cut[is_cut]
    upper[:, axis] = cut[is_cut] + 1
    moved = len(boxes) + np.cumsum(is_cut) - 1
    is_above = is_cut[home] & (codes > cut[home])
    return np.concatenate([lower, upper]), np.where(is_above, moved[home], home)


def _steps(sizes: tuple[int, ...], depth: int) -> int:
    return sum((sizes[level % len(sizes)] - 1).bit_length() for level in range(depth))


def _require_depth(depth: int) -> None:
    if not 0 < check.whole(depth) <= MOST_DEPTH:
        raise InvalidArgument(
            "depth is out of range", must=f"lie between 1 and {MOST_DEPTH}", got=str(depth)
        )
