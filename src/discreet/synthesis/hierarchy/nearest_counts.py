"""The whole numbers nearest to given ones, with a given sum and no number below zero."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray

LARGEST_TOTAL = 2**52
"""Up to here each whole number and its half are floats."""


def nearest_counts(
    targets: NDArray[np.generic],
    total: int,
    *,
    variances: NDArray[np.float64] | None = None,
    least: IntArray | None = None,
    most: IntArray | None = None,
) -> IntArray:
    r"""Return whole :math:`t_i` with :math:`\sum t_i` = ``total`` that are nearest to ``targets``.

    They make :math:`\sum (t_i - r_i)^2 / v_i` smallest among all whole numbers between ``least``
    (0 if it is not given) and ``most``. If several are as near, the extra ones are scattered over
    the places, by a rule that looks at places only.

    *Proof.* Raising :math:`t_i` by one costs :math:`(2 (t_i - r_i) + 1)/v_i`, which rises with
    :math:`t_i`. So the best numbers are those that take the cheapest steps from ``least`` on, as
    many as there must be. All steps that cost at most :math:`2\lambda` lead to
    :math:`t_i = \lfloor r_i + \lambda v_i + 1/2 \rfloor`, cut to its bounds. Halving finds two
    :math:`\lambda` between which each number takes at most one step; those are sorted by cost.

    Example:
        >>> nearest_counts(np.array([5.2, 3.1, -4.0]), 6).tolist()
        [4, 2, 0]
        >>> nearest_counts(np.array([1, 1, 1, 1]), 6).sum()
        np.int64(6)
    """
    problem = _Problem.of(targets, total, variances, least, most)
    low, high = problem.bracket()
    found, above = problem.at(low), problem.at(high)
    while (above - found).max(initial=0) > 1:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        between = problem.at(middle)
        if int(between.sum()) <= total:
            low, found = middle, between
        else:
            high, above = middle, between
    return problem.filled(found, above)


@frozen(eq=False)
class _Problem:
    """Numbers to come near to, and the bounds and the sum of those that may."""

    wanted: NDArray[np.float64] = field(repr=False)
    variances: NDArray[np.float64] = field(repr=False)
    least: IntArray = field(repr=False)
    most: IntArray = field(repr=False)
    total: int

    @staticmethod
    def of(
        targets: NDArray[np.generic],
        total: int,
        variances: NDArray[np.float64] | None,
        least: IntArray | None,
        most: IntArray | None,
    ) -> "_Problem":
        wanted = np.asarray(targets, dtype=np.float64).reshape(-1)
        if not np.isfinite(wanted).all():
            raise InvalidArgument("There is nothing near to a number that is not finite")
        if not 0 <= total <= LARGEST_TOTAL:
            raise InvalidArgument(
                "The sum of counts is out of range",
                must=f"lie between 0 and {LARGEST_TOTAL}",
                got=str(total),
            )
        floor = np.zeros(wanted.size, dtype=np.int64) if least is None else least
        ceiling = np.full(wanted.size, total, dtype=np.int64) if most is None else most
        ceiling = np.minimum(ceiling, total)
        if (floor > ceiling).any() or not int(floor.sum()) <= total <= int(ceiling.sum()):
            raise InvalidArgument(
                "No counts have this sum",
                must="lie between the sums of the least and the most",
                got=str(total),
            )
        weights = np.ones(wanted.size) if variances is None else np.asarray(variances, np.float64)
        # What cannot move needs no weight, and may have none.
        weights = np.where(floor == ceiling, 1.0, weights)
        if not ((weights > 1 / LARGEST_TOTAL) & (weights < LARGEST_TOTAL**2)).all():
            raise InvalidArgument(
                "A variance is out of range",
                must=f"be above 1/{LARGEST_TOTAL} and below {LARGEST_TOTAL}**2",
            )
        return _Problem(wanted, weights, floor, ceiling, total)

    def at(self, level: float) -> IntArray:
        """Return what all steps that cost at most twice the level lead to."""
        steps = np.floor(self.wanted + level * self.variances + 0.5)
        found: IntArray = np.minimum(np.maximum(steps, self.least), self.most).astype(np.int64)
        return found

    def bracket(self) -> tuple[float, float]:
        """Return two levels: at one all are at their least, at the other at their most."""
        low = ((self.least - self.wanted - 1) / self.variances).min(initial=0.0)
        high = ((self.most - self.wanted + 1) / self.variances).max(initial=0.0)
        return float(low), float(high)

    def filled(self, found: IntArray, above: IntArray) -> IntArray:
        """Return what the lower level leads to, and the cheapest steps that are then missing."""
        while missing := self.total - int(found.sum()):
            able = np.flatnonzero(above > found)
            costs = (found[able] + 0.5 - self.wanted[able]) / self.variances[able]
            chosen = able[np.lexsort((_scattered(able), costs))[:missing]]
            found[chosen] += 1
        return found


def _scattered(places: IntArray) -> IntArray:
    """Return an order of places in which neighbours are far apart."""
    order: IntArray = (places * 2654435761) % (1 << 32)
    return order
