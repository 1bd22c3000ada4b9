"""What people want to publish, what noise it takes, and what nobody can do about it."""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Protocol

from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import DiscreetError
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import log_down
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.planner.lower_bounds import Fingerprinting, LowerBound, Packing, log_of_pairs

MOST_COLUMNS = 10**9


@frozen
class KnownWay:
    """A mechanism of this house for a task, and how far it is off.

    Attributes:
        name: What it adds.
        error: What all counts are within, in people, but for the chance that was asked for.
    """

    name: str
    error: Fraction


class CountingTask(Protocol):
    """Counts of people that are published at once."""

    name: ClassVar[str]

    @property
    def words(self) -> str:
        """The task, in words."""

    def ways(self, loss: PrivacyLoss, beta: Fraction) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible."""


@frozen
class CountTask:
    """One number of people.

    Example:
        >>> CountTask().ways(Pure(1), Fraction(1, 20))
        (KnownWay(name='discrete Laplace', error=Fraction(3, 1)),)
    """

    name: ClassVar[str] = "count"

    @property
    def words(self) -> str:
        """The task, in words."""
        return "one count of people"

    def ways(self, loss: PrivacyLoss, beta: Fraction) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        return _ordered(_noises(Contribution(l0=1, linf=1), loss, beta, cells=1))

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible."""
        return (Packing(log_down(Fraction(2))),)


@frozen
class HistogramTask:
    """Numbers of people in groups, of which everybody is in one."""

    groups: int = field(converter=check.whole, validator=check.between(1, MOST_COLUMNS))
    name: ClassVar[str] = "histogram"

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"counts of people in {self.groups:,} groups"

    def ways(self, loss: PrivacyLoss, beta: Fraction) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        return _ordered(_noises(Contribution(l0=1, linf=1), loss, beta, cells=self.groups))

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: the people who join are in one group."""
        return (Packing(log_down(Fraction(max(2, self.groups)))),)


@frozen
class MarginalsTask:
    """Numbers of people with each of several properties, of which everybody may have any."""

    columns: int = field(converter=check.whole, validator=check.between(1, MOST_COLUMNS))
    name: ClassVar[str] = "marginals"

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"counts of people with each of {self.columns:,} properties"

    def ways(self, loss: PrivacyLoss, beta: Fraction) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss, the most exact first."""
        moved = Contribution(l0=self.columns, linf=1)
        found = list(_noises(moved, loss, beta, cells=self.columns))
        if isinstance(loss, Pure):
            found += _cube(loss, beta, self.columns)
        return _ordered(found)

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: those who join have any properties."""
        return (Packing(log_of_pairs(self.columns)), Fingerprinting(self.columns))


def _noises(
    moved: Contribution, loss: PrivacyLoss, beta: Fraction, *, cells: int
) -> Iterator[KnownWay]:
    """Yield independent noise for each count; the chance is divided among them."""
    each = beta / cells
    pure = Pure(loss.epsilon) if isinstance(loss, Pure | Approximate) else None
    if pure is not None and pure.epsilon > 0:
        laplace = DiscreteLaplace.calibrate(d_in=moved, loss=pure)
        yield KnownWay("discrete Laplace", laplace.error_quantile(each))
    is_gaussian = isinstance(loss, Zcdp) or (isinstance(loss, Approximate) and loss.delta > 0)
    if is_gaussian and isinstance(loss, Zcdp | Approximate):
        gaussian = DiscreteGaussian.calibrate(d_in=moved, loss=loss)
        yield KnownWay("discrete Gaussian", gaussian.error_quantile(each))


def _cube(loss: Pure, beta: Fraction, columns: int) -> list[KnownWay]:
    """Return noise that is uniform in a cube of random size, where it can be drawn."""
    try:
        noise = LinfExponential.calibrate(d_in=Contribution(linf=1), loss=loss, dimension=columns)
        return [KnownWay("cube of random size", noise.error_quantile(beta))]
    except DiscreetError:
        return []  # too many columns, or too small a loss, for exact noise of this kind


def _ordered(ways: Iterator[KnownWay] | list[KnownWay]) -> tuple[KnownWay, ...]:
    return tuple(sorted(ways, key=lambda one: one.error))
