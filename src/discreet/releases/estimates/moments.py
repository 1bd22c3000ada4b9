"""Means and what is made of several of them: the values, and where they lie without the noise."""

import operator
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.releases.estimates.estimate import CorrelationOf, CovarianceOf, MeanOf, VarianceOf
from discreet.releases.estimates.groups import Groups
from discreet.tables.arithmetic import enclosures
from discreet.tables.arithmetic.enclosures import Interval, Intervals
from discreet.tables.arithmetic.function_values import root
from discreet.tables.arithmetic.ratios import Mask, Ratios, choose, larger, smaller, within

Noisy = Mapping[int, Intervals]
"""Where each exact number that an estimate names lies."""
Moved = Mapping[int, Fraction]
"""How far rounding moved a value of each aggregate at most, or how much a row adds to it."""


Moment = MeanOf | VarianceOf | CovarianceOf


def value_of(estimate: Moment, groups: Groups) -> Ratios:
    """Return a mean, a variance or a covariance in each group."""
    match estimate:
        case MeanOf():
            return mean(estimate, groups)
        case VarianceOf():
            return variance(estimate, groups)
        case CovarianceOf():
            return covariance(estimate, groups)


def within_noise(estimate: Moment, groups: Groups, noisy: Noisy, moved: Moved) -> Intervals:
    r"""Return where a mean, a variance or a covariance lies.

    Utility:
        It is that of the values as they are, if each was moved by at most so much when it was
        rounded. A mean moves no further than a value does. A standard deviation is a distance
        from the mean, for which the triangle inequality holds, and that of moves of at most ``h``
        is at most ``h``: so it moves no further either.

        Where there may be fewer rows than it needs, all that is said is what it can be at all: of
        nobody there is no mean, so nothing narrower would hold anything.
    """
    match estimate:
        case MeanOf():
            return mean_within(estimate, groups, noisy, moved)
        case VarianceOf():
            return variance_within(estimate, groups, noisy, moved)
        case CovarianceOf():
            return covariance_within(estimate, groups, noisy, moved)


def _widened(found: Intervals, moved: Fraction) -> Intervals:
    if moved == 0:
        return found
    far = Ratios.constant(moved, len(found.lows))
    return Intervals(found.lows.minus(far), found.highs.plus(far))


def mean(estimate: MeanOf, groups: Groups) -> Ratios:
    """Return a mean in each group."""
    count = larger(groups.values[estimate.count], groups.constant(1))
    found = groups.constant(estimate.centre).plus(groups.values[estimate.total].over(count))
    return within(found, groups.constant(estimate.lower), groups.constant(estimate.upper))


def mean_within(estimate: MeanOf, groups: Groups, noisy: Noisy, moved: Moved) -> Intervals:
    """Return where a mean lies."""
    total, count = noisy[estimate.total], _rows(estimate, groups, noisy)
    ends = estimate.lower - estimate.centre, estimate.upper - estimate.centre
    found = _mean_of(total, count, ends, moved[estimate.total])
    found = found.ends(groups.constant(estimate.centre).plus)
    enough = _has_enough(estimate, groups, noisy, {estimate.total: max(map(abs, ends))})
    return _if_enough(found, enough, groups, estimate.lower, estimate.upper)


def _mean_of(total: Intervals, count: Intervals, ends: Interval, moved: Fraction) -> Intervals:
    """Return where a mean of values lies that are between two ends and were moved by so much."""
    low, high = (Ratios.constant(end, len(total.lows)) for end in ends)
    found = enclosures.mean(total, count, low, high)
    return _widened(found, moved).ends(lambda end: within(end, low, high)) if moved else found


def _rows(estimate: Moment, groups: Groups, noisy: Noisy) -> Intervals:
    """Return where the number of rows lies, given that there are enough of them."""
    fewest = groups.constant(estimate.fewest)
    return noisy[estimate.count].ends(lambda end: larger(end, fewest))


def _if_enough(
    found: Intervals, enough: Mask, groups: Groups, lowest: Fraction, highest: Fraction
) -> Intervals:
    """Return what was found where there surely are enough rows, and all that can be elsewhere."""
    low, high = groups.constant(lowest), groups.constant(highest)
    return Intervals(choose(enough, found.lows, low), choose(enough, found.highs, high))


def _has_enough(estimate: Moment, groups: Groups, noisy: Noisy, sums: Moved) -> Mask:
    """Tell where there surely are as many rows as are needed.

    The count says so, or one of the ``sums`` does, for which it is known how much a row can add:
    one of nobody is 0, and one that is surely more than a row adds is of two rows at least.
    """
    fewest = estimate.fewest
    enough = noisy[estimate.count].lows.compared(groups.constant(fewest), operator.ge)
    for index, each in sums.items():
        most = (fewest - 1) * each
        enough = enough | noisy[index].lows.compared(groups.constant(most), operator.gt)
        enough = enough | noisy[index].highs.compared(groups.constant(-most), operator.lt)
    return enough


