"""The noise of one part of a table's price: Laplace for a pure one, Gaussian for zCDP."""

import math

from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace

TableNoise = DiscreteLaplace | DiscreteGaussian


def noise_for(d_in: Contribution, loss: Pure | Zcdp) -> TableNoise:
    """Return the noise that spends exactly ``loss``.

    Example:
        >>> noise_for(Contribution(l1=1), Pure("1/2"))
        DiscreteLaplace(scale=Fraction(2, 1))
    """
    if isinstance(loss, Pure):
        return DiscreteLaplace.calibrate(d_in=d_in, loss=loss)
    if isinstance(loss, Zcdp) and not loss.xi:
        return DiscreteGaussian.calibrate(d_in=d_in, loss=loss)
    raise Unsupported(
        "Tables cannot be calibrated to this measure",
        must="be pure, or zCDP with ξ = 0",
        got=str(loss),
    )


def variance(noise: TableNoise) -> float:
    """Return the variance of one number's noise (an upper bound for the Gaussian)."""
    if isinstance(noise, DiscreteGaussian):
        return float(noise.sigma_squared)
    rate = 1 / float(noise.scale)
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2
