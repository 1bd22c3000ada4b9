"""A known way to do a task, and what a task says of itself."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Protocol

from attrs import frozen

from discreet.accounting.filters.filter import largest_rho
from discreet.core.contribution import Contribution
from discreet.core.errors import DiscreetError
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import sqrt_down
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.randomness.tables.law import SMALLEST

MOST_DIMENSIONS = 10**9
CountingNoise = DiscreteLaplace | DiscreteGaussian


@frozen
class KnownWay:
    """A mechanism of this house for a task, and how far it is off.

    Attributes:
        name: What it does.
        error: What all answers are within, in people, but for the chance that was asked for.
    """

    name: str
    error: Fraction


class PlannedTask(Protocol):
    """Answers that are published at once."""

    name: ClassVar[str]
    share_of: ClassVar[str]
    """What an accuracy is a share of."""

    @property
    def words(self) -> str:
        """The task, in words."""

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible."""

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what else is known: rates and statements, which decide nothing."""


@frozen
class Affordable:
    """Losses in the measures that mechanisms are calibrated to, each of which implies one."""

    pure: Pure | None
    zcdp: Zcdp | None

    def each(self) -> list[Pure | Zcdp]:
        """Return those that there are."""
        return [one for one in (self.pure, self.zcdp) if one is not None]


@lru_cache(maxsize=1024)
def affordable(loss: PrivacyLoss) -> Affordable:
    r"""Return an ε and a ρ that imply the loss.

    A ρ allows the ε with :math:`\varepsilon^2/2 = \rho` [BS16, proposition 1.4], and
    :math:`(\varepsilon, \delta)` both its ε and a ρ [CKS20, corollary 13]. Whatever is ρ-zCDP is so
    but for events of any δ.

    Example:
        >>> affordable(Zcdp(2)).pure, affordable(Pure(1)).zcdp
        (Pure(ε = 2), None)
    """
    if isinstance(loss, Pure):
        return Affordable(_some_pure(loss.epsilon), None)
    if isinstance(loss, Zcdp | ApproximateZcdp):
        epsilon = max(loss.xi, sqrt_down(2 * loss.rho))
        return Affordable(_some_pure(epsilon), Zcdp(rho=loss.rho) if loss.rho else None)
    if isinstance(loss, Approximate):
        rho = largest_rho(loss.epsilon, loss.delta) if loss.epsilon and loss.delta else Fraction(0)
        return Affordable(_some_pure(loss.epsilon), Zcdp(rho=rho) if rho > 0 else None)
    return Affordable(None, None)


def _some_pure(epsilon: Fraction) -> Pure | None:
    return Pure(epsilon) if epsilon > 0 else None


@lru_cache(maxsize=4096)
def noises(moved: Contribution, loss: PrivacyLoss) -> tuple[tuple[str, CountingNoise], ...]:
    """Return the noises that can be had and drawn for a loss, with their names."""
    return tuple(_noises(moved, loss))


def _noises(moved: Contribution, loss: PrivacyLoss) -> Iterator[tuple[str, CountingNoise]]:
    own = affordable(loss)
    target: Zcdp | Approximate | None = own.zcdp
    if isinstance(loss, Approximate) and own.zcdp is not None and moved.l0 == 1:
        target = loss  # exact for one number; for several, what ρ implies is as good and quick
    if own.pure is not None:
        laplace = DiscreteLaplace.calibrate(d_in=moved, loss=own.pure)
        laplace = DiscreteLaplace(scale=max(laplace.scale, SMALLEST))  # more noise loses less
        if laplace.can_be_drawn:
            yield "discrete Laplace", laplace
    if target is not None:
        gaussian = DiscreteGaussian.calibrate(d_in=moved, loss=target)
        gaussian = DiscreteGaussian(sigma_squared=max(gaussian.sigma_squared, SMALLEST**2))
        if gaussian.can_be_drawn:
            yield "discrete Gaussian", gaussian


@lru_cache(maxsize=4096)
def sum_error(noise: CountingNoise, beta: Fraction, cells: int) -> Fraction:
    """Return what a sum of so many noises is within, but for a chance."""
    return noise.sum_error_quantile(beta, cells=cells)


def ordered(ways: Iterable[KnownWay | None]) -> tuple[KnownWay, ...]:
    """Return the ways that there are, the most exact first."""
    return tuple(sorted((one for one in ways if one is not None), key=lambda one: one.error))


def possible(name: str, error: Callable[[], Fraction]) -> KnownWay | None:
    """Return a way, or None where it cannot be had: noise too wide, or a table too large."""
    try:
        return KnownWay(name, error())
    except DiscreetError:
        return None
