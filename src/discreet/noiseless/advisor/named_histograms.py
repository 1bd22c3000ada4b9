"""Histograms by name: which law of the rows makes which histogram."""

from collections.abc import Callable

from discreet.noiseless.advisor.law_text import WrittenLaw
from discreet.noiseless.advisor.statistic_question import NamedStatistic, StatisticQuestion
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
    return SampledHistogram(truncation=k, known=known, **law.numbers(*names))  # type: ignore[arg-type]


_LAWS: dict[str, Callable[[WrittenLaw, int, int], TruncatedHistogram]] = {
    "poisson": _poisson,
    "sampled": _sampled,
}


def _histogram(question: StatisticQuestion) -> TruncatedHistogram:
    law = question.written_law(_LAWS)
    return _LAWS[law.kind](law, question.suppress_below or 1, question.known)


HISTOGRAM = NamedStatistic(
    _histogram,
    "counts by cell, of which small ones can be suppressed",
    {"known", "suppress_below"},
)
