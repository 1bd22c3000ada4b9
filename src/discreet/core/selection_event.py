"""Events of choosing one of many by scores.

Only the *differences* between scores matter to a choice. ``spread`` is how far one unit can move
such a difference: the largest minus the smallest change of any score. For scores that may move by
at most Δ each it is 2Δ; if all of them move in the same direction it is Δ.
"""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.event import Event
from discreet.core.numbers import exact


@frozen(repr=False)
class ExponentialSelectionEvent(Event):
    """One candidate, chosen with a weight proportional to ``exp(score / scale)``.

    Each candidate may have a weight of its own besides, if no data went into it.
    """

    kind = "exponential_selection"
    scale: Fraction = field(converter=exact, validator=check.positive)
    spread: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class PermuteAndFlipEvent(Event):
    """The candidate whose score plus exponential noise of mean ``scale`` is the largest."""

    kind = "permute_and_flip"
    scale: Fraction = field(converter=exact, validator=check.positive)
    spread: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class LaplaceNoisyMaxEvent(Event):
    """The first candidate with the largest integer score plus discrete Laplace noise of ``scale``.

    With it, by how much more than needed its noisy score won.
    """

    kind = "laplace_noisy_max"
    scale: Fraction = field(converter=exact, validator=check.positive)
    spread: Fraction = field(converter=exact, validator=check.non_negative)
