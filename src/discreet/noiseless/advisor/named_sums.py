"""Sums and means by name."""

from functools import partial

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.asserted_laws import row_law
from discreet.noiseless.advisor.law_of_columns import is_of_columns, law_of_columns, names_of
from discreet.noiseless.advisor.statistic_question import (
    Dependence,
    NamedStatistic,
    StatisticQuestion,
)
from discreet.noiseless.sums.exact_sum import ExactMean, ExactSum


def _sum(kind: type[ExactSum], question: StatisticQuestion) -> ExactSum:
    written = question.needed("law")
    if is_of_columns(written):
        law = law_of_columns(written, question.ends_of(names_of(written)))
    else:
        law = row_law(written, question.ends())
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

SUM = NamedStatistic(partial(_sum, ExactSum), "the sum of a column, or of several", _USES)
MEAN = NamedStatistic(partial(_sum, ExactMean), "the mean of a column, or of several", _USES)
