"""The two rules of every estimate: its value, and where it lies without the noise.

Both are worked out for all groups at once.
"""

import datetime
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import Unsupported
from discreet.releases.estimates import moments
from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    CorrelationOf,
    CovarianceOf,
    Estimate,
    GroupingOf,
    KeyOf,
    MeanOf,
    QuantileOf,
    SelectedOf,
    TotalOf,
    VarianceOf,
    WindowOf,
    indices,
    own_indices,
)
from discreet.releases.estimates.functions import FUNCTIONS
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.linear import TOTAL, half_width, is_sure, linear
from discreet.releases.estimates.margins import AnyMargins, Coarse, Each, Margins, moved, noisy
from discreet.releases.estimates.moments import Moment
from discreet.releases.estimates.numbers_used import numbers_used
from discreet.releases.estimates.shares import largest_share
from discreet.releases.estimates.truths import Truth, truth
from discreet.tables.arithmetic import enclosures
from discreet.tables.arithmetic.columns import Column, constant, in_numbers, is_true
from discreet.tables.arithmetic.enclosures import Intervals, hull_where
from discreet.tables.arithmetic.ratios import Mask, Ratios, choose, larger, within


@singledispatch
def column_of(estimate: Estimate, groups: Groups) -> Column:
    """Return the value of an estimate in each group, None where there is none."""
    raise Unsupported("This estimate has no value", got=type(estimate).__name__)


def intervals_of(
    estimate: Estimate, groups: Groups, margins: Margins, *, beta: Fraction
) -> Intervals:
    r"""Return for each group an interval around the same estimate of the numbers without noise.

    Utility:
        With probability at least :math:`1 - \beta` over the noise the interval holds the value of
        the estimate for the exact aggregates of the group, if that is a number.

        Proof. Say the estimate uses ``k`` noisy numbers. Each has noise within its margin at
        :math:`\beta/k`, except with probability :math:`\beta/k`; by the union bound all of them
        do, except with probability :math:`\beta`, and whatever their dependence. Then each exact
        number is in its interval, so by interval arithmetic (each enclosure contains the
        function's values on the box) the estimate of them is in the result. What is known of the
        exact numbers without any noise (a mean is in its bounds, a count of at least one row has a
        mean, a part is not above the whole) may be used on top.

        A window uses the numbers of other rows too, so ``k`` differs from row to row:
        :func:`~discreet.releases.estimates.numbers_used.numbers_used`. It is rounded up, which
        only lowers :math:`\beta/k`.
        :func:`~discreet.releases.estimates.windows.enclosed_window` has the rest of the proof.

        Where private keys chose the groups, all of this holds *given* that the group is shown: the
        count that chose it has an interval for that
        (:class:`~discreet.releases.estimates.estimate.SelectedOf`), and all other noise is
        independent of the choice.

    Assumes:
        It is about noise alone: what the limits, clamps and the rounding to steps left out is not
        in it.
    """
    coefficients = linear(estimate)
    if coefficients is None:
        return intervals_within(estimate, groups, margins, beta=beta)
    each = {index: margins(index, beta / len(coefficients)) for index in coefficients}
    return around_values(column_of(estimate, groups), half_width(coefficients, each)).outwards()


def intervals_within(
    estimate: Estimate,
    groups: Groups,
    margins: AnyMargins,
    *,
    beta: Fraction,
) -> Intervals:
    """Return what :func:`intervals_of` does, by interval arithmetic alone.

    A margin may differ below and above, and have to do with rounding. What it holds at a failure
    probability is up to whoever gives it; here the probability is shared by all the noisy numbers
    that the estimate uses.
    """
    used = numbers_used(estimate, groups)
    counts, found = np.unique(used).tolist(), []
    for count in counts:
        each = {index: margins(index, beta / count) for index in indices(estimate)}
        rows = groups if len(counts) == 1 else groups.take(np.flatnonzero(used == count))
        found.append(enclosed(estimate, rows, each).outwards())
    return found[0] if len(found) == 1 else _put_back(found, used)


def _put_back(found: Sequence[Intervals], used: NDArray[np.int64]) -> Intervals:
    """Return intervals of rows that were worked out apart, by what they used, in their order."""
    each = [interval for part in found for interval in part.each()]
    places = np.argsort(np.argsort(used, kind="stable"), kind="stable").tolist()
    return Intervals.of([each[place] for place in places])


def around_values(values: Column, width: Fraction | None) -> Intervals:
    """Return numbers, or days, with a margin on both sides; of what is neither nothing is known."""
    numbers = in_numbers(values)
    if width is None or numbers is None:
        return Intervals.unknown(len(values))
    return Intervals.around(numbers, width)


@singledispatch
def enclosed(estimate: Estimate, groups: Groups, each: Each) -> Intervals:
    """Return where an estimate lies if every aggregate is within its margin, if that is known."""
    return Intervals.unknown(groups.size)


@column_of.register
def _(estimate: Constant, groups: Groups) -> Column:
    return constant(estimate.value, groups.size)


