"""Steps: what one of an aggregate's integers is worth in the units of the answer."""

from fractions import Fraction
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.tables.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
    SumSquares,
    SumValues,
)


@singledispatch
def step_of(aggregate: Aggregate) -> Fraction:
    """Return the worth of one step: 1 for a count, the grid's for a sum, its square for squares."""
    raise Unsupported("This aggregate has no step", got=type(aggregate).__name__)


@step_of.register(CountRows)
@step_of.register(CountUnits)
@step_of.register(CountDistinct)
def _(_: Aggregate) -> Fraction:
    return Fraction(1)


@step_of.register(SumValues)
@step_of.register(QuantileValues)
def _(aggregate: SumValues | QuantileValues) -> Fraction:
    return aggregate.bounds.step


@step_of.register
def _(aggregate: SumSquares) -> Fraction:
    return aggregate.bounds.step**2
