"""Randomised response with two coins: one decides whether to tell the truth, one what to say."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.mechanism_event import TwoCoinResponseEvent
from discreet.core.numbers import exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.response.reports import answers, count, some
from discreet.randomness.samplers import bernoulli

TRUTH_STEP = Fraction(1, 2**40)
"""Calibration looks among the multiples of this."""


@frozen(kw_only=True)
class TwoCoinResponse:
    r"""Report a bit truthfully with probability ``truth``; otherwise toss a coin that says yes.

    Guarantee:
        With :math:`t` and :math:`y` for ``truth`` and ``yes``,
        :math:`P[\text{yes} \mid 1] = t + (1-t) y` and :math:`P[\text{yes} \mid 0] = (1-t) y`, so
        a report is ε-DP for any two bits with
        :math:`\varepsilon = \ln(1 + t / ((1-t) \min(y, 1-y)))`: exactly :math:`\ln 3` for two fair
        coins [War65; DR14, section 3.2]. The loss is that number rounded up.

    Assumes:
        The person tosses both coins in secret; ``rng`` is unpredictable to the reader.

    Utility:
        ``estimate`` is unbiased for the share of ones; ``variance`` is exact.

    Example:
        >>> coins = TwoCoinResponse()
        >>> round(float(coins.loss().epsilon), 6)
        1.098612
        >>> coins.estimate(np.array([1, 0, 1, 0]))
        Fraction(1, 2)
    """

    truth: Fraction = field(default=Fraction(1, 2), converter=exact, validator=check.below_one)
    yes: Fraction = field(default=Fraction(1, 2), converter=exact, validator=check.probability)

    @yes.validator
    def _lies(self, _: object, yes: Fraction) -> None:
        if yes in (0, 1):
            raise InvalidArgument(
                "yes is out of range", must="lie strictly between 0 and 1", got=str(yes)
            )

    @classmethod
    def calibrate(cls, *, loss: Pure) -> Self:
        """Return the response with a fair second coin and the largest truth that ``loss`` allows.

        Never above ``loss``; the next multiple of ``TRUTH_STEP`` would be.
        """
        e_low, _ = exp_bounds(min(loss.epsilon, Fraction(64)), bits=160)
        if e_low <= 1:
            raise InvalidArgument("No truth fits", must="have an ε above 0", got=str(loss.epsilon))
        largest = (e_low - 1) / (e_low + 1)
        places = min(int(largest // TRUTH_STEP), int(1 / TRUTH_STEP) - 1)
        while cls(truth=places * TRUTH_STEP).loss().epsilon > loss.epsilon:
            places -= 1
        return cls(truth=places * TRUTH_STEP)

    def event(self) -> TwoCoinResponseEvent:
        """Describe one report for the accountants."""
        return TwoCoinResponseEvent(truth=self.truth, yes=self.yes, metric=Metric.CHANGE_ONE)

    def loss(self) -> Pure:
        """Return the loss of one report."""
        return pure_loss([self.event()])

    def randomise(self, value: int, rng: Rng) -> int:
        """Return the report of one person who holds ``value``."""
        return int(self.randomise_all(np.array([value]), rng)[0])

    def randomise_all(self, values: IntArray, rng: Rng) -> IntArray:
        """Return the report of each person; the words used do not depend on the values."""
        bits = answers(values, 2)
        tells = bernoulli(self.truth, bits.shape, rng)
        says = bernoulli(self.yes, bits.shape, rng)
        return np.where(tells, bits, says).astype(np.int64)

    def estimate(self, reports: IntArray) -> Fraction:
        r"""Return the unbiased estimate :math:`(\hat f - (1-t) y) / t` of the share of ones."""
        array = some(reports, 2)
        self._require_truth()
        share = Fraction(int(array.sum()), array.size)
        return (share - (1 - self.truth) * self.yes) / self.truth

    def variance(self, reports: int, *, share: Fraction = Fraction(1, 2)) -> Fraction:
        r"""Return the exact variance of the estimate, if a fixed ``share`` of people hold 1.

        For two fair coins it is :math:`3/(4n)` whatever the share. If the people are a random
        sample, :math:`p(1-p)/n` comes on top: together :math:`4 q (1-q) / n`, with
        :math:`q = 1/4 + p/2`.
        """
        self._require_truth()
        says_no = (1 - self.truth) * self.yes
        says_yes = self.truth + says_no
        share = exact(share)
        spread = share * says_yes * (1 - says_yes) + (1 - share) * says_no * (1 - says_no)
        return spread / (count(reports) * self.truth**2)

    def _require_truth(self) -> None:
        if self.truth == 0:
            raise InvalidArgument(
                "Nothing can be estimated", must="sometimes tell the truth", got="truth = 0"
            )
