"""Prefix sums by a factorised matrix: what to pick for intervals under zCDP."""

import math
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.synthesis.counted.integer_noise import noise_for, require_rows
from discreet.synthesis.intervals.prefix_counts import PrefixCounts, require_run

MOST_CELLS = 2**14
GRID = 2**12
"""Weights are whole multiples of one of so many parts."""


@frozen(kw_only=True)
class PrefixSums:
    r"""Measure whole-number combinations of counts from which all prefix sums follow well.

    The prefix sums of counts :math:`x` are :math:`Ax` with a matrix :math:`A` of ones on and below
    its diagonal. It is a square: :math:`A = B^2`, where :math:`B` has
    :math:`f_{i-j}` with :math:`\sum_k f_k z^k = (1 - z)^{-1/2}`, so :math:`f_0 = 1` and
    :math:`f_k = f_{k-1}(2k - 1)/(2k)` [FHU23, section 3]. What is measured are the integers
    :math:`Rx`, where :math:`R` is :math:`B` times :math:`2^{12}`, rounded to whole numbers. The
    estimate is :math:`(A R^{-1})(Rx + Z)`: unbiased, whatever rounding did.

    Guarantee:
        A row adds a column of :math:`R`, and the first is the longest. A unit with at most
        :math:`m` kept rows adds at most :math:`m` columns, so by the triangle inequality the
        measured integers move by at most :math:`m \|R_1\|_2`, and :math:`\rho`-zCDP has
        :math:`\rho = m^2 \|R_1\|_2^2/(2\sigma^2)`. :math:`\|R_1\|_2^2` is a whole number, exactly.

    Assumes:
        The cells are public. ``rng`` is unpredictable.

    Utility:
        The deviation of a prefix is that of one count times about
        :math:`\frac1\pi \ln n + 1.1`, and over intervals of all lengths an eighth to a sixth less
        than that of the best tree; :meth:`deviation` is exact but for the variance of the noise,
        which is rounded up.

    Example:
        >>> sums = PrefixSums.calibrate(cells=1024, loss=Zcdp(rho="1/2"), rows_per_unit=1)
        >>> sums.loss(rows_per_unit=1)
        Zcdp(ρ = 0.5)
        >>> round(sums.deviation(0, 1023), 1), round(sums.deviation(100, 800), 1)
        (3.3, 4.1)
    """

    cells: int = field(converter=check.whole, validator=check.positive)
    noise: DiscreteGaussian

    def __attrs_post_init__(self) -> None:
        """Refuse more cells than the matrix is worked out for."""
        if self.cells > MOST_CELLS:
            raise InvalidArgument(
                "cells is out of range",
                must=f"be at most {MOST_CELLS}",
                got=str(self.cells),
                next="Take wider cells, or TreeCounts",
            )

    @classmethod
    def calibrate(cls, *, cells: int, loss: Zcdp, rows_per_unit: int) -> Self:
        """Return the sums that spend exactly ``loss``."""
        if not isinstance(loss, Zcdp):
            raise Unsupported(
                "Prefix sums have Gaussian noise",
                must="be zCDP",
                got=str(loss),
                next="Take TreeCounts for ε",
            )
        draft = cls(cells=cells, noise=DiscreteGaussian(sigma_squared=1))
        noise = noise_for(loss, draft.contribution(rows_per_unit))
        assert isinstance(noise, DiscreteGaussian)
        return cls(cells=cells, noise=noise)

    def contribution(self, rows_per_unit: int) -> Contribution:
        """Return what a unit with at most so many kept rows moves."""
        rows, column = require_rows(rows_per_unit), measured_column(self.cells)
        square = sum(weight * weight for weight in column.tolist())
        return Contribution(linf=rows * int(column[0]), l2_squared=rows * rows * square)

    def event(self, rows_per_unit: int) -> DiscreteGaussianEvent:
        """Describe one measurement, of units with at most so many kept rows."""
        return self.noise.event(self.contribution(rows_per_unit))

    def loss(self, *, rows_per_unit: int) -> Zcdp:
        """Return the loss of one measurement."""
        return self.noise.loss(self.contribution(rows_per_unit))

    def measure(self, counts: IntArray, rng: Rng) -> IntArray:
        """Return the combinations with noise. The gate already holds the loss."""
        return self.noise.release(self.combined(counts), rng)

    def combined(self, counts: IntArray) -> IntArray:
        """Return the exact combinations of exact counts: private."""
        found = np.asarray(counts)
        if found.shape != (self.cells,) or found.dtype != np.int64:
            raise InvalidArgument(
                "The counts do not fit the cells", must=f"be {self.cells} whole numbers of 64 bits"
            )
        if sum(map(abs, found.tolist())) * GRID > LARGEST_VALUE:
            raise InvalidArgument("There are too many rows", must="be below 2**50")
        combined: IntArray = np.convolve(found, measured_column(self.cells))[: self.cells]
        return combined

    def estimate(self, measured: IntArray) -> PrefixCounts:
        """Return the prefix sums that follow from the measured integers."""
        if measured.shape != (self.cells,):
            raise InvalidArgument("These are no measurements of these cells")
        sums = np.convolve(measured.astype(np.float64), self._answers())[: self.cells]
        return PrefixCounts(np.concatenate([[0.0], sums]))

    def deviation(self, first: int, last: int) -> float:
        """Return the standard deviation of the count of the cells from one to another."""
        start, end = require_run(first, last, self.cells)
        answers = self._answers()
        weights = answers[end::-1].copy()
        weights[:start] -= answers[start - 1 :: -1] if start else 0.0
        return math.sqrt(float(self.noise.sigma_squared) * float(weights @ weights))

    def cell_deviations(self) -> NDArray[np.float64]:
        """Return the standard deviation of the count of each cell by itself."""
        steps = np.diff(self._answers(), prepend=0.0)
        found: NDArray[np.float64] = np.sqrt(float(self.noise.sigma_squared) * np.cumsum(steps**2))
        return found

    def _answers(self) -> NDArray[np.float64]:
        r"""Return the first column of :math:`A R^{-1}`, as :math:`1/((1 - z) R(z))`."""
        column = measured_column(self.cells).astype(np.float64)
        rest = np.ones(self.cells)
        found = np.empty(self.cells)
        for place in range(self.cells):
            found[place] = rest[place] / column[0]
            rest[place:] -= found[place] * column[: self.cells - place]
        return found


def measured_column(cells: int) -> IntArray:
    """Return the first column of the matrix of weights, in whole numbers.

    Example:
        >>> measured_column(4).tolist()
        [4096, 2048, 1536, 1280]
    """
    value, found = GRID << 64, []
    for place in range(cells):
        if place:
            value = value * (2 * place - 1) // (2 * place)
        found.append((value + (1 << 63)) >> 64)
    return np.array(found, dtype=np.int64)
