"""Rows with weights: counts of groups of which none is negative, and their sum."""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.rounding import log_down
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.planner.bounds.mutual_information import BlockPacking
from discreet.planner.bounds.packing import Packing
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.bounds.weighted_microdata import WeightedMicrodata
from discreet.planner.tasks.counts import PEOPLE, all_cells
from discreet.planner.tasks.known_way import (
    MOST_DIMENSIONS,
    KnownWay,
    noises,
    ordered,
    possible,
)

_POINTS = Contribution(l0=1, linf=1)
_WITH_SUM = Contribution(l0=2, linf=1, l1=2, l2_squared=2)
_FIFTH = Fraction(1, 5)


@frozen
class MicrodataTask:
    r"""Rows for each of so many groups, with weights: all counts of them are near, and their sum.

    Guarantee:
        Points that add up to a noisy sum
        (:class:`~discreet.synthesis.microdata.points_with_sum.PointsWithSum`) are
        :math:`\max(x_i + z_i - \gamma, 0)` with :math:`|\gamma|` at most the largest noise and that
        of the sum, and whole numbers differ by less than 1: so a point is off by at most
        :math:`2\max|z| + |z_*| + 1`, and the sum by :math:`|z_*|`. Points that are
        moved up to 0 (:class:`~discreet.synthesis.microdata.clamped_points.ClampedPoints`) are off
        by :math:`\max|z|`, and their sum by :math:`d` times that.

    Example:
        >>> from discreet import Pure
        >>> [way.name for way in MicrodataTask(100).ways(Pure(1), Fraction(1, 20), 1_000)]
        ['discrete Laplace, with their sum', 'discrete Laplace, moved up to 0']
    """

    groups: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    name: ClassVar[str] = "microdata"
    share_of: ClassVar[str] = PEOPLE

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"weighted rows of people in {counted(self.groups, 'group')}, and their sum"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        clamped = [
            KnownWay(f"{way.name}, moved up to 0", self.groups * way.error)
            for way in all_cells(_POINTS, loss, beta, cells=self.groups)
        ]
        return ordered([*clamped, *self._with_sum(loss, beta)])

    def _with_sum(self, loss: PrivacyLoss, beta: Fraction) -> Iterator[KnownWay | None]:
        for name, noise in noises(_WITH_SUM, loss):
            points = NoisyHistogram(noise=noise, cells=self.groups).radius(beta * (1 - _FIFTH))
            error = 2 * points + noise.error_quantile(beta * _FIFTH) + 1
            yield KnownWay(f"{name}, with their sum", error)
        if isinstance(loss, Approximate) and loss.delta:
            yield possible("truncated noise, with their sum", lambda: _truncated(loss))

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: the groups and their sum are counts."""
        return (
            WeightedMicrodata(self.groups),
            Packing(log_down(Fraction(self.groups))),
            BlockPacking(self.groups),
        )

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return nothing: the bounds have constants."""
        return ()


def _truncated(loss: Approximate) -> Fraction:
    """Return what noise with a bound is within, for sure, and however many groups there are."""
    noise = TruncatedGeometric.calibrate(d_in=_WITH_SUM, loss=loss)
    return Fraction(3 * noise.bound + 1)
