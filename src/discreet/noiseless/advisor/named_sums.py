"""Sums and means by name."""

from functools import partial

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.asserted_laws import PublicEnds, row_law
from discreet.noiseless.advisor.statistic_question import (
    Dependence,
    NamedStatistic,
    StatisticQuestion,
)
from discreet.noiseless.sums.exact_sum import ExactMean, ExactSum


def _sum(kind: type[ExactSum], question: StatisticQuestion) -> ExactSum:
    law = row_law(question.needed("law"), PublicEnds(question.clamps, question.grid))
    if question.dependence is Dependence.MIXTURE and len(law.members()) < 2:
        raise InvalidArgument(
            "Rows that depend on one another need a mixture",
            must="have a law for each case of what they depend on, such as "
            "mixture(normal(60, 10), normal(70, 10))",
            next="Given each case rows must be independent",
        )
    return kind(
        law,
        rows=question.needed("rows"),
        known=question.known,
        known_rows=question.known_rows,
        chosen=question.chosen,
    )


_USES = {"rows", "known", "known_rows", "chosen", "clamps", "grid", "dependence"}

SUM = NamedStatistic(partial(_sum, ExactSum), "the sum of a column", _USES)
MEAN = NamedStatistic(partial(_sum, ExactMean), "the mean of a column", _USES)
