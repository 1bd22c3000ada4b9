r"""The cumulant function :math:`K(\theta) = \ln E[e^{\theta Z}]` of a sum of losses on grids."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from attrs import define, frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.machine import LARGEST_LOSS


@define(frozen=True, eq=False, slots=False)
class Weighted:
    """Masses of some events on one grid, and how often each of them is composed."""

    losses: FloatArray
    masses: FloatArray
    counts: FloatArray

    def summed(self, weights: FloatArray) -> FloatArray:
        """Return the sums of the masses times ``weights``, by row."""
        if len(self.masses) == 1:
            return np.array([(self.masses[0] * weights).sum()])
        return np.asarray(np.einsum("ij,j->i", self.masses, weights))

    @cached_property
    def occupied(self) -> slice:
        """The grid points from the first that has any mass to the last."""
        places = np.nonzero(self.masses.max(axis=0))[0]
        return slice(int(places[0]), int(places[-1]) + 1)


@frozen(eq=False)
class Cumulant:
    """The cumulant function of all the parts together; floats that decide nothing by themselves."""

    parts: Sequence[Weighted]

    def at(self, theta: float) -> tuple[float, float, float]:
        """Return the function and its first two derivatives, the tilted mean and variance."""
        total = mean = variance = 0.0
        for part in self.parts:
            exponent = theta * part.losses
            top = float(exponent[part.occupied].max())
            weight = np.exp(np.minimum(exponent - top, 0.0))
            zeroth = part.summed(weight)
            first = part.summed(weight * part.losses)
            second = part.summed(weight * part.losses**2)
            centre = first / zeroth
            total += float(part.counts @ (np.log(zeroth) + top))
            mean += float(part.counts @ centre)
            variance += float(part.counts @ np.maximum(second / zeroth - centre**2, 0.0))
        return total, mean, variance

    def values(self, thetas: FloatArray) -> FloatArray:
        """Return the function at several points."""
        total = np.zeros(len(thetas))
        for part in self.parts:
            for place, theta in enumerate(thetas):
                exponent = theta * part.losses
                top = float(exponent[part.occupied].max())
                sums = part.summed(np.exp(np.minimum(exponent - top, 0.0)))
                total[place] += float(part.counts @ (np.log(sums) + top))
        return total

    def steepest(self) -> float:
        """Return the largest tilt that is of use: beyond it nothing would change but overflow."""
        largest = max(float(np.abs(part.losses).max()) for part in self.parts)
        return LARGEST_LOSS / max(largest, 1e-6)

    def tilt_at_delta(self, log_delta: float) -> float:
        r"""Return a tilt that is good near the ε at which :math:`\ln\delta` is ``log_delta``.

        By the saddle-point estimate :math:`\delta \approx e^{K - \theta K'} / (\theta (1 + \theta)
        \sqrt{2 \pi K''})`. Any tilt is valid; a good one keeps the errors small.
        """

        def excess(theta: float) -> float:
            value, mean, variance = self.at(theta)
            spread = math.sqrt(2 * math.pi * variance + (1 + theta) ** -2.0)
            return value - theta * mean - math.log((1 + theta) * (1 + theta * spread)) - log_delta

        return self._root(excess)

    def tilt_at_epsilon(self, epsilon: float) -> float:
        """Return the tilt under which the mean loss is ``epsilon``."""
        return self._root(lambda theta: epsilon - self.at(theta)[1])

    def _root(self, falling: Callable[[float], float]) -> float:
        low, high = math.log(1e-3), math.log(self.steepest())
        if falling(math.exp(low)) <= 0:
            return math.exp(low)
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if falling(math.exp(middle)) > 0 else (low, middle)
        return math.exp(low)
