"""The loss of discrete Gaussian noise that has too many values to list."""

import math

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.tails import Tails
from discreet.core.optional import load

LEAST_SIGMA = 20_000
"""From here on the tails below are right to far more digits than are assumed."""

_BEYOND = 1e4
"""In deviations: as good as infinity."""

LARGEST_SIGMA = 10**120


@frozen
class WideDiscreteGaussianLaw(Law):
    r"""One entry moves by ``shift`` whole steps; the noise has a deviation of ``sigma`` steps.

    Guarantee:
        :math:`P(y) \propto e^{-y^2/2\sigma^2}` on the integers, and the loss
        :math:`s(s - 2y)/(2\sigma^2)` falls with :math:`y`, so its tails are sums of :math:`P` up
        to some :math:`m`. By the midpoint form of Euler's and Maclaurin's sum, with
        :math:`f(y) = e^{-y^2/2\sigma^2}`,

        .. math:: \sum_{y \le m} f(y) = \int_{-\infty}^{m + 1/2} f
                  - \tfrac{1}{24} f'(m + \tfrac12) + R, \qquad
                  |R| \le \tfrac{7}{5760} \int_{-\infty}^{m+1/2} |f''''|,

        where :math:`|f''''| \le \sigma^{-4} (t^4 + 6t^2 + 3) f` at :math:`t = y/\sigma`. Within 38
        deviations, and for :math:`\sigma \ge 20000`, :math:`R` is below :math:`10^{-13}` of the
        sum. The sum of all :math:`f` is :math:`\sigma\sqrt{2\pi}` up to
        :math:`2e^{-2\pi^2\sigma^2}` of it (Poisson's summation).
    """

    sigma: float
    shift: int

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(1)

    def span(self, tail: float) -> tuple[float, float]:
        """Return the losses at the normal quantiles, a step further out."""
        mu = self.shift / self.sigma
        far = max(0.0, -float(load("scipy.special").ndtri(max(tail / 2, 1e-300))))
        high = mu * (far + 1 / self.sigma) + mu * mu / 2
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return the corrected normal tails at the last value whose loss is above."""
        mu = self.shift / self.sigma
        # The last value with a loss above z: below s/2 - z σ²/s, counted in deviations.
        last = np.floor((mu / 2 - np.atleast_2d(losses) / mu) * self.sigma)
        place = np.clip(last / self.sigma + 0.5 / self.sigma, -_BEYOND, _BEYOND)
        return Tails(
            self._below(place),
            self._below(place - mu),
            self._below(-place),
            self._below(mu - place),
        )

    def _below(self, place: FloatArray) -> FloatArray:
        """Return the chance of a value below ``place``, in deviations, between two integers."""
        density = np.exp(-place * place / 2) / math.sqrt(2 * math.pi)
        corrected = place * density / (24 * self.sigma * self.sigma)
        return np.asarray(load("scipy.special").ndtr(place) + corrected)
