r"""The loss of continuous Gaussian noise: :math:`N(\mu^2/2, \mu^2)`."""

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law, column
from discreet.accounting.pld.tails import Tails
from discreet.core.optional import load


@frozen
class GaussianLaw(Law):
    r"""Two normal laws whose centres are :math:`\mu` deviations apart.

    Guarantee:
        :math:`Z = \mu x + \mu^2/2` with :math:`x` standard normal under :math:`P` and centred at
        :math:`-\mu` under :math:`Q` [BW18]; the pair is symmetric. Moves of several
        entries with an L2 norm of at most :math:`\mu` are no easier to tell [DRS22, section 2].
    """

    mu: FloatArray

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(len(self.mu))

    def span(self, tail: float) -> tuple[float, float]:
        """Return the quantiles of the widest row."""
        mu = float(self.mu.max())
        far = -float(load("scipy.special").ndtri(max(tail, 1e-300)))
        high = mu * max(far, 0.0) + mu * mu / 2
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return normal tails."""
        ndtr = load("scipy.special").ndtr
        mu = column(self.mu)
        x = losses / mu - mu / 2
        return Tails(ndtr(-x), ndtr(-x - mu), ndtr(x), ndtr(x + mu))
