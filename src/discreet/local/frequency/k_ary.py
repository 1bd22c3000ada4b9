"""Randomised response for one of k values: the truth, or one of the others."""

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
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.mechanisms.response.reports import truth_or_other
from discreet.randomness.samplers import bernoulli

_MOST_CATEGORIES = 2**31


@frozen(kw_only=True)
class KaryResponse(FrequencyScheme):
    r"""Report one of ``categories`` from a device: the truth, or any other with the rest.

    Guarantee:
        With :math:`p` for ``truth / UNIT``, each other value is reported with probability
        :math:`(1-p)/(k-1)`, so the odds are :math:`p(k-1)/(1-p)` for any two values, and both of
        them attain it [War65; KOV16]. Calibration takes the largest threshold that keeps them below
        :math:`e^\varepsilon`.

    Assumes:
        The device's bytes are unpredictable to whoever reads the report. The two draws of a report
        are made whatever the value is.

    Utility:
        A report supports the value that it names. The variance at a share of 0 is about
        :math:`(k - 2 + e^\varepsilon)/(n(e^\varepsilon-1)^2)`: best for few categories.

    Example:
        >>> scheme = KaryResponse.calibrate(categories=4, epsilon="1.5")
        >>> round(float(scheme.event().epsilon), 9), scheme.size
        (1.5, 1)
    """

    kind: ClassVar[str] = "k_ary"
    categories: int = field(converter=check.whole, validator=check.between(2, _MOST_CATEGORIES))
    truth: int = field(converter=check.whole)

    @truth.validator
    def _more_than_a_guess(self, _: object, truth: int) -> None:
        if not UNIT < truth * self.categories < UNIT * self.categories:
            raise InvalidArgument(
                "truth is out of range",
                must="be above UNIT / categories and below UNIT",
                got=str(truth),
            )

    @classmethod
    def calibrate(cls, *, categories: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows."""
        every = check.whole(categories)
        return cls(categories=every, truth=truth_of(every, most_odds(epsilon)))

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return bytes_below(self.categories)

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {"kind": self.kind, "categories": self.categories, "truth": self.truth}

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return self.held / self.other

    def variation(self) -> Fraction:
        """Return the total variation between the reports of any two values."""
        return self.held - self.other

    @property
    def held(self) -> Fraction:
        """How likely a report names the value of its person."""
        return part(self.truth)

    @property
    def other(self) -> Fraction:
        """How likely a report names any one other value."""
        return (1 - self.held) / (self.categories - 1)

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        told = respond(held, self.categories, self.held, rng)
        return as_reports(told, self.categories)

    def told_below(self) -> int:
        """Return how many different reports there are."""
        return self.categories

    def tally(self, reports: Reports) -> IntArray:
        """Return how many reports name each value."""
        told = as_numbers(self.check_possible(reports))
        return np.bincount(told, minlength=self.categories)


def respond(held: IntArray, categories: int, truth: Fraction, rng: Rng) -> IntArray:
    """Return the k-ary response of each person: the truth, or any other value with the rest."""
    return truth_or_other(held, bernoulli(truth, held.size, rng), categories, rng)


def truth_of(categories: int, odds: Fraction) -> int:
    """Return the largest threshold of the truth in a k-ary response with no more than these odds.

    Example:
        >>> truth_of(2, Fraction(3)) * 4 == 3 * UNIT
        True
    """
    return threshold_below(odds / (odds + categories - 1))
