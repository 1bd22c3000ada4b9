"""What schemes for shares have in common: each report supports some values, and not others."""

from abc import abstractmethod
from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.local.frequency.share_estimate import CONFIDENCE, ShareEstimate, estimate_shares
from discreet.local.report_numbers import Reports
from discreet.local.scheme import Scheme
from discreet.mechanisms.response.reports import answers


class FrequencyScheme(Scheme):
    r"""A scheme whose reports support the value that is held with one probability, others with one.

    Utility:
        A report supports the value of its person with probability ``held`` and any other with
        probability ``other``, over all that the device draws [WBLJ17, section 3]. From the number
        of reports that support a value its share follows: :mod:`.share_estimate`. At a share of 0
        the variance is :math:`q(1-q)/(n(p-q)^2)`.
    """

    categories: int

    @property
    @abstractmethod
    def held(self) -> Fraction:
        """How likely a report supports the value of its person."""

    @property
    @abstractmethod
    def other(self) -> Fraction:
        """How likely a report supports any one value that its person does not hold."""

    def worst_pair(self) -> tuple[int, int]:
        """Return two values for which some report attains the odds: any two, if not said here."""
        return 0, 1

    def supports(self, tally: IntArray) -> IntArray:
        """Return how many reports support each value: what a tally counts, if not said here."""
        return tally

    def estimate(
        self, reports: Reports, *, confidence: Number = CONFIDENCE, together: bool = False
    ) -> ShareEstimate:
        """Return the share of each value among the people who reported."""
        array = self.check_reports(reports)
        return self.estimate_tally(
            self.tally(array), len(array), confidence=confidence, together=together
        )

    def estimate_tally(
        self,
        tally: IntArray,
        people: int,
        *,
        confidence: Number = CONFIDENCE,
        together: bool = False,
    ) -> ShareEstimate:
        """Return the same from the tally of the reports of so many people."""
        return estimate_shares(
            self.supports(tally),
            people,
            held=self.held,
            other=self.other,
            confidence=confidence,
            together=together,
        )

    def variance(self, people: int, *, share: Fraction = Fraction(0)) -> Fraction:
        """Return the exact variance of an estimated share, for people whose values are fixed."""
        p, q = self.held, self.other
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (people * (p - q) ** 2)

    def counts_for(self) -> tuple[Fraction, Fraction]:
        """Return the least and the most that one report counts for in an estimated share."""
        gap = self.held - self.other
        return -self.other / gap, (1 - self.other) / gap

    def check_values(self, values: IntArray) -> IntArray:
        """Return what people hold as an array of categories, refusing anything else unquoted."""
        array = answers(values, self.categories)
        if array.ndim != 1:
            raise InvalidArgument(
                "The values have another form", must="be a flat array", got=f"shape {array.shape}"
            )
        return array
