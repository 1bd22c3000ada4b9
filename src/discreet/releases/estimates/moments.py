"""Means and what is made of several of them: the values, and where they lie without the noise."""

from collections.abc import Mapping

from discreet.releases.estimates import enclosures
from discreet.releases.estimates.enclosures import Intervals
from discreet.releases.estimates.estimate import MeanOf, VarianceOf
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.ratios import Ratios, larger, within

Noisy = Mapping[int, Intervals]
"""Where each exact number that an estimate names lies."""


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


def _rows(estimate: MeanOf | VarianceOf, groups: Groups, noisy: Noisy) -> Intervals:
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
