"""Events that state a guarantee, or an ideal continuous law, instead of one of our mechanisms.

They are for accounting: what another system released, or what a paper assumes. Our own mechanisms
are discrete, and have events of their own.
"""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.event import Event
from discreet.core.numbers import exact


@frozen(kw_only=True)
class PureEvent(Event):
    """Anything that is ε-DP."""

    kind = "pure"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True)
class ApproximateEvent(Event):
    """Anything that is (ε, δ)-DP."""

    kind = "approximate"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.below_one)


@frozen(kw_only=True)
class ZcdpEvent(Event):
    """Anything that is (ξ, ρ)-zCDP."""

    kind = "zcdp"
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)


@frozen(kw_only=True)
class BoundedRangeEvent(Event):
    """A selection whose privacy loss stays in an interval of width ``epsilon``.

    The exponential mechanism that is ε-DP is one: its probabilities move by a common factor and by
    at most e^±(ε/2) each.
    """

    kind = "bounded_range"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True)
class GaussianEvent(Event):
    """Continuous normal noise of standard deviation ``scale`` at L2 distance ``distance``."""

    kind = "gaussian"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(default=Fraction(1), converter=exact, validator=check.non_negative)


@frozen(kw_only=True)
class LaplaceEvent(Event):
    """Continuous Laplace noise of scale ``scale`` at L1 distance ``distance``."""

    kind = "laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(default=Fraction(1), converter=exact, validator=check.non_negative)