def _most_of_few(estimate: VarianceOf | CovarianceOf) -> Fraction:
    """Return by how much the fewest rows that a sample needs enlarge what a population has."""
    return Fraction(estimate.fewest, estimate.fewest - estimate.freedom)


def variance(estimate: VarianceOf, groups: Groups) -> Ratios:
    """Return a variance in each group."""
    number, half, offset = groups.constant, estimate.half_range, estimate.offset
    count = larger(groups.values[estimate.count], number(estimate.fewest))
    shift = within(groups.values[estimate.total].over(count), number(-half), number(half))
    spread = groups.values[estimate.squares].over(count)
    spread = within(spread, number(-offset), number(half**2 - offset))
    found = number(offset).plus(spread).minus(shift.times(shift))
    found = within(found, number(0), number(estimate.largest))
    return found.times(count.over(count.minus(number(estimate.freedom))))


def variance_within(estimate: VarianceOf, groups: Groups, noisy: Noisy, moved: Moved) -> Intervals:
    """Return where a variance lies."""
    number, half, offset = groups.constant, estimate.half_range, estimate.offset
    count = _rows(estimate, groups, noisy)
    squares, total = noisy[estimate.squares], noisy[estimate.total]
    spread = enclosures.mean(squares, count, number(-offset), number(half**2 - offset))
    shift = enclosures.square(enclosures.mean(total, count, number(-half), number(half)))
    found = enclosures.minus(spread.ends(number(offset).plus), shift)
    found = found.ends(lambda end: within(end, number(0), number(estimate.largest)))
    if moved[estimate.total]:
        root = _widened(enclosures.root(found), moved[estimate.total])
        found = root.ends(lambda end: larger(end, number(0)))
        found = found.ends(lambda end: smaller(end.times(end), number(estimate.largest)))
    few, many = (end.over(end.minus(number(estimate.freedom))) for end in (count.lows, count.highs))
    found = Intervals(found.lows.times(many), found.highs.times(few))
    largest = estimate.largest * _most_of_few(estimate)
    enough = _has_enough(estimate, groups, noisy, {estimate.total: half + moved[estimate.total]})
    return _if_enough(found, enough, groups, Fraction(0), largest)


def covariance(estimate: CovarianceOf, groups: Groups) -> Ratios:
    """Return a covariance in each group."""
    number, half, other = groups.constant, estimate.half_range, estimate.other_half_range
    count = larger(groups.values[estimate.count], number(estimate.fewest))

    def mean_of(index: int, most: Fraction) -> Ratios:
        return within(groups.values[index].over(count), number(-most), number(most))

    shift = mean_of(estimate.total, half).times(mean_of(estimate.other_total, other))
    found = mean_of(estimate.products, half * other).minus(shift)
    found = within(found, number(-half * other), number(half * other))
    return found.times(count.over(count.minus(number(estimate.freedom))))


def covariance_within(
    estimate: CovarianceOf, groups: Groups, noisy: Noisy, moved: Moved
) -> Intervals:
    """Return where a covariance lies."""
    number, half, other = groups.constant, estimate.half_range, estimate.other_half_range
    count = _rows(estimate, groups, noisy)

    def mean_of(index: int, most: Fraction) -> Intervals:
        return _mean_of(noisy[index], count, (-most, most), moved[index])

    shift = enclosures.product_of(
        mean_of(estimate.total, half), mean_of(estimate.other_total, other)
    )
    found = enclosures.minus(mean_of(estimate.products, half * other), shift)
    found = found.ends(lambda end: within(end, number(-half * other), number(half * other)))
    freedom = number(estimate.freedom)
    factors = count.ends(lambda end: end.over(end.minus(freedom)))
    found = enclosures.product_of(found, Intervals(factors.highs, factors.lows))
    largest = half * other * _most_of_few(estimate)
    sums = {estimate.total: half, estimate.other_total: other}
    sums = {index: each + moved[index] for index, each in sums.items()}
    enough = _has_enough(estimate, groups, noisy, sums)
    return _if_enough(found, enough, groups, -largest, largest)


def correlation(estimate: CorrelationOf, groups: Groups) -> Ratios:
    """Return a correlation in each group; none where a noisy variance is 0."""
    spread = root(variance(estimate.first, groups).times(variance(estimate.second, groups)))
    found = covariance(estimate.covariance, groups).over(spread)
    return within(found, groups.constant(-1), groups.constant(1))


def correlation_within(together: Intervals, first: Intervals, second: Intervals) -> Intervals:
    """Return where a correlation lies, given the covariance and both variances."""
    spread = enclosures.root(enclosures.product_of(first, second))
    found = enclosures.ratio(together, spread)
    least, most = (Ratios.constant(Fraction(end), len(found.lows)) for end in (-1, 1))
    inside = found.ends(lambda end: within(end, least, most))
    known = np.asarray(found.known)
    return Intervals(choose(known, inside.lows, least), choose(known, inside.highs, most))
