"""The loss of Gaussian noise on a Poisson sample in which one unit may be exchanged."""

import math

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.machine import RELATIVE
from discreet.accounting.pld.tails import Tails
from discreet.core.optional import load

_LARGE = 30.0
"""Above this :math:`\\operatorname{arsinh} e^w` is :math:`w + \\ln 2`, to all digits."""


@frozen
class ExchangedGaussianLaw(Law):
    r"""A sampled unit moves the centre by at most :math:`\mu`; it is exchanged for another.

    Guarantee:
        Given the rest of the sample, the two laws are :math:`(1-r)N(0) + rN(u)` and
        :math:`(1-r)N(0) + rN(v)` with :math:`\|u\|, \|v\| \le \mu`, in any dimension. Their curve
        is nowhere above that of :math:`v = -u`, :math:`|u| = \mu` in one dimension
        [SSKG24]. Proof in ``docs/proofs/pld.md``. It is attained by two units that move
        the centre in opposite directions, among others that do not move it.

        With :math:`\kappa = \frac{1-r}{r} e^{\mu^2/2}` the loss :math:`z` is at :math:`x` with
        :math:`\mu x = \frac z2 + \operatorname{arsinh}(\kappa \sinh\frac z2)`, an odd function, so
        that the pair is symmetric.
    """

    mu: float
    rate: float
    """Above 0 and below 1."""

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(1)

    @property
    def _log_kappa(self) -> float:
        return math.log1p(-self.rate) - math.log(self.rate) + self.mu * self.mu / 2

    def span(self, tail: float) -> tuple[float, float]:
        """Return the losses at the quantiles of the outer normal law."""
        far = max(0.0, -float(load("scipy.special").ndtri(max(tail, 1e-300))))
        high = self._loss(self.mu * (far + self.mu))
        return -high, high

    def _loss(self, place: float) -> float:
        r"""Return the loss at :math:`\mu x`, at least 0, without overflow."""
        shift = -self._log_kappa
        return float(np.logaddexp(0.0, place + shift) - np.logaddexp(0.0, shift - place))

    def slack(self) -> float:
        r"""Return how wrong :math:`\mu x` can be, twice: the loss grows no faster than that."""
        far = 37.1 * self.mu + self.mu * self.mu
        return 16 * RELATIVE * (far + (abs(self._log_kappa) if far > _LARGE / 2 else 0.0))

    def tails(self, losses: FloatArray) -> Tails:
        """Return mixtures of normal tails, at the place of each loss."""
        ndtr = load("scipy.special").ndtr
        x = np.atleast_2d(self._place(losses)) / self.mu
        r, mu = self.rate, self.mu
        right, left = (1 - r) * ndtr(-x), (1 - r) * ndtr(x)
        return Tails(
            right + r * ndtr(mu - x),
            right + r * ndtr(-mu - x),
            left + r * ndtr(x - mu),
            left + r * ndtr(x + mu),
        )

    def _place(self, losses: FloatArray) -> FloatArray:
        half = np.abs(losses) / 2
        with np.errstate(divide="ignore", over="ignore"):
            grown = self._log_kappa + half + np.log(-np.expm1(-2 * half) / 2)
            small = np.exp(np.minimum(self._log_kappa, 600.0)) * np.sinh(np.minimum(half, 600.0))
        above = np.where(grown > _LARGE, grown + math.log(2.0), np.arcsinh(small))
        return np.asarray(np.sign(losses) * (half + above))
