"""What schemes for means have in common: every report is worth a number, right on average."""

from abc import abstractmethod
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.local.frequency.share_estimate import CONFIDENCE, answered
from discreet.local.report_numbers import Reports, as_numbers, bytes_below
from discreet.local.scheme import Scheme
from discreet.local.tails import OUTWARDS, Floats, bennett_radius, read_level

MOST_VALUE = 2**20


@frozen(kw_only=True)
class MeanEstimate:
    """The estimated mean over the people who answered, in steps of the grid.

    ``low`` and ``high`` hold the mean with the confidence at every number of people, and ``error``
    is the largest standard deviation that any values could give (from one bit, any with this
    mean). ``mean`` is unbiased, so it may lie outside of the grid, where the interval does not go.
    """

    mean: float
    low: float
    high: float
    error: float
    people: int
    confidence: Fraction


class NumberScheme(Scheme):
    r"""A scheme for whole numbers from 0 to ``most`` whose reports are worth numbers.

    Guarantee:
        The mean worth of a report is the value of its person, exactly. So the mean worth of all
        reports is unbiased for the mean of the people who answered. Errors of reports are
        independent; the interval is Bennett's with the largest variance of any value, valid for
        every number of people (:func:`discreet.local.tails.bennett_radius`).

    Assumes:
        The survey has put real values onto the grid, and says what a step is.
    """

    most: int

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different reports there are; a report is a number below it."""

    @abstractmethod
    def worth(self, told: int) -> Fraction:
        """Return what a report counts for in the mean."""

    @abstractmethod
    def worths(self) -> Floats:
        """Return what each report counts for, as floats."""

    @abstractmethod
    def variance(self, value: int) -> Fraction:
        """Return the exact variance of the worth of one report of ``value``."""

    def worst_variance(self) -> Fraction:
        """Return the largest variance of any value.

        Variances are symmetric in the value around the middle of the grid, and convex or concave
        from end to middle, so the largest is at an end or in the middle.
        """
        return max(self.variance(0), self.variance(self.most // 2))

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return bytes_below(self.outcomes)

    def worst_pair(self) -> tuple[int, int]:
        """Return two values for which some report attains the odds: the ends of the grid."""
        return 0, self.most

    def told_below(self) -> int:
        """Return how many different reports there are."""
        return self.outcomes

    def tally(self, reports: Reports) -> IntArray:
        """Return how many reports there are of each kind."""
        told = as_numbers(self.check_possible(reports))
        return np.bincount(told, minlength=self.outcomes)

    def estimate(self, reports: Reports, *, confidence: Number = CONFIDENCE) -> MeanEstimate:
        """Return the mean of the people who reported, in steps of the grid."""
        return self.estimate_tally(self.tally(reports), confidence=confidence)

    def estimate_tally(
        self, tally: IntArray, *, confidence: Number = CONFIDENCE, repeats: int = 1
    ) -> MeanEstimate:
        """Return the same from the tally of reports.

        Up to ``repeats`` of them may be of one device and repeat answers that it keeps.
        """
        level = read_level(confidence)
        people = answered(int(tally.sum()))
        worths = self.worths()
        mean = float(tally.astype(np.float64) @ worths / people)
        variance = float(self.worst_variance()) * (1.0 + OUTWARDS)
        above = np.array([worths.max(), self.most - worths.min()])
        beta = float(1 - level) / 2
        low, high = bennett_radius(np.full(2, variance), above, people, beta, repeats=repeats)
        margin = OUTWARDS * float(np.abs(worths).max())
        return MeanEstimate(
            mean=mean,
            low=min(max(mean - float(low) - margin, 0.0), float(self.most)),
            high=min(max(mean + float(high) + margin, 0.0), float(self.most)),
            error=float(np.sqrt(variance * repeats / people)),
            people=people,
            confidence=level,
        )

    def check_values(self, values: IntArray) -> IntArray:
        """Return what people hold as an array on the grid, refusing all else unquoted."""
        array = np.asarray(values)
        if array.dtype != np.int64 or array.ndim != 1:
            raise InvalidArgument(
                "The values have another form",
                must="be a flat array of 64-bit integers",
                got=f"{array.dtype} of shape {array.shape}",
            )
        if array.size and not 0 <= array.min() <= array.max() <= self.most:
            raise InvalidArgument(
                "A value is out of range", must=f"be a whole number from 0 to {self.most}"
            )
        return array


def grid(most: Number, *, largest: int = MOST_VALUE) -> int:
    """Return the most of a grid, refusing what is none."""
    every = check.whole(most)
    check_most(every, largest=largest)
    return every


def check_most(most: int, *, largest: int = MOST_VALUE) -> None:
    """Refuse a grid that is empty or too long."""
    if not 1 <= most <= largest:
        raise InvalidArgument(
            "most is out of range", must=f"be at least 1 and at most {largest}", got=str(most)
        )
