"""Randomised response for one of k values: the truth, or one of the others."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.columns import bytes_below, column_of, number_of
from discreet.local.device.draws import UNIT
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.scheme import Reports
from discreet.randomness.samplers import bernoulli, uniform_integers

_MOST_CATEGORIES = 2**31


@frozen(kw_only=True)
class KaryResponse(FrequencyScheme):
    r"""Report one of ``categories``: the true one, or with the rest of the probability another.

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
    categories: int = field(converter=check.whole)
    truth: int = field(converter=check.whole)

    @categories.validator
    def _several(self, _: object, categories: int) -> None:
        if not 2 <= categories <= _MOST_CATEGORIES:
            raise InvalidArgument(
                "categories is out of range",
                must=f"be at least 2 and at most {_MOST_CATEGORIES}",
                got=str(categories),
            )

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
        odds = most_odds(epsilon)
        return cls(categories=categories, truth=threshold_below(odds / (odds + categories - 1)))

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

    def worst_pair(self) -> tuple[int, int]:
        """Return two values for which some report attains the odds: here any two do."""
        return 0, 1

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
        tells = bernoulli(self.held, held.size, rng)
        others = uniform_integers(self.categories - 1, held.size, rng) + 1
        told = (held + np.where(tells, 0, others)) % self.categories
        return column_of(told, self.size)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: those that name a category."""
        return np.asarray(number_of(self.check_reports(reports)) < self.categories)

    def tally(self, reports: Reports) -> IntArray:
        """Return how many reports name each value."""
        return np.bincount(number_of(self.check_possible(reports)), minlength=self.categories)

    def supports(self, tally: IntArray) -> IntArray:
        """Return how many reports support each value."""
        return tally
