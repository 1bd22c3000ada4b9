"""From a declared exact release to the statistic that is certified, on the grid that the gate has.

The engine's numbers are whole steps of a declared grid, so only laws on a grid serve here: rounded
values have no density. A regression has its own: moments of rounded rows, over parts of a split.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.errors import DeclarationError, DiscreetError, InvalidArgument
from discreet.core.numbers import written
from discreet.noiseless.advisor.asserted_laws import PublicEnds, row_law
from discreet.noiseless.advisor.law_of_columns import (
    COLUMNS,
    JOINT,
    floor_of,
    is_of_columns,
    law_of_columns,
)
from discreet.noiseless.advisor.law_text import KIND, WrittenLaw, law_of_table, read_law
from discreet.noiseless.certifiable import Certifiable
from discreet.noiseless.exact.exact_choice import (
    ComparedTotal,
    counted_threshold,
    most_common_key,
)
from discreet.noiseless.exact.exact_feature import bounds_of, grid_column
from discreet.noiseless.exact.exact_plan import ExactPlan
from discreet.noiseless.histograms.resampled_cells import FixedHistogram
from discreet.noiseless.histograms.sized_histogram import DiscardedHistogram
from discreet.noiseless.histograms.truncated_histogram import PoissonHistogram, SampledHistogram
from discreet.noiseless.laws.hidden import RowLaw
from discreet.noiseless.regression.grid_design import GridDesign
from discreet.noiseless.regression.grid_regression import GridRegression
from discreet.noiseless.sums.exact_sum import ExactMean, ExactSum
from discreet.tables.exact_declaration import ExactKind

_BITS = PublicEnds((Fraction(0), Fraction(1)), Fraction(1))
"""A row that is counted is 1, and another one is 0."""


def statistic_of(plan: ExactPlan) -> Certifiable:
    """Return the statistic of a plan under its declared law; errors name where it stands."""
    try:
        return _STATISTICS[plan.declared.kind](plan)
    except DeclarationError:
        raise
    except DiscreetError as cause:
        raise DeclarationError(
            f"{plan.declared.place}: {cause.what}",
            must=cause.must,
            got=cause.got,
            next=cause.next,
        ) from None


def _written(law: Any) -> WrittenLaw:
    return read_law(law) if isinstance(law, str) else law_of_table(law)


def _sum(plan: ExactPlan) -> ExactSum:
    declared = plan.declared
    kind = ExactMean if declared.kind is ExactKind.MEAN else ExactSum
    return kind(_law_of_columns(plan), rows=declared.rows, known=declared.known)


def _law_of_columns(plan: ExactPlan) -> RowLaw:
    """Return the law of a row: that of the one column, or of several together."""
    ends = {name: _ends(plan, name) for name in plan.declared.columns}
    law = plan.declared.law
    if len(ends) == 1:
        (one,) = ends.values()
        return row_law(_written(law), one)
    if isinstance(law, dict) and KIND not in law:
        return law_of_columns(law_of_table({KIND: COLUMNS} | law), ends)
    found = _written(law)
    if not is_of_columns(found):
        raise InvalidArgument(
            "The law of several columns is that of each",
            must=f"be {COLUMNS}(...) or {JOINT}(...) with {', '.join(ends)}, or a table with one "
            "for each",
        )
    return law_of_columns(found, ends)


def _ends(plan: ExactPlan, name: str) -> PublicEnds:
    bounds = bounds_of(plan.table.column(name))
    return PublicEnds((bounds.lower, bounds.upper), bounds.step)


def _regression(plan: ExactPlan) -> GridRegression:
    """Return the line; every part has as many rows as are declared."""
    declared = plan.declared
    floor, blocks = floor_of(_law_of_columns(plan))
    columns = [
        grid_column(column, has_intercept=declared.has_intercept, block=block)
        for column, block in zip(plan.numbers, blocks, strict=True)
    ]
    design = GridDesign(
        regressors=columns[:-1],
        outcome=columns[-1],
        floor=floor,
        has_intercept=declared.has_intercept,
    )
    return GridRegression(
        design=design, sizes=[declared.rows] * len(declared.parts), known=declared.known
    )


def _count(plan: ExactPlan) -> ExactSum:
    declared = plan.declared
    law = row_law(_written(declared.law), _BITS)
    return ExactSum(law, rows=declared.rows, known=declared.known)


def _threshold(plan: ExactPlan) -> Certifiable:
    declared = plan.declared
    if declared.is_choice_by_counts:
        return counted_threshold(declared, _written(declared.law))
    return ComparedTotal(_sum(plan), declared.least_yes)


def _most_common(plan: ExactPlan) -> Certifiable:
    return most_common_key(plan.declared, plan.bins, _written(plan.declared.law))


def _histogram(plan: ExactPlan) -> Certifiable:
    law = _written(plan.declared.law)
    build = _HISTOGRAMS.get(law.kind)
    if build is None:
        raise InvalidArgument(
            "There is no such law for a histogram",
            must=f"be one of {', '.join(_HISTOGRAMS)}",
            got=law.kind,
        )
    if (plan.discarding is not None) != (law.kind == "discarded"):
        raise InvalidArgument(
            "Rows are discarded under the law 'discarded', and under no other",
            must="have both discard and that law, or neither",
        )
    return build(plan, law)


def _poisson(plan: ExactPlan, law: WrittenLaw) -> Certifiable:
    law.numbers()
    return PoissonHistogram(truncation=plan.least, known=plan.declared.known)


def _sampled(plan: ExactPlan, law: WrittenLaw) -> Certifiable:
    names = ("share", "largest") if len(law.values) + len(law.named) > 1 else ("share",)
    said = law.numbers(*names)
    return SampledHistogram(
        truncation=plan.least,
        known=plan.declared.known,
        share=said["share"],
        **({"largest": said["largest"]} if "largest" in said else {}),
    )


def _fixed(plan: ExactPlan, law: WrittenLaw) -> Certifiable:
    """Return the histogram of a known number of rows.

    Leaving out small counts is a function of all counts, so the certificate holds for what is left.
    """
    least = law.numbers("least_share")["least_share"]
    if least * len(plan.bins) > 1:
        raise InvalidArgument(
            "Such a law cannot be true",
            must=f"have a least share of at most 1/{len(plan.bins)}, as there are so many bins",
            got=written(least),
        )
    declared = plan.declared
    return FixedHistogram(rows=declared.rows, known=declared.known, least_share=least)


def _discarded(plan: ExactPlan, law: WrittenLaw) -> Certifiable:
    law.numbers()
    assert plan.discarding is not None  # or it would have been refused
    return DiscardedHistogram(
        truncation=plan.least, known=plan.declared.known, discarding=plan.discarding
    )


_HISTOGRAMS: Mapping[str, Callable[[ExactPlan, WrittenLaw], Certifiable]] = {
    "poisson": _poisson,
    "sampled": _sampled,
    "fixed": _fixed,
    "discarded": _discarded,
}
"""The laws that histograms have."""

_STATISTICS: Mapping[ExactKind, Callable[[ExactPlan], Certifiable]] = {
    ExactKind.SUM: _sum,
    ExactKind.MEAN: _sum,
    ExactKind.COUNT: _count,
    ExactKind.HISTOGRAM: _histogram,
    ExactKind.REGRESSION: _regression,
    ExactKind.THRESHOLD: _threshold,
    ExactKind.MAJORITY: _threshold,
    ExactKind.ARGMAX: _most_common,
}
