"""Events of mechanisms that release a thing only if it would be there without any one unit."""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.event import Event
from discreet.core.numbers import exact


@frozen(kw_only=True, repr=False)
class ThresholdedLaplaceEvent(Event):
    """Counts of *present* keys plus discrete Laplace noise, shown if at least ``threshold``.

    An absent key has no noise and is never shown. One unit moves at most ``groups`` counts, each by
    at most ``largest`` and all by at most ``distance``; a key that only its rows make present
    therefore counts at most ``largest``.
    """

    kind = "thresholded_laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)
    groups: int = field(converter=check.whole, validator=check.non_negative)
    largest: int = field(converter=check.whole, validator=check.non_negative)
    distance: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class ThresholdedGaussianEvent(Event):
    """As :class:`ThresholdedLaplaceEvent`, with discrete Gaussian noise and squared L2 distance."""

    kind = "thresholded_gaussian"
    sigma_squared: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)
    groups: int = field(converter=check.whole, validator=check.non_negative)
    largest: int = field(converter=check.whole, validator=check.non_negative)
    distance_squared: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class StabilityTestEvent(Event):
    """A margin plus discrete Laplace noise of ``scale`` decides whether something is released.

    Between neighbours, either the margin moves by at most ``distance`` and what follows is
    accounted for elsewhere; or the margins are both at most ``unstable``, and nothing is known
    about what follows. It follows if the noisy margin is at least ``threshold``.
    """

    kind = "stability_test"
    scale: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)
    distance: int = field(converter=check.whole, validator=check.non_negative)
    unstable: int = field(converter=check.whole, validator=check.non_negative)
