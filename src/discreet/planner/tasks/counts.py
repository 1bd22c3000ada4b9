"""Counts of people: one, of groups, and of properties."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar

from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution, Metric
from discreet.core.counted import counted
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import log_down
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.mechanisms.stability.stable_histogram import stable_histogram
from discreet.planner.bounds.fingerprinting import Fingerprinting
from discreet.planner.bounds.mutual_information import BlockPacking, InformedMarginals
from discreet.planner.bounds.packing import LOG_TWO, Packing
from discreet.planner.bounds.printed_marginals import (
    BasicMarginals,
    GroupedMarginals,
    PureMarginals,
    ScaledMarginals,
    SquaredMarginals,
)
from discreet.planner.bounds.reconstruction import Reconstruction
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.tasks.known_way import (
    MOST_DIMENSIONS,
    KnownWay,
    affordable,
    noises,
    ordered,
    possible,
)
from discreet.synthesis.microdata.uncertainty import least_point_error

PEOPLE = "the people"
_TENTH = Fraction(1, 10)
_MOST_DRAWN = 10**8
"""Noise in a cube of more dimensions than that does not fit into memory."""
_LARGEST_EPSILON = Fraction(10**4)
"""With a larger ε a cube is drawn as with this one, which loses less: its tails can be told."""


@frozen
class CountTask:
    """One number of people.

    Example:
        >>> CountTask().ways(Pure(1), Fraction(1, 20), 100)
        (KnownWay(name='discrete Laplace', error=Fraction(3, 1)),)
    """

    name: ClassVar[str] = "count"
    share_of: ClassVar[str] = PEOPLE

    @property
    def words(self) -> str:
        """The task, in words."""
        return "one count of people"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        return ordered(
            KnownWay(name, noise.error_quantile(beta)) for name, noise in noises(_ONE, loss)
        )

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: who joins is counted."""
        return (Packing(Fraction(0)),)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return nothing: for one count all is known but a constant."""
        return ()


_ONE = Contribution(l0=1, linf=1)


@frozen
class HistogramTask:
    """Numbers of people in groups, of which everybody is in one."""

    groups: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    name: ClassVar[str] = "histogram"
    share_of: ClassVar[str] = PEOPLE

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"counts of people in {counted(self.groups, 'group')}"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        return ordered(
            [*all_cells(_ONE, loss, beta, cells=self.groups), *_stable(loss, beta, people)]
        )

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: the people who join are in one group."""
        return (Packing(log_down(Fraction(self.groups))), BlockPacking(self.groups))

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        r"""Return what rows without negative counts must err, if their sum is good.

        [Das22, theorem 9.3], for a sum with the variance of noise of scale 2/ε; for ρ it is a rate.
        """
        if isinstance(wanted.loss, Zcdp) and wanted.loss.rho and self.groups > 1:
            square = math.log(self.groups) / float(wanted.loss.rho)
            rate = "rate: as rows, whose sum has a mean square error of about 1/ρ, some group has"
            about = f"about ln(groups)/ρ = {square:,.3g} or more, without constants"
            return (f"{rate} {about} [Das22, theorem 9.3]",)
        if not isinstance(wanted.loss, Pure | Approximate) or self.groups < 2:
            return ()
        epsilon = float(wanted.loss.epsilon)
        if not 1e-6 < epsilon < 1e3:
            return ()
        delta = float(wanted.loss.delta) if isinstance(wanted.loss, Approximate) else 0.0
        square = least_point_error(
            epsilon=epsilon, sum_error=8 / epsilon**2, points=self.groups, delta=delta
        )
        if not square:
            return ()
        mean = f"as rows, whose sum has a mean square error of {8 / epsilon**2:,.3g}"
        return (f"{mean}: some group has {square:,.3g} or more [Das22, theorem 9.3]",)


