"""The complete mechanism of (ε, δ): every other one for two data sets is a function of it."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import ApproximateResponseEvent
from discreet.core.numbers import exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.response.reports import answers, count, some
from discreet.randomness.samplers import bernoulli, toss

DISCLOSED = 2
"""Added to a report that is certainly true: reports are 0, 1 (perhaps) and 2, 3 (certainly)."""

_LARGEST_EPSILON = 64
_BITS = 192


@frozen(kw_only=True)
class ApproximateResponse:
    r"""Disclose a bit and say so with probability ``delta``; otherwise randomise it by ``epsilon``.

    Guarantee:
        Reports are ``b + 2`` with probability :math:`\delta`, ``b`` with
        :math:`(1-\delta) e^\varepsilon/(1+e^\varepsilon)` and ``1 - b`` with
        :math:`(1-\delta)/(1+e^\varepsilon)`. At ε the hockey-stick divergence is exactly
        :math:`\delta`, so this is :math:`(\varepsilon, \delta)`-DP and not less; and every
        :math:`(\varepsilon, \delta)`-DP mechanism on two inputs is a function of it
        [KOV15; MV16, Lemma 3.2].

    Assumes:
        ``rng`` is unpredictable to the reader. Meant for composition and as a worst case: in a
        share of :math:`\delta` of its uses it tells everything.

    Utility:
        ``estimate`` is unbiased for the share of ones; ``variance`` is exact, rounded up.

    Example:
        >>> ApproximateResponse(epsilon=1, delta="0.01").loss()
        Approximate(ε = 1, δ = 0.01)
    """

    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.below_one)

    @epsilon.validator
    def _sensible(self, _: object, epsilon: Fraction) -> None:
        if epsilon > _LARGEST_EPSILON:
            raise InvalidArgument(
                "epsilon is out of range", must=f"be at most {_LARGEST_EPSILON}", got=str(epsilon)
            )

    @classmethod
    def calibrate(cls, *, loss: Approximate) -> Self:
        """Return the response that spends exactly ``loss``."""
        return cls(epsilon=loss.epsilon, delta=loss.delta)

    def event(self) -> ApproximateResponseEvent:
        """Describe one report for the accountants."""
        return ApproximateResponseEvent(
            epsilon=self.epsilon, delta=self.delta, metric=Metric.CHANGE_ONE
        )

    def loss(self) -> Approximate:
        """Return the loss of one report."""
        return approximate_loss([self.event()])

    def randomise(self, value: int, rng: Rng) -> int:
        """Return the report of one person who holds ``value``."""
        return int(self.randomise_all(np.array([value]), rng)[0])

    def randomise_all(self, values: IntArray, rng: Rng) -> IntArray:
        """Return the report of each person; the words used do not depend on the values."""
        bits = answers(values, 2)
        discloses = bernoulli(self.delta, bits.shape, rng)
        tells = toss(self.truth_bounds, bits.shape, rng)
        return np.where(discloses, bits + DISCLOSED, np.where(tells, bits, 1 - bits))

    def truth_bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose the probability of the truth in a report that is not disclosed."""
        low, high = exp_bounds(-self.epsilon, bits + 4)
        return 1 / (1 + high), 1 / (1 + low)

    def estimate(self, reports: IntArray) -> Fraction:
        r"""Return the mean of ``b`` for disclosed and of :math:`(y - r)/(p - r)` for other reports.

        Each has mean ``b``, so the estimate of the share of ones is unbiased.
        """
        array = some(reports, 4)
        tells, lies = self._probabilities()
        told = array >= DISCLOSED
        sure = int((array[told] - DISCLOSED).sum())
        unsure = Fraction(int(array[~told].sum())) - lies * int((~told).sum())
        return (sure + unsure / (tells - lies)) / array.size

    def variance(self, reports: int) -> Fraction:
        r"""Return the variance of the estimate for fixed people, rounded up.

        :math:`(1 - \delta)\, e^\varepsilon / (n (e^\varepsilon - 1)^2)`: a disclosed report has
        none.
        """
        tells, lies = self._probabilities()
        slack = 1 + Fraction(1, 2 ** (_BITS // 2))
        return slack * (1 - self.delta) * tells * lies / (count(reports) * (tells - lies) ** 2)

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        if self.epsilon == 0:
            raise InvalidArgument("Nothing can be estimated", must="have an ε above 0", got="0")
        tells, _ = self.truth_bounds(_BITS)
        return tells, 1 - tells