@column_of.register
def _(estimate: KeyOf, groups: Groups) -> Column:
    keys = groups.keys[estimate.place]
    if all(type(key) is int or key is None for key in keys):
        return Ratios.integers(keys)
    plain = (str, bool, datetime.date, datetime.time)
    return [key if key is None or isinstance(key, plain) else Fraction(key) for key in keys]


@column_of.register
def _(estimate: GroupingOf, groups: Groups) -> Column:
    bits = [
        int("".join("0" if place in places else "1" for place in estimate.places), 2)
        for places in groups.places
    ]
    return Ratios.integers([bits[which] for which in groups.sets.tolist()])


@enclosed.register(Constant)
@enclosed.register(KeyOf)
@enclosed.register(GroupingOf)
def _(estimate: Estimate, groups: Groups, _: Each) -> Intervals:
    return around_values(column_of(estimate, groups), Fraction(0))


@column_of.register(TotalOf)
@column_of.register(SelectedOf)
@column_of.register(QuantileOf)
def _(estimate: TotalOf | SelectedOf | QuantileOf, groups: Groups) -> Column:
    return groups.values[estimate.index].kept()


@enclosed.register
def _(estimate: TotalOf, groups: Groups, each: Each) -> Intervals:
    found, margin = noisy(estimate.index, groups, each), each[estimate.index]
    return margin.of_sum(found, groups) if isinstance(margin, Coarse) else found


@enclosed.register
def _(estimate: QuantileOf, groups: Groups, each: Each) -> Intervals:
    ends, margin = groups.ends.get(estimate.index), each[estimate.index]
    margin = margin.of_one() if isinstance(margin, Coarse) else margin
    if ends is None or not isinstance(margin, Fraction):
        return Intervals.unknown(groups.size)
    return ends.around(groups.values[estimate.index], margin)


@enclosed.register
def _(estimate: SelectedOf, groups: Groups, each: Each) -> Intervals:
    if groups.threshold is None:
        return Intervals.unknown(groups.size)
    found, one = noisy(estimate.index, groups, each), groups.constant(1)
    is_high = found.lows.compared(groups.constant(groups.threshold), operator.gt)
    lows = choose(is_high, found.lows, one)
    return Intervals(larger(lows, one), larger(found.highs, one))


@column_of.register(MeanOf)
@column_of.register(VarianceOf)
@column_of.register(CovarianceOf)
def _(estimate: Moment, groups: Groups) -> Column:
    return moments.value_of(estimate, groups)


@enclosed.register(MeanOf)
@enclosed.register(VarianceOf)
@enclosed.register(CovarianceOf)
def _(estimate: Moment, groups: Groups, each: Each) -> Intervals:
    used = own_indices(estimate)
    found = {index: noisy(index, groups, each) for index in used}
    return moments.within_noise(estimate, groups, found, {i: moved(i, each) for i in used})


@column_of.register
def _(estimate: CorrelationOf, groups: Groups) -> Column:
    return moments.correlation(estimate, groups)


@enclosed.register
def _(estimate: CorrelationOf, groups: Groups, each: Each) -> Intervals:
    inner = (enclosed(argument, groups, each) for argument in estimate.arguments)
    return moments.correlation_within(*inner).outwards()


@column_of.register
def _(estimate: WindowOf, groups: Groups) -> Column:
    return groups.windows[estimate].values


@column_of.register
def _(estimate: Calculation, groups: Groups) -> Column:
    arguments = [column_of(argument, groups) for argument in estimate.arguments]
    return FUNCTIONS[estimate.function].value(*arguments)


@enclosed.register
def _(estimate: Calculation, groups: Groups, each: Each) -> Intervals:
    chosen = _BY_ARGUMENTS.get(estimate.function)
    if chosen is not None:
        return chosen(estimate.arguments, groups, each)
    enclosure = FUNCTIONS[estimate.function].enclosure
    if enclosure is None:
        return Intervals.unknown(groups.size)
    inner = [enclosed(argument, groups, each) for argument in estimate.arguments]
    return enclosure(*inner).outwards()


def truth_of(condition: Estimate, groups: Groups, each: Each) -> Truth:
    """Return where a condition surely holds and where it never does, within the margins."""
    return truth(
        condition,
        lambda inner: (enclosed(inner, groups, each), is_there(inner, groups, each)),
        lambda inner: column_of(inner, groups),
    )


Branches = list[tuple[Estimate, Mask]]


def _branches(arguments: Sequence[Estimate], groups: Groups, each: Each) -> Branches:
    """Return every branch of CASE with where the numbers without noise could take it."""
    is_open = np.ones(groups.size, dtype=np.bool_)
    possible: Branches = []
    for condition, result in zip(arguments[:-1:2], arguments[1::2], strict=True):
        if indices(condition):
            known = truth_of(condition, groups, each)
        else:
            holds = is_true(column_of(condition, groups))
            known = Truth(holds, ~holds)
        possible.append((result, is_open & ~known.never))
        is_open = is_open & ~known.surely
    return [*possible, (arguments[-1], is_open)]


def _case(arguments: Sequence[Estimate], groups: Groups, each: Each) -> Intervals:
    """Return the hull of every branch that the numbers without noise could take."""
    return _any_of(_branches(arguments, groups, each), groups, each)