def _stable(loss: PrivacyLoss, beta: Fraction, people: int) -> Iterator[KnownWay | None]:
    """Yield the histogram that shows only groups with enough people, whatever the groups."""
    if isinstance(loss, Approximate) and 0 < loss.delta < 1 and loss.epsilon > 0:
        keys = partial(stable_histogram, loss=loss, metric=Metric.ADD_REMOVE)
        yield possible("shown above a threshold", lambda: keys().radius(beta, present=people))


@frozen
class MarginalsTask:
    """Numbers of people with each of several properties, of which everybody may have any."""

    columns: int = field(converter=check.whole, validator=check.between(1, MOST_DIMENSIONS))
    name: ClassVar[str] = "marginals"
    share_of: ClassVar[str] = PEOPLE

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"counts of people with each of {self.columns:,} properties"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        moved = Contribution(l0=self.columns, linf=1)
        return ordered(
            [
                *all_cells(moved, loss, beta, cells=self.columns),
                *_signed(loss, beta, self.columns),
                cube(loss, beta, self.columns),
            ]
        )

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: those who join have any properties."""
        return marginal_bounds(self.columns)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return nothing: the bounds have constants."""
        return ()


def marginal_bounds(columns: int, *, is_of_fixed_size: bool = False) -> tuple[LowerBound, ...]:
    """Return the bounds for answers about so many columns of which people may have any."""
    return (
        Packing(columns * LOG_TWO if is_of_fixed_size else _log_rows(columns), is_of_fixed_size),
        Fingerprinting(columns),
        Reconstruction(columns, is_of_fixed_size),
        InformedMarginals(columns),
        PureMarginals(columns),
        BasicMarginals(columns),
        SquaredMarginals(columns),
        GroupedMarginals(columns),
        ScaledMarginals(columns),
    )


def _log_rows(columns: int) -> Fraction:
    r"""Return :math:`\ln(2^d - 1)`, rounded down: people with no property at all move no count.

    It is at least :math:`d\ln2 - 2^{1 - d}`.
    """
    if columns <= _FEW:
        return log_down(Fraction(2**columns - 1))
    return columns * LOG_TWO - Fraction(2, 2**_FEW)


_FEW = 64


def all_cells(
    moved: Contribution, loss: PrivacyLoss, beta: Fraction, *, cells: int, step: int = 1
) -> Iterator[KnownWay]:
    """Yield independent noise for each count, which is in so many steps."""
    for name, noise in noises(moved, loss):
        yield KnownWay(name, NoisyHistogram(noise=noise, cells=cells).radius(beta) / step)


@lru_cache(maxsize=256)
def cube(loss: PrivacyLoss, beta: Fraction, columns: int, *, step: int = 1) -> KnownWay | None:
    """Return noise that is uniform in a cube of random size, where it can be drawn."""
    pure = affordable(loss).pure
    if pure is None or columns > _MOST_DRAWN:
        return None
    most, moved = Pure(min(pure.epsilon, _LARGEST_EPSILON)), Contribution(linf=step)

    def error() -> Fraction:
        noise = LinfExponential.calibrate(d_in=moved, loss=most, dimension=columns)
        return noise.error_quantile(beta) / step

    return possible("cube of random size", error)


def _signed(loss: PrivacyLoss, beta: Fraction, columns: int) -> Iterator[KnownWay]:
    r"""Yield noise on signed sums: those with a property less those without, and all people.

    A count is half of its sum and of the number of all people, which is measured with a weight
    :math:`w`; so it is off by half of the noise of the sum and of the number's over :math:`w`.
    """
    for root in (3, 4):
        weight = max(1, round(columns ** (1 / root)))
        moved = Contribution(
            l1=columns + weight, l2_squared=columns + weight**2, linf=max(1, weight)
        )
        for name, noise in noises(moved, loss):
            if (root == 3) == (name == "discrete Laplace"):
                sums = NoisyHistogram(noise=noise, cells=columns).radius(beta * (1 - _TENTH))
                error = (sums + noise.error_quantile(beta * _TENTH) / weight) / 2
                yield KnownWay(f"{name} on signed sums", error)
