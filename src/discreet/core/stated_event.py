"""Events that state a guarantee, or an ideal continuous law, instead of one of our mechanisms.

They are for accounting: what another system released, or what a paper assumes. Our own mechanisms
are discrete, and have events of their own.
"""

from collections.abc import Iterable
from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.numbers import Number, exact


@frozen(repr=False)
class PureEvent(Event):
    """Anything that is ε-DP."""

    kind = "pure"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class ApproximateEvent(Event):
    """Anything that is (ε, δ)-DP."""

    kind = "approximate"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.below_one)


@frozen(repr=False)
class ZcdpEvent(Event):
    """Anything that is (ξ, ρ)-zCDP."""

    kind = "zcdp"
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)


@frozen(repr=False)
class BoundedZcdpEvent(Event):
    """Anything whose Rényi divergences are at most ξ + ρα at the orders below ``order``."""

    kind = "bounded_zcdp"
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    order: Fraction = field(converter=exact, validator=check.above_one)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)


@frozen(repr=False)
class MeanConcentratedEvent(Event):
    """Anything that is (μ, τ)-mean-concentrated, with τ²."""

    kind = "mean_concentrated"
    mu: Fraction = field(converter=exact, validator=check.non_negative)
    tau_squared: Fraction = field(converter=exact, validator=check.non_negative)


def _points(values: Iterable[tuple[Number, Number]]) -> tuple[tuple[Fraction, Fraction], ...]:
    return tuple(sorted((exact(order), exact(epsilon)) for order, epsilon in values))


@frozen(repr=False)
class RenyiEvent(Event):
    """Anything that is (α, ε)-Rényi private at some stated orders, a table of pairs.

    Example:
        >>> RenyiEvent(points=[(8, "0.5"), (2, "0.1")]).points[0]
        (Fraction(2, 1), Fraction(1, 10))
    """

    kind = "renyi"
    points: tuple[tuple[Fraction, Fraction], ...] = field(
        converter=_points, validator=check.non_empty
    )

    def __attrs_post_init__(self) -> None:
        """Refuse orders of 1 and below or given twice, and divergences below 0."""
        orders = [order for order, _ in self.points]
        if orders[0] <= 1 or len(set(orders)) < len(orders):
            raise InvalidArgument("An order is out of range", must="be above 1, and stated once")
        if any(epsilon < 0 for _, epsilon in self.points):
            raise InvalidArgument("A divergence is out of range", must="be at least 0")


@frozen(repr=False)
class BoundedRangeEvent(Event):
    """A selection whose privacy loss stays in an interval of width ``epsilon``.

    The exponential mechanism that is ε-DP is one: its probabilities move by a common factor and by
    at most e^±(ε/2) each.
    """

    kind = "bounded_range"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class GaussianEvent(Event):
    """Continuous normal noise of standard deviation ``scale`` at L2 distance ``distance``."""

    kind = "gaussian"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(default=Fraction(1), converter=exact, validator=check.non_negative)


@frozen(repr=False)
class LaplaceEvent(Event):
    """Continuous Laplace noise of scale ``scale`` at L1 distance ``distance``."""

    kind = "laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(default=Fraction(1), converter=exact, validator=check.non_negative)
