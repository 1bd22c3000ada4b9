"""AVG, VAR and STDDEV: estimates made of noisy sums about a public centre and a noisy count."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Estimate, MeanOf, VarianceOf
from discreet.releases.estimates.functions import calculate
from discreet.sql.outputs.asked import Asked
from discreet.sql.outputs.clamp import Clamped, coarse
from discreet.sql.outputs.nodes import require_plain, shown
from discreet.tables.aggregate import CountRows
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression
from discreet.tables.sums import SumSquares, SumValues, middle

_HALF = Fraction(1, 2)


def mean(asked: Asked) -> Estimate:
    """Return AVG(x)."""
    one = asked.number(_argument(asked))
    where, bounds = asked.kept(one.value), one.bounds
    centred = SumValues(value=one.value, bounds=bounds, centre=middle(bounds), where=where)
    total = asked.book.index(centred, one.source)
    count = asked.book.index(CountRows(where=where))
    centre = middle(bounds) * bounds.step
    estimate = MeanOf(ColumnType.REAL, total, count, centre, bounds.lower, bounds.upper)
    return asked.book.ask(estimate, {total: _HALF, count: _HALF})


def _argument(asked: Asked) -> Any:
    """Return the one argument of a function, whether or not the parser knows the function."""
    if asked.node.key != "anonymous":
        require_plain(asked.node, "this")
        return asked.node.this
    if len(asked.node.expressions) != 1:
        raise RefusedQuery(f"{shown(asked.node)} takes one value")
    return asked.node.expressions[0]


def variance(freedom: int) -> Callable[[Asked], Estimate]:
    """Return how a variance is made: of a population (0), or of a sample (1)."""

    def build(asked: Asked) -> Estimate:
        require_plain(asked.node, "this")
        one = asked.number(asked.node.this)
        bounds, where = coarse(one.bounds), asked.kept(one.value)
        squared = _squares(one, bounds, where)
        centred = SumValues(value=one.value, bounds=bounds, centre=squared.centre, where=where)
        squares, total = (asked.book.index(part, one.source) for part in (squared, centred))
        count = asked.book.index(CountRows(where=where))
        estimate = VarianceOf(
            ColumnType.REAL,
            squares=squares,
            total=total,
            count=count,
            offset=squared.offset * bounds.step**2,
            centre=squared.centre * bounds.step,
            lower=bounds.lower,
            upper=bounds.upper,
            freedom=freedom,
        )
        split = {squares: Fraction(2, 9), total: Fraction(4, 9), count: Fraction(3, 9)}
        return asked.book.ask(estimate, split)

    return build


def _squares(one: Clamped, bounds: Bounds, where: Expression | None) -> SumSquares:
    """Return squares with half of the largest one taken off, which halves what a row can move."""

    def less(offset: int) -> SumSquares:
        return SumSquares(
            value=one.value, bounds=bounds, centre=middle(bounds), offset=offset, where=where
        )

    return less(less(0).largest_square() // 2)


def deviation(freedom: int) -> Callable[[Asked], Estimate]:
    """Return how a standard deviation is made: the square root of the variance."""
    return lambda asked: calculate("sqrt", variance(freedom)(asked))
