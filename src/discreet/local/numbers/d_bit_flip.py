"""A histogram from a few bits a person, each about a bucket that was drawn."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.share_estimate import CONFIDENCE, ShareEstimate
from discreet.local.numbers.one_bit_mean import check_truth
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.randomness.samplers import bernoulli, uniform_integers

_MOST_BUCKETS = 2**20
_MOST_BITS = 64


@frozen(kw_only=True)
class DBitFlip(FrequencyScheme):
    r"""Report of ``bits`` buckets, drawn at random, whether each holds the value, or the opposite.

    Which buckets are reported on is drawn without regard to the value, and stands in the report;
    each bit is true with probability :math:`p`, ``truth / UNIT`` [DKY17, section 3].

    Guarantee:
        Two values differ in two bits at most, and in one if only one bit is reported; each of them
        has odds of :math:`p/(1-p)`. So the odds are the square of that, or with one bit that
        itself, and any two values attain them where their buckets are drawn.

    Utility:
        A report supports a bucket if it says 1 of it: with probability :math:`dp/k` if the value
        is there, else :math:`d(1-p)/k`. Intervals follow from the number of supports
        (:class:`~discreet.local.frequency.share_estimate.ShareEstimate`). The estimate itself also
        uses the zeros: :math:`k(C_1 - qC)/(nd(p-q))` for :math:`C_1` ones of :math:`C` bits, with
        :math:`q = 1-p`; it is unbiased and varies less; it need not be in the middle of the
        interval, and for a small loss it is now and then outside of it.

    Example:
        >>> scheme = DBitFlip.calibrate(categories=32, bits=4, epsilon=1)
        >>> scheme.size, round(float(scheme.event().epsilon), 9)
        (4, 1.0)
    """

    kind: ClassVar[str] = "d_bit_flip"
    categories: int = field(converter=check.whole)
    bits: int = field(converter=check.whole)
    truth: int = field(converter=check.whole)

    @categories.validator
    def _several(self, _: object, categories: int) -> None:
        if not 2 <= categories <= _MOST_BUCKETS:
            raise InvalidArgument(
                "categories is out of range",
                must=f"be at least 2 and at most {_MOST_BUCKETS}",
                got=str(categories),
            )

    @bits.validator
    def _no_bucket_twice(self, _: object, bits: int) -> None:
        if not 1 <= bits <= min(self.categories, _MOST_BITS):
            raise InvalidArgument(
                "bits is out of range",
                must=f"be at least 1 and at most {min(self.categories, _MOST_BITS)}",
                got=str(bits),
            )

    @truth.validator
    def _more_than_a_guess(self, _: object, truth: int) -> None:
        check_truth(truth)

    @classmethod
    def calibrate(cls, *, categories: int, bits: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows."""
        odds = most_odds(exact(epsilon) / min(2, check.at_least_one(bits, "bits")))
        return cls(categories=categories, bits=bits, truth=threshold_below(odds / (odds + 1)))

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return self.bits * bytes_below(2 * self.categories)

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "buckets": self.categories,
            "bits": self.bits,
            "truth": self.truth,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return Fraction(self.truth, (1 << 52) - self.truth) ** min(2, self.bits)

    @property
    def held(self) -> Fraction:
        """How likely a report says 1 of the bucket of its person."""
        return Fraction(self.bits, self.categories) * part(self.truth)

    @property
    def other(self) -> Fraction:
        """How likely a report says 1 of any one other bucket."""
        return Fraction(self.bits, self.categories) * (1 - part(self.truth))

    def variance(self, people: int, *, share: Fraction = Fraction(0)) -> Fraction:
        """Return the exact variance of an estimated share, for people whose values are fixed."""
        p, drawn = part(self.truth), Fraction(self.bits, self.categories)
        holders = share * (1 - drawn) / drawn
        return (p * (1 - p) / (drawn * (2 * p - 1) ** 2) + holders) / people

    def counts_for(self) -> tuple[Fraction, Fraction]:
        """Return the least and the most that one report counts for: a 0 of a bucket, and a 1."""
        gap = self.held - self.other
        return (part(self.truth) - 1) / gap, part(self.truth) / gap

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        chosen: list[IntArray] = []
        told = []
        for turn in range(self.bits):
            bucket = uniform_integers(self.categories - turn, held.size, rng)
            for before in chosen:
                bucket += bucket >= before
            chosen = _sorted_in(chosen, bucket)
            bit = bernoulli(part(self.truth), held.size, rng) == (bucket == held)
            told.append(as_reports(2 * bucket + bit, 2 * self.categories))
        return np.hstack(told)

    def tally(self, reports: Reports) -> IntArray:
        """Return how often each bucket was reported with 0 and with 1: even and odd places."""
        told = self._told(self.check_possible(reports))
        return np.bincount(told.ravel(), minlength=2 * self.categories)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: of so many buckets, none of them twice."""
        told = self._told(self.check_reports(reports))
        buckets = np.sort(told // 2, axis=1)
        is_once = (np.diff(buckets, axis=1) > 0).all(axis=1)
        return np.asarray((told < 2 * self.categories).all(axis=1) & is_once)

    def _told(self, reports: Reports) -> IntArray:
        """Return what each report tells: twice a bucket, and its bit, for each of its buckets."""
        told = as_numbers(reports.reshape(-1, bytes_below(2 * self.categories)))
        return told.reshape(-1, self.bits)

    def supports(self, tally: IntArray) -> IntArray:
        """Return how many reports say 1 of each bucket."""
        return tally[1::2]

    def estimate_tally(
        self,
        tally: IntArray,
        people: int,
        *,
        confidence: Number = CONFIDENCE,
        together: bool = False,
    ) -> ShareEstimate:
        """Return the share of each bucket from the tally of the reports of so many people."""
        by_ones = super().estimate_tally(tally, people, confidence=confidence, together=together)
        p, drawn = float(part(self.truth)), self.bits / self.categories
        ones, zeros = tally[1::2].astype(np.float64), tally[::2].astype(np.float64)
        shares = (p * ones - (1.0 - p) * zeros) / (people * drawn * (2.0 * p - 1.0))
        spread = p * (1.0 - p) / (2.0 * p - 1.0) ** 2 + np.clip(shares, 0, 1) * (1.0 - drawn)
        return evolve(by_ones, shares=shares, errors=np.sqrt(spread / (people * drawn)))


def _sorted_in(columns: list[IntArray], added: IntArray) -> list[IntArray]:
    """Return rising columns with one more, still rising in every row."""
    found = []
    for column in columns:
        found.append(np.minimum(column, added))
        added = np.maximum(column, added)
    return [*found, added]
