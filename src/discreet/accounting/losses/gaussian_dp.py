"""Gaussian differential privacy: no easier to tell apart than two normal laws."""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.loss import Measure, PrivacyLoss
from discreet.core.numbers import exact


@frozen(repr=False, order=False)
class GaussianDp(PrivacyLoss):
    r""":math:`\mu`-Gaussian DP [DRS22, section 2]; :math:`\mu^2` is kept, as it is rational.

    Guarantee:
        Telling :math:`M(x)` from :math:`M(x')` is at least as hard, at every false-alarm rate, as
        telling :math:`N(0, 1)` from :math:`N(\mu, 1)`. Composition adds the squares, also for
        mechanisms chosen adaptively [DRS22, section 3].

    Example:
        >>> GaussianDp(mu_squared="1/4") + GaussianDp(mu_squared="1/2")
        GaussianDp(μ² = 0.75)
    """

    measure = Measure.GAUSSIAN
    mu_squared: Fraction = field(converter=exact, validator=check.non_negative)
