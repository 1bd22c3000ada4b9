"""CORR, COVAR and REGR_SLOPE: aggregates of two values, made of noisy sums about public centres."""

from collections.abc import Callable, Iterable
from fractions import Fraction

from attrs import evolve, frozen

from discreet.core.canonical import canonical, described
from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import (
    CorrelationOf,
    CovarianceOf,
    Estimate,
    VarianceOf,
    indices,
)
from discreet.releases.estimates.functions import calculate
from discreet.sql.aggregates.call import AggregateCall
from discreet.sql.aggregates.clamps import Clamped, coarse
from discreet.sql.aggregates.spreads import variance_of
from discreet.sql.syntax.nodes import Node, function_name, part, require_plain_output
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call as row_call
from discreet.tables.functions.conditions import both
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.sums import SumValues, middle


@frozen
class _Pair:
    """Two values, and the rows that have both of them."""

    call: AggregateCall
    first: Clamped
    second: Clamped
    where: Expression | None

    @staticmethod
    def of(call: AggregateCall) -> "_Pair":
        """Read the two arguments of a call."""
        require_plain_output(call.node, "this", "expression")
        nodes = [part(call.node, name) for name in ("this", "expression")]
        first, second = (call.number(_given(node, call)) for node in nodes)
        everywhere = evolve(call, where=None)
        present = [everywhere.kept(one.value) for one in (first, second)]
        needed = [*_in_order(one for one in present if one is not None), call.where]
        where = both([one for one in needed if one is not None])
        return _Pair(call, first, second, where)

    def variance(self, one: Clamped) -> VarianceOf:
        """Return the variance of one of the values, over the rows that have both."""
        return variance_of(self.call, one, self.where, 0)

    def covariance(self, freedom: int) -> CovarianceOf:
        """Return the covariance. It asks for the aggregates, but not for a part of the price."""
        asked, grids = self.call.asked, [coarse(one.bounds) for one in (self.first, self.second)]
        halves = [_half_range(grid) for grid in grids]
        largest = halves[0] * halves[1]
        distances = _in_order(map(_distance, (self.first, self.second)))
        products = SumValues(
            value=row_call("*", distances),
            bounds=Bounds(lower=-largest, upper=largest, step=grids[0].step * grids[1].step),
            where=self.where,
        )
        totals = [
            asked.index(
                SumValues(value=one.value, bounds=grid, centre=middle(grid), where=self.where),
                one.source,
            )
            for one, grid in zip((self.first, self.second), grids, strict=True)
        ]
        return CovarianceOf(
            ColumnType.REAL,
            products=asked.index(products),
            total=totals[0],
            other_total=totals[1],
            count=asked.index(CountRows(where=self.where)),
            half_range=halves[0],
            other_half_range=halves[1],
            freedom=freedom,
        )

    def asked(self, estimate: Estimate) -> Estimate:
        """Note that an estimate is asked for; its aggregates get equal parts of the price."""
        used = indices(estimate)
        return self.call.asked.ask(estimate, dict.fromkeys(used, Fraction(1, len(used))))


def _given(node: Node | None, call: AggregateCall) -> Node:
    if node is None:
        raise RefusedQuery(f"{function_name(call.node)} takes two values")
    return node


def _in_order(expressions: Iterable[Expression]) -> list[Expression]:
    """Return expressions in canonical order: two values in either order are the same pair."""
    return sorted(expressions, key=lambda one: canonical(described(one)))


def _half_range(grid: Bounds) -> Fraction:
    centre = middle(grid) * grid.step
    return max(grid.upper - centre, centre - grid.lower)


def _distance(one: Clamped) -> Expression:
    """Return how far a row's value is from the centre of its range, once moved into the range."""
    grid = coarse(one.bounds)
    ends = [Literal(ColumnType.REAL, str(end)) for end in (one.bounds.lower, one.bounds.upper)]
    inside = row_call("clamp", [one.value, *ends])
    return row_call("-", [inside, Literal(ColumnType.REAL, str(middle(grid) * grid.step))])


def covariance(freedom: int) -> Callable[[AggregateCall], Estimate]:
    """Return how a covariance is made: of a population (0), or of a sample (1)."""

    def build(call: AggregateCall) -> Estimate:
        pair = _Pair.of(call)
        return pair.asked(pair.covariance(freedom))

    return build


def correlation(call: AggregateCall) -> Estimate:
    """Return Pearson's correlation of two values, over the rows that have both."""
    pair = _Pair.of(call)
    variances = (pair.variance(one) for one in (pair.first, pair.second))
    return pair.asked(CorrelationOf(ColumnType.REAL, pair.covariance(0), *variances))


def slope(call: AggregateCall) -> Estimate:
    """Return REGR_SLOPE(y, x): by how much ``y`` rises with ``x``, by least squares."""
    pair = _Pair.of(call)
    return pair.asked(calculate("/", pair.covariance(0), pair.variance(pair.second)))
