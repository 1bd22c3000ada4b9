"""The value of an estimate in one group."""

from fractions import Fraction
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    QuantileOf,
    Scalar,
    SelectedOf,
    TotalOf,
    VarianceOf,
    WindowOf,
)
from discreet.releases.estimates.functions import FUNCTIONS
from discreet.releases.estimates.group import Group
from discreet.releases.estimates.numbers import kept


@singledispatch
def value_of(estimate: Estimate, group: Group) -> Scalar | None:
    """Return the value, or None where there is none."""
    raise Unsupported("This estimate has no value", got=type(estimate).__name__)


@value_of.register
def _(estimate: Constant, _: Group) -> Scalar | None:
    return estimate.value


@value_of.register
def _(estimate: KeyOf, group: Group) -> Scalar | None:
    key = group.keys[estimate.place]
    return Fraction(key) if isinstance(key, int) and not isinstance(key, bool) else key


@value_of.register
def _(estimate: GroupingOf, group: Group) -> Scalar | None:
    bits = "".join("0" if place in group.places else "1" for place in estimate.places)
    return Fraction(int(bits, 2))


@value_of.register(TotalOf)
@value_of.register(SelectedOf)
@value_of.register(QuantileOf)
def _(estimate: TotalOf | SelectedOf | QuantileOf, group: Group) -> Scalar | None:
    return kept(group.values[estimate.index])


@value_of.register
def _(estimate: MeanOf, group: Group) -> Scalar | None:
    count = max(Fraction(1), group.values[estimate.count])
    mean = estimate.centre + group.values[estimate.total] / count
    return _moved(mean, estimate.lower, estimate.upper)


@value_of.register
def _(estimate: VarianceOf, group: Group) -> Scalar | None:
    count = max(Fraction(1 + estimate.freedom), group.values[estimate.count])
    half, offset = estimate.half_range, estimate.offset
    shift = _moved(group.values[estimate.total] / count, -half, half)
    spread = _moved(group.values[estimate.squares] / count, -offset, half**2 - offset)
    variance = _moved(offset + spread - shift**2, Fraction(0), estimate.largest)
    return variance * count / (count - estimate.freedom)


@value_of.register
def _(estimate: WindowOf, group: Group) -> Scalar | None:
    return group.windows[estimate]


def _moved(value: Fraction, lower: Fraction, upper: Fraction) -> Fraction:
    return min(max(value, lower), upper)


@value_of.register
def _(estimate: Calculation, group: Group) -> Scalar | None:
    arguments = [value_of(argument, group) for argument in estimate.arguments]
    return FUNCTIONS[estimate.function].value(arguments)
