"""Truncated histograms under sampling: what an owner may assert, and what follows from it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written
from discreet.core.search import smallest
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets, noise_on_counts
from discreet.noiseless.histograms.cell_terms import MOST_TRUNCATION
from discreet.noiseless.histograms.poisson_cells import TwoSides, poisson_sides
from discreet.noiseless.histograms.sampled_cells import sampled_sides


@frozen(kw_only=True)
class TruncatedHistogram(ABC):
    """Counts by cell, of which those below k are shown as 0.

    Which cells are shown is decided behind the gate. Here k alone is named, and no row is read.

    Attributes:
        truncation: k, the least count that is shown.
        known: Rows that the adversary may know, or more, of any one cell. A cell in which all of
            them are hides the person as a cell without them would, if k were smaller by so many.
    """

    kind: ClassVar[str]
    way: ClassVar[Way] = Way.TIGHT
    truncation: int = field(converter=check.whole, validator=check.between(1, MOST_TRUNCATION))
    known: int = field(default=0, converter=check.whole, validator=check.non_negative)

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"the count of every cell that has at least {self.truncation} rows, and 0 for others"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return "the same histogram of all rows but that one"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        known = (
            f"Of the rows of any one cell the adversary knows at most {self.known}, and did not "
            "choose them by what is in them."
        )
        return (*self._of_the_law(), known, "The cells were fixed before anyone saw the rows.")

    @abstractmethod
    def _of_the_law(self) -> tuple[str, ...]:
        """Return what is assumed about how rows came to be."""

    @abstractmethod
    def sides(self, epsilon: Fraction) -> TwoSides:
        """Return upper bounds of δ in both directions."""

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return an upper bound of δ at an ε, the same for every cell."""
        return {self.way: self.sides(exact(epsilon)).worst}

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the least k, and the most rows of one cell that may be known."""
        least = self.least_truncation(target)
        hidden = None if least is None else least - self.known
        most = None if hidden is None or hidden > self.truncation else self.truncation - hidden
        most = None if most is None else self._most_known(target, most)
        return (
            BreakingPoint(
                "the least count that is shown",
                None if least is None else Fraction(least),
                "With a smaller k, a cell that is shown has too few rows to hide one.",
            ),
            BreakingPoint(
                "rows of one cell that the adversary knows",
                None if most is None else Fraction(most),
                "Who knows more of them subtracts them, and too few are left.",
            ),
        )

    def _most_known(self, target: PrivacyTarget, most: int) -> int | None:
        """Return the largest number of known rows up to ``most`` with which the target is met."""
        if meets(evolve(self, known=most), target):
            return most
        too_many = smallest(
            lambda known: known >= most or not meets(evolve(self, known=known), target),
            near=min(most, self.known),
        )
        return too_many - 1 if too_many else None

    def least_truncation(self, target: PrivacyTarget) -> int | None:
        """Return the least k with which the target is met, or None if none up to 20,000 does.

        A larger k shows a function of what a smaller one shows, so all larger ones will do too.

        Example:
            >>> wanted = PrivacyTarget(exact("0.3"), exact("3e-3"))
            >>> PoissonHistogram(truncation=5).least_truncation(wanted)
            40
        """

        def will_do(k: int) -> bool:
            return k > MOST_TRUNCATION or meets(evolve(self, truncation=k), target)

        found = smallest(will_do, start=1, near=min(MOST_TRUNCATION, self.truncation))
        return None if found > MOST_TRUNCATION else found

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return what discrete Laplace noise on every count would cost, for the same ε."""
        return noise_on_counts(
            target,
            moved=1,
            where="every count",
            words=lambda error: f", and 95 of 100 counts would be within {error}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "statistic": "truncated_histogram",
            "truncation": self.truncation,
            "known": self.known,
            "law": {"kind": self.kind, **self._law_json()},
        }

    def _law_json(self) -> dict[str, Any]:
        return {}

    @property
    def _hidden(self) -> int:
        """What is left of k when known rows are subtracted."""
        return max(1, self.truncation - self.known)


@frozen(kw_only=True)
class PoissonHistogram(TruncatedHistogram):
    """A histogram of a Poisson number of rows, such as whoever comes in a year.

    Guarantee:
        :func:`discreet.noiseless.histograms.poisson_cells.poisson_sides`. It holds for every mean
        of every cell at once, so none is asserted, and for mixtures of them.

    Example:
        >>> histogram = PoissonHistogram(truncation=51)
        >>> float(histogram.deltas(exact("0.6"))[Way.TIGHT]) < 3e-6
        True
    """

    kind: ClassVar[str] = "poisson"

    def _of_the_law(self) -> tuple[str, ...]:
        how = (
            "How many rows a cell has is Poisson, independently of the other cells and of whether "
            "a given row is among them. The means may be anything."
        )
        return (how,)

    def sides(self, epsilon: Fraction) -> TwoSides:
        """Return upper bounds of δ in both directions."""
        return poisson_sides(epsilon, self._hidden)


@frozen(kw_only=True)
class SampledHistogram(TruncatedHistogram):
    """A histogram of a sample, for which a coin was tossed for each person of a population.

    Guarantee:
        :func:`discreet.noiseless.histograms.sampled_cells.sampled_sides`. It holds for every
        population at once.

    Attributes:
        share: The probability with which a person is in the sample.
        largest: The most people that a cell of the population has, if that is known.

    Example:
        >>> half = SampledHistogram(truncation=34, share="1/2")
        >>> float(half.deltas(exact("1.5"))[Way.TIGHT]) < 3e-6
        True
    """

    kind: ClassVar[str] = "sampled"
    share: Fraction = field(converter=exact, validator=check.probability)
    largest: int | None = field(default=None, converter=check.optional_whole)

    def __attrs_post_init__(self) -> None:
        if self.largest is not None and self.largest < 1:
            raise InvalidArgument(
                "largest is out of range", must="be at least 1", got=str(self.largest)
            )

    def _of_the_law(self) -> tuple[str, ...]:
        coins = (
            f"Each member of a population is in the rows with probability {written(self.share)}, "
            "independently of all others."
        )
        return (
            coins,
            "The population may be anything, and the adversary may know it."
            if self.largest is None
            else f"No cell of the population has more than {self.largest} members.",
        )

    def sides(self, epsilon: Fraction) -> TwoSides:
        """Return upper bounds of δ in both directions."""
        return sampled_sides(epsilon, self._hidden, self.share, self.largest)

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return also the largest share that may be sampled, to a thousandth."""
        per_mille = smallest(
            lambda step: (
                step >= 1000 or not meets(evolve(self, share=Fraction(step + 1, 1000)), target)
            )
        )
        sampled = BreakingPoint(
            "the share of the population that is in the sample",
            Fraction(per_mille, 1000) if per_mille else None,
            "If nearly everyone is in the sample, too few are left out to hide one.",
        )
        return (*super().breaking_points(target), sampled)

    def _law_json(self) -> dict[str, Any]:
        return {"share": str(self.share), "largest": self.largest}
