"""The sign of a value of ±1 plus normal noise: a response whose guarantee is stated in zCDP."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.tails.normal_tail import normal_tail_bounds
from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.core.mechanism_event import SignOfGaussianEvent
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.response.reports import count, some
from discreet.randomness.samplers import toss

SMALLEST_VARIANCE = Fraction(1, 100)
LARGEST_VARIANCE = Fraction(10**12)

_BITS = 192


@frozen(kw_only=True)
class SignOfGaussian:
    r"""Report the sign of :math:`x + N(0, \sigma^2)`, for a value ``x`` of -1 or 1.

    Guarantee:
        The normal variable is :math:`\rho`-zCDP with :math:`\rho = 2^2/(2\sigma^2) = 2/\sigma^2`,
        because the two values are 2 apart [BS16, Proposition 1.6], and its sign no more. So
        :math:`\sigma^2 = 2/\rho`; with the variance :math:`\sqrt 2/\rho` that
        [Ste16, section 2.6.1] prints, the theorem gives :math:`\sqrt 2 \rho` only. A sign is also
        a pure response, ``pure_loss``. It is drawn as a coin that is true with probability
        :math:`P[N > -1/\sigma]`, exactly.

    Assumes:
        ``rng`` is unpredictable to the reader.

    Utility:
        ``estimate`` is unbiased for the mean of the values (but for rounding the probability at
        :math:`2^{-192}`); ``variance`` is exact, rounded up.
        :math:`E \langle x, M \rangle = n (2 P[N \le 1/\sigma] - 1)`.

    Example:
        >>> SignOfGaussian.calibrate(loss=Zcdp(rho="1/2"))
        SignOfGaussian(sigma_squared=Fraction(4, 1))
        >>> SignOfGaussian(sigma_squared=4).loss()
        Zcdp(ρ = 0.5)
    """

    sigma_squared: Fraction = field(converter=exact, validator=check.positive)

    @sigma_squared.validator
    def _sensible(self, _: object, sigma_squared: Fraction) -> None:
        if not SMALLEST_VARIANCE <= sigma_squared <= LARGEST_VARIANCE:
            raise InvalidArgument(
                "sigma_squared is out of range",
                must=f"be between {SMALLEST_VARIANCE} and {LARGEST_VARIANCE}",
                got=str(sigma_squared),
            )

    @classmethod
    def calibrate(cls, *, loss: Zcdp) -> Self:
        """Return the response that spends exactly the ρ of ``loss``."""
        if loss.rho <= 0:
            raise InvalidArgument("No scale fits", must="have a ρ above 0", got=str(loss.rho))
        return cls(sigma_squared=2 / loss.rho)

    def event(self) -> SignOfGaussianEvent:
        """Describe one report for the accountants."""
        return SignOfGaussianEvent(sigma_squared=self.sigma_squared, metric=Metric.CHANGE_ONE)

    def loss(self) -> Zcdp:
        """Return the loss of one report."""
        return zcdp_loss([self.event()])

    def pure_loss(self) -> Pure:
        r"""Return :math:`\ln((1-p)/p)` for a lie of probability ``p``, rounded up."""
        return pure_loss([self.event()])

    def randomise(self, value: int, rng: Rng) -> int:
        """Return the report, -1 or 1, of one person who holds ``value``."""
        return int(self.randomise_all(np.array([value]), rng)[0])

    def randomise_all(self, values: IntArray, rng: Rng) -> IntArray:
        """Return the report of each person; the words used do not depend on the values."""
        held = _signs(values)
        tells = toss(self.truth_bounds, held.shape, rng)
        return np.where(tells, held, -held)

    def truth_bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose the probability of reporting the truth."""
        low, high = normal_tail_bounds(1 / self.sigma_squared, bits + 4)
        return 1 - high, 1 - low

    def estimate(self, reports: IntArray) -> Fraction:
        """Return the unbiased estimate of the mean of the values."""
        held = _signs(reports)
        some((held + 1) // 2, 2)
        return Fraction(int(held.sum()), held.size) / self._lead()

    def variance(self, reports: int) -> Fraction:
        r"""Return the variance :math:`(1 - \eta^2)/(n \eta^2)` of the estimate, rounded up.

        :math:`\eta = 2 P[N \le 1/\sigma] - 1`, and the people are fixed.
        """
        lead = self._lead()
        return (1 - lead**2) / (count(reports) * lead**2)

    def _lead(self) -> Fraction:
        return 2 * self.truth_bounds(_BITS)[0] - 1


def _signs(values: IntArray) -> IntArray:
    array = np.asarray(values)
    if array.dtype != np.int64:
        raise InvalidArgument(
            "The values have the wrong type", must="be 64-bit integers", got=str(array.dtype)
        )
    if not ((array == 1) | (array == -1)).all():
        raise InvalidArgument("A value is out of range", must="be -1 or 1")
    return array
