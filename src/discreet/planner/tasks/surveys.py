"""Surveys in which everybody randomises their own answer: shares of values, and means."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import DiscreetError
from discreet.core.loss import PrivacyLoss
from discreet.core.numbers import exact
from discreet.local.frequency.choose_frequency import FrequencyOffer, choose_frequency
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.local_hashing import MOST_CATEGORIES
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.piecewise import PiecewiseMean
from discreet.local.tails import OUTWARDS, bennett_radius
from discreet.planner.bounds.local_bits import LocalBits
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.tasks.counts import PEOPLE
from discreet.planner.tasks.known_way import KnownWay, affordable, ordered

LARGEST_EPSILON = Fraction(16)
"""With a larger ε devices draw as with this one: less is lost than may be."""

_PARTS = 100
"""Numbers of a mean are whole multiples of one of so many parts of the range."""


@frozen
class SurveySharesTask:
    """Shares of people with each of some listed values, from answers that they randomise.

    Example:
        >>> from discreet import Pure
        >>> [way.name for way in SurveySharesTask(4).ways(Pure(1), Fraction(1, 20), 10_000)][0]
        'k-ary response'
    """

    values: int = field(converter=check.whole, validator=check.between(2, MOST_CATEGORIES))
    name: ClassVar[str] = "survey-shares"
    share_of: ClassVar[str] = PEOPLE

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"shares of {self.values:,} values in a survey that trusts nobody"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""
        each = float(beta) / (2 * self.values)
        return ordered(
            KnownWay(offer.name, people * _share_radius(offer.scheme, people, each))
            for offer in self._offers(loss)
        )

    def _offers(self, loss: PrivacyLoss) -> tuple[FrequencyOffer, ...]:
        pure = affordable(loss).pure
        if pure is None:
            return ()
        try:
            return choose_frequency(
                categories=self.values, epsilon=min(pure.epsilon, LARGEST_EPSILON), people=1
            ).offers
        except DiscreetError:
            return ()  # a loss for which no device draws

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible."""
        return (LocalBits(),)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what is known of many values."""
        return (_OF_REPORTS,)


_OF_REPORTS = "the loss is that of a report: what changes if one person had another answer"


def _share_radius(scheme: FrequencyScheme, people: int, beta: float) -> Fraction:
    r"""Return what a share is within, by Bennett's inequality for coins of both kinds.

    A report that supports a value has a variance of :math:`p(1-p)` or :math:`q(1-q)`, and is
    above its mean by at most :math:`1 - q`, below it by at most :math:`p`.
    """
    p, q = float(scheme.held), float(scheme.other)
    variance = max(p * (1 - p), q * (1 - q)) * (1 + OUTWARDS)
    both = bennett_radius(np.full(2, variance), np.array([1 - q, p]), people, beta)
    return min(Fraction(1), exact(float(both.max()) / (p - q) * (1 + OUTWARDS)))


@frozen
class SurveyMeanTask:
    """The mean of a number in a declared range, from answers that people randomise."""

    name: ClassVar[str] = "survey-mean"
    share_of: ClassVar[str] = "the range"

    @property
    def words(self) -> str:
        """The task, in words."""
        return "a mean in a survey that trusts nobody"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""
        pure = affordable(loss).pure
        if pure is None:
            return ()
        found = []
        for name, make in (
            ("one bit", OneBitMean),
            ("piecewise", PiecewiseMean),
            ("hybrid", HybridMean),
        ):
            try:
                scheme = make.calibrate(most=_PARTS, epsilon=min(pure.epsilon, LARGEST_EPSILON))
            except DiscreetError:
                continue  # a loss for which no device draws
            found.append(KnownWay(name, people * _mean_radius(scheme, people, float(beta) / 2)))
        return ordered(found)

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: numbers may be the ends of the range."""
        return (LocalBits(),)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return whose loss it is."""
        return (_OF_REPORTS,)


def _mean_radius(scheme: NumberScheme, people: int, beta: float) -> Fraction:
    """Return what a mean is within, as a share of the range, by Bennett's inequality."""
    worths = scheme.worths()
    above = np.array([worths.max(), scheme.most - worths.min()])
    variance = float(scheme.worst_variance()) * (1 + OUTWARDS)
    both = bennett_radius(np.full(2, variance), above, people, beta)
    return min(Fraction(1), exact(float(both.max()) / scheme.most * (1 + OUTWARDS)))
