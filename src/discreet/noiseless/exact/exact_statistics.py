"""From a declared exact release to the statistic that is certified, on the grid that the gate has.

The engine's numbers are whole steps of a declared grid, so only laws on a grid serve here: rounded
values have no density. That is why no exact regression goes through the gate.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.errors import DeclarationError, DiscreetError, InvalidArgument
from discreet.noiseless.advisor.asserted_laws import PublicEnds, row_law
from discreet.noiseless.advisor.law_text import WrittenLaw, law_of_table, read_law
from discreet.noiseless.certifiable import Certifiable
from discreet.noiseless.exact.exact_plan import ExactPlan
from discreet.noiseless.exact.independent_columns import IndependentColumns
from discreet.noiseless.histograms.resampled_cells import FixedHistogram
from discreet.noiseless.histograms.sized_histogram import SizedHistogram
from discreet.noiseless.histograms.truncated_histogram import PoissonHistogram, SampledHistogram
from discreet.noiseless.laws.hidden import RowLaw
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
    """Return the law of a row: that of the one column, or of several that are independent."""
    names, law = plan.declared.columns, plan.declared.law
    if len(names) == 1:
        return _of_column(plan, names[0], law)
    if isinstance(law, str) or set(law) != set(names):
        raise InvalidArgument(
            "The law of several columns is that of each",
            must=f'be a table with {", ".join(names)}, such as {{ {names[0]} = "uniform(0, 9)" }}',
        )
    return IndependentColumns(tuple(_of_column(plan, name, law[name]) for name in names))


def _of_column(plan: ExactPlan, name: str, law: Any) -> RowLaw:
    bounds = plan.table.column(name).bounds
    assert bounds is not None  # or the declaration would have been refused
    clamps = (bounds.lower, bounds.upper)
    return row_law(_written(law), PublicEnds(clamps, bounds.step))


def _count(plan: ExactPlan) -> ExactSum:
    declared = plan.declared
    law = row_law(_written(declared.law), _BITS)
    return ExactSum(law, rows=declared.rows, known=declared.known)


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
    """Return the histogram of a known number of rows, of which known ones hide nothing.

    Leaving out small counts is a function of all counts, so the certificate holds for what is left.
    """
    least = law.numbers("least_share")["least_share"]
    return FixedHistogram(rows=plan.declared.rows - plan.declared.known, least_share=least)


def _discarded(plan: ExactPlan, law: WrittenLaw) -> Certifiable:
    law.numbers()
    assert plan.discarding is not None  # or it would have been refused
    return SizedHistogram(
        truncation=plan.least, known=plan.declared.known, sizes=plan.discarding.sizes()
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
}
