"""Mean-concentrated differential privacy: the first definition of concentrated privacy."""

from fractions import Fraction
from typing import NoReturn, Self

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import Unsupported
from discreet.core.loss import Measure, PrivacyLoss
from discreet.core.numbers import exact


@frozen(repr=False, order=False)
class MeanConcentrated(PrivacyLoss):
    r""":math:`(\mu, \tau)`-mCDP, with the rational :math:`\tau^2` [DR16; Ste16, Definition 2.4.1].

    Guarantee:
        The privacy loss has :math:`E[Z] \le \mu` and
        :math:`E[e^{\lambda(Z - E[Z])}] \le e^{\lambda^2\tau^2/2}` for every real :math:`\lambda`.

        It is not closed under post-processing [BS16, section 4.1], nor under choosing a mechanism
        by a public coin: a coin that chooses between silence and Gaussian noise with
        :math:`\tau^2 > 8` has a privacy loss whose variance is above :math:`\tau^2`. So it does
        not compose adaptively, and ``+`` is refused: convert to zCDP, which does.

    Example:
        >>> MeanConcentrated(mu="1/2", tau_squared=1) <= MeanConcentrated(mu=1, tau_squared=1)
        True
    """

    measure = Measure.MEAN_CONCENTRATED
    mu: Fraction = field(converter=exact, validator=check.non_negative)
    tau_squared: Fraction = field(converter=exact, validator=check.non_negative)

    def __add__(self, other: Self) -> NoReturn:
        """Refuse: the sum is no bound when the second mechanism is chosen adaptively."""
        raise _does_not_compose()

    def __mul__(self, count: int | Fraction) -> NoReturn:
        """Refuse, as for ``+``."""
        raise _does_not_compose()

    __rmul__ = __mul__


def _does_not_compose() -> Unsupported:
    return Unsupported(
        "Mean-concentrated losses do not compose adaptively",
        next="Convert them to zCDP first, and add those",
    )
