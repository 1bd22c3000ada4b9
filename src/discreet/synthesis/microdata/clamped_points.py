"""Point counts with noise, each moved up to zero if it is below: good points, a poor sum."""

from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.integer_noise import (
    IntegerNoise,
    loss_of,
    noise_for,
    table_contribution,
    variance_of,
)


@frozen(kw_only=True)
class ClampedPoints:
    r"""Publish :math:`a_i = \max(0, x_i + Z_i)` copies of each point, with independent noise.

    Guarantee:
        A unit has at most :math:`m` kept rows, so the counts :math:`x` move by at most :math:`m` in
        :math:`\ell_1` and in :math:`\ell_2`. With :math:`DGeo(\varepsilon/m)`, which is discrete
        Laplace noise of scale :math:`m/\varepsilon`, it is :math:`\varepsilon`-DP; with discrete
        Gaussian noise of :math:`\sigma^2 = m^2/(2\rho)` it is :math:`\rho`-zCDP. Moving negative
        numbers up to 0 looks at noisy numbers only [Das22, Theorem 9.6, 1 and 2, corrected: one
        place prints :math:`DGeo(1/\varepsilon)`, and :math:`x_i + \max(0, Z_i)` is no privacy at
        all, for it tells that :math:`x_i` is at most what is shown].

    Assumes:
        The points are public, and each row is in one of them. ``rng`` is unpredictable.

    Utility:
        Moving up to 0 never takes a number farther from a count, so each point has a squared error
        of at most :math:`\mathrm{Var}\,Z`: :math:`2m^2/\varepsilon^2`, or :math:`m^2/(2\rho)`. But
        in empty cells noise can only add, and the sum of :math:`d` points has up to
        :math:`d^2\,\mathrm{Var}\,Z`.

    Example:
        >>> points = ClampedPoints.calibrate(loss=Pure("1/2"), points=3, rows_per_unit=1)
        >>> points.noise
        DiscreteLaplace(scale=Fraction(2, 1))
        >>> points.estimate(np.array([7, -3, 0])).tolist()
        [7, 0, 0]
    """

    points: int = field(converter=check.whole, validator=check.positive)
    noise: IntegerNoise

    @classmethod
    def calibrate(cls, *, loss: PrivacyLoss, points: int, rows_per_unit: int) -> Self:
        """Return the method that spends exactly ``loss`` on so many points."""
        d_in = table_contribution(check.whole(points), rows_per_unit)
        return cls(points=points, noise=noise_for(loss, d_in))

    def contribution(self, rows_per_unit: int) -> Contribution:
        """Return what a unit with at most so many kept rows moves."""
        return table_contribution(self.points, rows_per_unit)

    def event(self, rows_per_unit: int) -> DiscreteLaplaceEvent | DiscreteGaussianEvent:
        """Describe one measurement, of units with at most so many kept rows."""
        return self.noise.event(self.contribution(rows_per_unit))

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one measurement."""
        return loss_of(self.event(rows_per_unit), self.noise)

    def measure(self, counts: IntArray, rng: Rng) -> IntArray:
        """Return the counts with noise. The gate already holds the loss."""
        return self.noise.release(require_points(counts, self.points), rng)

    def estimate(self, measured: IntArray) -> IntArray:
        """Return how many copies of each point are published."""
        return np.maximum(measured, 0)

    def point_error(self) -> float:
        """Return a bound on the expected squared error of each point."""
        return variance_of(self.noise)

    def sum_error(self) -> float:
        """Return a bound on the expected squared error of the sum of all points."""
        return self.points**2 * variance_of(self.noise)


def require_points(counts: IntArray, points: int) -> IntArray:
    """Return the counts; refuse them if they are not one for each point. None is quoted."""
    found = np.asarray(counts)
    if found.shape != (points,):
        raise InvalidArgument(
            "The counts do not fit the points", must=f"be {points} counts, one for each point"
        )
    return found
