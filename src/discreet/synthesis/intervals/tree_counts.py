"""A tree of noisy counts over a row of cells: what to pick for intervals under pure privacy."""

import math
from typing import Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.integer_noise import variance_of
from discreet.synthesis.hierarchy.hierarchical_counts import HierarchicalCounts
from discreet.synthesis.hierarchy.hierarchy import Hierarchy, consistent
from discreet.synthesis.intervals.prefix_counts import PrefixCounts, require_run

MOST_CELLS = 2**22
_MOST_COMPARED = 2**16


@frozen(kw_only=True, eq=False)
class TreeCounts:
    r"""Measure the counts of all cells, of all runs of ``branching`` cells, of runs of those, ...

    Guarantee:
        Each level is a table of all rows, so a unit with at most :math:`m` kept rows moves each by
        at most :math:`m`; the loss is the sum over the levels. There are about
        :math:`\log_k(cells)` of them [HRMS10, section 4].

    Assumes:
        The cells are public. ``rng`` is unpredictable.

    Utility:
        The estimate is the best that is linear and unbiased: of all tables that agree on every
        level it has the least squared error [HRMS10, Theorem 4]. Its error grows with a power of
        the logarithm of the number of cells, whatever the length of an interval;
        :meth:`deviation` is exact but for the variance of the noise, which is rounded up.

    Example:
        >>> tree = TreeCounts.calibrate(cells=1024, loss=Zcdp(rho="1/2"), rows_per_unit=1)
        >>> tree.loss(rows_per_unit=1)
        Zcdp(ρ = 0.5)
        >>> round(tree.deviation(100, 800), 1)
        4.9
    """

    levels: HierarchicalCounts

    @classmethod
    def calibrate(
        cls, *, cells: int, loss: PrivacyLoss, rows_per_unit: int, branching: int | None = None
    ) -> Self:
        """Return the tree that spends exactly ``loss``, an equal part on each level but the top.

        The count of all rows follows from the level below it. Without a ``branching`` it is the one
        of 2, 4, 8, 16 and 32 with the least variance over some runs of cells, which is public; for
        more than 65,536 cells it is 16.
        """
        size = check.whole(cells)
        if not 2 <= size <= MOST_CELLS:
            raise InvalidArgument(
                "cells is out of range", must=f"lie between 2 and {MOST_CELLS}", got=str(cells)
            )
        if branching is None and size > _MOST_COMPARED:
            branching = 16
        if branching is None:
            trees = [
                cls.calibrate(cells=size, loss=loss, rows_per_unit=rows_per_unit, branching=width)
                for width in (2, 4, 8, 16, 32)
            ]
            return min(trees, key=cls._typical_variance)
        tree = Hierarchy.uniform(size, branching)
        levels = HierarchicalCounts.calibrate(
            tree, loss=loss, rows_per_unit=rows_per_unit, shares=[0] + [1] * len(tree.above)
        )
        return cls(levels=levels)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.levels.hierarchy.sizes[-1]

    def _typical_variance(self) -> float:
        # Multiples of the golden ratio's fractional part fall evenly, and on no grid.
        ends = [int(0.6180339887 * place % 1 * self.cells) for place in range(1, 25)]
        runs = zip(ends[::2], ends[1::2], strict=True)
        return sum(self.deviation(min(run), max(run)) ** 2 for run in runs)

    def event(self, rows_per_unit: int) -> ComposedEvent:
        """Describe one measurement, of units with at most so many kept rows."""
        return self.levels.event(rows_per_unit)

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one measurement."""
        return self.levels.loss(rows_per_unit=rows_per_unit)

    def measure(self, counts: IntArray, rng: Rng) -> tuple[IntArray | None, ...]:
        """Return the noisy counts of each level. The gate already holds the loss."""
        return self.levels.measure(counts, rng)

    def estimate(self, measured: tuple[IntArray | None, ...]) -> PrefixCounts:
        """Return the counts of least squared error that agree on all levels."""
        known = self.levels.guesses(measured)
        return PrefixCounts.of(consistent(self.levels.hierarchy, *known)[-1])

    def deviation(self, first: int, last: int) -> float:
        r"""Return the standard deviation of the count of the cells from one to another.

        With the matrix :math:`H` of the tree and the variances :math:`V` of the noise, the
        estimates have the covariance :math:`C = (H^T V^{-1} H)^{-1}`, and a query :math:`q` has the
        variance :math:`q^T C q`. The estimate from counts :math:`y` is :math:`C H^T V^{-1} y`; so
        from :math:`y = V q` on the lowest level, and 0 elsewhere, it is :math:`C q`.
        """
        query = run_of(first, last, self.cells)
        noise = self.levels.noises[-1]
        assert noise is not None
        sizes = self.levels.hierarchy.sizes
        counts = [*(np.zeros(size) for size in sizes[:-1]), variance_of(noise) * query]
        variances = [
            np.full(size, math.inf if one is None else variance_of(one))
            for size, one in zip(sizes, self.levels.noises, strict=True)
        ]
        found = consistent(self.levels.hierarchy, counts, variances)[-1]
        return math.sqrt(float(query @ found))


def run_of(first: int, last: int, cells: int) -> NDArray[np.float64]:
    """Return 1 for the cells of a run, and 0 for all others."""
    start, end = require_run(first, last, cells)
    found = np.zeros(cells)
    found[start : end + 1] = 1.0
    return found
