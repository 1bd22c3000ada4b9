"""Randomised response for one of k answers; for k = 2 it is the classical one for a bit."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.mechanism_event import RandomisedResponseEvent
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.response.reports import answers, count, some, truth_or_other
from discreet.randomness.samplers import toss

LARGEST_EPSILON = 64
"""Beyond it a report would hardly ever differ from the truth."""

_BITS = 192


@frozen(kw_only=True)
class CategoricalResponse:
    r"""Report one of ``categories``: the true one, or with the rest of the probability another.

    The coin is irrational, so that the loss is ε itself, and accountants know its event.
    ``discreet.local.KaryResponse`` is for devices, which toss rational coins: its loss is a
    logarithm, rounded up.

    Guarantee:
        The truth is reported with probability
        :math:`p = e^\varepsilon / (e^\varepsilon + k - 1)`, each other answer with
        :math:`r = 1 / (e^\varepsilon + k - 1)`. No report is more than :math:`e^\varepsilon` times
        as likely for one value as for another, and some are: exactly ε-DP [War65; KOV16].

    Assumes:
        ``rng`` is unpredictable to the reader. The report is the value plus an offset that is
        drawn without looking at the value.

    Utility:
        ``estimate`` is unbiased (but for rounding an enclosure of :math:`e^\varepsilon` at
        :math:`2^{-192}`); ``variance`` is exact, rounded up.

    Example:
        >>> response = CategoricalResponse(epsilon=1, categories=4)
        >>> response.loss()
        Pure(ε = 1)
        >>> [float(share) for share in response.estimate(np.array([0, 1, 2, 3]))]
        [0.25, 0.25, 0.25, 0.25]
    """

    epsilon: Fraction = field(converter=exact, validator=check.positive)
    categories: int = field(default=2, converter=check.whole)

    @epsilon.validator
    def _sensible(self, _: object, epsilon: Fraction) -> None:
        if epsilon > LARGEST_EPSILON:
            raise InvalidArgument(
                "epsilon is out of range", must=f"be at most {LARGEST_EPSILON}", got=str(epsilon)
            )

    @categories.validator
    def _several(self, _: object, categories: int) -> None:
        if not 2 <= categories < 2**62:
            raise InvalidArgument(
                "categories is out of range",
                must="be at least 2 and below 2**62",
                got=str(categories),
            )

    @classmethod
    def calibrate(cls, *, loss: Pure, categories: int = 2) -> Self:
        """Return the response that spends exactly ``loss``."""
        return cls(epsilon=loss.epsilon, categories=categories)

    def event(self) -> RandomisedResponseEvent:
        """Describe one report for the accountants."""
        return RandomisedResponseEvent(
            epsilon=self.epsilon, categories=self.categories, metric=Metric.CHANGE_ONE
        )

    def loss(self) -> Pure:
        """Return the loss of one report."""
        return pure_loss([self.event()])

    def randomise(self, value: int, rng: Rng) -> int:
        """Return the report of one person who holds ``value``."""
        return int(self.randomise_all(np.array([value]), rng)[0])

    def randomise_all(self, values: IntArray, rng: Rng) -> IntArray:
        """Return the report of each person; the words used do not depend on the values."""
        held = answers(values, self.categories)
        tells = toss(self.truth_bounds, held.shape, rng)
        return truth_or_other(held, tells, self.categories, rng)

    def truth_bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose the probability of reporting the truth."""
        low, high = exp_bounds(-self.epsilon, bits + 8)
        others = self.categories - 1
        return 1 / (1 + others * high), 1 / (1 + others * low)

    def estimate(self, reports: IntArray) -> list[Fraction]:
        r"""Return the unbiased estimates :math:`(\hat f_j - r) / (p - r)` of all shares."""
        array = some(reports, self.categories)
        counts = np.bincount(array.ravel(), minlength=self.categories)
        tells, lies = self._probabilities()
        return [(Fraction(int(c), array.size) - lies) / (tells - lies) for c in counts]

    def variance(self, reports: int, *, share: Number = 0) -> Fraction:
        r"""Return the variance of one estimate, if a fixed ``share`` of people hold that value.

        :math:`(f p (1-p) + (1-f) r (1-r)) / (n (p-r)^2)`, rounded up. For a bit it is
        :math:`e^\varepsilon / (n (e^\varepsilon - 1)^2)` whatever the share.
        """
        tells, lies = self._probabilities()
        held = exact(share)
        spread = held * tells * (1 - tells) + (1 - held) * lies * (1 - lies)
        slack = 1 + Fraction(1, 2 ** (_BITS // 2))
        return slack * spread / (count(reports) * (tells - lies) ** 2)

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        """Return the probabilities of the truth and of each lie, which sum to 1 exactly."""
        tells, _ = self.truth_bounds(_BITS)
        return tells, (1 - tells) / (self.categories - 1)


def binary_response(epsilon: Number) -> CategoricalResponse:
    r"""Return randomised response for a bit, truthful with :math:`e^\varepsilon/(1+e^\varepsilon)`.

    Example:
        >>> binary_response(1).categories
        2
    """
    return CategoricalResponse(epsilon=exact(epsilon), categories=2)
