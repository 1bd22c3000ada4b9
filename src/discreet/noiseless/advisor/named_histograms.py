"""Histograms by name: which law of the rows makes which histogram."""

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.check import positive, whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import written
from discreet.noiseless.advisor.law_text import WrittenLaw, numbers_of
from discreet.noiseless.advisor.statistic_question import NamedStatistic, StatisticQuestion
from discreet.noiseless.certifiable import PrivacyTarget
from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.noiseless.histograms.resampled_cells import FixedHistogram
from discreet.noiseless.histograms.size_laws import two_sided_geometric
from discreet.noiseless.histograms.sized_histogram import (
    DiscardedHistogram,
    PopulationHistogram,
    SizedHistogram,
)
from discreet.noiseless.histograms.truncated_histogram import (
    PoissonHistogram,
    SampledHistogram,
    TruncatedHistogram,
)


def _poisson(law: WrittenLaw, k: int, known: int) -> TruncatedHistogram:
    law.numbers()
    return PoissonHistogram(truncation=k, known=known)


def _sampled(law: WrittenLaw, k: int, known: int) -> TruncatedHistogram:
    names = ("share", "largest") if len(law.values) + len(law.named) > 1 else ("share",)
    share, *largest = law.numbers(*names).values()
    most = whole(largest[0]) if largest else None
    return SampledHistogram(truncation=k, known=known, share=share, largest=most)


def _sized(law: WrittenLaw, k: int, known: int) -> TruncatedHistogram:
    said = law.numbers("rows", "epsilon")
    sizes = two_sided_geometric(whole(said["rows"]), said["epsilon"])
    return SizedHistogram(truncation=k, known=known, sizes=sizes)


def _population(law: WrittenLaw, k: int, known: int) -> TruncatedHistogram:
    said = law.numbers("people", "cell", "rows", "epsilon")
    people = whole(said["people"])
    sizes = two_sided_geometric(whole(said["rows"]), said["epsilon"], largest=people)
    return PopulationHistogram(
        truncation=k, known=known, population=people, cells=[whole(said["cell"])], sizes=sizes
    )


LAWS: dict[str, Callable[[WrittenLaw, int, int], TruncatedHistogram]] = {
    "poisson": _poisson,
    "sampled": _sampled,
    "sized": _sized,
    "population": _population,
}
"""How the rows of a histogram came to be, by name."""


@frozen(kw_only=True)
class FixedCells(FixedHistogram):
    """A histogram of a declared number of rows, of which small cells may be suppressed.

    Guarantee:
        That of all counts: suppressing some is post-processing.

    Attributes:
        truncation: The least count that is shown.

    Example:
        >>> FixedCells(rows=2000, least_share="0.1", truncation=5).statistic
        'the count of every cell of 2,000 rows that has at least 5 of them, and 0 for others'
    """

    truncation: int = field(default=1, converter=whole, validator=positive)

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return (
            f"the count of every cell of {self.rows:,} rows that has at least {self.truncation} of "
            "them, and 0 for others"
        )

    def discarding(self, target: PrivacyTarget) -> RandomDiscarding | None:
        """Return a way to leave out rows with which the target is kept; None if none was found.

        Nobody then knows how many rows were counted, and that hides a person in any cell that is
        shown, however rare it is.
        """
        if not target.delta:
            return None
        delta = _plain(target.delta / 10)
        for part in _PARTS:
            try:
                epsilon = _plain(target.epsilon / part)
                tried = RandomDiscarding.calibrate(rows=self.rows, epsilon=epsilon, delta=delta)
            except InvalidArgument:  # more rows would go than are ever thrown away
                continue
            kept = DiscardedHistogram(
                truncation=self.truncation, known=self.known, discarding=tried
            )
            if min(kept.deltas(target.epsilon).values()) <= target.delta:
                return tried
        return None

    def rows_to_discard(self, target: PrivacyTarget) -> int | None:
        """Return how many rows are left out in 95 of 100 cases, at most."""
        found = self.discarding(target)
        return None if found is None else found.loss_quantile("0.05")

    def how_to_discard(self, target: PrivacyTarget) -> str:
        """Return in a sentence how many rows are left out, and how it is declared."""
        found = self.discarding(target)
        if found is None:
            return ""
        return (
            f"How many is drawn too, or everybody would know it: {found.shift:,} and discrete "
            f"Laplace noise of scale {written(found.scale)}. The gate does so with "
            f'law = "discarded()" and discard = {{ epsilon = {written(1 / found.scale)}, '
            f"delta = {written(_plain(target.delta / 10))} }}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return super().to_json() | {"truncation": self.truncation}


def _plain(value: Fraction) -> Fraction:
    """Return a decimal of four digits that is not above.

    Example:
        >>> _plain(Fraction(1, 12))
        Fraction(8333, 100000)
    """
    context = Context(prec=4, rounding=ROUND_FLOOR)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


_PARTS = (4, 5, 8)
"""Which parts of the wanted ε are tried for the number of rows; the rest is for the cell."""


def _fixed(law: WrittenLaw, question: StatisticQuestion) -> FixedCells:
    shown, rows = question.suppress_below or 1, question.needed("rows")
    if law.kind == "fixed":
        least = law.numbers("least_share")["least_share"]
        return FixedCells(rows=rows, known=question.known, least_share=least, truncation=shown)
    return FixedCells(rows=rows, known=question.known, shares=numbers_of(law), truncation=shown)


FIXED = ("fixed", "shares")


def _histogram(question: StatisticQuestion) -> TruncatedHistogram | FixedCells:
    law = question.written_law((*LAWS, *FIXED))
    if law.kind in FIXED:
        return _fixed(law, question)
    if question.rows is not None:
        raise InvalidArgument(
            f"With the law {law.kind!r} nobody knows how many rows there are",
            must="come without the number of rows, or with the law fixed(least_share)",
        )
    return LAWS[law.kind](law, question.suppress_below or 1, question.known)


HISTOGRAM = NamedStatistic(
    _histogram,
    "counts by cell, of which small ones can be suppressed",
    {"rows", "known", "suppress_below"},
)
