"""Estimates of one group: columns of one row."""

from fractions import Fraction

from discreet.releases.estimates.estimate import Estimate
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.margins import Margins
from discreet.releases.estimates.rules import column_of, intervals_of
from discreet.tables.arithmetic.columns import Scalar, scalars
from discreet.tables.arithmetic.enclosures import Interval


def value_of(estimate: Estimate, group: Groups) -> Scalar | None:
    """Return the value of an estimate in the only group."""
    (value,) = scalars(column_of(estimate, group))
    return value


def interval_of(
    estimate: Estimate, group: Groups, margins: Margins, *, beta: Fraction
) -> Interval | None:
    """Return the interval of an estimate in the only group."""
    (interval,) = intervals_of(estimate, group, margins, beta=beta).each()
    return interval


def numbers_of(group: Groups) -> list[Fraction]:
    """Return the noisy numbers of the only group."""
    return [number for column in group.values for number in column.scalars() if number is not None]
