"""How a variance is made of noisy sums about a public centre and a noisy count."""

from discreet.releases.estimates.estimate import VarianceOf
from discreet.sql.aggregates.call import AggregateCall
from discreet.sql.aggregates.clamps import Clamped, coarse
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.sums import SumSquares, SumValues, middle


def variance_of(
    call: AggregateCall, one: Clamped, where: Expression | None, freedom: int
) -> VarianceOf:
    """Return the variance of a value over the rows where ``where`` is true.

    It asks for the aggregates, but not yet for a part of the price.
    """
    bounds = coarse(one.bounds)
    squared = _squares(one, bounds, where)
    centred = SumValues(value=one.value, bounds=bounds, centre=squared.centre, where=where)
    squares, total = (call.asked.index(made, one.source) for made in (squared, centred))
    return VarianceOf(
        ColumnType.REAL,
        squares=squares,
        total=total,
        count=call.asked.index(CountRows(where=where)),
        offset=squared.offset * bounds.step**2,
        centre=squared.centre * bounds.step,
        lower=bounds.lower,
        upper=bounds.upper,
        freedom=freedom,
    )


def _squares(one: Clamped, bounds: Bounds, where: Expression | None) -> SumSquares:
    """Return squares with half of the largest one taken off, which halves what a row can move."""

    def less(offset: int) -> SumSquares:
        return SumSquares(
            value=one.value, bounds=bounds, centre=middle(bounds), offset=offset, where=where
        )

    return less(less(0).largest_square() // 2)
