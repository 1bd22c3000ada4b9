"""Exact regression lines by name, from a design that is declared or from the law of its columns."""

from collections.abc import Mapping

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.asserted_laws import PublicEnds
from discreet.noiseless.advisor.law_of_columns import (
    floor_of,
    is_of_columns,
    law_of_columns,
    names_of,
)
from discreet.noiseless.advisor.statistic_question import NamedStatistic, StatisticQuestion
from discreet.noiseless.laws.hidden import Interval, RowLaw
from discreet.noiseless.regression.design import RegressionDesign
from discreet.noiseless.regression.exact_regression import ExactRegression, RowUse
from discreet.noiseless.regression.grid_design import GridColumn, GridDesign
from discreet.noiseless.regression.grid_regression import GridRegression


def _regression(question: StatisticQuestion) -> ExactRegression | GridRegression:
    design = question.needed("law")
    if is_of_columns(design):
        ends = question.ends_of(names_of(design))
        design = _on_grids(law_of_columns(design, ends), ends)
    elif question.clamps is not None or question.grid is not None:
        raise InvalidArgument(
            "A design has its clamps and its grid",
            must="come without a range and without a grid",
        )
    rows, known = question.needed("rows"), question.known
    if isinstance(design, GridDesign):
        if question.use not in (None, RowUse.SPLIT.value):
            raise InvalidArgument(
                "Rounded rows serve one average each", must="be split", got=str(question.use)
            )
        return GridRegression.plan(design, rows=rows, known=known)
    if not isinstance(design, RegressionDesign):
        raise InvalidArgument(
            "The law of a regression is its design",
            must="be a RegressionDesign or a GridDesign, or joint(...) of columns on a grid",
            next="In a file, write [law.regressors.NAME] and [law.outcome.NAME] with low and high",
        )
    return ExactRegression.plan(design, rows=rows, known=known, use=question.use or RowUse.SPLIT)


def _on_grids(law: RowLaw, ends: Mapping[str, PublicEnds]) -> GridDesign:
    """Return the design of rounded columns; the last one is the outcome."""
    floor, blocks = floor_of(law)
    columns = [
        _column(name, one, block) for (name, one), block in zip(ends.items(), blocks, strict=True)
    ]
    return GridDesign(regressors=columns[:-1], outcome=columns[-1], floor=floor)


def _column(name: str, ends: PublicEnds, block: Interval) -> GridColumn:
    clamps = ends.between(*block)
    assert ends.grid is not None  # or the law would have no floor
    return GridColumn(name=name, clamps=clamps, block=block, step=ends.grid)


REGRESSION = NamedStatistic(
    _regression, "the line of one column on others", {"rows", "known", "use", "clamps", "grid"}
)
