"""Means and what is made of several of them: the values, and where they lie without the noise."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.releases.estimates import enclosures
from discreet.releases.estimates.enclosures import Intervals
from discreet.releases.estimates.estimate import CorrelationOf, CovarianceOf, MeanOf, VarianceOf
from discreet.releases.estimates.function_values import root
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.ratios import Ratios, choose, larger, within

Noisy = Mapping[int, Intervals]
"""Where each exact number that an estimate names lies."""


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


def within_noise(estimate: Moment, groups: Groups, noisy: Noisy) -> Intervals:
    """Return where a mean, a variance or a covariance lies."""
    match estimate:
        case MeanOf():
            return mean_within(estimate, groups, noisy)
        case VarianceOf():
            return variance_within(estimate, groups, noisy)
        case CovarianceOf():
            return covariance_within(estimate, groups, noisy)


def mean(estimate: MeanOf, groups: Groups) -> Ratios:
    """Return a mean in each group."""
    count = larger(groups.values[estimate.count], groups.constant(1))
    found = groups.constant(estimate.centre).plus(groups.values[estimate.total].over(count))
    return within(found, groups.constant(estimate.lower), groups.constant(estimate.upper))


def mean_within(estimate: MeanOf, groups: Groups, noisy: Noisy) -> Intervals:
    """Return where a mean lies."""
    total, count = noisy[estimate.total], _rows(estimate, groups, noisy)
    bounds = (groups.constant(end - estimate.centre) for end in (estimate.lower, estimate.upper))
    return enclosures.mean(total, count, *bounds).ends(groups.constant(estimate.centre).plus)


def _rows(estimate: Moment, groups: Groups, noisy: Noisy) -> Intervals:
    """Return where the number of rows lies, given that there are enough of them."""
    fewest = groups.constant(estimate.fewest)
    return noisy[estimate.count].ends(lambda end: larger(end, fewest))


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


def variance_within(estimate: VarianceOf, groups: Groups, noisy: Noisy) -> Intervals:
    """Return where a variance lies."""
    number, half, offset = groups.constant, estimate.half_range, estimate.offset
    count = _rows(estimate, groups, noisy)
    squares, total = noisy[estimate.squares], noisy[estimate.total]
    spread = enclosures.mean(squares, count, number(-offset), number(half**2 - offset))
    shift = enclosures.square(enclosures.mean(total, count, number(-half), number(half)))
    found = enclosures.minus(spread.ends(number(offset).plus), shift)
    found = found.ends(lambda end: within(end, number(0), number(estimate.largest)))
    few, many = (end.over(end.minus(number(estimate.freedom))) for end in (count.lows, count.highs))
    return Intervals(found.lows.times(many), found.highs.times(few))


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


def covariance_within(estimate: CovarianceOf, groups: Groups, noisy: Noisy) -> Intervals:
    """Return where a covariance lies."""
    number, half, other = groups.constant, estimate.half_range, estimate.other_half_range
    count = _rows(estimate, groups, noisy)

    def mean_of(index: int, most: Fraction) -> Intervals:
        return enclosures.mean(noisy[index], count, number(-most), number(most))

    shift = enclosures.product_of(
        mean_of(estimate.total, half), mean_of(estimate.other_total, other)
    )
    found = enclosures.minus(mean_of(estimate.products, half * other), shift)
    found = found.ends(lambda end: within(end, number(-half * other), number(half * other)))
    freedom = number(estimate.freedom)
    factors = count.ends(lambda end: end.over(end.minus(freedom)))
    return enclosures.product_of(found, Intervals(factors.highs, factors.lows))


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
