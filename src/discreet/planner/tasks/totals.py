"""Sums and means of numbers, of which everybody has one in each of several columns."""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.loss import PrivacyLoss
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.tasks.counts import all_cells, cube, marginal_bounds
from discreet.planner.tasks.known_way import (
    MOST_DIMENSIONS,
    CountingNoise,
    KnownWay,
    noises,
    ordered,
)

STEPS = 1 << 10
"""Numbers are whole multiples of one of so many parts of the largest, or of the range."""

_OFF_GRID = (
    f"numbers are on a grid of {STEPS:,} steps; if others are rounded to it, errors may be larger"
    f" by half a step, {100 / (2 * STEPS):.2g}%"
)


@frozen
class SumsTask:
    """Sums of numbers between 0 and the most, or of that size.

    Example:
        >>> from discreet import Pure
        >>> SumsTask(1).ways(Pure(1), Fraction(1, 20), 100)[0].name
        'discrete Laplace'
    """

    columns: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    name: ClassVar[str] = "sums"
    share_of: ClassVar[str] = "the most that they could be"

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"{_count(self.columns, 'sum')} of numbers, each of a declared size at most"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        moved = Contribution(l0=self.columns, linf=STEPS)
        found = all_cells(moved, loss, beta, cells=self.columns, step=STEPS)
        return ordered([*found, cube(loss, beta, self.columns, step=STEPS)])

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: numbers may be 0 and the most."""
        return marginal_bounds(self.columns)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what numbers err that are not on the grid."""
        return (_OFF_GRID,)


@frozen
class MeansTask:
    r"""Means of numbers in a declared range, where the number of people is private.

    Guarantee:
        Measure :math:`\sum(x - c)` with the middle :math:`c` of the range, of width 1, and the
        number :math:`n` of people. If they are off by :math:`s` and :math:`t < n`, then

        .. math:: \left|\frac{S + Z_1}{n + Z_2} - \frac Sn\right| =
            \frac{|nZ_1 - SZ_2|}{n(n + Z_2)} \le \frac{s + t/2}{n - t},

        for :math:`|S| \le n/2`. A person moves each sum by half of the range, and the number, which
        is measured with a weight, by that.

    Example:
        >>> from discreet import Pure
        >>> found = MeansTask(1).ways(Pure(1), Fraction(1, 20), 1_000)[0]
        >>> round(float(found.error / 1_000), 4)
        0.0079
    """

    columns: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    name: ClassVar[str] = "means"
    share_of: ClassVar[str] = "the range"

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"{_count(self.columns, 'mean')} of numbers in a declared range"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""
        return ordered(self._each(loss, beta, people))

    def _each(self, loss: PrivacyLoss, beta: Fraction, people: int) -> Iterator[KnownWay]:
        half = STEPS // 2
        for root in (3, 4):
            weight = max(1, round(half * self.columns ** (1 / root)))
            moved = Contribution(
                l1=self.columns * half + weight,
                l2_squared=self.columns * half**2 + weight**2,
                linf=max(half, weight),
            )
            for name, noise in noises(moved, loss):
                if (root == 3) == (name == "discrete Laplace"):
                    yield KnownWay(name, self._error(noise, weight, beta, people))

    def _error(self, noise: CountingNoise, weight: int, beta: Fraction, people: int) -> Fraction:
        sums = NoisyHistogram(noise=noise, cells=self.columns).radius(beta * Fraction(4, 5)) / STEPS
        number = noise.error_quantile(beta / 5) / weight
        if number >= people:
            return Fraction(people)
        return min(Fraction(people), people * (sums + number / 2) / (people - number))

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible, for so many people and no others."""
        return marginal_bounds(self.columns, is_of_fixed_size=True)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what numbers err that are not on the grid."""
        return (_OFF_GRID,)


def _count(count: int, noun: str) -> str:
    return f"one {noun}" if count == 1 else f"{count:,} {noun}s"
