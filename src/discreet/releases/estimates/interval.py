"""Intervals: where the answer without noise lies, with a stated confidence."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import singledispatch

from discreet.releases.estimates.enclosures import (
    ENCLOSURES,
    Interval,
    hull,
    outwards,
    ratio,
    square,
    within,
)
from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    SelectedOf,
    TotalOf,
    VarianceOf,
    indices,
)
from discreet.releases.estimates.group import Group
from discreet.releases.estimates.linear import TOTAL, is_sure, linear
from discreet.releases.estimates.numbers import kept
from discreet.releases.estimates.value import value_of

Margins = Callable[[int, Fraction], Fraction]
"""The error bar of an aggregate at a failure probability, in the units of the answer."""


def interval_of(
    estimate: Estimate, group: Group, margins: Margins, *, beta: Fraction
) -> Interval | None:
    r"""Return an interval around the same estimate of the numbers without noise.

    Utility:
        With probability at least :math:`1 - \beta` over the noise the interval holds the value of
        the estimate for the exact aggregates of the group, if that is a number.

        Proof. Say the estimate uses ``k`` aggregates. Each has noise within its margin at
        :math:`\beta/k`, except with probability :math:`\beta/k`; by the union bound all of them
        do, except with probability :math:`\beta`, and whatever their dependence. Then each exact
        number is in its interval, so by interval arithmetic (each enclosure contains the
        function's values on the box) the estimate of them is in the result. What is known of the
        exact numbers without any noise (a mean is in its bounds, a count of at least one row has a
        mean) may be used on top.

        Where private keys chose the groups, all of this holds *given* that the group is shown: the
        count that chose it has an interval for that
        (:class:`~discreet.releases.estimates.estimate.SelectedOf`), and all other noise is
        independent of the choice.

    Assumes:
        It is about noise alone: what the limits, clamps and the rounding to steps left out is not
        in it.
    """
    coefficients = linear(estimate)
    each = margins_of(estimate, margins, beta=beta)
    if coefficients is None:
        return outwards(_enclosed(estimate, group, each))
    value = value_of(estimate, group)
    if not isinstance(value, Fraction):
        return None
    width = half_width(coefficients, each)
    return None if width is None else outwards((value - width, value + width))


def margins_of(estimate: Estimate, margins: Margins, *, beta: Fraction) -> dict[int, Fraction]:
    """Return the margin of each aggregate that matters; together they fail with at most β."""
    coefficients = linear(estimate)
    used = tuple(coefficients) if coefficients is not None else indices(estimate)
    return {index: margins(index, beta / len(used)) for index in used}


def enclosed(estimate: Estimate, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    """Return where an estimate lies if every aggregate is within its margin."""
    return _enclosed(estimate, group, margins)


def half_width(
    coefficients: Mapping[int, Fraction], margins: Mapping[int, Fraction]
) -> Fraction | None:
    """Return the error bar of a sum of multiples: the multiples of the error bars, added.

    None if it is out of range.
    """
    return kept(sum((abs(c) * margins[i] for i, c in coefficients.items()), Fraction(0)))


@singledispatch
def _enclosed(estimate: Estimate, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    return None


@_enclosed.register(Constant)
@_enclosed.register(KeyOf)
@_enclosed.register(GroupingOf)
def _(estimate: Estimate, group: Group, _: Mapping[int, Fraction]) -> Interval | None:
    value = value_of(estimate, group)
    return (value, value) if isinstance(value, Fraction) else None


def _around(index: int, group: Group, margins: Mapping[int, Fraction]) -> Interval:
    return group.values[index] - margins[index], group.values[index] + margins[index]


@_enclosed.register
def _(estimate: TotalOf, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    return _around(estimate.index, group, margins)


@_enclosed.register
def _(estimate: SelectedOf, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    if group.threshold is None:
        return None
    low, high = _around(estimate.index, group, margins)
    return _at_least((low if low > group.threshold else Fraction(1), high), 1)


def _at_least(interval: Interval, least: int) -> Interval:
    low, high = (max(end, Fraction(least)) for end in interval)
    return low, high


def _mean(total: Interval, count: Interval, bounds: Interval) -> Interval:
    """Return where a mean lies: a quotient by at least one row, and within its bounds."""
    quotient = ratio(total, count)
    assert quotient is not None
    return within(quotient, *bounds)


@_enclosed.register
def _(estimate: MeanOf, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    total, count = (_around(index, group, margins) for index in (estimate.total, estimate.count))
    centre = estimate.centre
    bounds = (estimate.lower - centre, estimate.upper - centre)
    low, high = _mean(total, _at_least(count, 1), bounds)
    return centre + low, centre + high


@_enclosed.register
def _(estimate: VarianceOf, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    used = (estimate.squares, estimate.total, estimate.count)
    squares, total, rows = (_around(index, group, margins) for index in used)
    fewest, most = count = _at_least(rows, 1 + estimate.freedom)
    half, offset = estimate.half_range, estimate.offset
    spread = _mean(squares, count, (-offset, half**2 - offset))
    shift = square(_mean(total, count, (-half, half)))
    variance = (offset + spread[0] - shift[1], offset + spread[1] - shift[0])
    low, high = within(variance, Fraction(0), estimate.largest)
    return (
        low * most / (most - estimate.freedom),
        high * fewest / (fewest - estimate.freedom),
    )


@_enclosed.register
def _(estimate: Calculation, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    special = _SPECIAL.get(estimate.function)
    if special is not None:
        return special(estimate.arguments, group, margins)
    inner = [_enclosed(argument, group, margins) for argument in estimate.arguments]
    return enclosed_by(estimate.function, inner)


def enclosed_by(function: str, inner: Sequence[Interval | None]) -> Interval | None:
    """Return where a function of values lies that lie in intervals."""
    enclosure = ENCLOSURES.get(function)
    known = [interval for interval in inner if interval is not None]
    if enclosure is None or len(known) < len(inner):
        return None
    return outwards(enclosure(*known))


Arguments = tuple[Estimate, ...]


def _case(arguments: Arguments, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    """Return the hull of every branch that the numbers without noise could take."""
    possible: list[Estimate] = []
    for condition, result in zip(arguments[:-1:2], arguments[1::2], strict=True):
        is_certain = not indices(condition)
        if is_certain and value_of(condition, group) is not True:
            continue
        possible.append(result)
        if is_certain:
            return _any_of(possible, group, margins)
    return _any_of([*possible, arguments[-1]], group, margins)


def _any_of(
    arguments: list[Estimate], group: Group, margins: Mapping[int, Fraction]
) -> Interval | None:
    items = [item for item in arguments if not _is_null(item)]
    intervals = [_enclosed(item, group, margins) for item in items]
    known = [interval for interval in intervals if interval is not None]
    return hull(known) if known and len(known) == len(intervals) else None


def _is_null(estimate: Estimate) -> bool:
    return isinstance(estimate, Constant) and estimate.value is None


def _coalesce(
    arguments: Arguments, group: Group, margins: Mapping[int, Fraction]
) -> Interval | None:
    """Return the hull of the arguments up to the first that has a value without noise, for sure."""
    possible: list[Estimate] = []
    for argument in arguments:
        possible.append(argument)
        if _is_there(argument, group, margins):
            break
    return _any_of(possible, group, margins)


def _greatest(
    arguments: Arguments, group: Group, margins: Mapping[int, Fraction]
) -> Interval | None:
    """Return where the largest of the arguments lies that have a value without noise.

    It is at least as large as each that surely has one, and it is one of them in any case.
    """
    every = _any_of(list(arguments), group, margins)
    sure = [argument for argument in arguments if _is_there(argument, group, margins)]
    found = [_enclosed(argument, group, margins) for argument in sure]
    lows = [interval[0] for interval in found if interval is not None]
    return None if every is None else (max(lows, default=every[0]), every[1])


def _least(arguments: Arguments, group: Group, margins: Mapping[int, Fraction]) -> Interval | None:
    """Return where the smallest of the arguments lies: the largest, the other way round."""
    given = (argument for argument in arguments if not _is_null(argument))
    turned = tuple(Calculation(argument.type, "neg", (argument,)) for argument in given)
    found = _greatest(turned, group, margins)
    return None if found is None else (-found[1], -found[0])


def _is_there(estimate: Estimate, group: Group, margins: Mapping[int, Fraction]) -> bool:
    """Tell whether an estimate has a value without noise, if that is within its margins."""
    if isinstance(estimate, Calculation):
        inner = (_is_there(argument, group, margins) for argument in estimate.arguments)
        return estimate.function in TOTAL and all(inner)
    if isinstance(estimate, KeyOf):
        return group.keys[estimate.place] is not None
    if isinstance(estimate, MeanOf | VarianceOf):
        return _has_rows(estimate, group, margins)
    return is_sure(estimate)


def _has_rows(estimate: MeanOf | VarianceOf, group: Group, margins: Mapping[int, Fraction]) -> bool:
    needed = 1 + estimate.freedom if isinstance(estimate, VarianceOf) else 1
    return _around(estimate.count, group, margins)[0] >= needed


_SPECIAL: dict[str, Callable[[Arguments, Group, Mapping[int, Fraction]], Interval | None]] = {
    "case": _case,
    "coalesce": _coalesce,
    "greatest": _greatest,
    "least": _least,
}

CHOOSING = tuple(_SPECIAL)
"""The functions whose value is one of their arguments, chosen by the others."""
