"""Exact regression lines by name, from a design that is declared."""

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.statistic_question import NamedStatistic, StatisticQuestion
from discreet.noiseless.regression.design import RegressionDesign
from discreet.noiseless.regression.exact_regression import ExactRegression, RowUse


def _regression(question: StatisticQuestion) -> ExactRegression:
    design = question.needed("law")
    if not isinstance(design, RegressionDesign):
        raise InvalidArgument(
            "The law of a regression is its design",
            must="be a RegressionDesign: columns with their clamps, and a density on their box",
            next="In a file, write [law.regressors.NAME] and [law.outcome.NAME] with low and high",
        )
    return ExactRegression.plan(
        design,
        rows=question.needed("rows"),
        known=question.known,
        use=question.use or RowUse.SPLIT,
    )


REGRESSION = NamedStatistic(
    _regression, "the line of one column on others", {"rows", "known", "use"}
)