def _any_of(possible: Sequence[tuple[Estimate, Mask]], groups: Groups, each: Each) -> Intervals:
    """Return the hull of the estimates, each where it is possible; of NULL there is none."""
    found, is_lost = Intervals.unknown(groups.size), np.zeros(groups.size, dtype=np.bool_)
    for estimate, mask in possible:
        if not _is_null(estimate):
            more = enclosed(estimate, groups, each)
            found, is_lost = hull_where(found, more, mask), is_lost | (mask & ~more.known)
    return found.where_known(~is_lost)


def _is_null(estimate: Estimate) -> bool:
    return isinstance(estimate, Constant) and estimate.value is None


def _coalesce(arguments: Sequence[Estimate], groups: Groups, each: Each) -> Intervals:
    """Return the hull of the arguments up to the first that has a value without noise, for sure."""
    is_open = np.ones(groups.size, dtype=np.bool_)
    possible: list[tuple[Estimate, Mask]] = []
    for argument in arguments:
        possible.append((argument, is_open))
        is_open = is_open & ~is_there(argument, groups, each)
    return _any_of(possible, groups, each)


def _greatest(arguments: Sequence[Estimate], groups: Groups, each: Each) -> Intervals:
    """Return where the largest of the arguments lies that have a value without noise.

    It is at least as large as each that surely has one, and it is one of them in any case.
    """
    always = np.ones(groups.size, dtype=np.bool_)
    every = _any_of([(argument, always) for argument in arguments], groups, each)
    lows, is_found = every.lows, np.zeros(groups.size, dtype=np.bool_)
    for argument in arguments:
        low = enclosed(argument, groups, each).lows
        counts = is_there(argument, groups, each) & low.known
        is_better = counts & (~is_found | low.compared(lows, operator.gt))
        lows, is_found = choose(is_better, low, lows), is_found | counts
    return Intervals(lows.where_known(every.known), every.highs)


def _least(arguments: Sequence[Estimate], groups: Groups, each: Each) -> Intervals:
    """Return where the smallest of the arguments lies: the largest, the other way round."""
    given = (argument for argument in arguments if not _is_null(argument))
    turned = [Calculation(argument.type, "neg", (argument,)) for argument in given]
    return _greatest(turned, groups, each).negative()


def _quotient(arguments: Sequence[Estimate], groups: Groups, each: Each) -> Intervals:
    """Return where a quotient lies; a share is between 0 and its largest, whatever the noise did.

    Where that leaves nothing, or the divisor may be 0, the share may be any.
    """
    first, second = arguments
    top, bottom = enclosed(first, groups, each), enclosed(second, groups, each)
    found = enclosures.ratio(top, bottom).outwards()
    largest = largest_share(first, second, groups.parts)
    if largest is None:
        return found
    low, high = (groups.constant(end) for end in sorted((Fraction(0), largest)))
    is_cut = found.known & found.highs.compared(low, operator.ge)
    is_cut &= found.lows.compared(high, operator.le)
    inside = found.ends(lambda end: within(end, low, high))
    return Intervals(choose(is_cut, inside.lows, low), choose(is_cut, inside.highs, high))


def is_there(estimate: Estimate, groups: Groups, each: Each) -> Mask:
    """Tell where an estimate has a value without noise, if that is within its margins."""
    if isinstance(estimate, Calculation) and estimate.function in TOTAL:
        inner = [is_there(argument, groups, each) for argument in estimate.arguments]
        return np.asarray(np.logical_and.reduce(inner), dtype=np.bool_)
    if isinstance(estimate, Calculation) and estimate.function == "case":
        found = np.ones(groups.size, dtype=np.bool_)
        for result, mask in _branches(estimate.arguments, groups, each):
            found &= ~mask | is_there(result, groups, each)
        return found
    if isinstance(estimate, KeyOf):
        return np.array([key is not None for key in groups.keys[estimate.place]], dtype=np.bool_)
    if isinstance(estimate, Moment):
        fewest = groups.constant(estimate.fewest)
        return noisy(estimate.count, groups, each).lows.compared(fewest, operator.ge)
    return np.full(groups.size, is_sure(estimate), dtype=np.bool_)


def may_be_there(estimate: Estimate, groups: Groups, each: Each) -> Mask:
    """Tell where an estimate may have a value without noise; only CASE is ever known not to."""
    if not isinstance(estimate, Calculation) or estimate.function != "case":
        return np.full(groups.size, not _is_null(estimate), dtype=np.bool_)
    found = np.zeros(groups.size, dtype=np.bool_)
    for result, mask in _branches(estimate.arguments, groups, each):
        found |= mask & may_be_there(result, groups, each)
    return found


_BY_ARGUMENTS: dict[str, Callable[[Sequence[Estimate], Groups, Each], Intervals]] = {
    "case": _case,
    "coalesce": _coalesce,
    "greatest": _greatest,
    "least": _least,
    "/": _quotient,
}
"""The functions that need to know more than where their arguments lie.

Most have one of their arguments as their value, chosen by the others.
"""
