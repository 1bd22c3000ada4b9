"""Point counts and their sum with noise, and points that have that sum: a good sum, poor points."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    TruncatedGeometricEvent,
)
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.synthesis.counted.integer_noise import IntegerNoise, loss_of, noise_for, require_rows
from discreet.synthesis.hierarchy.nearest_counts import nearest_counts
from discreet.synthesis.microdata.clamped_points import require_points
from discreet.synthesis.microdata.noise_maxima import noise_maxima


@frozen(kw_only=True)
class PointsWithSum:
    r"""Publish points that add up to a noisy sum and are otherwise nearest to the noisy points.

    Guarantee:
        A unit has at most :math:`m` kept rows. It moves the points by at most :math:`m` in
        :math:`\ell_1` and :math:`\ell_2`, and the sum by at most :math:`m`: all :math:`d + 1`
        numbers by :math:`2m` in :math:`\ell_1`, and :math:`2m^2` in :math:`\ell_2^2`. So Laplace
        noise of scale :math:`2m/\varepsilon` is :math:`\varepsilon`-DP; Gaussian noise of
        :math:`\sigma^2 = m^2/\rho` is :math:`\rho`-zCDP; and truncated noise is
        :math:`(\varepsilon, \delta)`-DP as it is calibrated. What comes after looks at noisy
        numbers only [Das22, Theorem 9.6, 3 to 5].

    Assumes:
        The points are public, and each row is in one of them. ``rng`` is unpredictable.

    Utility:
        The sum that is published is :math:`\max(0, a_*)`, so its squared error is at most
        :math:`\mathrm{Var}\,Z`: :math:`8m^2/\varepsilon^2` (printed as
        :math:`2/\varepsilon^2`, which is that of noise of half the scale), or
        :math:`m^2/\rho`. Each point has at most
        :math:`E Z_*^2 + 4 E|Z_*| E\max|Z| + 4 E\max Z^2`, which is
        :math:`(16 \ln^2 d + 48 \ln d + 56)\,m^2/\varepsilon^2` for continuous Laplace noise: about
        :math:`\ln^2 d` more than without the sum.
        Whole numbers differ from the weights by less than 1.

    Example:
        >>> points = PointsWithSum.calibrate(loss=Pure(1), points=3, rows_per_unit=1)
        >>> points.noise
        DiscreteLaplace(scale=Fraction(2, 1))
        >>> points.estimate(np.array([9, -4, 1, 6])).tolist()  # the last is the sum
        [6, 0, 0]
        >>> points.threshold(np.array([9, -4, 1, 6]))
        Fraction(3, 1)
    """

    points: int = field(converter=check.whole, validator=check.positive)
    noise: IntegerNoise | TruncatedGeometric

    @classmethod
    def calibrate(cls, *, loss: PrivacyLoss, points: int, rows_per_unit: int) -> Self:
        """Return the method that spends ``loss``: ε, ρ, or (ε, δ) with noise that has a bound."""
        count = check.whole(points)
        d_in = _contribution(count, rows_per_unit)
        noise: IntegerNoise | TruncatedGeometric
        if isinstance(loss, Approximate):
            noise = TruncatedGeometric.calibrate(d_in=d_in, loss=loss)
        else:
            noise = noise_for(loss, d_in)
        return cls(points=count, noise=noise)

    def contribution(self, rows_per_unit: int) -> Contribution:
        """Return what a unit with at most so many kept rows moves, points and sum."""
        return _contribution(self.points, rows_per_unit)

    def event(
        self, rows_per_unit: int
    ) -> DiscreteLaplaceEvent | DiscreteGaussianEvent | TruncatedGeometricEvent:
        """Describe one measurement, of units with at most so many kept rows."""
        return self.noise.event(self.contribution(rows_per_unit))

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one measurement."""
        return loss_of(self.event(rows_per_unit), self.noise)

    def measure(self, counts: IntArray, rng: Rng) -> IntArray:
        """Return the points and, last, their sum, all with noise. The gate holds the loss."""
        found = require_points(counts, self.points)
        return self.noise.release(np.append(found, found.sum()), rng)

    def estimate(self, measured: IntArray) -> IntArray:
        """Return how many copies of each point are published: the nearest whole numbers."""
        points, total = self._parts(measured)
        return nearest_counts(points, total)

    def weights(self, measured: IntArray) -> NDArray[np.float64]:
        r"""Return the nearest weights, none below 0 and with the noisy sum [Das22, Lemma 9.5].

        They are :math:`t_i = \max(r_i - \gamma, 0)`: the sum of squares
        :math:`\frac12 \sum (t_i - r_i)^2` is convex, so the conditions of Karush, Kuhn and Tucker
        suffice: :math:`t_i - r_i + \gamma = \mu_i \ge 0` and :math:`\mu_i t_i = 0`.
        """
        points, _ = self._parts(measured)
        found: NDArray[np.float64] = np.maximum(points - float(self.threshold(measured)), 0.0)
        return found

    def threshold(self, measured: IntArray) -> Fraction:
        r"""Return the :math:`\gamma` of :meth:`weights`, exactly.

        If the sum is 0 it is the least that will do, the largest point. With the noise :math:`z` of
        the points and :math:`z_*` of the sum, it always lies between
        :math:`\min z - |z_*|` and :math:`\max z + |z_*|`.
        *Proof.* With :math:`\gamma` at the lower end each :math:`r_i - \gamma \ge x_i + |z_*|`, so
        they add up to at least the noisy sum. At the upper end each is at most
        :math:`\max(0, x_i - |z_*|)`, and these add up to at most
        :math:`\max(0, \sum x - |z_*|)`, which is at most the noisy sum.
        """
        points, total = self._parts(measured)
        falling = sorted(points.tolist(), reverse=True)
        found, above = Fraction(falling[0] - total), 0
        for count, value in enumerate(falling, start=1):
            above += value
            if count > 1 and value <= found:
                break
            found = Fraction(above - total, count)
        return found

    def point_error(self) -> float:
        """Return a bound on the expected squared error of each weight."""
        one, most = noise_maxima(self.noise, 1), noise_maxima(self.noise, self.points)
        return one.square + 4 * one.size * most.size + 4 * most.square

    def sum_error(self) -> float:
        """Return a bound on the expected squared error of the sum of all points."""
        return noise_maxima(self.noise, 1).square

    def _parts(self, measured: IntArray) -> tuple[IntArray, int]:
        found = require_points(measured, self.points + 1)
        return found[:-1], max(0, int(found[-1]))


def _contribution(points: int, rows_per_unit: int) -> Contribution:
    rows = require_rows(rows_per_unit)
    return Contribution(
        l0=min(points, rows) + 1, linf=rows, l1=2 * rows, l2_squared=2 * rows * rows
    )
