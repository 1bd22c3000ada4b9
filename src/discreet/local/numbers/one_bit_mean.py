"""The mean from one bit a person."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.device.draws import UNIT
from discreet.local.frequency.share_estimate import CONFIDENCE, answered, estimate_shares
from discreet.local.numbers.number_scheme import MeanEstimate, NumberScheme, check_most
from discreet.local.report_numbers import Reports, as_reports
from discreet.local.tails import Floats
from discreet.randomness.samplers import bernoulli, uniform_integers


@frozen(kw_only=True)
class OneBitMean(NumberScheme):
    r"""Report one bit that is more often 1 the larger the value is.

    The value :math:`x` is rounded to 0 or to ``most``, :math:`m`, by an exact draw that goes up
    with probability :math:`x/m`; then randomised response tells which with probability
    :math:`p`, ``truth / UNIT``. So the bit is 1 with probability :math:`q + (x/m)(p - q)`,
    :math:`q = 1 - p`: that of Microsoft's scheme [DKY17, section 3]. In one dimension the scheme
    of Duchi, Jordan and Wainwright has the same law, with its two reports called
    :math:`\pm(e^\varepsilon+1)/(e^\varepsilon-1)` [DJW18], so it is this one.

    Guarantee:
        The odds are :math:`p/q`, for a person who holds 0 and one who holds the most, for either
        report; for two other values they are smaller, as probabilities are linear in between.

    Assumes:
        The device's bytes are unpredictable to whoever reads the report.

    Utility:
        The number of ones is a sum of independent coins, so the interval is that of
        :class:`~discreet.local.frequency.share_estimate.ShareEstimate`, valid at every :math:`n`.
        With probability :math:`1 - \delta` the error is at most
        :math:`m (e^\varepsilon + 1)/(e^\varepsilon - 1) \sqrt{\ln(2/\delta)/(2n)}`
        [DKY17, section 3]: ``within``.

    Example:
        >>> scheme = OneBitMean.calibrate(most=100, epsilon=1)
        >>> scheme.size, scheme.outcomes, round(float(scheme.event().epsilon), 9)
        (1, 2, 1.0)
    """

    kind: ClassVar[str] = "one_bit"
    most: int = field(converter=check.whole)
    truth: int = field(converter=check.whole)

    @most.validator
    def _on_a_grid(self, _: object, most: int) -> None:
        check_most(most)

    @truth.validator
    def _more_than_a_guess(self, _: object, truth: int) -> None:
        check_truth(truth)

    @classmethod
    def calibrate(cls, *, most: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows."""
        odds = most_odds(epsilon)
        return cls(most=most, truth=threshold_below(odds / (odds + 1)))

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return 2

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {"kind": self.kind, "most": self.most, "truth": self.truth}

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return part(self.truth) / (1 - part(self.truth))

    def worth(self, told: int) -> Fraction:
        """Return what a bit counts for in the mean."""
        p = part(self.truth)
        return self.most * (told - (1 - p)) / (2 * p - 1)

    def worths(self) -> Floats:
        """Return what each bit counts for, as floats."""
        return np.array([float(self.worth(0)), float(self.worth(1))])

    def variance(self, value: int) -> Fraction:
        """Return the exact variance of the worth of one report of ``value``."""
        p = part(self.truth)
        one = 1 - p + Fraction(value, self.most) * (2 * p - 1)
        return one * (1 - one) * (self.most / (2 * p - 1)) ** 2

    def within(self, people: int, delta: Number) -> float:
        """Return a distance from the mean that is exceeded with probability at most ``delta``."""
        p = float(part(self.truth))
        failing = float(check.level(delta, "delta"))
        answers = check.at_least_one(people, "people")
        return float(self.most / (2 * p - 1) * np.sqrt(np.log(2 / failing) / (2 * answers)))

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        up = uniform_integers(self.most, held.size, rng) < held
        tells = bernoulli(part(self.truth), held.size, rng)
        return as_reports((tells == up).astype(np.int64), 2)

    def estimate_tally(
        self, tally: IntArray, *, confidence: Number = CONFIDENCE, repeats: int = 1
    ) -> MeanEstimate:
        """Return the mean from the number of zeros and of ones."""
        people, p = answered(int(tally.sum())), part(self.truth)
        share = estimate_shares(
            tally[1:], people, held=p, other=1 - p, confidence=confidence, repeats=repeats
        )
        one = float(tally[1] / people)
        return MeanEstimate(
            mean=self.most * float(share.shares[0]),
            low=self.most * float(share.low[0]),
            high=self.most * float(share.high[0]),
            error=float(np.sqrt(one * (1 - one) * repeats / people) * self.most / (2 * p - 1)),
            people=people,
            confidence=share.confidence,
        )


def check_truth(truth: int) -> None:
    """Refuse a coin that tells the truth too seldom to be of use, or always."""
    if not UNIT < 2 * truth < 2 * UNIT:
        raise InvalidArgument(
            "truth is out of range", must="be above UNIT / 2 and below UNIT", got=str(truth)
        )
