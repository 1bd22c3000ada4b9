"""Histograms by name: which law of the rows makes which histogram."""

from collections.abc import Callable

from discreet.core.check import whole
from discreet.noiseless.advisor.law_text import WrittenLaw
from discreet.noiseless.advisor.statistic_question import NamedStatistic, StatisticQuestion
from discreet.noiseless.histograms.size_laws import two_sided_geometric
from discreet.noiseless.histograms.sized_histogram import PopulationHistogram, SizedHistogram
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


def _histogram(question: StatisticQuestion) -> TruncatedHistogram:
    law = question.written_law(LAWS)
    return LAWS[law.kind](law, question.suppress_below or 1, question.known)


HISTOGRAM = NamedStatistic(
    _histogram,
    "counts by cell, of which small ones can be suppressed",
    {"known", "suppress_below"},
)
